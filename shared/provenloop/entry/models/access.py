"""Requests about memories and tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from provenloop.domain.memory_glob import GLOB_PATTERN, MAX_FLOATING
from provenloop.domain.principal import PrincipalKind, Scope
from provenloop.entry.models.fields import Instant, Label, WireModel
from provenloop.services.tokens import MintRequest


class MemoryRequest(WireModel):
    """Makes a memory; there is nothing to say but its name, which is in the path."""


class TokenRequest(WireModel):
    """What a new token should be. Its tenant is its minter's."""

    label: Annotated[Label, Field(description="Unique in the tenant, in whatever spelling.")]
    kind: PrincipalKind
    memories: Annotated[
        str,
        Field(
            pattern=GLOB_PATTERN,
            description=f"Glob over memory names; * means all of them. At most {MAX_FLOATING} ? behind the first *.",
        ),
    ]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)]
    expires_at: Annotated[
        Instant | None, Field(description="When it ends; left out, with its minter's token, or never.")
    ] = None

    def to_mint(self) -> MintRequest:
        """The same for the use case."""
        return MintRequest(self.label, self.kind, self.memories, tuple(self.scopes), self.expires_at)
