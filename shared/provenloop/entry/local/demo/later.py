"""What becomes of the airline's two findings: one is applied and undone, one rejected, proposed again and closed."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import DAY_MS, Api, People
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.proof import said_by

_UNTIL_COOLED_MS = 7 * DAY_MS
#: Longer than the 30 days in which the analyzer counts.
_UNTIL_FORGOTTEN_MS = 32 * DAY_MS


def decide_and_wait(
    console: Console,
    checks: Checks,
    people: People,
    amounts: dict[str, Any],
    flights: dict[str, Any],
    later: list[list[dict[str, Any]]],
) -> None:
    """Apply one, reject the other, let time pass, undo, verify.

    Args:
        amounts: the finding to apply.
        flights: the finding to reject.
        later: the requests that come a day later.
    """
    before = held(people.reviewer, amounts)
    _apply(console, checks, people, amounts)
    _reject(console, checks, people.reviewer, flights)
    _next_day(console, checks, people, later)
    back = _after_the_cooldown(console, checks, people, flights)
    _undo(console, checks, people.reviewer, amounts, before)
    _when_the_cause_is_gone(console, checks, people, back)
    _verify(console, checks, people.reviewer, amounts)


def held(reviewer: Api, finding: dict[str, Any]) -> dict[str, Any]:
    """What the memory holds of a finding's tool and evidence, each grain as it is read."""
    cited = [reviewer.get(f"/grains/{item['address']}") for item in finding["evidence"]]
    return {"facts": facts_about(reviewer, finding), "cited": cited}


def facts_about(reviewer: Api, finding: dict[str, Any]) -> list[dict[str, Any]]:
    """The facts about a finding's tool."""
    facts: list[dict[str, Any]] = reviewer.get(f"/entities/shared/{finding['details']['tool']}")["facts"]
    return facts


def _apply(console: Console, checks: Checks, people: People, amounts: dict[str, Any]) -> None:
    path = f"/loop/recommendations/{amounts['id']}"
    people.reviewer.post(f"{path}/approve", {"because": "the agent must add up the fare before it books"})
    applied = people.applier.post(f"{path}/apply", {"because": "a lesson for every agent that books"})
    [lesson] = applied["created"]
    fact = people.agent.get(f"/grains/{lesson}")
    console.print(f"{tables.short(amounts['id'])} is approved and applied: {said_by(fact)}")
    learnt = facts_about(people.reviewer, amounts)
    checks.equal("the lesson is the one fact about the tool", learnt, [fact])


def _reject(console: Console, checks: Checks, reviewer: Api, flights: dict[str, Any]) -> None:
    because = "sold-out flights are nobody's mistake"
    rejected = reviewer.post(f"/loop/recommendations/{flights['id']}/reject", {"because": because})
    until = rejected["cooldown_until"][:10]
    console.print(f"{tables.short(flights['id'])} is rejected ({because}); it stays quiet until {until}.")
    checks.equal("a rejected finding is quiet for a week", until, "2027-01-22")
    checks.equal("nothing is pending any more", reviewer.queue(), [])


def _next_day(console: Console, checks: Checks, people: People, later: list[list[dict[str, Any]]]) -> None:
    people.agent.later(DAY_MS)
    answers = [answer["status"] for batch in later for answer in people.agent.record(batch)]
    console.print(f"[bold]A day later[/] the other ten runs come in: {answers.count('stored')} calls stored.")
    checks.need("every call is stored, now all of them", set(answers), {"stored"})
    run = people.agent.run()
    tables.outcome(console, run)
    seen = (run["new_error_events"], run["stored"], run["suppressed"])
    checks.equal("new calls bring back neither the rejected finding nor the applied one", seen, (5, 0, 1))
    checks.equal("nothing is pending", people.reviewer.queue(), [])


def _after_the_cooldown(console: Console, checks: Checks, people: People, flights: dict[str, Any]) -> dict[str, Any]:
    people.agent.later(_UNTIL_COOLED_MS)
    console.print("[bold]Eight days after the decisions[/] the cooldown is over:")
    run = people.agent.run()
    tables.outcome(console, run)
    rows = people.reviewer.queue()
    tools = [row["details"]["tool"] for row in rows]
    checks.need(
        "after its cooldown the rejected one is back, the applied one stays quiet", tools, [flights["details"]["tool"]]
    )
    back: dict[str, Any] = people.reviewer.get(f"/loop/recommendations/{rows[0]['id']}")
    tables.findings(console, rows, {back["id"]: len(back["evidence"])})
    console.print(f"It cites the one that was rejected before: {tables.short(back['earlier'])}.")
    checks.equal("it cites the earlier one", back["earlier"], flights["id"])
    counted = (back["details"]["errors"], back["details"]["calls"])
    checks.equal("it counts the calls of the later runs as well", counted, (40, 92))
    return back


def _undo(console: Console, checks: Checks, reviewer: Api, amounts: dict[str, Any], before: dict[str, Any]) -> None:
    undone = reviewer.post(
        f"/loop/recommendations/{amounts['id']}/rollback", {"because": "the fare tool adds up by itself now"}
    )
    after = held(reviewer, amounts)
    [lesson] = undone["removed"]
    reviewer.get(f"/grains/{lesson}", status=404)
    console.print(
        f"The lesson is undone: {len(undone['removed'])} grain removed; {len(after['cited'])} cited grains and "
        f"what is known about {amounts['details']['tool']} read as before."
    )
    checks.equal("the undo leaves every grain as it was before the apply", after, before)


def _when_the_cause_is_gone(console: Console, checks: Checks, people: People, back: dict[str, Any]) -> None:
    people.agent.later(_UNTIL_FORGOTTEN_MS)
    console.print("[bold]A month later[/] no call is within the 30 days that count:")
    run = people.agent.run()
    tables.outcome(console, run)
    closed = people.reviewer.get(f"/loop/recommendations/{back['id']}")
    console.print(f"{tables.short(back['id'])}, that nobody decided, is {closed['status']}: {closed['reason']}.")
    seen = (closed["status"], closed["reason"], people.reviewer.queue())
    checks.equal("a finding whose cause is gone is closed, none comes back", seen, ("expired", "resolved", []))


def _verify(console: Console, checks: Checks, reviewer: Api, amounts: dict[str, Any]) -> None:
    shown = reviewer.get(f"/loop/recommendations/{amounts['id']}")
    tables.trail(console, shown["audit"])
    steps = [entry["effects"].get("verdict", entry["to"]) for entry in shown["audit"]]
    told = ["pending", "approved", "applied", "held", "held", "rolled_back"]
    checks.equal("the trail tells the whole story", steps, told)
    reasons = [entry.get("because_verified") for entry in shown["audit"] if entry.get("because")]
    checks.equal("every decision's reason is the one that was hashed", reasons, [True, True, True])
    verified = reviewer.get("/audit/verify")
    tables.audit(console, verified)
    seen = (verified["ok"], verified["subjects"], verified["entries"])
    checks.equal("the audit chain holds, 10 entries of 3 subjects", seen, (True, 3, 10))
    checks.equal("the export has every entry", len(reviewer.lines("/audit")), verified["entries"])
    health = reviewer.get("/loop/health")
    checks.equal("nothing is lost or left over in the log", (health["holes"], health["set_aside"]), ([], []))
