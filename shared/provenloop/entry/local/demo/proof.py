"""The sixty-second proof: five failing and two good calls of one tool, and a subject that lives in two places."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import Api
from provenloop.entry.local.demo.checks import Checks

TOOL = "stripe_refund"
#: Where sam was said to live, and when: which of two values is the latest must not be left to chance.
HOMES = (("Berlin", "2026-11-02T09:00:00Z"), ("Tokyo", "2027-01-11T09:00:00Z"))
ERROR = "Error: charge ch_3PqX{n} has already been refunded"


def prove(console: Console, checks: Checks, agent: Api, reviewer: Api) -> None:
    """Capture, find, decide, apply, undo, verify."""
    tables.heading(console, "1  The sixty-second proof")
    _capture(console, checks, agent)
    found = _find(console, checks, agent, reviewer)
    _decide(console, checks, reviewer, found)
    _verify(console, checks, reviewer)


def events() -> list[dict[str, Any]]:
    """One batch: seven calls and two facts."""
    calls: list[dict[str, Any]] = [
        {"kind": "tool_call", "tool": TOOL, "is_error": n < 5, "call_id": f"call-{n}",
         "result": ERROR.format(n=n) if n < 5 else "refunded"}
        for n in range(7)
    ]  # fmt: skip
    places = [
        {"kind": "fact", "subject": "sam", "relation": "lives_in", "object": place, "occurred_at": since}
        for place, since in HOMES
    ]
    return [*calls, *places]


def _capture(console: Console, checks: Checks, agent: Api) -> None:
    batch = events()
    first = agent.post("/events", {"events": batch})
    stored = [answer["status"] for answer in first["events"]].count("stored")
    console.print(f"An agent sends one batch of {len(batch)} events: {stored} stored.")
    checks.equal("all events of the batch are stored", stored, len(batch))
    again = agent.post("/events", {"events": batch[:7]})
    duplicates = [answer["status"] for answer in again["events"]].count("duplicate")
    console.print(f"It sends the seven calls again: {duplicates} are known as duplicates, nothing is added.")
    checks.equal("calls sent again are told as duplicates", duplicates, 7)


def _find(console: Console, checks: Checks, agent: Api, reviewer: Api) -> list[dict[str, Any]]:
    run = agent.post("/loop/run", {})
    tables.outcome(console, run)
    found: list[dict[str, Any]] = reviewer.get("/loop/recommendations")["recommendations"]
    tables.findings(console, found)
    kinds = [(row["analyzer"], row["severity"]) for row in found]
    expected = [("loop.tool_failure/1", "high"), ("loop.contradiction_sweep/1", "medium")]
    checks.equal("the failing tool and the contradiction are found, the graver first", kinds, expected)
    checks.equal("five of seven calls are counted", found[0]["details"]["errors"], 5)
    gated = agent.post("/loop/run", {"min_new": 1})
    tables.outcome(console, gated)
    checks.equal(
        "a gated pass with nothing new is one read unit and no write", gated["usage"], {"reads": 1, "writes": 0}
    )
    return found


def _decide(console: Console, checks: Checks, reviewer: Api, found: list[dict[str, Any]]) -> None:
    lesson, conflict = found
    shown = reviewer.get(f"/loop/recommendations/{lesson['id']}")
    tables.evidence(console, shown)
    tables.proposal(console, shown)
    checks.equal("the lesson cites the five failed calls", len(shown["evidence"]), 5)
    reviewer.post(
        f"/loop/recommendations/{lesson['id']}/approve-and-apply", {"because": "agents should check the charge first"}
    )
    before = facts_of_sam(reviewer)
    path = f"/loop/recommendations/{conflict['id']}"
    reviewer.post(f"{path}/approve", {"because": "the later statement is right"})
    applied = reviewer.post(f"{path}/apply", {"because": "one home is enough"})
    live = [fact["object"] for fact in facts_of_sam(reviewer) if fact["live"]]
    console.print(f"Applied both. sam now lives in: {', '.join(live)} ({len(applied['changed'])} grain superseded).")
    checks.equal("after the apply one value is live", live, ["Tokyo"])
    reviewer.post(f"{path}/rollback", {"because": "sam has two homes after all"})
    after = facts_of_sam(reviewer)
    console.print(f"Rolled the second back. sam again lives in: {', '.join(fact['object'] for fact in after)}.")
    checks.equal("the undo restores every grain exactly", after, before)


def facts_of_sam(reviewer: Api) -> list[dict[str, Any]]:
    """What the memory holds about sam."""
    facts: list[dict[str, Any]] = reviewer.get("/entities/shared/sam")["facts"]
    return facts


def _verify(console: Console, checks: Checks, reviewer: Api) -> None:
    verified = reviewer.get("/audit/verify")
    console.print(
        f"Audit: {verified['entries']} entries of {verified['subjects']} subjects, chain holds: {verified['ok']}."
    )
    checks.equal("the audit chain of the proof holds", (verified["ok"], verified["entries"]), (True, 7))
