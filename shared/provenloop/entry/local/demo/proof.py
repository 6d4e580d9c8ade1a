"""The sixty-second proof: five failing and two good calls of one tool, and a subject that lives in two places."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import SECOND_MS, Api, People
from provenloop.entry.local.demo.checks import Checks

TOOL = "stripe_refund"
CALLS, ERRORS = 7, 5
ERROR = "Error: charge ch_3PqX{n} has already been refunded"
_KEY = "batch-1"


def prove(console: Console, checks: Checks, people: People) -> None:
    """Capture, find, decide, apply, undo, verify."""
    tables.heading(console, "1  The sixty-second proof")
    _capture(console, checks, people.agent)
    lesson, conflict = _find(console, checks, people)
    _refuse(console, checks, people, lesson)
    _apply_by_two(console, checks, people, lesson)
    _apply_and_undo(console, checks, people.reviewer, conflict)
    verified = people.reviewer.get("/audit/verify")
    tables.audit(console, verified)
    seen = (verified["ok"], verified["subjects"], verified["entries"])
    checks.equal("the audit chain of the proof holds, 7 entries of 2 subjects", seen, (True, 2, 7))


def events(now: int) -> list[dict[str, Any]]:
    """One batch, dated a second apart up to ``now`` (epoch ms): seven calls and two facts."""
    calls: list[dict[str, Any]] = [
        {"kind": "tool_call", "tool": TOOL, "is_error": n < ERRORS, "call_id": f"call-{n}",
         "result": ERROR.format(n=n) if n < ERRORS else "refunded"}
        for n in range(CALLS)
    ]  # fmt: skip
    places = [
        {"kind": "fact", "subject": "sam", "relation": "lives_in", "object": place} for place in ("Berlin", "Tokyo")
    ]
    batch = [*calls, *places]
    return [{**event, "occurred_at": now - (len(batch) - n) * SECOND_MS} for n, event in enumerate(batch)]


def _capture(console: Console, checks: Checks, agent: Api) -> None:
    batch = events(agent.now_ms)
    first = agent.record(batch, _KEY)
    stored = [answer["status"] for answer in first].count("stored")
    console.print(f"An agent sends one batch of {len(batch)} events: {stored} stored.")
    checks.need("all events of the batch are stored", stored, len(batch))
    again = agent.record(batch, _KEY)
    known = [answer["status"] for answer in again].count("duplicate")
    console.print(f"It sends the same batch again: {known} are known as duplicates, nothing is added.")
    checks.equal("a batch sent again adds nothing and says so", known, len(batch))
    addresses = [[answer["address"] for answer in answers] for answers in (first, again)]
    checks.equal("it is told the same addresses", addresses[1], addresses[0])


def _find(console: Console, checks: Checks, people: People) -> tuple[dict[str, Any], dict[str, Any]]:
    run = people.agent.run()
    tables.outcome(console, run)
    rows = people.reviewer.queue()
    kinds = [(row["analyzer"], row["severity"]) for row in rows]
    expected = [("loop.tool_failure/1", "high"), ("loop.contradiction_sweep/1", "medium")]
    checks.need("the failing tool and the contradiction are found, the graver first", kinds, expected)
    lesson, conflict = (people.reviewer.get(f"/loop/recommendations/{row['id']}") for row in rows)
    tables.findings(console, rows, {rec["id"]: len(rec["evidence"]) for rec in (lesson, conflict)})
    counted = (lesson["details"]["errors"], lesson["details"]["calls"])
    checks.equal("five of seven calls are counted as failed", counted, (ERRORS, CALLS))
    cited = [{item["body"]["result"] for item in lesson["evidence"]}, len(conflict["evidence"])]
    checks.equal(
        "each finding cites what it rests on: five errors, two facts",
        cited, [{ERROR.format(n=n) for n in range(ERRORS)}, 2],
    )  # fmt: skip
    tables.evidence(console, lesson)
    tables.proposal(console, lesson)
    gated = people.agent.run(min_new=1)
    tables.outcome(console, gated)
    seen = (gated["outcome"], gated["skip_reason"], gated["usage"])
    expected_skip = ("skipped", "gate", {"reads": 1, "writes": 0})
    checks.equal("a gated pass with nothing new is one read unit and no write", seen, expected_skip)
    return lesson, conflict


def _refuse(console: Console, checks: Checks, people: People, lesson: dict[str, Any]) -> None:
    """Who may not decide, or not yet, or gives no reason, changes nothing."""
    path = f"/loop/recommendations/{lesson['id']}"
    because = {"because": "it said so itself"}
    codes = {
        "an agent that approves": people.agent.post(f"{path}/approve", because, status=403)["code"],
        "a decision without a reason": people.reviewer.post(f"{path}/approve", {}, status=400)["code"],
        "applying what nobody approved": people.applier.post(f"{path}/apply", because, status=409)["code"],
    }
    console.print("Refused: " + ", ".join(f"{what} ({code})" for what, code in codes.items()) + ".")
    checks.equal("what is not allowed is refused with its code",
                 list(codes.values()), ["PVL-E022", "PVL-E011", "PVL-E020"])  # fmt: skip
    checks.equal("a refused decision changes nothing", people.reviewer.get(path), lesson)


def _apply_by_two(console: Console, checks: Checks, people: People, lesson: dict[str, Any]) -> None:
    path = f"/loop/recommendations/{lesson['id']}"
    seen = {"proposal_digest": lesson["proposal_digest"]}
    people.reviewer.post(f"{path}/approve", {"because": "agents should look at the charge first", **seen})
    applied = people.applier.post(f"{path}/apply", {"because": "for every agent that refunds", **seen})
    [address] = applied["created"]
    fact = people.agent.get(f"/grains/{address}")
    console.print(f"One person approves the lesson, another applies it; the agent now reads: {said_by(fact)}")
    learnt = (fact["subject"], fact["relation"], fact["live"])
    checks.equal("the lesson is a live fact of the memory", learnt, (TOOL, "fails_with", True))


def _apply_and_undo(console: Console, checks: Checks, reviewer: Api, conflict: dict[str, Any]) -> None:
    path = f"/loop/recommendations/{conflict['id']}"
    before = facts_of_sam(reviewer)
    applied = reviewer.post(f"{path}/approve-and-apply", {"because": "the later statement is right"})
    live = [fact["object"] for fact in facts_of_sam(reviewer) if fact["live"]]
    console.print(
        f"The contradiction is settled: sam lives in {', '.join(live)} ({len(applied['changed'])} grain changed)."
    )
    checks.equal("after the apply one value is live", live, ["Tokyo"])
    reviewer.post(f"{path}/rollback", {"because": "sam has two homes after all"})
    after = facts_of_sam(reviewer)
    console.print(f"And undone: sam lives in {', '.join(fact['object'] for fact in after if fact['live'])} again.")
    checks.equal("the undo restores every grain exactly", after, before)


def facts_of_sam(reviewer: Api) -> list[dict[str, Any]]:
    """What the memory holds about sam."""
    facts: list[dict[str, Any]] = reviewer.get("/entities/shared/sam")["facts"]
    return facts


def said_by(fact: dict[str, Any]) -> str:
    """A fact as one line."""
    return tables.plain(f"{fact['subject']} {fact['relation']} {fact['object']}")
