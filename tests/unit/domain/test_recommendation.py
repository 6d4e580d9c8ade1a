"""Ids, digests and shapes of recommendations, pinned; and the codes of all errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import LoopError, error_classes
from provenloop.domain.proposal import NewFact, Operation, Proposal, TextRef, digest_of, refs_of, shape_of
from provenloop.domain.recommendation import (
    ID_CHARS,
    KEPT_OPEN_MS,
    SEVERITIES,
    expiry_of,
    family_of,
    recommendation_id,
    severity_rank,
)
from tests.builders import DAY_MS, NOW

LESSON = Proposal(
    operations=(
        Operation("ADD", fact=NewFact("shared", TextRef("a1", "tool"), "fails_with", TextRef("a2", "signature"), 0.7)),
    )
)
POINT = Proposal(operations=(Operation("POINT", target="a1", into="a2", expects={"a1": 1, "a2": 3}),))


@pytest.mark.parametrize(
    ("memory", "dedup_key", "occurrence", "expected"),
    [
        ("acme/demo", "00112233445566778899aabbccddeeff", 0, "gqztv2reqjeurzweshd6kkc4b3"),
        ("acme/demo", "00112233445566778899aabbccddeeff", 1, "qggc3lgshj5jfbtv2mmjl5te3d"),
        ("acme/other", "00112233445566778899aabbccddeeff", 0, "tlsalhbzgnrykoisnndt6ipfhq"),
        ("acme/demo", "ffeeddccbbaa99887766554433221100", 0, "qwm4zhzw6qy4tjdj53n7dta4s4"),
    ],
)
def test_ids_stay_what_they_are(memory: str, dedup_key: str, occurrence: int, expected: str) -> None:
    assert recommendation_id(memory, dedup_key, occurrence) == expected


@given(st.text(), st.text(), st.integers(0, 9))
def test_an_id_is_26_characters_of_base32(memory: str, dedup_key: str, occurrence: int) -> None:
    made = recommendation_id(memory, dedup_key, occurrence)
    assert len(made) == ID_CHARS == 26
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz234567")


def test_digests_of_proposals_stay_what_they_are() -> None:
    assert digest_of(LESSON) == "0b08d7809a002bc970822ce11e7fdcf6f8ed502f11e6bb169983ed5e5bbcd93c"
    assert digest_of(POINT) == "ebd049abb935e6d9c6b79a81afc1041dcd1d61ea4f6c0e871032e92c709cdc83"
    assert digest_of(Proposal()) == "5fdd5291ef9a03ba47dbe46ff69e55c92e88406c854f6277eb205201dd0bbcfb"


def test_a_digest_names_every_part_of_a_proposal() -> None:
    [step] = POINT.operations
    others = [
        replace(POINT, operations=(replace(step, target="a3"),)),
        replace(POINT, operations=(replace(step, into="a3"),)),
        replace(POINT, operations=(replace(step, expects={"a1": 2, "a2": 3}),)),
        replace(POINT, operations=(step, step)),
        replace(POINT, revert_of="rec"),
    ]
    assert len({digest_of(proposal) for proposal in [POINT, *others]}) == len(others) + 1


def test_a_lesson_keeps_its_shape_when_only_its_figures_and_its_example_move() -> None:
    [step] = LESSON.operations
    assert step.fact is not None
    newer = replace(step.fact, object=TextRef("a9", "signature"), subject=TextRef("a0", "tool"), confidence=0.9)
    moved = Proposal(operations=(replace(step, fact=newer),))
    assert shape_of(moved) == shape_of(LESSON)
    assert digest_of(moved) != digest_of(LESSON)


def test_a_shape_tells_other_targets_revisions_and_texts_apart() -> None:
    [step] = POINT.operations
    [lesson] = LESSON.operations
    assert lesson.fact is not None
    shapes = {
        shape_of(LESSON),
        shape_of(Proposal(operations=(replace(lesson, fact=replace(lesson.fact, object="many different errors")),))),
        shape_of(Proposal(operations=(replace(lesson, fact=replace(lesson.fact, namespace="team")),))),
        shape_of(POINT),
        shape_of(Proposal(operations=(replace(step, target="a3"),))),
        shape_of(Proposal(operations=(replace(step, expects={"a1": 1, "a2": 4}),))),
    }
    assert len(shapes) == 6


ADVICE = Proposal(advice={"skill": TextRef("a1", "name"), "week": "2027-W02", "practice_count": 12, "level": 0.25})


def test_advice_is_the_same_when_only_its_figures_and_its_example_move() -> None:
    moved = Proposal(
        advice={**(ADVICE.advice or {}), "skill": TextRef("a9", "name"), "practice_count": 13, "level": 0.3}
    )
    assert (digest_of(moved), shape_of(moved)) == (digest_of(ADVICE), shape_of(ADVICE))


@pytest.mark.parametrize("other", [{"week": "2027-W03"}, {"skill": TextRef("a1", "tool")}, {"more": 1}])
def test_advice_that_says_something_else_is_told_apart(other: dict[str, str | int | TextRef]) -> None:
    changed = Proposal(advice={**(ADVICE.advice or {}), **other})
    assert digest_of(changed) != digest_of(ADVICE)
    assert shape_of(changed) != shape_of(ADVICE)


def test_only_operations_without_removal_can_be_rolled_back() -> None:
    removal = Proposal(operations=(*POINT.operations, Operation("FORGET", target="a1")))
    advice = Proposal(advice={"do": "something"})
    revert = Proposal(revert_of="rec")
    assert [proposal.is_destructive for proposal in (POINT, removal, advice, revert)] == [False, True, False, False]
    assert [proposal.is_rollbackable for proposal in (POINT, removal, advice, revert)] == [True, False, False, False]
    assert [proposal.is_applicable for proposal in (POINT, removal, advice, revert)] == [True, True, False, True]


def test_the_references_of_a_proposal_are_those_of_its_facts_and_its_advice() -> None:
    assert list(refs_of(LESSON)) == [TextRef("a1", "tool"), TextRef("a2", "signature")]
    assert list(refs_of(POINT)) == []
    assert list(refs_of(ADVICE)) == [TextRef("a1", "name")]


def test_severities_rank_from_info_to_high() -> None:
    assert SEVERITIES == ("info", "low", "medium", "high")
    assert [severity_rank(severity) for severity in SEVERITIES] == [0, 1, 2, 3]


def test_a_family_is_an_id_without_its_version() -> None:
    assert family_of("loop.tool_failure/1") == "loop.tool_failure"


@given(st.integers(NOW, NOW + 400 * DAY_MS))
def test_what_is_refreshed_now_ages_out_ninety_days_later_at_a_utc_midnight(now: int) -> None:
    at = expiry_of(now)
    assert at % DAY_MS == 0
    assert now + KEPT_OPEN_MS <= at < now + KEPT_OPEN_MS + DAY_MS


def test_codes_are_stable_and_no_two_errors_share_one() -> None:
    codes = {cls.__name__: cls.code for cls in error_classes() if cls.__module__ == LoopError.__module__}
    assert codes == {
        "LoopError": "PVL-E099",
        "InvalidInputError": "PVL-E011",
        "TooLargeError": "PVL-E012",
        "UnauthenticatedError": "PVL-E025",
        "ForbiddenError": "PVL-E026",
        "NotFoundError": "PVL-E040",
        "ConflictError": "PVL-E043",
        "ThrottledError": "PVL-E002",
        "UnavailableError": "PVL-E001",
        "AnalyzerError": "PVL-E030",
        "IntegrityError": "PVL-E060",
        "InternalError": "PVL-E099",
        "AmbiguousPrefixError": "PVL-E013",
        "ParameterError": "PVL-E031",
        "ScopeDeniedError": "PVL-E022",
        "SelfApprovalError": "PVL-E021",
        "DestructiveGateError": "PVL-E023",
        "PrincipalKindError": "PVL-E024",
        "IllegalTransitionError": "PVL-E020",
        "TargetChangedError": "PVL-E041",
        "StaleDecisionError": "PVL-E042",
        "IdempotencyMismatchError": "PVL-E014",
        "BusyError": "PVL-E003",
        "IssuerUnavailableError": "PVL-E004",
        "MemoryErasedError": "PVL-E044",
        "ModelUnavailableError": "PVL-E050",
    }
    named = [code for name, code in codes.items() if name != "LoopError"]
    assert len(set(named)) == len(named)


def test_trying_again_helps_against_outside_reasons_and_lost_races_only() -> None:
    retryable = {cls.__name__ for cls in error_classes() if cls.retryable}
    assert retryable == {
        "ConflictError", "ThrottledError", "UnavailableError", "BusyError", "ModelUnavailableError",
        "IssuerUnavailableError",
    }  # fmt: skip


def test_an_error_carries_its_message_and_field() -> None:
    error = LoopError("broken rule", field="events[3].object")
    assert (str(error), error.message, error.field) == ("broken rule", "broken rule", "events[3].object")
