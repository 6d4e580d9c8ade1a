"""A pass under the policy field ``pseudonymize``: no stage is shown who somebody is, and findings name them again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.policy import Policy, Pseudonymize
from provenloop.reflection.bundle import TEXT_CHARS
from provenloop.services import findings_read
from provenloop.services.model_port import ModelRequest
from tests.builders import Desk, make_fact, make_observation
from tests.scripted_model import ScriptedModel, items

MASKED = Policy(pseudonymize=Pseudonymize(enabled=True, names=("Zeus",)))
PEOPLE = ("isolde", "quandt", "isolde@example.com", "zeus")


def drafts(request: ModelRequest) -> list[dict[str, Any]]:
    """A finding about the first target that is shown, in the words that are shown."""
    shown = items(request, "evidence")
    fact = next(item for item in shown if item["grain_type"] == "fact")
    summary = f"{fact['target'].removeprefix('entity:shared/')} is told of twice: {fact['text']}"
    cited = [item["id"] for item in shown]
    return [{"summary": summary, "target": fact["target"], "guidance": "", "evidence": cited, "confidence": 0.9}]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(drafts)


def found(desk: Desk, model: ScriptedModel, policy: Policy) -> dict[str, Any]:
    desk.policy, desk.outside = policy, model.outside()
    desk.record(
        make_fact("quandt", subject="isolde", relation="reports_to"),
        make_observation("Told ISOLDE (isolde@example.com) that quandt left Zeus."),
    )
    desk.run()
    return findings_read.show_recommendation(desk.store, desk.call(), desk.only()["id"])


def test_no_stage_is_shown_who_somebody_is_and_what_is_stored_says_it(desk: Desk, model: ScriptedModel) -> None:
    rec = found(desk, model, MASKED)
    assert rec["target"] == "entity:shared/isolde"
    assert rec["summary"] == "isolde is told of twice: isolde reports_to quandt"
    assert [request.op for request in model.seen] == ["discover", "ground", "verify", "enrich"]
    shown = json.dumps([part.text for request in model.seen for part in request.quoted]).casefold()
    assert [value for value in PEOPLE if value in shown] == []


def test_all_stages_name_a_person_alike(desk: Desk, model: ScriptedModel) -> None:
    found(desk, model, MASKED)
    first, *later = [" ".join(part.text for part in request.quoted) for request in model.seen]
    assert "PVL_PERSON_1 reports_to PVL_PERSON_2" in first
    assert all("PVL_PERSON_1 is told of twice: PVL_PERSON_1 reports_to PVL_PERSON_2" in shown for shown in later)


@pytest.mark.parametrize("before", range(TEXT_CHARS - 30, TEXT_CHARS + 1, 3))
def test_a_name_at_the_place_where_evidence_is_cut_does_not_leave_by_half(
    desk: Desk, model: ScriptedModel, before: int
) -> None:
    desk.policy, desk.outside = MASKED, model.outside()
    text = f"{('so it is. ' * TEXT_CHARS)[:before]} wolfeschlegelstein@example.com, and more"
    desk.record(make_fact("quandt", subject="isolde", relation="reports_to"), make_observation(text))
    desk.run()
    shown = json.dumps([part.text for part in model.seen[0].quoted])
    assert "so it is" in shown
    assert [half for half in ("wolf", "olfe", "stein", "exam", "and more") if half in shown] == []


@pytest.mark.parametrize(
    ("subject", "relation", "value"),
    [
        ("ticket 12", "customer", "quandt"),
        ("ticket  12", "assigned", "quandt"),
        ("quandt", "emergency contact", "ticket 12"),
    ],
)
def test_who_a_fact_names_is_told_by_its_relation_whatever_blanks_stand_in_it(
    desk: Desk, model: ScriptedModel, subject: str, relation: str, value: str
) -> None:
    desk.policy, desk.outside = MASKED, model.outside()
    desk.record(make_fact(value, subject=subject, relation=relation), make_observation("then quandt left"))
    desk.run()
    shown = json.dumps([part.text for part in model.seen[0].quoted])
    assert "then PVL_PERSON_" in shown
    assert "quandt" not in shown
