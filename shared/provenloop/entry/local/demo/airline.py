"""The same job on real transcripts: 150 runs of a customer-service agent (events/README.md says where from).

Ten of the runs come a day later than the others, so that both findings meet new evidence after they were decided.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from provenloop.adapters.transcripts.openai_chat import batches, read_runs
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import DAY_MS, Api, People
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.later import decide_and_wait

TRANSCRIPTS = Path("events") / "transcripts" / "airline-agent.jsonl"
CALLS, ERRORS = 904, 64
#: Runs that come a day later: in them four of seven changes of flights fail, and no booking on its amount.
LATER = slice(104, 114)
AMOUNTS, FLIGHTS = "book_reservation", "update_reservation_flights"
_SPACING_MS = 600_000

Batch = list[dict[str, Any]]


def learn(console: Console, checks: Checks, people: People, file: Path) -> None:
    """Ingest, find, decide both ways, wait, undo, verify."""
    tables.heading(console, "2  The same on 150 real runs of an airline's agent")
    first, later = _read(console, checks, file, people.agent.now_ms)
    _ingest(console, checks, people.agent, first)
    amounts, flights = _find(console, checks, people)
    decide_and_wait(console, checks, people, amounts, flights, later)


def _read(console: Console, checks: Checks, file: Path, now: int) -> tuple[list[Batch], list[Batch]]:
    """The requests of the runs up to ``now`` (epoch ms), and of those of the day after."""
    report = ReadReport()
    runs = file.read_text(encoding="utf-8").splitlines()
    parts = [(runs[: LATER.start] + runs[LATER.stop :], now), (runs[LATER], now + DAY_MS)]
    first, later = (
        list(batches(read_runs(part, started_at=end - len(part) * _SPACING_MS, spacing_ms=_SPACING_MS, report=report)))
        for part, end in parts
    )
    console.print(
        f"{report.runs} runs with {report.messages} messages: {report.calls} calls of {len(report.by_tool)} tools, "
        f"{report.errors} of them errors."
    )
    tables.tools(console, report)
    seen = (report.runs, report.calls, report.errors)
    checks.need("the transcripts hold 904 tool calls, 64 of them errors", seen, (150, CALLS, ERRORS))
    left_out = (report.unanswered, report.nameless, report.unreadable, report.repeated, report.malformed)
    checks.equal("the reader leaves nothing out", left_out, (0, 0, 0, 0, []))
    return first, later


def _ingest(console: Console, checks: Checks, agent: Api, requests: list[Batch]) -> None:
    stored = 0
    for batch in track(requests, "Ingesting", console=console, transient=True, disable=not console.is_terminal):
        stored += [answer["status"] for answer in agent.record(batch)].count("stored")
    console.print(f"All but ten runs come in: {stored} calls stored in {len(requests)} requests.")
    checks.need("every call is stored", stored, sum(len(batch) for batch in requests))
    again = [answer["status"] for answer in agent.record(requests[-1])]
    console.print(f"The last request comes again: {again.count('duplicate')} of {len(again)} are duplicates.")
    checks.equal("importing again adds nothing", set(again), {"duplicate"})


def _find(console: Console, checks: Checks, people: People) -> tuple[dict[str, Any], dict[str, Any]]:
    run = people.agent.run()
    tables.outcome(console, run)
    rows = people.reviewer.queue()
    by_tool = {row["details"]["tool"]: row for row in rows}
    checks.need("two tools have findings, the twelve others have none", set(by_tool), {AMOUNTS, FLIGHTS})
    amounts, flights = (
        people.reviewer.get(f"/loop/recommendations/{by_tool[tool]['id']}") for tool in (AMOUNTS, FLIGHTS)
    )
    tables.findings(console, rows, {rec["id"]: len(rec["evidence"]) for rec in (amounts, flights)})
    checks.equal("17 of 38 bookings fail in one way", _counted(amounts), (17, 38))
    checks.equal("36 of 85 changes of flights fail, in many ways together", _counted(flights), (36, 85))
    tables.evidence(console, amounts)
    tables.proposal(console, amounts)
    texts = {item["body"]["result"].partition(",")[0] for item in amounts["evidence"]}
    checks.equal("its evidence is one kind of error", texts, {"Error: payment amount does not add up"})
    return amounts, flights


def _counted(rec: dict[str, Any]) -> tuple[int, int]:
    return rec["details"]["errors"], rec["details"]["calls"]
