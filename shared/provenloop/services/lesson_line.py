"""A line of the lesson stream under its number of the log: the rows that hold it, and by which names it is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change, LogEntry
from provenloop.domain.grain import Grain, GrainDraft
from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.lessons.card import Card, CardEvidence, LessonPlace, card_id, project_key
from provenloop.lessons.folding import Folded
from provenloop.lessons.line import Counted, Line, kept_detail
from provenloop.lessons.session import SessionBreach
from provenloop.services.call import Call
from provenloop.services.ports import Put, Write

TOPIC = "lesson"
#: What all lines have in common; the request tells them apart, so that one request is one line, whatever it says.
_DRAFT = GrainDraft("event", DEFAULT_NAMESPACE, TOPIC, "", None, {})
_REQUEST_CHARS = 16


@dataclass(frozen=True)
class LessonLine:
    """One line as ``call`` brings it; ``addresses`` are made with the memory's key."""

    call: Call
    seq: int
    line: Line
    folded: Folded
    addresses: Addresses

    @property
    def request(self) -> str:
        """What makes two sendings one line."""
        return self.call.idempotency_key or self.call.request_id

    @cached_property
    def project(self) -> str:
        """What stands for the project in keys."""
        return project_key(self.addresses, self.line.project)

    @cached_property
    def card_id(self) -> str:
        """The card that it merges into."""
        return card_id(self.addresses, self.line.project, self.folded.key)

    @cached_property
    def address(self) -> str:
        """The address of its grain."""
        return self.addresses.address(_DRAFT, (self.call.memory.name, self.call.principal.id, self.request, TOPIC))

    def writes(self, counted: Counted, card: Card | None, *, just_ready: bool = False) -> list[Write]:
        """The line in the log and in the stream, with what was made of it."""
        grain = Grain(
            address=self.address,
            kind="event",
            namespace=DEFAULT_NAMESPACE,
            body=self.line.body(card.id if card is not None else None, counted, just_ready=just_ready),
            recorded_at=self.call.now,
            last_stated_at=self.call.now,
            seq=self.seq,
            by=self.call.principal.label,
            request=self.addresses.short("request", self.call.principal.id, self.request)[:_REQUEST_CHARS],
            occurred_at=self.call.now,
            redacted=self.line.redacted,
        )
        session = self.line.session
        change = Change(
            "add",
            "event",
            self.address,
            DEFAULT_NAMESPACE,
            occurred_at=self.call.now,
            session=self.addresses.short("session", session) if session else None,
        )
        by, commit = self.call.principal.label, f"{self.call.request_id}/{self.seq}"
        entry = LogEntry(self.seq, commit, self.call.now, by, (change,), grains=1)
        return [Put(entry), Put(grain), Put(LessonPlace(self.project, self.seq, self.address))]

    def evidence(self, counted: Counted) -> CardEvidence:
        """What the card shows of the line."""
        return CardEvidence(
            card=self.card_id,
            seq=self.seq,
            lesson=self.address,
            at=self.call.now,
            source=self.line.source,
            detail=kept_detail(self.line.detail),
            counted="violation" if counted == "violation" else "report",
            signature=self.folded.evidence.signature,
            target=self.folded.evidence.target,
            session=self.line.session,
            needs_user_confirmation=self.folded.evidence.needs_user_confirmation,
        )

    def breach(self, counted: Counted) -> list[Write]:
        """That the session of the line broke the rule: it is no sample of it then."""
        if counted != "violation" or not self.line.session:
            return []
        session = self.addresses.short("session", self.line.session)
        return [Put(SessionBreach(session, self.card_id, self.seq, self.call.now))]
