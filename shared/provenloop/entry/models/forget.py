"""The request to forget."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from provenloop.entry.models.fields import Address, Because, Name, Namespace, WireModel


class EraseRequest(WireModel):
    """Erase a whole memory, with the written reason; the reason is erased with it."""

    because: Because


class ForgetRequest(WireModel):
    """One grain by its address, or everything held about a subject of a namespace, in whatever spelling."""

    address: Annotated[Address | None, Field(description="Address of the grain; alone.")] = None
    namespace: Namespace | None = None
    subject: Annotated[
        Name | None, Field(description="Subject of facts, tool of calls, name of skills and goals; with a namespace.")
    ] = None
    because: Annotated[Because | None, Field(description="The written reason; a dry run needs none.")] = None
    dry_run: Annotated[bool, Field(description="Only tell what would be erased.")] = False
