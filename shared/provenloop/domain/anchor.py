"""The daily anchor: one root over the heads of all audit chains of a tenant, so that rewriting them later shows.

An anchor names memories and subjects by digests only. Its text is canonical JSON; what is signed is its statement: all
fields but the leaves, which the root stands for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from provenloop.domain.audit import ChainHead
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import IntegrityError
from provenloop.domain.instants import format_instant, parse_instant, utc_day
from provenloop.domain.merkle import merkle_root
from provenloop.domain.names import MemoryId

VERSION = 1


class Leaf(NamedTuple):
    """Head of one chain: digests of its memory and subject, number and id of its last entry."""

    memory: str
    subject: str
    n: int
    head: str


class Signature(NamedTuple):
    """Who signed, how, and the signature in Base64."""

    key: str
    algorithm: str
    value: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """What was true at ``at`` (epoch ms). ``root`` and ``count`` are what it says, leaves are as they stand in it."""

    tenant: str
    at: int
    root: str
    count: int
    leaves: Sequence[Leaf]
    signature: Signature | None = None

    @property
    def date(self) -> str:
        """The UTC day, ``2026-11-30``."""
        return utc_day(self.at)

    @property
    def statement(self) -> str:
        """What is signed."""
        return canonical_json(self._fields())

    @property
    def text(self) -> str:
        """The whole anchor, as it is kept."""
        signed = dict(zip(Signature._fields, self.signature, strict=True)) if self.signature is not None else None
        leaves = [list(leaf) for leaf in self.leaves]
        return canonical_json({**self._fields(), "leaves": leaves, "signature": signed})

    def _fields(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "date": self.date,
            "at": format_instant(self.at),
            "tenant": self.tenant,
            "count": self.count,
            "root": self.root,
        }


def memory_digest(memory: MemoryId) -> str:
    """What stands for a memory in an anchor."""
    return sha256_hex(canonical_json([memory.tenant, memory.name]))


def leaf_of(memory: MemoryId, subject: str, head: ChainHead) -> Leaf:
    """The leaf of one chain."""
    digest = sha256_hex(canonical_json([memory.tenant, memory.name, subject]))
    return Leaf(memory_digest(memory), digest, head.n, head.id)


def anchor_of(tenant: str, leaves: Iterable[Leaf], at: int) -> Anchor:
    """The anchor over some chains, not signed yet."""
    ordered = tuple(sorted(leaves))
    return Anchor(tenant, at, root_of(ordered), len(ordered), ordered)


def root_of(leaves: Sequence[Leaf]) -> str:
    """The Merkle root over leaves as they stand."""
    return merkle_root([canonical_json(list(leaf)) for leaf in leaves])


def anchor_from(text: str) -> Anchor:
    """The anchor that a text holds, as it says: nothing is checked but its form.

    Raises:
        IntegrityError: it is none.
    """
    try:
        return _read(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise IntegrityError("not an anchor") from error


def _read(body: Mapping[str, Any]) -> Anchor:
    leaves = tuple(Leaf(str(memory), str(subject), int(n), str(head)) for memory, subject, n, head in body["leaves"])
    signed = body["signature"]
    signature = Signature(**{name: str(signed[name]) for name in Signature._fields}) if signed is not None else None
    if body["version"] != VERSION:
        raise ValueError(body["version"])
    anchor = Anchor(
        str(body["tenant"]), parse_instant(body["at"]), str(body["root"]), int(body["count"]), leaves, signature
    )
    if anchor.date != body["date"]:
        raise ValueError(body["date"])
    return anchor
