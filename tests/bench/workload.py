"""What the benchmarks do to a memory: twenty events that every analyzer has something to do with, and other grains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from provenloop.domain.events import (
    Event,
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    ToolCallEvent,
)
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.use_events import AssemblyReport, RecallReport, Report
from tests.scenario.world import NOW

_GOODS = (
    "paper glass iron copper timber cotton rubber coffee sugar barley marble leather canvas amber silver linen cement "
    "pepper saffron walnut"
).split()
_KINDS: tuple[GrainKind, ...] = ("fact", "observation")


def twenty_events(number: int) -> Sequence[Event | Report]:
    """Twenty events; each time about other things, but for one tool and one question."""
    name = f"thing {number}"
    text = f"the crate of {_GOODS[number % 20]} and {_GOODS[(number + 7) % 20]} was left at the door of the depot"
    return [
        *(_failing(10 * number + place) for place in range(5)),
        *(FactEvent("shared", f"{name} {place}", "lives_in", "Berlin") for place in range(3)),
        *(FactEvent("shared", f"{name} 0", "lives_in", town) for town in ("Tokyo", "TOKYO")),
        FactEvent("shared", name, "code", "x", valid_to=NOW - 1),
        ObservationEvent("shared", text),
        ObservationEvent("shared", f"{text} today"),
        SkillEvent("shared", name, proficiency=0.1, practice_count=9),
        GoalEvent("shared", name),
        FreeEvent("shared", {"note": name}),
        *(RecallReport("shared", question="where is the archive?") for _ in range(3)),
        AssemblyReport("shared", 10, 10, 1),
        ToolCallEvent("shared", "search", False, "done"),
    ]


def _failing(number: int) -> ToolCallEvent:
    return ToolCallEvent("shared", "search", True, "no such index", call_id=f"call {number}", occurred_at=NOW - 1000)


def other_grains(start: int, count: int) -> Iterator[Grain]:
    """Facts and observations of other things, each in a cluster of its own."""
    for number in range(start, start + count):
        address = sha256(str(number).encode()).hexdigest()
        body = {"subject": f"s{number}", "relation": "likes", "object": "tea", "text": f"note {number}"}
        yield Grain(address, _KINDS[number % 2], "shared", body, NOW, NOW, 1, "agent")
