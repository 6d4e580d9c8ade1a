"""Health tells what people made of findings of models and of external analyzers, and a rate from ten decisions on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from provenloop.domain.policy import HostPolicy, Policy
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.services import forget, review
from provenloop.services.forget_plan import Wanted
from provenloop.services.loop_state import health
from provenloop.services.model_port import ModelRequest
from provenloop.services.outside_port import Outside
from tests.builders import Desk, make_fact, make_principal
from tests.scripted_model import ScriptedModel, items

RUNNER = make_principal("runner", "write")
A_PASS = 7


def about_each(request: ModelRequest) -> list[dict[str, Any]]:
    """A finding about every fact that is shown."""
    shown = items(request, "evidence")
    return [
        {"summary": "it is odd", "target": item["target"], "guidance": "", "evidence": [item["id"]], "confidence": 0.9}
        for item in shown
        if item["grain_type"] == "fact"
    ]


def found_by_models(desk: Desk, number: int) -> list[str]:
    """Ids of so many findings, each about another subject."""
    desk.outside = ScriptedModel(about_each).outside()
    for first in range(0, number, A_PASS):
        subjects = [f"subject {place}" for place in range(first, min(first + A_PASS, number))]
        desk.record(*(make_fact(f"note on {name}", subject=name, relation="note") for name in subjects))
        desk.run(by=RUNNER)
    return [row["id"] for row in desk.queue()]


def told(desk: Desk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = health(desk.store, desk.call(), HostPolicy(desk.policy))["outside_findings"]
    return found


def test_a_memory_without_findings_from_outside_has_no_counts(found: Desk) -> None:
    found.approve(found.finding("tool_failure"))
    assert told(found) == []


@pytest.mark.parametrize(("decided", "rate"), [(9, None), (10, 0.3)])
def test_what_was_approved_or_acknowledged_counts_as_taken(desk: Desk, decided: int, rate: float | None) -> None:
    ids = found_by_models(desk, 12)
    assert len(ids) == 12
    desk.approve(ids[0])
    for rec_id in ids[1:3]:
        review.acknowledge(desk.store, desk.call(), rec_id, "done by hand")
    for rec_id in ids[3:decided]:
        desk.reject(rec_id)
    assert told(desk) == [
        {
            "analyzer": "loop.llm",
            "proposed": 12,
            "approved": 1,
            "acknowledged": 2,
            "rejected": decided - 3,
            "approval_rate": rate,
        }
    ]


def test_an_approval_that_was_withdrawn_is_a_rejection(desk: Desk) -> None:
    [rec_id] = found_by_models(desk, 1)
    desk.approve(rec_id)
    desk.reject(rec_id)
    [row] = told(desk)
    assert (row["approved"], row["rejected"]) == (0, 1)


def test_what_was_said_counts_once_and_still_when_its_words_are_forgotten(desk: Desk) -> None:
    [rec_id] = found_by_models(desk, 1)
    desk.record(make_fact("another note", subject="subject 0", relation="note"))
    desk.run(by=RUNNER)
    desk.reject(rec_id)
    [before] = told(desk)
    assert (before["proposed"], before["rejected"]) == (len(list(desk.store.all_recommendations(desk.memory))), 1)
    forget.forget(desk.store, desk.call(), Wanted(namespace="shared", subject="subject 0"), "asked to")
    assert told(desk) == [before]


class Finder:
    """An external analyzer that finds something about every fact."""

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes:
        """See ``ExternalAnalyzer``."""
        del timeout_ms, max_bytes
        grains = json.loads(request).get("grains", [])
        findings = [
            {"target": f"entity:shared/{grain['fields']['subject']}", "summary": "look", "evidence": [grain["hash"]]}
            for grain in grains
        ]
        return json.dumps({"findings": findings}).encode()


def test_every_external_analyzer_is_told_apart_from_models_and_from_others(desk: Desk) -> None:
    desk.policy = Policy(
        analyzers=tuple(
            RegisteredAnalyzer(f"ext.{name}/1", f"https://{name}.example/ask", ("fact",)) for name in ("two", "one")
        )
    )
    desk.outside = Outside(models=ScriptedModel(about_each).outside().models, analyzers=lambda _registered: Finder())
    desk.record(make_fact("a note", subject="kim", relation="note"))
    desk.run(by=RUNNER)
    [first, _, _] = desk.queue()
    desk.reject(first["id"])
    counts = {row["analyzer"]: (row["proposed"], row["rejected"]) for row in told(desk)}
    assert list(counts) == ["ext.one", "ext.two", "loop.llm"]
    assert counts == {name: (1, int(first["analyzer"].startswith(name))) for name in counts}


def test_only_the_newest_200_findings_are_looked_at(desk: Desk) -> None:
    [rec_id] = found_by_models(desk, 1)
    [remark] = desk.remarks()
    other = replace(desk.recommendation(rec_id), id=f"{rec_id[:-2]}a2", status="rejected")
    desk.plant(other, *(replace(remark, name=f"{remark.name}{n:03d}", recommendation=other.id) for n in range(199)))
    assert [(row["proposed"], row["rejected"]) for row in told(desk)] == [(2, 1)]
    desk.plant(replace(remark, name=f"{remark.name}999", recommendation=other.id))
    assert [(row["proposed"], row["rejected"]) for row in told(desk)] == [(1, 1)]
