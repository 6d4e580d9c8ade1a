"""The digest of a session: a model makes candidate cards of what went wrong in it. It never arms, and breaks no rule.

Cards are stored by the ordinary report, one by one. The receipt names what is stored, and apart from it what is not.
What the call cost is one row of the ledger, also where nothing came of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import LoopError, ModelUnavailableError, NotFoundError
from provenloop.domain.grain import Grain
from provenloop.domain.ledger import DIGEST, About
from provenloop.lessons.digest import (
    INSTRUCTIONS,
    MAX_TEXTS,
    MAX_TOKENS,
    SCHEMA,
    SOURCE,
    DigestCard,
    DigestRead,
    is_negative,
    quoted,
    read_cards,
)
from provenloop.lessons.line import Line, LineEvidence
from provenloop.lessons.session import Session
from provenloop.services.call import Call
from provenloop.services.keep_ledger import count_rows, new_call_id, row_of_call
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.lessons_read import lines_at
from provenloop.services.memories import require_heads
from provenloop.services.model_port import ModelAccess, ModelAnswer, ModelOutcome, ModelRequest
from provenloop.services.ports import Put, Store, WriteRefusedError
from provenloop.services.replay import earlier_reply, replay_of
from provenloop.services.report_lesson import DISABLED, report_lesson
from provenloop.services.start_session import session_key

ROUTE = "lessons/digest"
#: How many commits back from now a session is looked for.
MAX_ENTRIES = 2_000
_PAGE = 500


@dataclass(frozen=True, slots=True)
class DigestModel:
    """Which model is asked, and how long the caller can wait at most (ms)."""

    name: str
    at_most_ms: int


def digest_lessons(store: Store, call: Call, models: ModelAccess, session: str, model: DigestModel) -> dict[str, Any]:
    """Distil a session into candidate cards.

    Returns:
        ``{ok, reason}`` where lessons are switched off; else ``{ok, saved, failed, read}``: ``saved`` are ``{lesson,
        card, candidate, ready, just_ready}`` of each card that is stored, ``failed`` ``{place, reason}`` of those that
        are not (their place in the model's list), ``read`` how many texts of the session the model was shown. Where
        nothing went wrong no model is asked.

    Raises:
        ScopeDeniedError, NotFoundError, IntegrityError, IdempotencyMismatchError.
        ModelUnavailableError: there is none, it did not answer, or what it said is no list of cards.
    """
    call.require("write")
    heads = require_heads(store, call.memory)
    settings = settings_in_force(store, call.memory).settings
    if not settings.takes_reports:
        return {"ok": False, "reason": DISABLED}
    earlier = earlier_reply(store, call, ROUTE)
    if earlier is not None:
        return earlier
    key = _key(models)
    record = store.session(call.memory, session_key(Addresses(heads.log.key), session, "session"), call.now)
    if record is None:
        raise NotFoundError("no such session; start it first", field="session")
    wrong = list(_wrong(store, call, record.session, heads.log.seq))
    if not wrong:
        return _told(store, call, {"ok": True, "saved": [], "failed": [], "read": 0})
    blocks = quoted(wrong, _known(store, call, record.session, wrong))
    timeout = min(settings.digest_timeout_ms, model.at_most_ms)
    asked = ModelRequest(model.name, INSTRUCTIONS, blocks, SCHEMA, MAX_TOKENS, timeout)
    outcome = models.provider.ask(asked, key)
    row = row_of_call(f"{new_call_id(call)}.digest", call.now, DIGEST, About(session=session), outcome, model.name)
    count_rows(store, call, models.tell_lost, [row])
    read = _read(outcome)
    saved, failed = _saved(store, call, record.session, session, read)
    return _told(store, call, {"ok": True, "saved": saved, "failed": failed, "read": len(wrong)})


def _key(models: ModelAccess) -> str:
    try:
        key = models.key()
    except LoopError as error:
        raise ModelUnavailableError("the key of the model cannot be read") from error
    if not key:
        raise ModelUnavailableError("no model is configured")
    return key


def _wrong(store: Store, call: Call, session: Session, last: int) -> Iterator[Grain]:
    """What went wrong in the session, the newest first."""
    first, found = max(session.seq, last - MAX_ENTRIES), 0
    upto = last
    while upto > first and found < MAX_TEXTS:
        after = max(first, upto - _PAGE)
        entries = store.log_entries(call.memory, after, upto)
        mine = [c for entry in reversed(entries) for c in reversed(entry.changes) if c.session == session.key]
        addresses = list(dict.fromkeys(c.address for c in mine if c.kind == "event" or c.is_error))
        grains = store.grains(call.memory, addresses, call.now)
        for grain in (grains[address] for address in addresses if address in grains):
            if found < MAX_TEXTS and is_negative(grain):
                found += 1
                yield grain
        upto = after


def _known(store: Store, call: Call, session: Session, wrong: Sequence[Grain]) -> Iterator[Grain]:
    """The newest lessons of the project, without those of the session; read as they are asked for."""
    places = store.lesson_places(call.memory, session.project_key, limit=MAX_TEXTS)
    mine = {grain.address for grain in wrong}
    others = [place for place in places if place.lesson not in mine]
    return (grain for _, grain in lines_at(store, call, others) if grain is not None and grain.is_current)


def _read(outcome: ModelOutcome) -> DigestRead:
    if not isinstance(outcome, ModelAnswer):
        raise ModelUnavailableError(f"the model gave no answer: {'timeout' if outcome.timed_out else outcome.kind}")
    read = read_cards(outcome.value)
    if read is None:
        raise ModelUnavailableError("what the model answered is no list of cards")
    return read


def _saved(
    store: Store, call: Call, kept: Session, session: str, read: DigestRead
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    saved: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = [{"place": place, "reason": "invalid"} for place in read.invalid]
    for place, card in read.cards:
        told = _reported(store, call, kept, session, card)
        if told["ok"]:
            saved.append({name: told[name] for name in ("lesson", "card", "candidate", "ready", "just_ready")})
        else:
            failed.append({"place": place, "reason": told["reason"]})
    return saved, sorted(failed, key=lambda row: int(row["place"]))


def _reported(store: Store, call: Call, kept: Session, session: str, card: DigestCard) -> dict[str, Any]:
    """Report one card. What a model says of a rule is evidence, and no violation."""
    line = Line(
        kept.project,
        card.category,
        card.signature,
        SOURCE,
        card.detail,
        statement=card.statement,
        session=session,
        evidence=LineEvidence(needs_user_confirmation=True),
    )
    own = sha256_hex(canonical_json([card.category, card.signature, card.statement, card.detail]))
    key = f"{call.idempotency_key or call.request_id}/digest/{own}"
    try:
        return report_lesson(store, replace(call, idempotency_key=key), line)
    except LoopError as error:
        return {"ok": False, "reason": error.code}


def _told(store: Store, call: Call, reply: dict[str, Any]) -> dict[str, Any]:
    """The receipt, kept for the request sent again."""
    replay = replay_of(call, ROUTE, reply)
    if replay is not None:
        try:
            store.transact(call.memory, [Put(replay)], call.now)
        except (WriteRefusedError, LoopError):
            return reply
    return reply
