"""History: every version of one grain with what it replaced and what replaced it, and every value of one relation.

Versions are kept of what writers change: a body, a generation, a successor. An apply moves a head only, and how it was
before stands in the recommendation; of a grain that it pointed at another one, the version before is told as well. A
tombstone takes the place of the head it erased, and of the versions before it
only the content goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.instants import format_instant
from provenloop.domain.names import MemoryId
from provenloop.domain.text import normalise, normalise_relation
from provenloop.services.call import Call
from provenloop.services.grain_read import require_grain, shown
from provenloop.services.memories import require_heads, require_namespace
from provenloop.services.ports import Store

MAX_CHAIN = 200


def grain_history(store: Store, call: Call, address: str) -> dict[str, Any]:
    """Every version of one grain, oldest first, and the chain it stands in.

    Returns:
        ``{address, versions: [{from, to, ...grain}], predecessors, successors, cut}``. ``to`` is None of the present
        version; predecessors are what led to the grain and successors what it led to, nearest first; ``cut`` tells that
        there are over 200 of one of them.

    Raises:
        ScopeDeniedError, InvalidInputError.
        NotFoundError: no such memory or grain.
    """
    call.require("read")
    grain = require_grain(store, call, address)
    before = _chain(grain, lambda layer: _before(store, call, layer))
    after = _chain(grain, lambda layer: _after(store, call, layer))
    return {
        "address": address,
        "versions": _shown_versions(versions_of(store, call.memory, grain), call.now),
        "predecessors": [shown(found, call.now) for found in before[:MAX_CHAIN]],
        "successors": [shown(found, call.now) for found in after[:MAX_CHAIN]],
        "cut": max(len(before), len(after)) > MAX_CHAIN,
    }


def relation_history(store: Store, call: Call, namespace: str, subject: str, relation: str) -> dict[str, Any]:
    """Every value that one relation of a subject ever had, in whatever spelling, by when it began to hold.

    Returns:
        ``{namespace, subject, relation, values: [{from, to, ...grain}]}``, one entry for each time a value became
        current: from its valid_from, or else from when it was recorded, to the end of its validity or until it was
        replaced; ``to`` is None where neither is known.

    Raises:
        ScopeDeniedError.
        NotFoundError: no such memory or namespace.
    """
    call.require("read")
    heads = require_heads(store, call.memory)
    require_namespace(heads, namespace)
    prefix = Addresses(heads.log.key).cluster_prefix("fact", namespace, subject, relation)
    names = (normalise(subject), normalise_relation(relation))
    facts = [
        grain
        for grain in store.grains_by_prefix(call.memory, prefix, call.now)
        if grain.kind == "fact" and grain.namespace == namespace and _is_about(grain, names)
    ]
    periods = [period for grain in facts for period in _periods(versions_of(store, call.memory, grain))]
    values = [_between(grain, begun, ended, call.now) for grain, begun, ended in sorted(periods, key=_order)]
    return {"namespace": namespace, "subject": subject, "relation": relation, "values": values}


def versions_of(store: Store, memory: MemoryId, grain: Grain) -> list[Grain]:
    """All kept versions of a grain, oldest first, the present one last. One whose head never moved has no others."""
    earlier = store.history(memory, grain.address) if grain.head_rev > 1 else ()
    return [version for pair in pairwise([None, *earlier, grain]) for version in _with_first(*pair)]


def _with_first(before: Grain | None, version: Grain | None) -> Iterator[Grain]:
    """A version, after the one in which its generation began where that is not kept: pointed away by an apply."""
    if version is None:
        return
    is_first = before is None or before.generation != version.generation
    if is_first and version.state == "superseded":
        rev = before.head_rev + 1 if before is not None else 1
        yield replace(version, state="current", superseded_by=None, forked_into=(), head_rev=rev, changed_at=None)
    yield version


def _chain(start: Grain, step: Callable[[Sequence[Grain]], Iterable[Grain]]) -> list[Grain]:
    """Everything reached from a grain step by step, nearest first; whole steps until there are too many."""
    reached = {start.address: start}
    layer: list[Grain] = [start]
    while layer and len(reached) <= MAX_CHAIN + 1:
        layer = [grain for grain in step(layer) if grain.address not in reached]
        reached |= {grain.address: grain for grain in layer}
    return list(reached.values())[1:]


def _before(store: Store, call: Call, layer: Sequence[Grain]) -> list[Grain]:
    """What any of these superseded, and has not come back since."""
    names = [name for grain in layer for name in store.predecessors(call.memory, grain.address)]
    here = {grain.address for grain in layer}
    return [grain for grain in _named(store, call, names) if not here.isdisjoint(grain.successors)]


def _after(store: Store, call: Call, layer: Sequence[Grain]) -> list[Grain]:
    """What superseded any of these."""
    return _named(store, call, [name for grain in layer for name in grain.successors])


def _named(store: Store, call: Call, names: Sequence[str]) -> list[Grain]:
    found = store.grains(call.memory, dict.fromkeys(names), call.now) if names else {}
    return [found[name] for name in dict.fromkeys(names) if name in found]


def _is_about(grain: Grain, names: tuple[str, str]) -> bool:
    """Whether a fact is about that subject and relation. A forgotten one tells no more; its prefix has to do."""
    if grain.state == "forgotten":
        return True
    return (normalise(text_of(grain, "subject")), normalise_relation(text_of(grain, "relation"))) == names


def _periods(versions: Sequence[Grain]) -> Iterator[tuple[Grain, int, int | None]]:
    """Each generation as it was last, with when it began and ended to hold."""
    for _, group in groupby(versions, key=lambda version: version.generation):
        same = list(group)
        last = same[-1]
        replaced_at = next((version.since for version in same if version.state == "superseded"), last.since)
        ends = [at for at in (last.valid_to, None if last.is_current else replaced_at) if at is not None]
        begun = last.valid_from if last.valid_from is not None else last.recorded_at
        yield last, begun, min(ends, default=None)


def _order(period: tuple[Grain, int, int | None]) -> tuple[int, tuple[Any, ...], int]:
    grain, begun, _ = period
    return (begun, grain.recency(), grain.generation)


def _shown_versions(versions: Sequence[Grain], now: int) -> list[dict[str, Any]]:
    past = [
        {**_between(version, version.since, later.since, now), "live": False} for version, later in pairwise(versions)
    ]
    return [*past, _between(versions[-1], versions[-1].since, None, now)]


def _between(grain: Grain, begun: int, ended: int | None, now: int) -> dict[str, Any]:
    times = {"from": format_instant(begun), "to": None if ended is None else format_instant(ended)}
    return {**times, **shown(grain, now)}
