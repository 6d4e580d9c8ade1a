"""What becomes of a finding when its calls are forgotten, and when it gets much worse after it was refused."""

from __future__ import annotations

import pytest

from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted
from tests.builders import Desk, addresses, make_calls, make_tool_call


def forget_call(desk: Desk, address: str) -> None:
    forget(desk.store, desk.call(), Wanted(address), "asked to")


@pytest.mark.parametrize("is_folded", [False, True])
def test_a_forgotten_call_counts_no_more(desk: Desk, is_folded: bool) -> None:
    errors = addresses(desk.record(*make_calls(3)))
    if is_folded:
        desk.run()
    forget_call(desk, errors[0])
    desk.run()
    assert [rec.status for rec in desk.store.all_recommendations(desk.memory)] == (["expired"] if is_folded else [])
    window = desk.store.tool_window(desk.memory, desk.store.tool_keys(desk.memory)[0], "20260101", "20271231")
    assert (window.calls, window.errors) == (2, 2)
    assert [row.n for row in window.signatures] == [2]
    assert errors[0] not in str(window.signatures)


def test_forgetting_calls_one_after_the_other_leaves_nothing_counted(desk: Desk) -> None:
    told = addresses(desk.record(*make_calls(2, 2)))
    desk.run()
    for address in told:
        forget_call(desk, address)
        desk.run()
    window = desk.store.tool_window(desk.memory, desk.store.tool_keys(desk.memory)[0], "20260101", "20271231")
    assert (window.calls, window.errors, [row.n for row in window.signatures]) == (0, 0, [0])


def test_a_lesson_names_its_tool_and_can_be_applied_after_single_calls_were_forgotten(desk: Desk) -> None:
    told = addresses(desk.record(*make_calls(8)))
    desk.run()
    for address in sorted(told)[:2]:
        forget_call(desk, address)
    desk.run()
    [rec] = desk.store.all_recommendations(desk.memory)
    assert (rec.status, rec.count) == ("pending", 6)
    desk.approve_and_apply(rec.id)
    [lesson] = [grain for grain in desk.grains().values() if grain.kind == "fact"]
    assert (lesson.body["subject"], lesson.body["object"]) == ("refund", "card declined")


def refuse(desk: Desk) -> str:
    rec_id = desk.finding("tool_failure")
    desk.reject(rec_id)
    return rec_id


def test_a_refused_finding_stays_quiet_while_it_grows_a_little(desk: Desk) -> None:
    desk.record(*make_calls(10, 3))
    desk.run()
    refuse(desk)
    desk.record(*make_calls(20, name="more"))
    assert desk.run()["suppressed"] == 1


def test_a_refused_finding_speaks_early_once_there_is_ten_times_as_much_of_it(desk: Desk) -> None:
    desk.record(*make_calls(10, 3))
    desk.run()
    rec_id = refuse(desk)
    desk.record(*make_calls(89, name="more"))
    assert desk.run()["suppressed"] == 1
    desk.record(make_tool_call("last", error="card declined"))
    assert desk.run()["stored"] == 1
    assert desk.recommendation(desk.finding("tool_failure")).earlier == rec_id


def test_a_refused_finding_speaks_early_once_it_is_graver(desk: Desk) -> None:
    desk.record(*make_calls(3))
    desk.run()
    assert desk.recommendation(refuse(desk)).severity == "medium"
    desk.record(*make_calls(2, name="more"))
    assert desk.run()["stored"] == 1
    assert desk.recommendation(desk.finding("tool_failure")).severity == "high"
