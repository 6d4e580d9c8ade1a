"""Starting a session: the standing section, and the rules of the project that are in force.

Three reads: heads with settings, the session, the rules. The ids of the rules that are shown are stored in the
transaction that makes the session, with the instant at which it is settled in case nobody ends it. The same id again is
a resume: the same rules with what they say now, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Heads
from provenloop.domain.errors import BusyError, IntegrityError, InvalidInputError
from provenloop.domain.records import Due
from provenloop.domain.text import normalise
from provenloop.lessons.block import SECTION, block_of
from provenloop.lessons.card import Rule, project_key
from provenloop.lessons.line import key_text
from provenloop.lessons.session import RULES_A_ROW, SESSION_MS, Session, SessionRecord, rule_rows
from provenloop.lessons.settings import LessonSettings, settings_from
from provenloop.services.call import Call
from provenloop.services.card_find import cards_that_stand
from provenloop.services.declare import declare_new
from provenloop.services.memories import unknown_memory
from provenloop.services.ports import Put, Store, Write, WriteRefusedError

DUE_SESSION = "session"
MAX_SESSION_CHARS = 512
#: Rules whose ids have room in one transaction.
_MOST_RULES = 80 * RULES_A_ROW
#: Sessions that start at once collide on the memory's timer.
_MAX_ROUNDS = 12
_NOTHING: dict[str, Any] = {"section": None, "block": None, "rules": [], "left_out": 0, "resumed": False}


class Chosen(NamedTuple):
    """Rules to show, the one armed last first, and how many the project has in force."""

    shown: Sequence[Rule]
    in_force: int


class Shown(NamedTuple):
    """What a session gets to see, and the ids of the rules in it."""

    reply: dict[str, Any]
    cards: Sequence[str]


def start_session(store: Store, call: Call, session: str, project: str, parent: str | None = None) -> dict[str, Any]:
    """Start a session, or resume it.

    Args:
        session: the caller's id of it.
        parent: the session that this one works for. Such a session gets nothing, and counts as no exposure.

    Returns:
        ``{section, block, rules, left_out, resumed}``: both texts or None, the ids of the cards in the block, newest
        first, and how many rules in force are not in it.

    Raises:
        ScopeDeniedError, NotFoundError: the memory does not exist.
        InvalidInputError: naming the field; also where the session was started for another project.
        BusyError: others kept moving the memory's timer.
    """
    call.require("write")
    name = key_text(project, "project")
    for _ in range(_MAX_ROUNDS):
        opened = store.heads_and_config(call.memory)
        if opened is None:
            raise unknown_memory()
        heads, config = opened
        addresses = Addresses(heads.log.key)
        key, place = session_key(addresses, session), project_key(addresses, name)
        try:
            settings = settings_from(config.lessons)
        except IntegrityError:
            return dict(_NOTHING)
        if not settings.enabled:
            return dict(_NOTHING)
        record = store.session(call.memory, key, call.now)
        if record is not None:
            return _resumed(store, call, record, place, settings)
        shown = _shown_first(store, call, place, settings) if parent is None else Shown(dict(_NOTHING), ())
        is_child = parent is not None
        started = Session(key, name, place, call.now, heads.log.seq, is_child=is_child, rules=len(shown.cards))
        try:
            store.transact(call.memory, _writes(heads, started, shown.cards), call.now)
        except WriteRefusedError:
            continue
        return shown.reply
    raise BusyError("others keep moving the memory's timer; try again")


def session_key(addresses: Addresses, session: str, field: str = "id") -> str:
    """What stands for a caller's session id in stored keys; ``field`` is where the caller gave it.

    Raises:
        InvalidInputError: blank or too long.
    """
    if not normalise(session) or len(session) > MAX_SESSION_CHARS:
        raise InvalidInputError(f"an id of 1 to {MAX_SESSION_CHARS} characters", field=field)
    return addresses.short("session", session)


def due_of_session(session: Session) -> Due:
    """When a session is settled that nobody ends."""
    return Due(session.started_at + SESSION_MS, DUE_SESSION, session.key)


def rules_in_force(store: Store, call: Call, place: str, settings: LessonSettings) -> Chosen:
    """The rules of a project that a session gets which starts now; of none where they are not put before agents."""
    rules = store.rules(call.memory, place) if settings.injects else ()
    return Chosen(rules[: settings.max_injected_rules or None], len(rules))


def rules_of_session(store: Store, call: Call, record: SessionRecord, settings: LessonSettings) -> Chosen:
    """The rules that a session got when it started, but for those in force no more, as they are worded now."""
    known = set(record.rules)
    there = store.rules(call.memory, record.session.project_key) if settings.injects and known else ()
    gone = known.difference(rule.card for rule in there) if there else ()
    if gone:
        known.update(card.id for card in cards_that_stand(store, call.memory, gone).values())
    return Chosen([rule for rule in there if rule.card in known], len(there))


def require_project(session: Session, place: str) -> None:
    """Refuse another project (its key) than that of the session.

    Raises:
        InvalidInputError: it is another.
    """
    if session.project_key != place:
        raise InvalidInputError("this session was started for another project", field="project")


def _shown_first(store: Store, call: Call, place: str, settings: LessonSettings) -> Shown:
    return _shown(rules_in_force(store, call, place, settings), settings, is_resumed=False)


def _resumed(store: Store, call: Call, record: SessionRecord, place: str, settings: LessonSettings) -> dict[str, Any]:
    """The same rules as before."""
    if record.session.is_child:
        return {**_NOTHING, "resumed": True}
    require_project(record.session, place)
    return _shown(rules_of_session(store, call, record, settings), settings, is_resumed=True).reply


def _shown(rules: Chosen, settings: LessonSettings, *, is_resumed: bool) -> Shown:
    """What is shown of these rules."""
    chosen = list(islice(rules.shown, _MOST_RULES))
    block = block_of(rule.statement for rule in chosen)
    cards = [rule.card for rule in chosen[: block.rules if block is not None else 0]]
    reply = {
        "section": SECTION if settings.shows_section else None,
        "block": block.text if block is not None else None,
        "rules": cards,
        "left_out": rules.in_force - len(cards),
        "resumed": is_resumed,
    }
    return Shown(reply, cards)


def _writes(heads: Heads, started: Session, cards: Sequence[str]) -> list[Write]:
    rows = [Put(row) for row in rule_rows(started, cards)]
    return [Put(started), *rows, *declare_new(heads, due_of_session(started))]
