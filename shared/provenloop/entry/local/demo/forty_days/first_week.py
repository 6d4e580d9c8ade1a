"""Days 0 to 8: history comes in, findings are decided in every way, and what was rejected comes back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from provenloop.domain.instants import format_instant
from provenloop.entry.local.demo.api import DAY_MS
from provenloop.entry.local.demo.forty_days import history
from provenloop.entry.local.demo.forty_days.cast import BEGINS_AT, MEMORY, Cast
from provenloop.entry.local.demo.forty_days.history import INVOICE, LOOKUP

WAKES_ON = 10
_HOUR_MS = 3_600_000


@dataclass
class Findings:
    """Ids of the recommendations that the story is about."""

    lesson: str
    invoices: str
    skill: str
    plans: str
    notice: str


def first_week(cast: Cast) -> Findings:
    """Days 0 to 8; what was found."""
    found = _found(cast)
    _refused(cast, found)
    _decided(cast, found)
    _changed_meanwhile(cast, found)
    _measured(cast, found)
    _removed(cast, found)
    _kept_quiet(cast)
    _back(cast, found)
    return found


def _found(cast: Cast) -> Findings:
    cast.on_day(0)
    now = cast.triage.api.now_ms
    cast.triage.sends("sends what it has done and learnt", history.of_triage(now), "10 stored")
    batch = history.of_billing(now)
    cast.billing.sends("sends its own", batch, "10 stored", "history")
    cast.billing.sends("sends that once more", batch, "10 duplicate", "history")
    cast.triage.runs("5 stored", "asks for a pass")
    found = cast.findings("tool_failure", "tool_failure", "skill_stall", "contradiction_sweep", "staleness")
    lesson, invoices, skill, plans, notice = found
    cast.tells_of(lesson, "finds: crm_lookup failed 5 of 7 calls", "high, cites 5")
    cast.tells_of(invoices, "finds: invoice_pdf failed 4 of 7 calls", "medium, cites 4")
    cast.tells_of(skill, "finds: refund policy stalls at 0.3", "medium, cites 1")
    cast.tells_of(plans, "finds: 2 values of current_plan", "medium, cites 2")
    cast.tells_of(notice, "finds: a fact about acme has ended", "low, cites 1")
    return Findings(*(each["id"] for each in found))


def _refused(cast: Cast, found: Findings) -> None:
    cast.triage.is_refused("approves its lesson itself", "approve", found.lesson, "403 PVL-E022")
    engine = cast.shown(found.lesson)["audit"][0]["by"]["label"]
    cast.operator.is_denied(
        "asks for a token in the engine's name",
        lambda status: cast.operator.api.ask_token(engine, "human", ["review"], MEMORY, status),
        "400 PVL-E011",
    )


def _decided(cast: Cast, found: Findings) -> None:
    cast.reviewer.decides("approve", found.lesson, "search by name first", "approved")
    cast.reviewer.decides("apply", found.lesson, "for both agents", "applied")
    learnt = "customer <*> not found"
    cast.billing.reads("reads the lesson", f"/entities/shared/{LOOKUP}", "object", learnt)
    cast.reviewer.decides("reject", found.invoices, "a new renderer comes", "rejected until day 7")
    until = format_instant(BEGINS_AT + WAKES_ON * DAY_MS)
    cast.reviewer.decides("snooze", found.skill, "training is booked", "snoozed until day 10", until=until)


def _changed_meanwhile(cast: Cast, found: Findings) -> None:
    """A third value comes before the reviewer decides about two."""
    digest = cast.shown(found.plans)["proposal_digest"]
    cast.on_day(1)
    now = cast.triage.api.now_ms
    news = [*history.calls(LOOKUP, "day-1", (True,), now), history.fact("current_plan", "Enterprise", now)]
    cast.triage.sends("looks up once", news, "2 stored", is_shown=False)
    cast.triage.runs("1 refreshed", "names a third plan; a pass")
    cast.reviewer.is_refused(
        "approves what it saw on day 0", "approve", found.plans, "409 PVL-E042", proposal_digest=digest
    )
    now_seen = cast.shown(found.plans)
    steps = Counter(each["op"] for each in now_seen["proposal"]["operations"])
    seen = ", ".join(f"{count} {op} to {now_seen['details']['keep']}" for op, count in steps.items())
    cast.diary.tell("engine", "proposes by now", seen, "2 POINT to Enterprise", about=found.plans)
    cast.reviewer.decides("approve-and-apply", found.plans, "so says the contract", "applied",
                          proposal_digest=now_seen["proposal_digest"])  # fmt: skip
    cast.triage.reads("recalls the plan", "/recall?subject=acme&relation=current_plan", "object", "Enterprise")


def _measured(cast: Cast, found: Findings) -> None:
    cast.on_day(2)
    last = cast.triage.api.now_ms - _HOUR_MS
    cast.triage.sends("looks up twice", history.calls(LOOKUP, "day-2", (True, True), last), "2 stored")
    cast.billing.runs("1 measured")
    cast.tells_outcome(found.lesson, 1, "held, 0 of 1")
    cast.billing.asks_in_vain("skipped, 1 read, 0 writes")


def _removed(cast: Cast, found: Findings) -> None:
    """A removal needs an admin who says that it is wanted, and has no way back."""
    cast.on_day(3)
    cast.reviewer.decides("approve", found.notice, "it has run out", "approved")
    cast.reviewer.is_refused(
        "removes it, being no admin", "apply", found.notice, "403 PVL-E023", allow_destructive=True
    )
    cast.operator.is_refused("removes it, not saying so", "apply", found.notice, "403 PVL-E023")
    cast.operator.decides("apply", found.notice, "not needed any more", "applied", allow_destructive=True)
    [removed] = cast.shown(found.notice)["evidence"]
    cast.diary.checks.equal("of what was removed its address is left", removed.get("body"), None)
    cast.reviewer.is_refused("wants it back", "rollback", found.notice, "409 PVL-E020")
    cast.billing.runs("1 measured")
    cast.tells_outcome(found.plans, 1, "held, 0 of 1")


def _kept_quiet(cast: Cast) -> None:
    cast.on_day(6)
    now = cast.triage.api.now_ms
    good = history.calls(LOOKUP, "day-6", (True, True, True), now - _HOUR_MS, DAY_MS)
    cast.triage.sends("looks up on three days", good, "3 stored")
    bad = history.calls(INVOICE, "day-6", (False, True, False), now - _HOUR_MS)
    cast.billing.sends("makes three invoices", bad, "3 stored", is_shown=False)
    cast.billing.runs("1 suppressed", "fails on two of three invoices; a pass")


def _back(cast: Cast, found: Findings) -> None:
    cast.on_day(8)
    cast.billing.runs("1 measured, 1 stored")
    cast.tells_outcome(found.lesson, 7, "held, 0 of 6")
    [again] = cast.findings("tool_failure")
    cast.tells_of(again, "finds: invoice_pdf failed 6 of 10 calls", "medium, cites 6")
    cast.diary.checks.equal("it cites the one that was rejected", again["earlier"], found.invoices)
    cast.reviewer.decides("reject", again["id"], "it comes next week", "rejected until day 22")
    found.invoices = again["id"]
