"""Reporting a lesson: one number of the log, then one transaction of the line, its log entry and its card.

The line becomes a grain of the stream, and merges into the card of its key. Counters are additions; which side of a
threshold a card is on is a condition of the write, so that of any number of reporters just one makes it ready. Where
the card has moved meanwhile, the refusal shows it as it is, and the transaction is built anew under the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.canonical import canonical_json
from provenloop.domain.commit import LogEntry, LogHead
from provenloop.domain.errors import BusyError, IdempotencyMismatchError, IntegrityError, LoopError, UnavailableError
from provenloop.domain.grain import Grain
from provenloop.lessons.card import Card, Counter, counting
from provenloop.lessons.folding import Folded, fold
from provenloop.lessons.judgement import is_ready
from provenloop.lessons.line import Counted, Line, checked, is_lesson, same_line
from provenloop.services.call import Call
from provenloop.services.card_chain import chained, put_as_ready, step_of_engine
from provenloop.services.card_count import Count
from provenloop.services.card_counts import side_of, trim_evidence
from provenloop.services.lesson_line import LessonLine
from provenloop.services.lesson_number import lesson_given_back_if_refused, reserve_for_lesson
from provenloop.services.lesson_settings import InForce, settings_in_force
from provenloop.services.ports import Failure, Put, Store, Write, WriteRefusedError

DISABLED, NOT_PERSISTED, ERROR = "disabled", "rules_not_persisted", "error"
_MAX_ROUNDS = 12
#: Reporters of one card collide on it, so each is sent more often than other transactions.
_TRIES = 16


@dataclass(frozen=True, slots=True)
class _Stored:
    """What a line became. ``card`` is the card as it was read, before the line."""

    writes: Sequence[Write]
    card: Card | None
    reply: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """The applied recommendation that a person offers as a card, and why."""

    recommendation: str
    because: str


def report_lesson(store: Store, call: Call, line: Line) -> dict[str, Any]:
    """Append a line to the lesson stream and merge it into its card.

    Returns:
        ``{ok, ...}``. With ``ok`` false ``reason`` is a code (``disabled``, ``rules_not_persisted``: nothing was saved,
        retry; ``error``) and nothing else is given. Else ``lesson`` is the line's address and ``seq`` its commit;
        ``source`` as it was kept; ``card`` the card's id and ``violation_of`` the same where the line breaks a rule
        (both None of a fault of the environment); ``candidate`` whether the card is one, ``ready`` whether it waits for
        review, ``just_ready`` whether this line made it so.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError, IdempotencyMismatchError: nothing was saved.
        TooLargeError: a detail of over 200 KB, or no room under ``max_lessons_bytes``.
    """
    call.require("write")
    return take_in(store, call, line)


def take_in(store: Store, call: Call, line: Line, offer: Offer | None = None) -> dict[str, Any]:
    """Store a line that the caller may bring; see :func:`report_lesson`.

    Args:
        offer: where the line comes from a recommendation; then that stands on the card's chain.
    """
    kept = checked(line)
    try:
        in_force = settings_in_force(store, call.memory)
        if not in_force.settings.takes_reports:
            return {"ok": False, "reason": DISABLED}
        return _saved(store, call, kept, in_force, offer)
    except UnavailableError:
        return {"ok": False, "reason": NOT_PERSISTED}
    except IntegrityError:
        return {"ok": False, "reason": ERROR}


def _saved(store: Store, call: Call, line: Line, in_force: InForce, offer: Offer | None) -> dict[str, Any]:
    size = len(canonical_json(line.body(None, "report", just_ready=False)).encode())
    for _ in range(_MAX_ROUNDS):
        head = reserve_for_lesson(store, call, size, in_force.settings)
        with lesson_given_back_if_refused(store, call, head.seq, size):
            folded = fold(line, in_force.folds)
            reporting = _Reporting(store, call, head, line, folded, in_force, offer)
            reply = reporting.commit()
        if reply is None or reply["seq"] != head.seq:
            store.give_back_lesson(call.memory, size)
        if reply is not None:
            return reply
    raise BusyError("other writers keep taking the same numbers; try again")


class _Reporting:
    """One line under one number of the log, on its way into a transaction."""

    def __init__(
        self,
        store: Store,
        call: Call,
        head: LogHead,
        line: Line,
        folded: Folded,
        in_force: InForce,
        offer: Offer | None,
    ) -> None:
        self._store, self._call, self._seq, self._settings = store, call, head.seq, in_force.settings
        self._line, self._folded, self._offer = line, folded, offer
        self._stream = LessonLine(call, head.seq, line, folded, Addresses(head.key))
        self._card_id, self._address = self._stream.card_id, self._stream.address
        self._in_force = in_force
        self._is_no_rule = self._card_id in in_force.not_rules

    def commit(self) -> dict[str, Any] | None:
        """The reply once the line is stored; None where its number was taken and a new one is needed."""
        is_environment = self._line.kind is not None
        card = None if is_environment else self._store.card(self._call.memory, self._card_id)
        for _ in range(_MAX_ROUNDS):
            stored = self._stored(None) if is_environment else self._stored(card)
            try:
                self._store.transact(self._call.memory, stored.writes, self._call.now, tries=_TRIES)
            except WriteRefusedError as refused:
                earlier = self._earlier(refused.failures)
                if earlier is not None:
                    return earlier
                if any(_is_entry(failure) for failure in refused.failures):
                    return None
                card = None if is_environment else self._store.card(self._call.memory, self._card_id)
                continue
            trim_evidence(self._store, self._call, stored.card)
            return stored.reply
        raise BusyError("other reporters keep moving the same card; try again")

    def _earlier(self, failures: Sequence[Failure]) -> dict[str, Any] | None:
        """The reply that this very line was given before, where it is stored already.

        Raises:
            IdempotencyMismatchError: the same request came with another line before.
        """
        found = next((failure.found for failure in failures if isinstance(failure.found, Grain)), None)
        if found is None:
            return None
        if found.seq != self._seq:
            self._close_number()
        if not is_lesson(found):
            return {**self._reply(found.seq, None, "report"), "ready": False}
        if not same_line(found.body, self._line.body(None, "report", just_ready=False)):
            raise IdempotencyMismatchError("this Idempotency-Key was used with another body")
        names = found.body["lesson"]
        card = self._store.card(self._call.memory, names["card"]) if "card" in names else None
        return self._reply(found.seq, card, names["counted"], just_ready="just_ready" in names)

    def _close_number(self) -> None:
        """Leaves an empty entry under a number that is not needed; where that fails, it is a hole like any other."""
        with suppress(WriteRefusedError, LoopError):
            entry = LogEntry(self._seq, "", self._call.now, self._call.principal.label)
            self._store.transact(self._call.memory, [Put(entry)], self._call.now)

    def _stored(self, card: Card | None) -> _Stored:
        counted = self._counted(card)
        if counted == "environment":
            return _Stored(self._stream.writes(counted, None), None, self._reply(self._seq, None, counted))
        after, just_ready, writes = self._merged(card, counted)
        lines = self._stream.writes(counted, after, just_ready=just_ready)
        reply = self._reply(self._seq, after, counted, just_ready=just_ready)
        own = [Put(self._stream.evidence(counted)), *self._stream.breach(counted)]
        if self._offer is not None and not just_ready:
            told = {"action": "offer", **self._offered()}
            own += chained(self._store, self._call, after, after, told, self._offer.because).writes
        return _Stored([*lines, *writes, *own], card, reply)

    def _offered(self) -> dict[str, str]:
        """What an entry on the card's chain says of an offer."""
        return {"recommendation": self._offer.recommendation} if self._offer is not None else {}

    def _counted(self, card: Card | None) -> Counted:
        if self._line.kind is not None:
            return "environment"
        is_armed = card is not None and card.status == "armed"
        return "violation" if is_armed and not self._line.evidence.needs_user_confirmation else "report"

    def _merged(self, card: Card | None, counted: Counted) -> tuple[Card, bool, Sequence[Write]]:
        """The card with the line, whether it was made ready by it, and what that writes."""
        if card is None:
            return self._new_card()
        suggests = self._line.statement is not None and card.suggestion is None
        told = replace(card, suggestion=self._line.statement, suggested_by=self._address) if suggests else card
        add: dict[Counter, int] = {
            "reports": 1,
            "violations": int(counted == "violation"),
            "since_rejection": int(card.status == "rejected"),
        }
        told = replace(counting(told, add), last_at=self._call.now)
        step = self._in_force.step_due(told)
        within = () if self._is_no_rule else side_of(card, self._settings)
        count = Count(told, card.rev, add=add, within=within, last_at=told.last_at, suggests=suggests)
        if step is None:
            return told, False, [count]
        moved = step_of_engine(self._store, self._call, told, step, count, {"reason": step, **self._offered()})
        return moved.card, True, moved.writes

    def _new_card(self) -> tuple[Card, bool, Sequence[Write]]:
        now, line = self._call.now, self._line
        card = Card(
            id=self._card_id,
            project=line.project,
            project_key=self._stream.project,
            category=self._folded.key.category,
            signature=self._folded.key.signature,
            created_at=now,
            reports=1,
            last_at=now,
            suggestion=line.statement,
            suggested_by=self._address if line.statement is not None else None,
        )
        if self._settings.promote_threshold > 1 or self._is_no_rule:
            return card, False, [Put(card)]
        step = put_as_ready(
            self._store, self._call, replace(card, ready_at=now), {"reason": "ready", **self._offered()}
        )
        return step.card, True, step.writes

    def _reply(self, seq: int, card: Card | None, counted: Counted, *, just_ready: bool = False) -> dict[str, Any]:
        known = card.id if card is not None else None
        return {
            "ok": True,
            "lesson": self._address,
            "seq": seq,
            "source": self._line.source,
            "card": known,
            "violation_of": known if counted == "violation" else None,
            "candidate": card is not None and card.status == "candidate",
            "ready": card is not None and is_ready(card) and not self._is_no_rule,
            "just_ready": just_ready,
        }


def _is_entry(failure: Failure) -> bool:
    return isinstance(failure.write, Put) and isinstance(failure.write.entity, LogEntry)
