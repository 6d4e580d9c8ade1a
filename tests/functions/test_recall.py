"""Recall and its telemetry over HTTP: what is answered, what is refused, and by whom it may be asked."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.entry.openapi import reply_model
from provenloop.entry.operations import OPERATIONS
from tests.functions.api import Api
from tests.functions.requests import NOW, operation

FACTS = [
    {"kind": "fact", "subject": "shop", "relation": "rule", "object": "refund policy for islands is ten days"},
    {"kind": "fact", "subject": "shop", "relation": "owner", "object": "ann"},
    {"kind": "fact", "subject": "depot", "relation": "owner", "object": "bob"},
    {"kind": "observation", "text": "a ferry was late", "namespace": "port"},
]


@pytest.fixture
def told(api: Api) -> Api:
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    return api


def recalled(api: Api, **query: str) -> list[str]:
    """Objects or texts, the answer held against the document."""
    answer = api.done("recall", query=query)
    promised = operation("recall").reply
    assert promised is not None
    reply_model(promised).model_validate(answer)
    return [row.get("object") or row["text"] for row in answer["results"]]


def test_recall_is_asked_by_subject_relation_instant_and_question(told: Api) -> None:
    assert recalled(told, subject="SHOP", relation="owner") == ["ann"]
    assert sorted(recalled(told, relation="owner")) == ["ann", "bob"]
    assert recalled(told, question="What is the refund policy for islands?") == [FACTS[0]["object"]]
    assert recalled(told, question="refund policy islands", subject="depot") == []
    assert recalled(told, question="late ferry", namespace="port") == ["a ferry was late"]
    assert recalled(told, subject="shop", as_of=str(NOW - 60_000)) == []
    assert recalled(told, subject="shop", as_of="2027-01-15T09:00:00Z", limit="1") == ["ann"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "question"),
        ({"namespace": "shared"}, "question"),
        ({"question": " "}, "question"),
        ({"question": "x" * 2049}, "question"),
        ({"subject": "x", "limit": "0"}, "limit"),
        ({"subject": "x", "limit": "101"}, "limit"),
        ({"subject": "x", "limit": "ten"}, "limit"),
        ({"subject": "x", "as_of": "yesterday"}, "as_of"),
        ({"subject": "x", "as_of": "2027-01-15T09:00:00"}, "as_of"),
        ({"subject": "x", "namespaces": "a"}, "namespaces"),
        ({"subject": "x", "namespace": ""}, "namespace"),
    ],
)
def test_a_bad_query_is_refused_by_its_field_and_leaves_nothing(told: Api, query: dict[str, str], field: str) -> None:
    before = told.stack.items()
    response = told.call("recall", query=query)
    assert told.refused(response) == (400, "PVL-E011")
    assert response.json()["field"] == field
    assert told.stack.items() == before


def test_an_unknown_memory_or_namespace_is_never_an_empty_answer(told: Api) -> None:
    assert told.refused(told.call("recall", {"memory": "gone"}, query={"subject": "x"})) == (404, "PVL-E040")
    assert told.refused(told.call("recall", query={"subject": "x", "namespace": "gone"})) == (404, "PVL-E040")
    # Asked for twice, a namespace is the one of that long name, and of no other.
    assert told.refused(told.call("recall", query={"subject": "x", "namespace": "port,shared"})) == (404, "PVL-E040")


def test_reading_needs_the_scope_and_the_memory(told: Api) -> None:
    writer = told.mint("w", "write")
    stranger = told.mint("s", "read", memories="other-*")
    for name in ("recall", "show_telemetry"):
        query = {"subject": "shop"} if name == "recall" else None
        for token in (writer, stranger):
            assert told.refused(told.call(name, query=query, token=token)) == (403, "PVL-E022")
    assert told.done("recall", query={"subject": "shop"}, token=told.mint("r", "read"))["results"]


def telemetry(api: Api) -> Any:
    api.done("run_pass", body={})
    answer = api.done("show_telemetry")
    promised = operation("show_telemetry").reply
    assert promised is not None
    reply_model(promised).model_validate(answer)
    return answer


def test_telemetry_tells_what_is_read_and_what_finds_nothing(told: Api) -> None:
    assert telemetry(told)["most_recalled"] == []
    for _ in range(2):
        recalled(told, question="refund policy for islands")
        recalled(told, question="opening hours on Sunday")
    recalled(told, subject="nobody", relation="owner")
    recalled(told, subject="shop", relation="owner")
    found = telemetry(told)
    assert (found["mode"], found["first_day"], found["last_day"]) == ("aggregate", "2026-12-17", "2027-01-15")
    assert [(row["reads"], row["grain"]["object"]) for row in found["most_recalled"]] == [
        (2, FACTS[0]["object"]), (1, "ann"),
    ]  # fmt: skip
    fields = ("text", "subject", "relation", "asked", "empty")
    assert {tuple(row[field] for field in fields) for row in found["questions"]} == {
        ("refund policy for islands", None, None, 2, 0),
        ("opening hours on Sunday", None, None, 2, 2),
        (None, "nobody", "owner", 1, 1),
    }  # fmt: skip
    assert found["assemblies"] == {"assembled": 0, "overflowed": 0}


REPORT: dict[str, Any] = {"kind": "recall_report", "question": "opening hours", "returned": []}
ASSEMBLY: dict[str, Any] = {"kind": "assembly_report", "budget": 100, "used": 90, "dropped": 2, "unit": "tokens"}


def test_an_agent_with_a_retriever_of_its_own_reports_what_it_recalled(told: Api) -> None:
    [address] = {row["address"] for row in told.done("recall", query={"subject": "depot"})["results"]}
    looked_up = {**REPORT, "question": None, "subject": "depot", "returned": [address], "run_id": "r-1"}
    answer = told.done("record_events", body={"events": [FACTS[0], REPORT, looked_up, ASSEMBLY]})
    assert [event["status"] for event in answer["events"]] == ["restated", "counted", "counted", "counted"]
    promised = operation("record_events").reply
    assert promised is not None
    reply_model(promised).model_validate(answer)
    found = telemetry(told)
    assert [(row["text"], row["asked"], row["empty"]) for row in found["questions"]] == [("opening hours", 1, 1)]
    assert [row["reads"] for row in found["most_recalled"]] == [2]
    assert found["assemblies"] == {"assembled": 1, "overflowed": 1}


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"kind": "recall_report", "returned": []}, "question"),
        ({"kind": "recall_report", "question": "x"}, "returned"),
        ({**REPORT, "returned": ["x"]}, "returned[0]"),
        ({**REPORT, "returned": ["a" * 64] * 101}, "returned"),
        ({**REPORT, "question": "\n"}, "question"),
        ({**REPORT, "asked": 3}, "asked"),
        ({**ASSEMBLY, "budget": -1}, "budget"),
        ({**ASSEMBLY, "used": 1.5}, "used"),
        ({**ASSEMBLY, "unit": "words"}, "unit"),
        ({**ASSEMBLY, "dropped": None}, "dropped"),
    ],
)
def test_a_bad_report_is_refused_by_its_field_and_the_batch_leaves_nothing(
    told: Api, event: dict[str, Any], field: str
) -> None:
    before = told.stack.items()
    response = told.call("record_events", body={"events": [FACTS[1], event]})
    assert told.refused(response) == (400, "PVL-E011")
    assert response.json()["field"] == f"events[1].{field}"
    assert told.stack.items() == before


def test_questions_are_no_memory(told: Api) -> None:
    recalled(told, question="opening hours")
    for _ in range(2):
        assert recalled(told, question="opening hours") == []
        assert recalled(told, subject="opening hours") == []
        assert told.done("run_pass", body={"min_new": 10})["new_grains"] in (0, 4)


def test_recall_and_telemetry_are_operations_of_the_reading_function() -> None:
    served = {known.name: (known.function, known.scopes) for known in OPERATIONS}
    assert served["recall"] == served["show_telemetry"] == ("loop_api", ("read",))
