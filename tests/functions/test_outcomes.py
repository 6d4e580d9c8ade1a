"""Applied changes through the HTTP API, measured by nobody but the clock: the schedule wakes what is due."""

from __future__ import annotations

from typing import Any

from tests.functions.api import Api
from tests.functions.requests import MEMORY, NOW

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BECAUSE = {"because": "we looked at it"}


def at(api: Api, now: int, *calls: tuple[str, bool]) -> None:
    """Record calls of tools, good or failing, at an instant."""
    api.stack.set_clock(now)
    events = [
        {"kind": "tool_call", "tool": tool, "is_error": not good, "result": "ok" if good else "connect timeout"}
        for tool, good in calls
    ]
    api.done("record_events", body={"events": events})


def woken(api: Api, now: int) -> None:
    """What the schedule does at an instant."""
    api.stack.set_clock(now)
    api.stack.tick()


def found_failing(api: Api, *tools: str) -> list[str]:
    """Lessons, of tools of which 5 of 7 calls failed."""
    api.done("create_memory")
    for tool in tools:
        at(api, NOW, *[(tool, number >= 5) for number in range(7)])
    api.done("run_pass", body={})
    return [row["id"] for row in api.done("list_recommendations")["recommendations"]]


def outcomes(api: Api) -> dict[str, dict[int, Any]]:
    """Verdict, errors and calls by tool and by horizon in days."""
    return {
        row["target"].removeprefix("entity:lessons/"): {
            each["horizon_ms"] // DAY_MS: (each["verdict"], each["errors"], each["calls"]) for each in row["series"]
        }
        for row in api.done("show_outcomes")["recommendations"]
    }


def reverts(api: Api, status: str = "pending") -> list[dict[str, Any]]:
    query = {"analyzer": "loop.outcome_review", "status": status}
    found: list[dict[str, Any]] = api.done("list_recommendations", query=query)["recommendations"]
    return found


def test_a_pass_a_month_late_judges_every_horizon_by_its_own_window(api: Api) -> None:
    for lesson in found_failing(api, "pay", "ship"):
        api.done("approve_and_apply", {**MEMORY, "id": lesson}, BECAUSE)
    for day in range(1, 8):
        at(api, NOW + day * DAY_MS - HOUR_MS, ("pay", True))
    at(api, NOW + 20 * DAY_MS, ("pay", False))
    assert outcomes(api) == dict.fromkeys(("pay", "ship"), dict.fromkeys((1, 7, 30), (None, 0, 0)))
    woken(api, NOW + 31 * DAY_MS)
    assert outcomes(api) == {
        "pay": {1: ("held", 0, 1), 7: ("held", 0, 7), 30: ("regressed", 1, 8)},
        "ship": dict.fromkeys((1, 7, 30), ("inconclusive", 0, 0)),
    }
    [revert] = reverts(api)
    assert (revert["severity"], revert["details"]["horizon_days"]) == ("high", 30)
    assert api.done("verify_audit")["ok"]


def test_after_a_rejected_revert_a_later_horizon_asks_again_when_its_quiet_time_is_over(api: Api) -> None:
    [lesson] = found_failing(api, "pay")
    api.done("approve_and_apply", {**MEMORY, "id": lesson}, BECAUSE)
    at(api, NOW + HOUR_MS, ("pay", False), ("pay", False))
    woken(api, NOW + 2 * DAY_MS)
    [first] = reverts(api)
    api.done("reject", {**MEMORY, "id": first["id"]}, BECAUSE)
    at(api, NOW + 3 * DAY_MS, *[("pay", False)] * 3)
    woken(api, NOW + 8 * DAY_MS)
    assert (reverts(api), api.done("loop_health")["unhandled_regressions"]) == ([], [lesson])
    woken(api, NOW + 9 * DAY_MS + HOUR_MS)
    [second] = reverts(api)
    assert second["details"]["horizon_days"] == 7
    shown = api.done("show_recommendation", {**MEMORY, "id": second["id"]})
    assert (shown["earlier"], api.done("loop_health")["unhandled_regressions"]) == (first["id"], [])
    undone = api.done("approve_and_apply", {**MEMORY, "id": second["id"]}, BECAUSE)
    assert undone["reverted"] == lesson
    trail = api.done("show_recommendation", {**MEMORY, "id": lesson})["audit"]
    told = [(entry["to"], entry["effects"].get("verdict")) for entry in trail]
    assert told == [
        ("pending", None), ("approved", None), ("applied", None), ("applied", "regressed"), ("applied", "regressed"),
        ("rolled_back", None),
    ]  # fmt: skip


def test_a_person_who_looks_is_no_occasion_on_which_a_change_held_and_an_agent_that_reads_is(api: Api) -> None:
    api.done("create_memory")
    people = {"looked-at": api.mint("reviewer", "read", kind="human"), "read": api.mint("bot", "read")}
    facts = [
        {"kind": "fact", "subject": subject, "relation": "lives_in", "object": town}
        for subject in people
        for town in ("Berlin", "Tokyo")
    ]
    stored = api.done("record_events", body={"events": facts})["events"]
    api.done("run_pass", body={})
    for conflict in api.done("list_recommendations")["recommendations"]:
        api.done("approve_and_apply", {**MEMORY, "id": conflict["id"]}, BECAUSE)
    api.stack.set_clock(NOW + HOUR_MS)
    for number, (subject, token) in enumerate(people.items()):
        api.done("show_entity", {**MEMORY, "namespace": "shared", "subject": subject}, token=token)
        api.done("show_grain", {**MEMORY, "address": stored[2 * number + 1]["address"]}, token=token)
    woken(api, NOW + 2 * DAY_MS)
    told = {target.rpartition("/")[2]: series[1] for target, series in outcomes(api).items()}
    assert told == {"looked-at": ("inconclusive", 0, 0), "read": ("held", 0, 2)}
