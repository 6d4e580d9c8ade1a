"""What an agent is told when it begins: the rules of its project, applied lessons, and what waits for review.

It is a read. It starts no session and counts nothing, so it stands beside starting one: who wants rules to be judged by
what happens starts the session as well. Of a session that was started the same rules are told as at its start; of any
other those that it would get if it started now.

A handful of reads, whatever the memory holds: heads with settings, the session, the rules of the project (and cards
that were merged since), the newest lessons and their facts (more of them only where some have ended), the head of the
queue. What is told of the queue is ids and figures alone: the words of a finding may come from outside, and nobody has
reviewed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from provenloop.domain.address import Addresses
from provenloop.domain.errors import IntegrityError, InvalidInputError, NotFoundError
from provenloop.domain.grain import Grain, text_of
from provenloop.lessons.card import project_key
from provenloop.lessons.context_block import DEFAULT_BUDGET, DEFAULT_LESSONS, Told, context_block, tokens_of
from provenloop.lessons.line import key_text
from provenloop.lessons.session import SessionRecord
from provenloop.lessons.settings import LessonSettings, settings_from
from provenloop.services.call import Call
from provenloop.services.memories import unknown_memory
from provenloop.services.ports import Store
from provenloop.services.start_session import Chosen, require_project, rules_in_force, rules_of_session, session_key

MAX_PENDING = 3
_NO_RULES = Chosen((), 0)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose context: that of a project, or of a session of it that was started.

    ``k`` is how many lessons there may be, ``budget`` how many tokens the block may have, as
    :func:`~provenloop.lessons.context_block.tokens_of` counts them.
    """

    project: str | None = None
    session: str | None = None
    k: int = DEFAULT_LESSONS
    budget: int = DEFAULT_BUDGET


class _Lessons(NamedTuple):
    """The newest applied lessons, and whether there are more than were asked for."""

    facts: Sequence[Grain] = ()
    more: bool = False


class _Pending(NamedTuple):
    """The first rows of the queue, and whether there are more."""

    rows: Sequence[Mapping[str, Any]] = ()
    more: bool = False


def show_context(store: Store, call: Call, asked: Asked) -> dict[str, Any]:
    """What a session of a project is told.

    Returns:
        ``{block, tokens, budget, rules, rules_left_out, lessons, more_lessons, pending, more_pending}``: the block, how
        many tokens it is taken for, and what is in it, in its order: ids of cards; ``{address, namespace,
        recommendation}`` of each lesson, those applied last first; ``{id, analyzer, severity, count}`` of what waits,
        as the queue has it. The rest tells what is not in it. A session that works for another one is told nothing.

    Raises:
        ScopeDeniedError.
        NotFoundError: no such memory; or no such session, where no project is given.
        InvalidInputError: naming the field; also where the session was started for another project.
    """
    call.require("read")
    opened = store.heads_and_config(call.memory)
    if opened is None:
        raise unknown_memory()
    heads, config = opened
    addresses = Addresses(heads.log.key)
    place = None if asked.project is None else project_key(addresses, key_text(asked.project, "project"))
    record = _session(store, call, addresses, asked.session)
    if record is not None and record.session.is_child:
        return _reply(asked, _NO_RULES, _Lessons(), _Pending())
    rules = _rules(store, call, asked, place, record, _settings(config.lessons))
    return _reply(asked, rules, _lessons(store, call, asked.k), _pending(store, call))


def _session(store: Store, call: Call, addresses: Addresses, session: str | None) -> SessionRecord | None:
    if session is None:
        return None
    return store.session(call.memory, session_key(addresses, session, "session"), call.now)


def _settings(stored: Mapping[str, Any]) -> LessonSettings | None:
    try:
        return settings_from(stored)
    except IntegrityError:
        return None


def _rules(
    store: Store,
    call: Call,
    asked: Asked,
    place: str | None,
    record: SessionRecord | None,
    settings: LessonSettings | None,
) -> Chosen:
    """The rules of the session, or of the project; none where settings cannot be read, as when a session starts."""
    if record is not None:
        require_project(record.session, place or record.session.project_key)
        return rules_of_session(store, call, record, settings) if settings is not None else _NO_RULES
    if place is None:
        if asked.session is not None:
            raise NotFoundError("no such session; start it first, or give its project", field="session")
        raise InvalidInputError("give a project, or a session that was started", field="project")
    return rules_in_force(store, call, place, settings) if settings is not None else _NO_RULES


def _lessons(store: Store, call: Call, k: int) -> _Lessons:
    """Those that are live: the index that names them may be late, the facts are not."""
    if k == 0:
        return _Lessons()
    facts: list[Grain] = []
    applied = store.applied_lessons(call.memory, k + 1)
    while names := list(islice(applied, k + 1)):
        there = store.grains(call.memory, names, call.now)
        named = (there[name] for name in names if name in there)
        facts += [fact for fact in named if fact.lesson_of is not None and fact.is_live(call.now)]
        if len(facts) > k:
            break
    return _Lessons(facts[:k], len(facts) > k)


def _pending(store: Store, call: Call) -> _Pending:
    page = store.queue(call.memory, ("pending",), limit=MAX_PENDING, cursor=None)
    return _Pending(page.rows, page.cursor is not None)


def _reply(asked: Asked, rules: Chosen, lessons: _Lessons, pending: _Pending) -> dict[str, Any]:
    told = Told(
        [rule.statement for rule in rules.shown],
        [_lesson_text(fact) for fact in lessons.facts],
        [_pending_text(row) for row in pending.rows],
    )
    block = context_block(told, asked.budget)
    return {
        "block": block.text,
        "tokens": tokens_of(block.text),
        "budget": asked.budget,
        "rules": [rule.card for rule in rules.shown[: block.rules]],
        "rules_left_out": rules.in_force - block.rules,
        "lessons": [_lesson(fact) for fact in lessons.facts[: block.lessons]],
        "more_lessons": lessons.more or block.lessons < len(lessons.facts),
        "pending": [_row(row) for row in pending.rows[: block.pending]],
        "more_pending": pending.more or block.pending < len(pending.rows),
    }


def _lesson_text(fact: Grain) -> str:
    """A lesson as it is told; of the fact only what a reviewer saw, which is its identity and never changes."""
    return f"{text_of(fact, 'subject')} fails with: {text_of(fact, 'object')}"


def _lesson(fact: Grain) -> dict[str, Any]:
    return {"address": fact.address, "namespace": fact.namespace, "recommendation": fact.lesson_of}


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "analyzer", "severity", "count")}


def _pending_text(row: Mapping[str, Any]) -> str:
    return f"{row['id']} {row['analyzer']} severity {row['severity']}, count {row['count']}"
