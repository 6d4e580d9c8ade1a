"""Credentials, as Protocols that ``adapters`` implements: they belong to no memory, and are apart from its store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from provenloop.domain.records import Token
from provenloop.services.ports import Write


class TokenReader(Protocol):
    """Looks up credentials."""

    def token(self, digest: str) -> Token | None:
        """The token whose secret has this SHA-256; strongly consistent."""


class TokenStore(TokenReader, Protocol):
    """Everything a use case may do to credentials."""

    def token_of_id(self, tenant: str, token_id: str) -> Token | None:
        """A tenant's token; strongly consistent."""

    def tokens(self, tenant: str, *, after: str = "", limit: int | None = None) -> Sequence[Token]:
        """A tenant's tokens whose id is greater than ``after``, by id, at most ``limit``; strongly consistent."""

    def transact(self, tenant: str, writes: Sequence[Write], now: int) -> None:
        """All the writes or none, on tokens and what belongs to a tenant.

        Raises:
            WriteRefusedError: conditions did not hold.
        """
