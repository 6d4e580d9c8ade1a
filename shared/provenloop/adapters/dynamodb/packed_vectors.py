"""Vectors packed into rows of the table: read once per process and scope, and again only what moved.

A put appends a small row; where 64 of them have gathered, they are merged into rows of up to 280 kB. A query reads the
head (one small item); rows are read where the head names one that this process does not hold. Then it is one product
of a matrix. Numpy is imported by the first query.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from provenloop.adapters.dynamodb import keys, packing, table
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities
from provenloop.adapters.dynamodb.writes import transact
from provenloop.domain.errors import UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe_vectors import RowRef, VectorHead, VectorRow
from provenloop.services.ports import Put, Remove, Replace, Write, WriteRefusedError
from provenloop.services.recipe_ports import Near, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

#: So many vectors may be put at once, and so many small rows are merged.
AT_ONCE = 64
#: Packed bytes of a full row; base64 and the names then stay under the 400 KB of an item even if nothing deflates.
ROW_BYTES = 240_000
#: Scopes whose vectors a process holds; those not asked for longest go first.
HELD_SCOPES = 64
#: So many full rows are made at once: a megabyte, of the four that a transaction may hold.
_MERGED_ROWS = 4
_MAX_ROUNDS = 5

_Place = tuple[MemoryId, str, str]


@dataclass(slots=True)
class _Held:
    """What a process holds of one scope: the rows by number, and all of them as one matrix."""

    head: VectorHead
    rows: dict[int, VectorRow]
    names: tuple[str, ...]
    matrix: Matrix


class PackedVectorIndex:
    """Implements ``services.recipe_ports.VectorIndex`` on the table that the process is bound to.

    Args:
        pause: waits before a further try; gets the number of the try, from 1.
        gather: so many small rows are merged, at most 64.
    """

    def __init__(self, *, pause: table.Pause, gather: int = AT_ONCE) -> None:
        self._pause = pause
        self._gather = gather
        self._held: OrderedDict[_Place, _Held] = OrderedDict()

    def putting(self, memory: MemoryId, scope_key: str, space: str, vectors: Mapping[str, Vector]) -> Sequence[Write]:
        """See ``VectorIndex``."""
        if not 0 < len(vectors) <= AT_ONCE:
            raise ValueError(f"1 to {AT_ONCE} vectors at once")
        head = _head(memory, scope_key, space)
        dimensions = len(next(iter(vectors.values())))
        before = head or VectorHead(scope_key, space, dimensions, rev=0)
        row = VectorRow(scope_key, space, before.upcoming, tuple(vectors), packing.packed(vectors.values()))
        after = _listing(before, before.rows, [row])
        return [Replace(after, expected=before.rev) if head else Put(after), Put(row)]

    def removing(self, memory: MemoryId, scope_key: str, spaces: Collection[str], name: str) -> Sequence[Write]:
        """See ``VectorIndex``."""
        found: list[Write] = []
        for space in spaces:
            head = _head(memory, scope_key, space)
            kept, writes = self._without(memory, head, [name]) if head else ((), [])
            if head and writes:
                found += [Replace(replace(head, rows=kept, rev=head.rev + 1), expected=head.rev), *writes]
        return found

    def query(self, memory: MemoryId, scope_key: str, space: str, vector: Vector, k: int) -> tuple[Near, ...]:
        """See ``VectorIndex``."""
        held = self._current(memory, scope_key, space)
        if held is None or not held.names or k < 1:
            return ()
        import numpy as np  # noqa: PLC0415  (half a cold start, and only queries need it)

        # Not by ``@``: its threads wait for each other longer than the product takes, where cores are few.
        near = np.einsum("ij,j->i", held.matrix, np.asarray(vector, dtype=np.float32))
        places = range(len(near)) if len(near) <= k else np.argpartition(-near, k - 1)[:k]
        # Of equally near ones those with the smaller name: also where the k-th is as near as others.
        edge = float(min(near[place] for place in places))
        places = np.flatnonzero(near >= edge)
        found = sorted((Near(held.names[place], float(near[place])) for place in places), key=_by_nearness)
        return tuple(found[:k])

    def tidy(self, memory: MemoryId, scope_key: str, space: str, now: int) -> None:
        """See ``VectorIndex``."""
        head = _head(memory, scope_key, space)
        small = _to_merge(head, self._gather) if head else ()
        if head is None or not small:
            return
        rows = self._rows(memory, head, small)
        if len(rows) < len(small):
            return
        merged = _merged(head, [rows[ref.n] for ref in small])
        after = _listing(head, [ref for ref in head.rows if ref.n not in rows], merged)
        writes: list[Write] = [
            Replace(after, expected=head.rev),
            *map(Put, merged),
            *(Remove(rows[ref.n], expected=ref.rev) for ref in small),
        ]
        with suppress(WriteRefusedError):
            transact(memory, writes, now, self._pause)

    # reading

    def _current(self, memory: MemoryId, scope_key: str, space: str) -> _Held | None:
        """What is stored now, of which only what moved is read."""
        place = (memory, scope_key, space)
        for attempt in range(1, _MAX_ROUNDS + 1):
            head = _head(memory, scope_key, space)
            if head is None:
                self._held.pop(place, None)
                return None
            held = self._held.get(place)
            if held is None or held.head.rev != head.rev:
                rows = self._rows(memory, head, head.rows)
                if len(rows) < len(head.rows):
                    self._pause(attempt)
                    continue
                held = _held(head, rows)
                self._held[place] = held
            self._held.move_to_end(place)
            if len(self._held) > HELD_SCOPES:
                self._held.popitem(last=False)
            return held
        raise UnavailableError("the vectors of this scope keep moving; try again")

    def _rows(self, memory: MemoryId, head: VectorHead, refs: Iterable[RowRef]) -> dict[int, VectorRow]:
        """The rows at the revisions that the head names, as many as are (still) there."""
        held = self._held.get((memory, head.scope_key, head.space))
        known = {
            ref.n: held.rows[ref.n]
            for ref in refs
            if held is not None and ref.n in held.rows and held.rows[ref.n].rev == ref.rev
        }
        wanted = {ref.n: ref.rev for ref in refs if ref.n not in known}
        pk = partition(memory, "RECIPE")
        sorts = (keys.vector_row(head.scope_key, head.space, n) for n in wanted)
        read = entities(table.get_many((Key(pk, sort) for sort in sorts), self._pause), VectorRow)
        return known | {row.n: row for row in read if row.rev == wanted.get(row.n)}

    def _without(
        self, memory: MemoryId, head: VectorHead, names: Collection[str]
    ) -> tuple[tuple[RowRef, ...], list[Write]]:
        """The rows that stay once these names are gone, and the writes that take them out."""
        gone = frozenset(names)
        rows = self._rows(memory, head, head.rows)
        kept: list[RowRef] = []
        writes: list[Write] = []
        for ref in head.rows:
            row = rows.get(ref.n)
            if row is None or gone.isdisjoint(row.names):
                # A row that could not be read was moved by somebody, so the head's revision will not hold either.
                kept.append(ref)
                continue
            rest = [place for place, name in enumerate(row.names) if name not in gone]
            if not rest:
                writes.append(Remove(row, expected=row.rev))
                continue
            left = replace(
                row,
                names=tuple(row.names[place] for place in rest),
                packed=packing.sliced(row.packed, len(row.names), rest),
                rev=row.rev + 1,
            )
            writes.append(Replace(left, expected=row.rev))
            kept.append(RowRef(left.n, left.rev, len(rest)))
        return tuple(kept), writes


def _head(memory: MemoryId, scope_key: str, space: str) -> VectorHead | None:
    row = table.get(Key(partition(memory, "RECIPE"), keys.vector_head(scope_key, space)))
    return None if row is None else as_entity(row, VectorHead)


def _held(head: VectorHead, rows: dict[int, VectorRow]) -> _Held:
    import numpy as np  # noqa: PLC0415  (see query)

    ordered = [rows[ref.n] for ref in head.rows]
    parts = [_matrix(row) for row in ordered]
    matrix = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
    return _Held(head, rows, tuple(name for row in ordered for name in row.names), matrix)


def _matrix(row: VectorRow) -> Matrix:
    """The vectors of a row, each of length 1."""
    import numpy as np  # noqa: PLC0415  (see query)

    data = np.frombuffer(packing.raw(row.packed), dtype=np.int8).reshape(len(row.names), -1)
    vectors = data[:, packing.SCALE_BYTES :].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _full(head: VectorHead) -> int:
    """How many vectors make a full row."""
    return ROW_BYTES // (head.dimensions + packing.SCALE_BYTES)


def _to_merge(head: VectorHead, gather: int) -> Sequence[RowRef]:
    """The small rows to merge, where many have gathered: the smallest, and no more than a transaction holds."""
    full = _full(head)
    small = sorted((ref for ref in head.rows if ref.count <= full // 2), key=lambda ref: (ref.count, ref.n))
    if len(small) < gather:
        return ()
    totals = accumulate(ref.count for ref in small[:gather])
    return [ref for ref, total in zip(small, totals, strict=False) if total <= _MERGED_ROWS * full]


def _listing(head: VectorHead, kept: Sequence[RowRef], added: Sequence[VectorRow]) -> VectorHead:
    """The head after a change of its rows."""
    refs = (RowRef(row.n, row.rev, len(row.names)) for row in added)
    return replace(head, rows=(*kept, *refs), upcoming=head.upcoming + len(added), rev=head.rev + 1)


def _merged(head: VectorHead, rows: Sequence[VectorRow]) -> list[VectorRow]:
    """The vectors of small rows in as few rows as hold them."""
    names = [name for row in rows for name in row.names]
    whole = packing.joined(row.packed for row in rows)
    full = _full(head)
    made: list[VectorRow] = []
    for start in range(0, len(names), full):
        part = packing.sliced(whole, len(names), range(start, min(start + full, len(names))))
        held = tuple(names[start : start + full])
        made.append(VectorRow(head.scope_key, head.space, head.upcoming + len(made), held, part))
    return made


def _by_nearness(near: Near) -> tuple[float, str]:
    return -near.similarity, near.name
