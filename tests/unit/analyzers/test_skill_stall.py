"""When a skill that is practised does not get better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.analyzers.contract import ClusterView, Examination
from provenloop.analyzers.skill_stall import SkillStall
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Draft
from tests.builders import DAY_MS, NOW
from tests.grains import make_skill

ANALYZER = SkillStall()


def examined(*grains: Grain, now: int = NOW, **parameters: Any) -> Examination:
    return ANALYZER.examine(ClusterView("g", grains), {**ANALYZER.manifest.defaults(), **parameters}, now)


def found(*grains: Grain, **more: Any) -> Draft | None:
    drafts = examined(*grains, **more).drafts
    assert len(drafts) <= 1
    return drafts[0] if drafts else None


def test_a_skill_that_is_practised_and_stays_low_is_advice() -> None:
    skill = make_skill(proficiency=0.254)
    draft = found(skill)
    assert draft is not None
    assert (draft.parts, draft.namespace, draft.severity) == (("triage",), "shared", "medium")
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("skills", TextRef(skill.address, "name")))
    assert draft.evidence == (skill.address,)
    assert draft.proposal.advice == {
        "skill": TextRef(skill.address, "name"), "proficiency": 0.25, "practice_count": 12,
    }  # fmt: skip
    assert not draft.proposal.is_applicable


@pytest.mark.parametrize(
    ("proficiency", "practice", "fires"),
    [
        (0.4, 5, True),
        (0.4, 4, False),
        (0.401, 5, False),
        (0.0, 5, True),
        (0.9, 500, False),
        (0.45, 1000, False),
        (0.25, None, False),
        (0.25, 0, False),
    ],
)
def test_both_bounds_are_inclusive(proficiency: float, practice: int | None, fires: bool) -> None:
    assert (found(make_skill(1, proficiency, practice)) is not None) is fires


def test_the_bounds_are_parameters() -> None:
    assert found(make_skill(1, 0.5, 2), min_practice=2, max_proficiency=0.5) is not None


def test_a_skill_that_was_never_measured_says_nothing_however_often_it_is_practised() -> None:
    assert found(make_skill(proficiency=None, practice_count=900)) is None


def chain(*proficiencies: float | None) -> list[Grain]:
    """Revisions of one skill, the last one live."""
    size = len(proficiencies)
    return [
        make_skill(place, proficiency, 12, at=NOW - (size - place + 1) * DAY_MS,
                   state="current" if place == size else "superseded")
        for place, proficiency in enumerate(proficiencies, start=1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("proficiencies", "fires"),
    [
        ((0.1, 0.2, 0.3, 0.38), False),
        ((0.2, 0.25), False),
        ((0.3, 0.35), False),
        ((0.2, 0.249), True),
        ((0.3, 0.3, 0.3, 0.3), True),
        ((0.38, 0.3, 0.2), True),
        ((0.05, 0.3, 0.3, 0.3, 0.3), True),
        ((0.3, 0.2, 0.2, 0.2, 0.26), False),
        ((0.2, None, 0.3), False),
    ],
)
def test_a_chain_that_rises_by_a_twentieth_over_three_revisions_is_no_stall(
    proficiencies: tuple[float | None, ...], fires: bool
) -> None:
    assert (found(*chain(*proficiencies)) is not None) is fires


def test_only_the_latest_live_revision_counts() -> None:
    low, high = make_skill(1, 0.2), make_skill(2, 0.9)
    assert found(low, high) is None
    assert found(low, replace(high, state="forgotten", body={})) is not None
    assert found(low, replace(high, valid_to=NOW)) is not None
    assert found(replace(low, state="superseded")) is None


def test_a_revision_is_later_by_its_number_not_by_when_it_was_recorded() -> None:
    second, first = make_skill(2, 0.9, at=NOW - 9 * DAY_MS), make_skill(1, 0.2, at=NOW - DAY_MS)
    assert found(first, second) is None


def test_the_same_skill_of_another_namespace_or_spelling_is_a_finding_of_its_own() -> None:
    grains = make_skill(), make_skill(namespace="team"), make_skill(name="Triage")
    drafts = examined(*grains).drafts
    assert {(draft.namespace, draft.parts) for draft in drafts} == {
        ("shared", ("triage",)), ("shared", ("Triage",)), ("team", ("triage",)),
    }  # fmt: skip


def test_the_end_of_a_revision_is_due() -> None:
    grains = make_skill(1, 0.2), make_skill(2, 0.9, valid_to=NOW + 5)
    assert examined(*grains).next_due_at == NOW + 5
    assert found(*grains, now=NOW + 5) is not None


@pytest.mark.parametrize("odd", [True, "0.2", None, float("nan"), [0.2]])
def test_a_proficiency_that_is_no_number_is_none(odd: object) -> None:
    skill = make_skill()
    assert found(replace(skill, body={**skill.body, "proficiency": odd})) is None
