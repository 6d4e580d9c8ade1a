"""What recall and its telemetry keep of grains that are forgotten, and how it goes.

All of it is addresses, digests and figures, so nothing of it shows once the grains are tombstones. It is taken away
right after them all the same; what a pass or a recall writes in between stays as such figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from provenloop.domain.address import Addresses
from provenloop.domain.errors import BusyError
from provenloop.domain.grain import Grain
from provenloop.domain.remark import Remark
from provenloop.services.call import Call
from provenloop.services.ports import Remove, Replace, Store, Write, WriteRefusedError
from provenloop.services.remark_index import drop_words
from provenloop.services.term_index import drop_texts

_FIRST_DAY, _LAST_DAY = "00000000", "99999999"
_WRITES_AT_ONCE = 90
_MAX_ROUNDS = 6


def scrub_use(
    store: Store, call: Call, addresses: Addresses, grains: Sequence[Grain], remarks: Sequence[Remark] = ()
) -> None:
    """Take grains, given as they were with their text, out of the index of terms and out of telemetry; and the words of
    remarks out of theirs.

    Where others keep writing the same rows, what is left holds no text, and nobody has to wait for it.
    """
    with suppress(BusyError):
        drop_texts(store, call.memory, addresses, grains, call.now)
    drop_words(store, call.memory, addresses, remarks, call.now)
    forgotten = tuple(dict.fromkeys(grain.address for grain in grains))
    questions = tuple(dict.fromkeys(grain.address for grain in grains if grain.kind == "question"))
    for _ in range(_MAX_ROUNDS):
        if _is_gone(store, call, [*_counts(store, call, forgotten, questions), *_recalls(store, call, forgotten)]):
            return


def _is_gone(store: Store, call: Call, writes: Sequence[Write]) -> bool:
    try:
        for start in range(0, len(writes), _WRITES_AT_ONCE):
            store.transact(call.memory, writes[start : start + _WRITES_AT_ONCE], call.now)
    except WriteRefusedError:
        return False
    return True


def _counts(store: Store, call: Call, forgotten: Sequence[str], questions: Sequence[str]) -> Iterator[Write]:
    for reads in store.grain_reads(call.memory, forgotten).values():
        yield Remove(reads, expected=reads.rev)
    for question in questions:
        for day in store.ask_window(call.memory, question, _FIRST_DAY, _LAST_DAY):
            yield Remove(day, expected=day.rev)


def _recalls(store: Store, call: Call, forgotten: Sequence[str]) -> Iterator[Write]:
    """Single recalls that name one of them: they lose its address."""
    gone = frozenset(forgotten)
    for row in store.recall_rows(call.memory):
        if row.question in gone or not gone.isdisjoint(row.returned):
            kept = tuple(address for address in row.returned if address not in gone)
            question = None if row.question in gone else row.question
            yield Replace(replace(row, returned=kept, question=question, rev=row.rev + 1), expected=row.rev)
