"""Batches of events, sent one after the other, with what became of them counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from provenloop.client.errors import UNREACHABLE, ProvenloopError

_KEPT_REASONS: Final = 5
#: What says nothing about the events: the token, the memory, the service.
_NOT_OF_EVENTS: Final = frozenset({401, 403, 404})
_SERVERS: Final = 429


@dataclass
class Sent:
    """What became of events.

    Attributes:
        stored: events that are new.
        known: those that were there.
        ignored: those that only echo what Provenloop said itself.
        refused: those that the service does not take.
        reasons: why, of the first few.
    """

    stored: int = 0
    known: int = 0
    ignored: int = 0
    refused: int = 0
    reasons: list[str] = field(default_factory=list)

    def count(self, answers: Iterable[Mapping[str, Any]]) -> None:
        """Take in what the service answered."""
        for answer in answers:
            self.stored += answer["status"] in ("stored", "revived", "changed", "counted")
            self.known += answer["status"] in ("duplicate", "restated")
            self.ignored += answer["status"] == "ignored"


def send_all(client: Any, batches: Iterable[list[dict[str, Any]]], sent: Sent) -> None:
    """Send batches; an event that is refused costs no other.

    Raises:
        ProvenloopError: the service cannot be reached, or wants no events of this caller.
    """
    from provenloop.client.outbox import parts_without

    for batch in batches:
        waiting: deque[tuple[Mapping[str, Any], ...]] = deque([tuple(batch)])
        while waiting:
            events = waiting.popleft()
            try:
                sent.count(client.record_events(events)["events"])
            except ProvenloopError as error:
                if error.code == UNREACHABLE or error.status is None or _says_nothing_of_events(error.status):
                    raise
                parts, refused = parts_without(events, error)
                waiting.extendleft(part for part in reversed(parts) if part)
                _refuse(sent, len(refused), error)


def _says_nothing_of_events(status: int) -> bool:
    return status in _NOT_OF_EVENTS or status >= _SERVERS


def _refuse(sent: Sent, refused: int, error: ProvenloopError) -> None:
    sent.refused += refused
    if refused and len(sent.reasons) < _KEPT_REASONS:
        sent.reasons.append(f"{error.code}: {error.detail}")
