"""A memory of 21 grains in which each analyzer that works without telemetry has something to find, and two have not.

It is told over HTTP as an agent would tell it, over 45 days that end at ``GOLDEN_NOW``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.functions.api import Api

#: 2026-01-15T00:00:00Z.
GOLDEN_NOW = 1_768_435_200_000
DAY_MS = 86_400_000
NAMESPACE = "agent"
MEMORY = {"memory": "golden"}
SAID = "the parcel for the north gate was left at the door of the depot"

Telling = tuple[float, dict[str, Any]]


def fact(subject: str, relation: str, value: str, **more: Any) -> dict[str, Any]:
    """A fact as it is sent."""
    return {"kind": "fact", "namespace": NAMESPACE, "subject": subject, "relation": relation, "object": value, **more}


def _days_ago(days: float) -> int:
    return GOLDEN_NOW - int(days * DAY_MS)


#: How many days before the end each is told.
TOLD: list[Telling] = [
    (45, {"kind": "goal", "namespace": NAMESPACE, "name": "answer within a day", "progress": 0.05}),
    (40, fact("acme", "tier", "Gold", tags=["crm"], source="import")),
    (30, fact("acme", "tier", "gold", tags=["mail"])),
    (20, fact("acme", "tier", "GOLD", tags=["call"])),
    (15, {"kind": "observation", "namespace": NAMESPACE, "text": f"{SAID} today"}),
    (15, {"kind": "observation", "namespace": NAMESPACE, "text": f"{SAID} today again"}),
    (12, fact("deploy", "region", "us-east-1")),
    (10, fact("sam", "lives_in", "Berlin")),
    (5, fact("sam", "lives_in", "Tokyo")),
    (3, fact("summer", "promo", "half price", valid_to=_days_ago(100))),
    (3, fact("winter", "promo", "free parcels", valid_to=_days_ago(10))),
    *(
        (2, {"kind": "tool_call", "namespace": NAMESPACE, "tool": "stripe_refund", "call_id": f"c{number}",
             "is_error": number < 5, "result": "card declined" if number < 5 else "refunded"})
        for number in range(6)
    ),
    (1, {"kind": "skill", "namespace": NAMESPACE, "name": "refunds", "practice_count": 12, "proficiency": 0.25}),
    (1, fact("kai", "prefers", "dark mode")),
]  # fmt: skip


def tell_golden(api: Api) -> None:
    """Make the memory and tell it everything; the clock stands at ``GOLDEN_NOW`` afterwards."""
    api.stack.set_clock(_days_ago(46))
    api.done("create_memory", MEMORY)
    by_day: dict[float, list[dict[str, Any]]] = {}
    for days, event in TOLD:
        by_day.setdefault(days, []).append(event)
    for days, events in by_day.items():
        api.stack.set_clock(_days_ago(days))
        told = api.done("record_events", MEMORY, {"events": events})["events"]
        if days == 12:
            _fork(api, told[0]["address"])
    api.stack.set_clock(GOLDEN_NOW)


def _fork(api: Api, address: str) -> None:
    """Two offline writers supersede one grain: the region is eu-west-1 for one, ap-south-1 for the other."""
    for days, region in ((9, "eu-west-1"), (8, "ap-south-1")):
        api.stack.set_clock(_days_ago(days))
        event = {"kind": "supersede", "target": address, "with": fact("deploy", "region", region), "allow_fork": True}
        api.done("record_events", MEMORY, {"events": [event]})


def run(api: Api, **options: Any) -> Mapping[str, Any]:
    """A pass over the memory."""
    outcome: Mapping[str, Any] = api.done("run_pass", MEMORY, options)
    return outcome
