"""What the daily anchor needs from the outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from provenloop.domain.anchor import Signature
from provenloop.domain.names import MemoryId


class MemoryIndex(Protocol):
    """Finds every memory and every tenant there is; from an index that may be late."""

    def all_memories(self) -> Iterator[MemoryId]:
        """Of all tenants, by tenant and name."""

    def all_tenants(self) -> Iterator[str]:
        """Those with an audit trail of their own, in order, whether they have a memory or not."""


class AnchorBucket(Protocol):
    """Keeps anchors, each for good."""

    def anchored(self, date: str) -> frozenset[str]:
        """The tenants that have an anchor of that UTC day.

        Raises:
            UnavailableError: the bucket did not answer.
        """

    def put(self, date: str, tenant: str, text: str) -> bool:
        """Keep an anchor; False where the day has one already, which stays.

        Raises:
            UnavailableError: the bucket did not take it.
        """


class Signer(Protocol):
    """Signs with a key that never leaves its place."""

    def sign(self, message: str) -> Signature:
        """Sign a text of at most 4,096 bytes.

        Raises:
            UnavailableError: it is not signed.
        """
