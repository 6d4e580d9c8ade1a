"""Days 10 to 26: what was put off wakes, the host grants a merge, a mistake is undone, a third strike of patience."""

from __future__ import annotations

from typing import Any

from provenloop.entry.local.demo.api import DAY_MS
from provenloop.entry.local.demo.forty_days import history
from provenloop.entry.local.demo.forty_days.cast import Cast, said_of, write_policy
from provenloop.entry.local.demo.forty_days.first_week import WAKES_ON, Findings
from provenloop.entry.local.demo.forty_days.history import CUSTOMER, INVOICE, LOOKUP

_HOUR_MS = 3_600_000
_GRANT = {
    "auto_apply_enabled": True,
    "auto_apply": [{"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}],
}


def three_weeks(cast: Cast, found: Findings) -> None:
    """Days 10 to 26."""
    _awake(cast, found)
    _granted(cast)
    order = _merged(cast)
    _undone(cast, order)
    _still_quiet(cast)
    _relapsed(cast)
    _third_time(cast, found)


def _awake(cast: Cast, found: Findings) -> None:
    cast.on_day(WAKES_ON)
    cast.billing.runs("1 measured")
    cast.tells_outcome(found.plans, 7, "held, 0 of 1")
    skill = cast.shown(found.skill)
    cast.diary.tell("engine", "wakes what was put off", skill["status"], "pending", about=skill["id"])
    cast.reviewer.decides("acknowledge", found.skill, "all trained", "acknowledged until day 40")


def _granted(cast: Cast) -> None:
    """Only the host lets anything be applied without a person."""
    cast.on_day(11)
    wish = {"analyzer": "loop.duplicate_sweep", **_GRANT}
    for actor, expected in ((cast.billing, "403 PVL-E022"), (cast.operator, "400 PVL-E011")):
        api = actor.api
        actor.is_denied(
            "asks for leave to auto-apply",
            lambda status, api=api: api.post("/loop/config", wish, status=status),  # type: ignore[misc]
            expected,
        )
    write_policy(cast.stack, _GRANT)
    policy = cast.reviewer.api.get("/loop/policy")
    cast.diary.tell("host", "writes a policy that grants exact merges", policy["state"], "in_force")
    cast.diary.checks.equal("what is granted is what was written", policy["policy"]["auto_apply"], _GRANT["auto_apply"])


def _merged(cast: Cast) -> dict[str, Any]:
    """One spelling alters no value and is merged; the other is of an identifier and waits. The latter."""
    cast.on_day(12)
    now = cast.billing.api.now_ms
    spelled = [
        history.fact("billing_contact", "accounts  payable", now, subject="ACME", tags=["2027"]),
        history.fact("order", "po-7a", now),
    ]
    cast.billing.sends("spells a contact and an order anew", spelled, "2 stored")
    cast.billing.runs("2 stored, 1 auto applied", "asks for a pass")
    [merged], [order] = (cast.findings("duplicate_sweep", status=status) for status in ("applied", "pending"))
    seen = f"by {merged['audit'][-1]['by']['label']}"
    cast.diary.tell("engine", said_of(merged), seen, "by policy:auto", about=merged["id"])
    cast.diary.tell("engine", said_of(order), order["held_back"] or "", "they differ in object", about=order["id"])
    spellings = ("finds: 2 spellings of billing_contact", "finds: 2 spellings of order")
    cast.diary.checks.equal("what waits is the order", (said_of(merged), said_of(order)), spellings)
    [kept] = [fact for fact in cast.facts(CUSTOMER) if fact["object"] == "Accounts Payable"]
    cast.diary.checks.equal("what only the other spelling had is kept", kept.get("tags"), ["2027"])
    contact = "/recall?subject=acme&relation=billing_contact"
    cast.triage.reads("recalls the contact", contact, "object", "Accounts Payable")
    return order


def _undone(cast: Cast, order: dict[str, Any]) -> None:
    """A merge that was a mistake: every fact reads again as it did before."""
    cast.on_day(13)
    before = cast.facts(CUSTOMER)
    cast.reviewer.decides("approve-and-apply", order["id"], "one order, it seems", "applied")
    cast.on_day(14)
    undone = cast.reviewer.decides("rollback", order["id"], "there are two orders", "rolled_back")
    after = cast.facts(CUSTOMER)
    seen = "all as before" if after == before else "not as before"
    cast.diary.tell("reviewer", f"reads all {len(after)} facts about acme", seen, "all as before", status=200)
    checks = cast.diary.checks
    checks.equal("the undo gives both spellings back", (len(undone["removed"]), len(undone["restored"])), (0, 2))
    [spelled] = [fact for fact in after if fact["object"] == "po-7a"]
    clear = history.fact("order", "PO-7A/2", cast.billing.api.now_ms)
    cast.billing.sends("says which is the second", [
        {"kind": "supersede", "target": spelled["address"], "with": clear}
    ], "1 stored")  # fmt: skip
    cast.billing.runs("1 measured")


def _still_quiet(cast: Cast) -> None:
    """The second rejection holds for twice as long."""
    cast.on_day(16)
    now = cast.billing.api.now_ms
    bad = history.calls(INVOICE, "day-16", (False, True, False), now - _HOUR_MS)
    cast.billing.sends("makes three invoices", bad, "3 stored", is_shown=False)
    cast.billing.runs("1 suppressed", "fails on two of three invoices; a pass")


def _relapsed(cast: Cast) -> None:
    """One look-up fails as before. Nothing says so yet; the 30 days are not over."""
    cast.on_day(20)
    now = cast.triage.api.now_ms
    cast.triage.sends("looks up once, and it fails", history.calls(LOOKUP, "day-20", (False,), now), "1 stored")
    cast.triage.runs("1 measured")
    cast.triage.reads("recalls the orders", "/recall?subject=acme&relation=order", "object", "PO-7A/2, PO-7A")
    # Else what the agents know of their customer would grow cold; that the reviewer looks at it keeps nothing warm.
    cast.triage.api.get("/recall?subject=acme")


def _third_time(cast: Cast, found: Findings) -> None:
    cast.on_day(23)
    cast.billing.runs("1 stored")
    [again] = cast.findings("tool_failure")
    cast.tells_of(again, "finds: invoice_pdf failed 8 of 13 calls", "medium, cites 8")
    cast.diary.checks.equal("it cites the one before", again["earlier"], found.invoices)
    cast.reviewer.decides("approve-and-apply", again["id"], "render in two steps", "applied")
    found.invoices = again["id"]
    cast.on_day(26)
    good = history.calls(INVOICE, "day-26", (True,) * 5, cast.billing.api.now_ms - _HOUR_MS, DAY_MS // 2)
    cast.billing.sends("makes five invoices in two steps", good, "5 stored")
