"""A pass: in a session the scenario of a rule fired and was followed. Counted once, when the session is settled."""

from __future__ import annotations

from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.errors import BusyError, IllegalTransitionError, IntegrityError, NotFoundError, UnavailableError
from provenloop.lessons.card import card_id
from provenloop.lessons.folding import fold
from provenloop.lessons.line import Line, key_text
from provenloop.lessons.session import CardPass, SessionPass
from provenloop.services.call import Call
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.memories import require_heads
from provenloop.services.ports import Put, Require, Store, WriteRefusedError
from provenloop.services.report_lesson import DISABLED, ERROR, NOT_PERSISTED
from provenloop.services.start_session import session_key

_MAX_ROUNDS = 5


def pass_lesson(
    store: Store, call: Call, session: str, *, project: str, category: str, signature: str
) -> dict[str, Any]:
    """Take in that a rule was followed in a session.

    Returns:
        ``{ok, pass_of}``: the id of the rule, None where none is in force under that key; with ``ok`` false ``{ok,
        reason}``, a code: ``disabled``, ``rules_not_persisted`` (nothing was saved: retry), ``error``.

    Raises:
        ScopeDeniedError, NotFoundError: also for a session that was never started.
        InvalidInputError: naming the field.
        IllegalTransitionError: the session is over.
    """
    call.require("write")
    line = Line(key_text(project, "project"), key_text(category, "category"), key_text(signature, "signature"), "", "")
    try:
        in_force = settings_in_force(store, call.memory)
        if not in_force.settings.takes_reports:
            return {"ok": False, "reason": DISABLED}
        addresses = Addresses(require_heads(store, call.memory).log.key)
        card = card_id(addresses, line.project, fold(line, in_force.folds).key)
        return _saved(store, call, session_key(addresses, session, "session"), card)
    except UnavailableError:
        return {"ok": False, "reason": NOT_PERSISTED}
    except IntegrityError:
        return {"ok": False, "reason": ERROR}


def _saved(store: Store, call: Call, session: str, card_id: str) -> dict[str, Any]:
    known: set[type] = set()
    for _ in range(_MAX_ROUNDS):
        record = store.session(call.memory, session, call.now)
        if record is None:
            raise NotFoundError("no such session; start it first", field="session")
        if record.session.end is not None:
            raise IllegalTransitionError("the session is over", field="session")
        card = store.card(call.memory, card_id)
        is_rule = card is not None and card.status == "armed"
        told = {"ok": True, "pass_of": card_id if is_rule else None}
        if card is None or card_id in record.followed:
            return told
        rows: list[SessionPass | CardPass] = [CardPass(card_id, session, call.now)]
        rows += [SessionPass(session, card_id, call.now)] if is_rule else []
        missing = [Put(row) for row in rows if type(row) not in known]
        if not missing:
            return told
        try:
            lasts = Require(record.session, expected=record.session.rev)
            store.transact(call.memory, [*missing, lasts], call.now)
        except WriteRefusedError as refused:
            # What is there already was said before in this session; the rest is still to be said.
            known |= {type(failure.write.entity) for failure in refused.failures if isinstance(failure.write, Put)}
            continue
        return told
    raise BusyError("others keep moving the session; try again")
