"""Settling a session: what was followed counts as suppressed, and what was there and not broken as a sample; once.

First it is written that the session is over: from then on no more passes are taken. Then its cards are counted, 45 in a
transaction that also moves the session's place in its list. So whatever crashes, or comes twice, nothing counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.errors import BusyError, NotFoundError
from provenloop.domain.names import MemoryId
from provenloop.lessons.card import Card
from provenloop.lessons.session import SETTLED_AT_ONCE, Counted, Session, SessionEnd, SessionRecord, counted_of
from provenloop.services.call import Call, never_spent
from provenloop.services.card_count import Count
from provenloop.services.card_find import cards_that_stand
from provenloop.services.judge_cards import judgement_wanted
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.memories import require_heads
from provenloop.services.ports import Remove, Replace, Store, Write, WriteRefusedError
from provenloop.services.report_lesson import DISABLED
from provenloop.services.start_session import due_of_session, session_key

_MAX_ROUNDS = 12


def end_session(store: Store, call: Call, session: str) -> dict[str, Any]:
    """End a session. Told again, it changes nothing and answers the same.

    Returns:
        ``{ok, reason}`` where lessons are switched off, and nothing is counted; else ``{ok, suppressed, samples,
        repeated}``: how many rules were followed, how many were there and not broken, and whether it was settled
        before.

    Raises:
        ScopeDeniedError, NotFoundError, IntegrityError.
        BusyError: others kept moving its cards; telling it again goes on.
    """
    call.require("write")
    addresses = Addresses(require_heads(store, call.memory).log.key)
    key = session_key(addresses, session)
    if not settings_in_force(store, call.memory).settings.enabled:
        return {"ok": False, "reason": DISABLED}
    record = store.session(call.memory, key, call.now)
    if record is None:
        raise NotFoundError("no such session; start it first", field="id")
    if record.session.settled_at is not None:
        return _answer(record.session, is_repeated=True)
    settled = settle(store, call.memory, record, "ended", call.now, never_spent)
    return _answer(settled, is_repeated=False)


def settle(
    store: Store, memory: MemoryId, record: SessionRecord, end: SessionEnd, now: int, spent: Callable[[], bool]
) -> Session:
    """Settle a session, or go on with it; the session as it is then.

    Args:
        end: how it ended, unless that is known already.
        spent: whether there is no time left; it is settled later then.

    Raises:
        BusyError: others kept moving its cards.
    """
    refusals = 0
    current: SessionRecord | None = record
    while current is not None and current.session.settled_at is None and not spent():
        try:
            is_over = current.session.end is not None
            writes = _chunk(store, memory, current, now) if is_over else _over(current.session, end, now)
            store.transact(memory, writes, now)
        except WriteRefusedError as refused:
            refusals += 1
            if refusals >= _MAX_ROUNDS:
                raise BusyError("others keep moving the cards of this session; try again") from refused
        # What was followed up to the end is known only once no more is taken.
        current = store.session(memory, record.session.key, now)
    return current.session if current is not None else record.session


def _over(session: Session, end: SessionEnd, now: int) -> list[Write]:
    return [Replace(replace(session, end=end, ended_at=now, rev=session.rev + 1), expected=session.rev)]


def _chunk(store: Store, memory: MemoryId, record: SessionRecord, now: int) -> list[Write]:
    """The next cards of the list, and how far it is counted then."""
    session = record.session
    places = record.places if session.end != "uncounted" else []
    upto = min(session.settled + SETTLED_AT_ONCE, len(places))
    counts = _by_card(store, memory, record, upto) if places else {}
    moved = replace(
        session,
        settled=upto,
        suppressed=session.suppressed + sum(counted.suppressed for _, counted in counts.values()),
        samples=session.samples + sum(counted.samples for _, counted in counts.values()),
        rev=session.rev + 1,
    )
    writes = [_count(card, counted, now) for card, counted in counts.values() if any(counted)]
    if moved.settled < len(places):
        return [Replace(moved, expected=session.rev), *writes]
    done = replace(moved, settled_at=now)
    wanted = judgement_wanted(store, memory, now) if places else []
    return [Replace(done, expected=session.rev), Remove(due_of_session(session)), *writes, *wanted]


def _by_card(store: Store, memory: MemoryId, record: SessionRecord, upto: int) -> Mapping[str, tuple[Card, Counted]]:
    """What is counted of the cards of the next places, up to ``upto``.

    Cards that became one are counted as one, at the first of their places: whenever they were merged, before the
    session's end or between two of its transactions, a session counts once.
    """
    standing = cards_that_stand(store, memory, {*record.places, *record.broken})
    names: dict[str, set[str]] = {}
    for name, card in standing.items():
        names.setdefault(card.id, set()).add(name)
    firsts: dict[str, int] = {}
    for index, place in enumerate(record.places):
        if place in standing:
            firsts.setdefault(standing[place].id, index)
    return {
        card: (standing[record.places[index]], counted_of(record, names[card]))
        for card, index in firsts.items()
        if record.session.settled <= index < upto
    }


def _count(card: Card, counted: Counted, now: int) -> Count:
    add: dict[Any, int] = {"suppressed": counted.suppressed, "samples": counted.samples}
    return Count(card, card.rev, add=add, clean_at=now if counted.suppressed else None)


def _answer(session: Session, *, is_repeated: bool) -> dict[str, Any]:
    return {
        "ok": True,
        "suppressed": session.suppressed,
        "samples": session.samples,
        "repeated": is_repeated,
    }
