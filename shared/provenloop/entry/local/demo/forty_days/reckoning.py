"""Day 40: how every change fared, the audit trail held against its anchors, and what the bus has told."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from provenloop.adapters.anchor_bucket import S3AnchorBucket
from provenloop.domain.anchor import Anchor, anchor_from
from provenloop.domain.instants import day_start_ms, utc_day
from provenloop.domain.names import MemoryId
from provenloop.entry.audit_verify import anchor_break, chain_break, read_export
from provenloop.entry.local.demo.forty_days.cast import BEGINS_AT, MEMORY, TENANT, Cast, day_of

#: What the reviewer reads of the applied changes, the latest first.
_SERIES = ("held, held, open", "open, open, open", "held, held, open", "held, held, held", "held, held, regressed")
#: How often the bus has told of each kind of event.
_TOLD = {
    "RecommendationProposed": 12,
    "RecommendationDecided": 10,
    "ChangeApplied": 7,
    "ChangeRolledBack": 2,
    "OutcomeMeasured": 10,
}
_EVENT_OF = {
    "pending": "RecommendationProposed",
    **dict.fromkeys(("approved", "rejected", "acknowledged", "snoozed"), "RecommendationDecided"),
    "applied": "ChangeApplied",
    "rolled_back": "ChangeRolledBack",
}


def reckon(cast: Cast) -> None:
    """Day 40."""
    cast.on_day(40)
    _fared(cast)
    lines = cast.reviewer.api.lines("/audit")
    _verified(cast, lines)
    _anchored(cast, lines)
    _told(cast, [json.loads(line) for line in lines])


def _fared(cast: Cast) -> None:
    outcomes = cast.reviewer.api.get("/loop/outcomes")
    checks = cast.diary.checks
    checks.equal("every change that was applied is in the report", len(outcomes["recommendations"]), len(_SERIES))
    for row, expected in zip(outcomes["recommendations"], _SERIES, strict=False):
        seen = ", ".join(point["verdict"] or "open" for point in row["series"])
        if row["verdict"] is None:
            checks.equal("what was undone at once was never measured", seen, expected)
        else:
            what = f"sees how it fared ({row['status']})"
            cast.diary.tell("reviewer", what, seen, expected, about=row["id"], status=200)
    [tools] = [row for row in outcomes["analyzers"] if row["analyzer"].startswith("loop.tool_failure/")]
    seen = f"{tools['proposed']} found, {tools['applied']} applied, {tools['reverted']} reverted"
    expected = "4 found, 2 applied, 1 reverted"
    cast.diary.tell("reviewer", "sees how lessons fared", seen, expected, status=200)


def _verified(cast: Cast, lines: list[str]) -> None:
    verified = cast.reviewer.api.get("/audit/verify")
    seen = f"{verified['entries']} of {verified['subjects']} chains, {'all hold' if verified['ok'] else 'broken'}"
    cast.diary.tell("reviewer", "verifies the audit entries", seen, "41 of 10 chains, all hold", status=200)
    cast.diary.checks.equal("the export has every entry", len(lines), verified["entries"])
    health = cast.reviewer.api.get("/loop/health")
    left = (health["holes"], health["set_aside"], health["unhandled_regressions"])
    cast.diary.checks.equal("nothing is lost, left over or unanswered", left, ([], [], []))


def _anchored(cast: Cast, lines: list[str]) -> None:
    """A chain that was cut off is whole in itself; only an anchor from outside knows."""
    s3 = cast.stack.aws.client("s3")
    [bucket] = [each["Name"] for each in s3.list_buckets()["Buckets"] if "anchor" in each["Name"]]
    anchors = tuple(anchor_from(text) for text in S3AnchorBucket(bucket, client=s3).texts(TENANT))
    seen = _judged(anchors, lines)
    cast.diary.tell("reviewer", f"holds the export against {len(anchors)} anchors", seen, "no difference")
    decided = max(lines, key=lambda line: json.loads(line)["at"])
    seen = _judged(anchors, [line for line in lines if line != decided])
    expected = "told by the anchor of day 40"
    cast.diary.tell("reviewer", "and without its last entry", seen, expected)


def _judged(anchors: tuple[Anchor, ...], lines: list[str]) -> str:
    chains, broken = read_export(lines)
    broken = broken or chain_break(chains)
    if broken is not None:
        return f"told by the chain: {broken.reason}"
    found = anchor_break(anchors, MemoryId(TENANT, MEMORY), chains, None)
    return "no difference" if found is None else f"told by the anchor of day {_day(found.date)}"


def _day(date: str) -> int:
    """The day of the story on a date."""
    return day_of(day_start_ms(date) - day_start_ms(utc_day(BEGINS_AT)) + BEGINS_AT)


def _told(cast: Cast, entries: list[dict[str, Any]]) -> None:
    cast.listen()
    events = cast.heard
    kinds = Counter(event["detail-type"] for event in events)
    checks = cast.diary.checks
    for kind, expected in _TOLD.items():
        cast.diary.tell("bus", f"has told of {kind}", f"{kinds[kind]} times", f"{expected} times")
    checks.equal("the bus tells of nothing else", set(kinds), set(_TOLD))
    steps = {entry["id"]: _event_of(entry) for entry in entries if entry["to"] != "expired"}
    told = {event["detail"]["id"]: event["detail-type"] for event in events}
    checks.equal("the bus has told of every entry that is anybody's concern", told, steps)
    checks.equal("each once", len(events), len(told))


def _event_of(entry: dict[str, Any]) -> str:
    """Which event an audit entry makes, as the README says it."""
    return "OutcomeMeasured" if "verdict" in entry["effects"] else _EVENT_OF[entry["to"]]
