"""What a pass does about lessons: sessions that nobody ended, judgements that are due, cards that became one or ready.

What there is no time for stays due; what cannot be done now is declared due again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenloop.domain.errors import LoopError
from provenloop.domain.records import Due
from provenloop.lessons.session import SESSION_MS, SessionEnd
from provenloop.services.call import Call
from provenloop.services.examine import RETRY_MS, Examining
from provenloop.services.judge_cards import DUE_JUDGEMENT, judge_cards
from provenloop.services.lesson_settings import settings_if_readable
from provenloop.services.migrate_cards import DUE_MIGRATION, migrate_quietly
from provenloop.services.ports import Store
from provenloop.services.ready_cards import DUE_READINESS, make_ready
from provenloop.services.settle_session import settle
from provenloop.services.start_session import DUE_SESSION


def learn_due(store: Store, call: Call, due: Sequence[Due], examining: Examining) -> list[Due]:
    """Settle and judge; the rows that are dealt with, whatever they are about.

    Args:
        due: instants that have come, earliest first.
    """
    return [row for row in due if _is_dealt_with(store, call, row, examining)]


def _is_dealt_with(store: Store, call: Call, row: Due, examining: Examining) -> bool:
    """False for what there is no time for."""
    work: dict[str, Callable[[], Due | None]] = {
        DUE_SESSION: lambda: _settled(store, call, row, examining),
        DUE_JUDGEMENT: lambda: _judged(store, call, row, examining),
        DUE_MIGRATION: lambda: None if _merged(store, call, examining) else row,
        DUE_READINESS: lambda: None if make_ready(store, call, examining.spent) else row,
    }
    if row.what not in work:
        return True
    if examining.spent():
        examining.is_cut_short = True
        return False
    following: Due | None = Due(call.now + RETRY_MS, row.what, row.ref)
    try:
        following = work[row.what]()
    except LoopError as error:
        examining.report(row.what, error)
    if following == row:
        examining.is_cut_short = True
        return False
    if following is not None:
        examining.planted[following] = None
    return True


def _merged(store: Store, call: Call, examining: Examining) -> bool:
    return migrate_quietly(store, call, examining.spent) and make_ready(store, call, examining.spent)


def _settled(store: Store, call: Call, row: Due, examining: Examining) -> Due | None:
    """Settle a session; the row itself where there was not enough time."""
    record = store.session(call.memory, row.ref, call.now)
    if record is None or record.session.settled_at is not None:
        return None
    in_force = settings_if_readable(store, call.memory)
    if in_force is None:
        return Due(call.now + SESSION_MS, row.what, row.ref)
    end: SessionEnd = "forgotten" if in_force.settings.enabled else "uncounted"
    session = settle(store, call.memory, record, end, call.now, examining.spent)
    return row if session.settled_at is None else None


def _judged(store: Store, call: Call, row: Due, examining: Examining) -> Due | None:
    judged = judge_cards(store, call, row.ref, examining.spent)
    if judged.again is not None and judged.again.ref and judged.again.due_at == call.now:
        examining.is_cut_short = True
    return judged.again
