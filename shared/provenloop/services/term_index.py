"""The index of terms: which texts of a namespace hold a term, and which facts a relation.

Written by the pass from what was committed since the last analyzed one, so capturing costs nothing for it. A pass that
crashed may index again: a grain that stands in the row already is left, one that stands in a segment is named twice and
read once. Rows hold addresses under digests made with the memory's key, never text; whether a grain still holds is
asked of the grain itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, ChangeOp
from provenloop.domain.errors import BusyError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.names import MemoryId
from provenloop.domain.recallable import RECALLED_KINDS, key_terms
from provenloop.domain.records import TERM_ROW_GRAINS, TERM_SEGMENT_GRAINS, TermRow, TermSegment
from provenloop.domain.text import normalise_relation
from provenloop.services.ports import Put, Remove, Replace, Store, Write, WriteRefusedError

#: Changes that may give a grain text it did not have.
_TEXT_OPS: frozenset[ChangeOp] = frozenset({"add", "revive", "change", "restore"})
_GRAINS_A_STEP = 100
#: Each may spill into a few segments.
_ROWS_A_STEP = 20
_MAX_ROUNDS = 6
_Changing = Callable[[TermRow, Sequence[str]], Iterator[Write]]


def term_key(addresses: Addresses, namespace: str, term: str) -> str:
    """Under what a term of a namespace is indexed."""
    return addresses.short("term", namespace, term)


def relation_key(addresses: Addresses, namespace: str, relation: str) -> str:
    """Under what a relation of a namespace is indexed, in whatever spelling."""
    return addresses.short("relation term", namespace, normalise_relation(relation))


def gives_text(change: Change) -> bool:
    """Whether a change may have given a grain text that recall looks for."""
    return change.kind in RECALLED_KINDS and change.op in _TEXT_OPS


def index_texts(store: Store, memory: MemoryId, addresses: Addresses, changes: Iterable[Change], now: int) -> None:
    """Index every grain that the changes gave text.

    Raises:
        BusyError: others kept changing the same rows; the next pass does it again.
    """
    touched = iter(dict.fromkeys(change.address for change in changes if gives_text(change)))
    while step := list(islice(touched, _GRAINS_A_STEP)):
        grains = store.grains(memory, step, now)
        name_under(store, memory, _by_key(addresses, [grains[address] for address in step if address in grains]), now)


def drop_texts(store: Store, memory: MemoryId, addresses: Addresses, grains: Iterable[Grain], now: int) -> None:
    """Take grains, as they were with their text, out of the index: what forgetting them does.

    Raises:
        BusyError: others kept changing the same rows; it may be done again.
    """
    wanted = _by_key(addresses, list(grains))
    drop_from_rows(store, memory, wanted, now)
    for key, row in store.term_rows(memory, wanted).items():
        _drop_from_segments(store, memory, row, wanted[key], now)


def name_under(store: Store, memory: MemoryId, wanted: Mapping[str, Sequence[str]], now: int) -> None:
    """Index names under each key; raises as :func:`index_texts`."""
    _change_rows(store, memory, wanted, now, _with)


def drop_from_rows(store: Store, memory: MemoryId, wanted: Mapping[str, Sequence[str]], now: int) -> None:
    """Take names out from under each key, but for its segments; raises as :func:`drop_texts`."""
    _change_rows(store, memory, wanted, now, _without)


def _by_key(addresses: Addresses, grains: Sequence[Grain]) -> Mapping[str, list[str]]:
    """Addresses of the grains under each of their keys."""
    found: dict[str, list[str]] = {}
    for grain in grains:
        for key in _keys_of(addresses, grain):
            found.setdefault(key, []).append(grain.address)
    return found


def _keys_of(addresses: Addresses, grain: Grain) -> Iterator[str]:
    terms = key_terms(grain)
    yield from (term_key(addresses, grain.namespace, term) for term in terms)
    if grain.kind == "fact" and terms:
        yield relation_key(addresses, grain.namespace, text_of(grain, "relation"))


def _change_rows(
    store: Store, memory: MemoryId, wanted: Mapping[str, Sequence[str]], now: int, change: _Changing
) -> None:
    keys = iter(wanted)
    while step := list(islice(keys, _ROWS_A_STEP)):
        for _ in range(_MAX_ROUNDS):
            rows = store.term_rows(memory, step)
            writes = [write for key in step for write in change(rows.get(key, TermRow(key)), wanted[key])]
            if not writes or _is_written(store, memory, writes, now):
                break
        else:
            raise BusyError("others keep changing the index of terms; try again")


def _is_written(store: Store, memory: MemoryId, writes: Sequence[Write], now: int) -> bool:
    try:
        store.transact(memory, writes, now)
    except WriteRefusedError:
        return False
    return True


def _with(row: TermRow, addresses: Sequence[str]) -> Iterator[Write]:
    new = [address for address in addresses if address not in row.addresses]
    if not new:
        return
    kept, segments = (*reversed(new), *row.addresses), row.segments
    while len(kept) > TERM_ROW_GRAINS:
        segments += 1
        yield Put(TermSegment(row.term, segments, kept[-TERM_SEGMENT_GRAINS:]))
        kept = kept[:-TERM_SEGMENT_GRAINS]
    after = replace(row, addresses=kept, segments=segments, rev=row.rev + 1)
    yield Put(after) if row.rev == 0 else Replace(after, expected=row.rev)


def _without(row: TermRow, addresses: Sequence[str]) -> Iterator[Write]:
    kept = tuple(address for address in row.addresses if address not in addresses)
    if kept == row.addresses:
        return
    after = replace(row, addresses=kept, rev=row.rev + 1)
    is_empty = not kept and not row.segments
    yield Remove(row, expected=row.rev) if is_empty else Replace(after, expected=row.rev)


def _drop_from_segments(store: Store, memory: MemoryId, row: TermRow, addresses: Sequence[str], now: int) -> None:
    """Take addresses out of every segment of a term, in as many transactions as it takes."""
    for _ in range(_MAX_ROUNDS):
        writes = list(_segments_without(store, memory, row, addresses))
        steps = (writes[start : start + _ROWS_A_STEP] for start in range(0, len(writes), _ROWS_A_STEP))
        if all(_is_written(store, memory, step, now) for step in steps):
            return
    raise BusyError("others keep changing the index of terms; try again")


def _segments_without(store: Store, memory: MemoryId, row: TermRow, addresses: Sequence[str]) -> Iterator[Write]:
    """What takes addresses out of the earlier segments of a term, however many there are."""
    for segment in store.term_segments(memory, row.term, row.segments) if row.segments else ():
        kept = tuple(address for address in segment.addresses if address not in addresses)
        if not kept:
            yield Remove(segment, expected=segment.rev)
        elif kept != segment.addresses:
            yield Replace(replace(segment, addresses=kept, rev=segment.rev + 1), expected=segment.rev)
