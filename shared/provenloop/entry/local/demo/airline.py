"""The same job on real transcripts: 150 runs of a customer-service agent (events/README.md says where from)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from provenloop.adapters.transcripts.openai_chat import batches, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import DAY_MS, Api
from provenloop.entry.local.demo.checks import Checks

TRANSCRIPTS = Path("events") / "transcripts" / "airline-agent.jsonl"
CALLS, ERRORS = 904, 64
AMOUNTS, FLIGHTS = "book_reservation", "update_reservation_flights"
_SPACING_MS = 600_000
_REJECTED_FOR_MS = 7 * DAY_MS


def learn(console: Console, checks: Checks, agent: Api, reviewer: Api, file: Path, now: int) -> None:
    """Ingest, find, decide both ways, wait, undo, verify."""
    tables.heading(console, "2  The same on 150 real runs of an airline's agent")
    report = _ingest(console, checks, agent, file, now)
    amounts, flights = _find(console, checks, agent, reviewer, report)
    lesson = _apply(console, checks, reviewer, amounts)
    _reject(console, checks, agent, reviewer, flights)
    _undo(console, checks, agent, reviewer, amounts, lesson)
    _verify(console, checks, reviewer, amounts)


def _ingest(console: Console, checks: Checks, agent: Api, file: Path, now: int) -> ReadReport:
    report = ReadReport()
    with file.open(encoding="utf-8") as lines:
        began = now - 150 * _SPACING_MS
        requests = list(batches(read_runs(lines, started_at=began, spacing_ms=_SPACING_MS, report=report)))
    stored = 0
    for batch in track(requests, "Ingesting", console=console, transient=True):
        answer = agent.post("/events", {"events": batch})
        stored += sum(event["status"] == "stored" for event in answer["events"])
    console.print(
        f"{report.runs} runs, {report.messages} messages, {report.calls} tool calls of {len(report.by_tool)} tools, "
        f"{report.errors} errors; {stored} stored in {len(requests)} requests."
    )
    checks.equal("every tool call of the transcripts is stored once", stored, CALLS)
    checks.equal("the reader tells the errors", report.errors, ERRORS)
    again = agent.post("/events", {"events": requests[0]})
    told = {event["status"] for event in again["events"]}
    checks.equal("importing again adds nothing", told, {"duplicate"})
    return report


def _find(
    console: Console, checks: Checks, agent: Api, reviewer: Api, report: ReadReport
) -> tuple[dict[str, Any], dict[str, Any]]:
    run = agent.post("/loop/run", {})
    tables.outcome(console, run)
    found = reviewer.get("/loop/recommendations")["recommendations"]
    tables.findings(console, found)
    by_tool = {row["details"]["tool"]: row for row in found}
    checks.equal("two findings, and none for any other tool", set(by_tool), {AMOUNTS, FLIGHTS})
    amounts, flights = by_tool[AMOUNTS], by_tool[FLIGHTS]
    counted = (amounts["details"]["errors"], amounts["details"]["calls"])
    checks.equal("17 of 40 bookings fail on the amount", counted, (17, report.by_tool[AMOUNTS]))
    total = (flights["details"]["errors"], flights["details"]["calls"])
    checks.equal("flight updates fail in many ways, 40 of 92 together", total, (40, report.by_tool[FLIGHTS]))
    return amounts, flights


def _apply(console: Console, checks: Checks, reviewer: Api, amounts: dict[str, Any]) -> str:
    path = f"/loop/recommendations/{amounts['id']}"
    shown = reviewer.get(path)
    tables.evidence(console, shown)
    tables.proposal(console, shown)
    texts = {item["body"]["result"][:36] for item in shown["evidence"]}
    checks.equal("its evidence is one kind of error", texts, {"Error: payment amount does not add up"[:36]})
    reviewer.post(f"{path}/approve", {"because": "the agent must add up the fare before it books"})
    applied = reviewer.post(f"{path}/apply", {"because": "lesson for every booking agent"})
    [lesson] = applied["created"]
    grain = reviewer.get(f"/grains/{lesson}")
    console.print(
        f"Applied: {tables.plain(grain['subject'])} [bold]{grain['relation']}[/] {tables.plain(grain['object'])}"
    )
    checks.equal("the lesson is a live fact of the memory", (grain["relation"], grain["live"]), ("fails_with", True))
    return str(lesson)


def _reject(console: Console, checks: Checks, agent: Api, reviewer: Api, flights: dict[str, Any]) -> None:
    path = f"/loop/recommendations/{flights['id']}"
    rejected = reviewer.post(f"{path}/reject", {"because": "sold-out flights are nobody's mistake"})
    console.print(f"Rejected the other; it stays quiet until {rejected['cooldown_until'][:10]}.")
    run = agent.post("/loop/run", {"full_sweep": True})
    tables.outcome(console, run)
    checks.equal("a rejected finding stays quiet, an applied one too", (run["stored"], run["suppressed"]), (0, 1))
    agent.later(_REJECTED_FOR_MS)
    console.print("Seven days later:")
    run = agent.post("/loop/run", {})
    tables.outcome(console, run)
    [back] = reviewer.get("/loop/recommendations")["recommendations"]
    shown = reviewer.get(f"/loop/recommendations/{back['id']}")
    console.print(f"It is proposed again as {back['id'][:8]}, citing {shown['earlier'][:8]}.")
    checks.equal("after its cooldown it comes back and cites the earlier one", shown["earlier"], flights["id"])


def _undo(console: Console, checks: Checks, agent: Api, reviewer: Api, amounts: dict[str, Any], lesson: str) -> None:
    undone = reviewer.post(
        f"/loop/recommendations/{amounts['id']}/rollback", {"because": "the fare tool adds up by itself now"}
    )
    reviewer.get(f"/grains/{lesson}", status=404)
    console.print(f"Rolled the lesson back: {len(undone['removed'])} grain removed, as if it had never been there.")
    checks.equal(
        "the undo removes the lesson and nothing else", (undone["removed"], undone["restored"]), ([lesson], [])
    )
    health = agent.get("/loop/health")
    checks.equal("nothing is lost or left over in the log", (health["holes"], health["set_aside"]), ([], []))


def _verify(console: Console, checks: Checks, reviewer: Api, amounts: dict[str, Any]) -> None:
    shown = reviewer.get(f"/loop/recommendations/{amounts['id']}")
    tables.trail(console, shown["audit"])
    steps = [entry["to"] for entry in shown["audit"]]
    checks.equal("the trail tells the whole story", steps, ["pending", "approved", "applied", "rolled_back"])
    verified = reviewer.get("/audit/verify")
    exported = reviewer.lines("/audit")
    console.print(
        f"Audit: {verified['entries']} entries of {verified['subjects']} subjects, chain holds: {verified['ok']}."
    )
    checks.true("the audit chain holds", verified["ok"], verified["break"])
    checks.equal("the export has every entry", len(exported), verified["entries"])
