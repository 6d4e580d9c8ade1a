"""Days 31 to 33: a change that held for a week did not hold for a month, and is undone."""

from __future__ import annotations

from provenloop.entry.local.demo.forty_days.cast import Cast
from provenloop.entry.local.demo.forty_days.first_week import Findings
from provenloop.entry.local.demo.forty_days.history import LOOKUP


def last_days(cast: Cast, found: Findings) -> None:
    """Days 31 to 33."""
    _regressed(cast, found)
    cast.on_day(33)
    cast.triage.runs("1 measured")
    cast.tells_outcome(found.plans, 30, "held, 0 of 11")


def _regressed(cast: Cast, found: Findings) -> None:
    cast.on_day(31)
    cast.billing.runs("3 measured, 1 stored")
    cast.tells_outcome(found.invoices, 7, "held, 0 of 5")
    cast.tells_outcome(found.lesson, 30, "regressed, 1 of 7")
    [revert] = cast.findings("outcome_review")
    cast.tells_of(revert, "finds: it did not hold 30 d; undo it", "high, cites 1")
    cast.diary.checks.equal("it is the lesson that is to be undone", revert["proposal"]["revert_of"], found.lesson)
    cast.reviewer.decides("approve", revert["id"], "names change too often", "approved")
    undone = cast.reviewer.decides("apply", revert["id"], "it did not help", "applied")
    cast.diary.checks.equal("the revert undid the lesson", undone["reverted"], found.lesson)
    lesson = cast.shown(found.lesson)
    seen = f"{lesson['status']}, {lesson['reason']}"
    cast.diary.tell("engine", "takes the lesson back", seen, "rolled_back, reverted", about=lesson["id"])
    cast.triage.reads("reads what is known of look-ups", f"/entities/shared/{LOOKUP}", "object", "nothing")
