"""A request that is sent again with its Idempotency-Key has its effect once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions.api import Api
from tests.functions.requests import CALL

BATCH = {"events": [{**CALL, "result": "one"}, {**CALL, "result": "two"}]}
REASON = {"because": "checked"}


def statuses(answer: dict[str, Any]) -> list[str]:
    return [event["status"] for event in answer["events"]]


def addresses(answer: dict[str, Any]) -> list[str]:
    return [event["address"] for event in answer["events"]]


def test_a_batch_sent_again_stores_nothing_and_answers_the_same_addresses(api: Api) -> None:
    api.done("create_memory")
    first = api.done("record_events", body=BATCH, key="k-1")
    again = api.done("record_events", body=BATCH, key="k-1")
    assert statuses(first) == ["stored", "stored"]
    assert statuses(again) == ["duplicate", "duplicate"]
    assert addresses(again) == addresses(first)
    assert api.done("run_pass")["new_grains"] == 2


def test_a_batch_under_another_key_is_another_batch(api: Api) -> None:
    api.done("create_memory")
    first = api.done("record_events", body=BATCH, key="k-1")
    other = api.done("record_events", body=BATCH, key="k-2")
    assert statuses(other) == ["stored", "stored"]
    assert not set(addresses(first)) & set(addresses(other))


def test_a_batch_without_a_key_is_new_each_time(api: Api) -> None:
    api.done("create_memory")
    assert statuses(api.done("record_events", body=BATCH)) == ["stored", "stored"]
    assert statuses(api.done("record_events", body=BATCH)) == ["stored", "stored"]


def test_a_key_belongs_to_the_principal_that_sent_it(api: Api) -> None:
    api.done("create_memory")
    one, two = (api.mint(label, "write") for label in ("one", "two"))
    api.done("record_events", body=BATCH, key="k", token=one)
    assert statuses(api.done("record_events", body=BATCH, key="k", token=two)) == ["stored", "stored"]


@pytest.mark.parametrize("name", ["approve", "reject", "approve_and_apply"])
def test_a_decision_sent_again_is_answered_as_the_first_time(api: Api, name: str) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    first = api.done(name, path, REASON, key="k")
    after = api.stack.items()
    assert api.done(name, path, REASON, key="k") == first
    assert api.stack.items() == after


def test_apply_and_rollback_sent_again_are_answered_as_the_first_time(api: Api) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    api.done("approve", path, REASON)
    for name in ("apply", "roll_back"):
        first = api.done(name, path, REASON, key=f"k-{name}")
        after = api.stack.items()
        assert api.done(name, path, REASON, key=f"k-{name}") == first
        assert api.stack.items() == after


def test_a_decision_under_another_key_is_judged_anew(api: Api) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    api.done("approve", path, REASON, key="k-1")
    assert api.refused(api.call("approve", path, REASON, key="k-2")) == (409, "PVL-E020")
    assert api.refused(api.call("approve", path, REASON)) == (409, "PVL-E020")


def test_a_key_with_another_body_is_refused(api: Api) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    api.done("approve", path, REASON, key="k")
    after = api.stack.items()
    assert api.refused(api.call("approve", path, {"because": "another"}, key="k")) == (409, "PVL-E014")
    assert api.stack.items() == after


def test_the_same_body_in_another_spelling_is_the_same_body(api: Api) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    first = api.done("approve_and_apply", path, {"because": "checked", "allow_destructive": False}, key="k")
    assert api.done("approve_and_apply", path, {"allow_destructive": False, "because": "checked"}, key="k") == first


def test_a_refused_request_keeps_no_answer(api: Api) -> None:
    path = {"memory": "support", "id": api.find()[0]["id"]}
    assert api.refused(api.call("apply", path, REASON, key="k")) == (409, "PVL-E020")
    api.done("approve", path, REASON)
    assert api.done("apply", path, REASON, key="k")["status"] == "applied"


def test_a_pass_asked_for_again_is_answered_as_the_first_time_and_runs_no_more(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body=BATCH)
    first = api.done("run_pass", body={}, key="k")
    api.done("record_events", body=BATCH)
    after = api.stack.items()
    assert api.done("run_pass", body={}, key="k") == first
    assert api.stack.items() == after
    assert api.refused(api.call("run_pass", body={"full_sweep": True}, key="k")) == (409, "PVL-E014")
    assert api.done("run_pass", body={}, key="k-2")["new_grains"] == 2
