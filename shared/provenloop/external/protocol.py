"""What external analyzers are asked, version 1 of the protocol: who they are, and what they find in some grains.

Grains go in pages, each a request of its own that holds at most 2,000 of them and 900 kB. shared/EXTERNAL-ANALYZERS.md
tells whoever writes one, shared/schemas/loop_analyzer.1.json has the form of every message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.registered import MAX_GRAINS_A_CALL

VERSION = 1
MAX_REQUEST_BYTES = 900_000
#: What a request holds besides its grains, at most.
_ENVELOPE_BYTES = 200
PROBE = canonical_json({"loop_analyzer": VERSION, "op": "probe"}).encode()


@dataclass(frozen=True, slots=True)
class Pages:
    """The requests of one analysis, in order, with the addresses that each of them shows.

    ``too_large`` counts grains that fit into no request, and are left out.
    """

    requests: tuple[bytes, ...]
    addresses: tuple[frozenset[str], ...]
    too_large: int


def pages_of(grains: Iterable[Grain], needs: Collection[GrainKind], now: int) -> Pages:
    """The grains of the kinds that an analyzer needs, as it is sent them at ``now`` (epoch ms)."""
    written = [(grain.address, canonical_json(_told(grain)).encode()) for grain in grains if grain.kind in needs]
    fitting = [each for each in written if len(each[1]) + _ENVELOPE_BYTES <= MAX_REQUEST_BYTES]
    cut = list(_cut(fitting))
    requests = tuple(_request([text for _, text in page], at, len(cut), now) for at, page in enumerate(cut, start=1))
    addresses = tuple(frozenset(address for address, _ in page) for page in cut)
    return Pages(requests, addresses, len(written) - len(fitting))


def _cut(written: Sequence[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    page: list[tuple[str, bytes]] = []
    size = _ENVELOPE_BYTES
    for each in written:
        # One more for the comma between two grains.
        added = len(each[1]) + 1
        if page and (len(page) == MAX_GRAINS_A_CALL or size + added > MAX_REQUEST_BYTES):
            yield page
            page, size = [], _ENVELOPE_BYTES
        page.append(each)
        size += added
    if page:
        yield page


def _request(grains: Sequence[bytes], page: int, pages: int, now: int) -> bytes:
    rest = {"loop_analyzer": VERSION, "op": "analyze", "now_ms": now, "page": page, "pages": pages}
    return b'{"grains":[' + b",".join(grains) + b"]," + canonical_json(rest).encode()[1:]


def _told(grain: Grain) -> dict[str, Any]:
    """A grain as an analyzer sees it."""
    told: dict[str, Any] = {
        "hash": grain.address,
        "grain_type": grain.kind,
        "namespace": grain.namespace,
        "created_at_ms": grain.recorded_at,
        "fields": dict(grain.body),
    }
    if grain.valid_to is not None:
        told["valid_to_ms"] = grain.valid_to
    if grain.superseded_by is not None:
        told["superseded_by"] = grain.superseded_by
    return told
