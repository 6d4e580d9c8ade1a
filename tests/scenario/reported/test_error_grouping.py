"""Failures of one cause are one finding, those of two causes are two, and each lesson can be applied."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.events import ToolCallEvent
from tests.builders import DAY_MS, NOW, Desk, addresses, make_calls, make_tool_call
from tests.scenario.reported.steps import apply_only, families, found_by_pass, recalled, shown

UUIDS = (
    "3f1c9a52-7b1e-4d0c-9f44-0a6b2c1d8e90",
    "b7e2d410-12aa-4f6e-8c3d-55fe0918a7cc",
    "0d9e3f7a-5c1b-42d8-8e60-7f1a2b3c4d5e",
)


def fail(desk: Desk, *errors: Any, tool: str = "refund", **more: Any) -> None:
    desk.record(*(make_tool_call(error=error, tool=tool, **more) for error in errors))


def test_ids_and_hashes_do_not_split_one_fault(desk: Desk) -> None:
    fail(desk, *(f"no such order {uuid}" for uuid in UUIDS))
    fail(desk, *(f"commit {sha} is not reachable" for sha in ("a94f3cd", "07bc1e2", "ffe19d0")))
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


def test_masked_ids_do_not_join_faults_whose_words_differ(desk: Desk) -> None:
    for uuid in UUIDS:
        fail(desk, f"task {uuid}: disk is full", f"task {uuid}: password expired")
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


def test_a_caller_may_say_what_the_fault_is(desk: Desk) -> None:
    fail(desk, "task a1 failed", "job stopped early", "exit code 3", signature="billing export")
    fail(desk, *["task failed"] * 3, signature="stock import")
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


def test_frames_of_a_trace_do_not_split_the_error_that_ends_it(desk: Desk) -> None:
    fail(
        desk,
        *(
            f'Traceback (most recent call last):\n  File "/app/{name}.py", line {line}, in {name}\n    {name}()\n'
            "TimeoutError: slow"
            for name, line in (("load", 3), ("send", 44), ("close", 7))
        ),
    )
    assert found_by_pass(desk) == ["tool_failure"]
    assert desk.recommendation(desk.only()["id"]).count == 3


def test_status_codes_and_endpoints_tell_faults_apart(desk: Desk) -> None:
    for tool, urls in (("read", ("orders returned 404", "orders returned 500")), ("write", ("orders", "refunds"))):
        for url in urls:
            fail(desk, *[f"could not reach https://api.shop.test/{url}"] * 3, tool=tool)
    assert found_by_pass(desk) == ["tool_failure"] * 4


def test_an_address_inside_compact_json_does_not_swallow_the_error(desk: Desk) -> None:
    url = '"url":"https://api.shop.test/v1/orders/'
    fail(desk, *(f'{{{url}{n}","error":"card declined"}}' for n in (7, 8, 9)))
    fail(desk, *(f'{{{url}{n}","error":"no such order"}}' for n in (7, 8, 9)))
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


def test_what_differs_behind_a_long_preamble_is_another_fault(desk: Desk) -> None:
    preamble = "the request to the payment gateway of the shop could not be completed because of the following: "
    for cause in ("card declined", "limit reached"):
        fail(desk, *[preamble * 200 + cause + preamble] * 3)
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


def test_a_longer_number_does_not_split_a_fault_that_is_long(desk: Desk) -> None:
    fail(desk, *(f"order {n} could not be charged " + "because the bank refused it " * 20 for n in (1, 20_000, 3)))
    assert found_by_pass(desk) == ["tool_failure"]


def test_the_order_and_layout_of_json_do_not_split_a_fault(desk: Desk) -> None:
    fail(
        desk,
        '{"request_id":"a1","code":"declined","message":"Card declined"}',
        '{ "message": "Card declined",\n "code": "declined", "request_id": "b2" }',
        {"code": "declined", "message": "Card declined", "timestamp": 5},
    )
    assert found_by_pass(desk) == ["tool_failure"]


@pytest.mark.parametrize("result", ["", "  \n ", None, {}, []])
def test_failures_that_say_nothing_are_a_fault_with_a_lesson_that_can_be_applied(desk: Desk, result: Any) -> None:
    desk.record(*(ToolCallEvent("shared", "refund", is_error=True, result=result) for _ in range(3)))
    assert found_by_pass(desk) == ["tool_failure"]
    [created] = apply_only(desk)["created"]
    assert desk.grains()[created].body["object"].strip()


@pytest.mark.parametrize(
    "result",
    [
        {"error": {"message": "card declined", "code": "declined"}},
        {"content": [{"type": "text", "text": "card declined"}], "isError": True},
        {"errors": [{"detail": "card declined"}]},
        '{"body":"{\\"error\\":\\"card declined\\"}"}',
    ],
)
def test_the_lesson_holds_the_error_in_whatever_field_it_came(desk: Desk, result: Any) -> None:
    fail(desk, *[result] * 3)
    assert found_by_pass(desk) == ["tool_failure"]
    [created] = apply_only(desk)["created"]
    assert "card declined" in desk.grains()[created].body["object"]


def test_identical_failures_of_one_millisecond_are_as_many_occurrences(desk: Desk) -> None:
    sent = addresses(desk.record(*[make_tool_call(error="card declined", occurred_at=NOW)] * 5))
    assert len(set(sent)) == 5
    desk.run()
    assert desk.recommendation(desk.only()["id"]).count == 5


def test_one_call_id_sent_five_times_is_one_failure(desk: Desk) -> None:
    for _ in range(5):
        desk.record(make_tool_call("call-1", error="card declined"))
    assert found_by_pass(desk) == []


def test_failures_are_grouped_by_tool_in_whatever_spelling_and_by_namespace(desk: Desk) -> None:
    for tool in ("Pay", "pay", " pay"):
        fail(desk, "card declined", tool=tool)
    for namespace in ("a", "a", "b"):
        fail(desk, "card declined", tool="book", namespace=namespace)
    fail(desk, *["card declined"] * 2, tool="cancel")
    assert found_by_pass(desk) == ["tool_failure"]
    assert desk.recommendation(desk.only()["id"]).count == 3


def test_a_lesson_lands_in_the_namespace_of_its_failures_with_an_example(desk: Desk) -> None:
    fail(desk, *(f"no such order {n}" for n in (7, 8, 9)), namespace="ops")
    desk.run()
    detail = shown(desk, desk.only()["id"])
    assert "no such order" in str(detail["proposal"])
    assert detail["evidence"][0]["body"]["result"].startswith("no such order")
    apply_only(desk)
    assert len(recalled(desk, namespace="ops", subject="refund")) == 1


def test_an_applied_lesson_of_one_fault_does_not_hide_another_of_its_tool(desk: Desk) -> None:
    fail(desk, *["card declined"] * 3)
    desk.run()
    apply_only(desk)
    assert found_by_pass(desk) == []
    fail(desk, *["limit reached"] * 3)
    assert found_by_pass(desk) == ["tool_failure"]


def test_an_applied_lesson_is_not_proposed_again_on_the_same_failures(desk: Desk) -> None:
    fail(desk, *["card declined"] * 3)
    desk.run()
    apply_only(desk)
    for _ in range(3):
        desk.run(full_sweep=True)
    assert families(desk) == []


def test_many_failures_are_grave_though_most_calls_succeed(desk: Desk) -> None:
    for batch in range(5):
        desk.record(*make_calls(10, 70, name=f"b{batch}"))
    desk.run()
    assert desk.only()["severity"] == "medium"


def test_a_fault_that_was_mended_since_is_silent(desk: Desk) -> None:
    past = NOW - 20 * DAY_MS
    fail(desk, *["card declined"] * 10, occurred_at=past)
    desk.record(*(make_tool_call(f"ok{n}", occurred_at=past + DAY_MS) for n in range(10)))
    assert found_by_pass(desk) == []


def test_failures_of_a_successful_tool_do_not_make_the_good_calls_evidence(desk: Desk) -> None:
    desk.record(*make_calls(4, 4))
    desk.run()
    bodies = [row["body"] for row in shown(desk, desk.only()["id"])["evidence"]]
    assert len(bodies) == 4
    assert all(body["is_error"] for body in bodies)
