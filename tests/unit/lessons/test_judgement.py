"""The judgement of rules: the one ratio, when the machine demotes, and what only a person can judge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.lessons.judgement import (
    Tally,
    is_ready,
    is_to_be_demoted,
    is_undeterminable,
    step_due,
    tally_of,
)
from provenloop.lessons.settings import LessonSettings
from tests.builders import DAY_MS, NOW
from tests.lessons import make_card

SETTINGS = LessonSettings()
COUNTS = st.integers(0, 60)


def make_rule(violations: int = 0, suppressed: int = 0, samples: int = 0, **more: Any) -> Any:
    counted = {"violations": violations, "suppressed": suppressed, "samples": samples}
    return make_card(status="armed", armed_at=NOW, statement="s", **counted, **more)


@pytest.mark.parametrize(
    ("violations", "suppressed", "ratio"), [(0, 0, None), (3, 0, 1.0), (0, 4, 0.0), (1, 3, 0.25), (3, 2, 0.6)]
)
def test_the_ratio_is_of_the_cases_in_which_it_fired(violations: int, suppressed: int, ratio: float | None) -> None:
    assert Tally(violations, suppressed, samples=99).ratio == ratio


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_samples_are_never_a_denominator(violations: int, suppressed: int, few: int, many: int) -> None:
    assert Tally(violations, suppressed, few).ratio == Tally(violations, suppressed, many).ratio
    one, other = (make_rule(violations, suppressed, samples) for samples in (few, many))
    assert is_to_be_demoted(one, SETTINGS) == is_to_be_demoted(other, SETTINGS)


@pytest.mark.parametrize(
    ("violations", "suppressed", "settings", "demoted"),
    [
        (3, 2, {}, True),
        (3, 3, {}, True),  # exactly the ratio
        (3, 0, {}, False),  # never followed: only a person can judge it
        (9, 0, {}, False),
        (2, 3, {}, False),  # too few violations
        (3, 1, {}, False),  # too few cases
        (3, 4, {}, False),  # followed more often than not
        (2, 3, {"demote_threshold": 2, "demote_ratio": 0.4}, True),
        (2, 3, {"demote_threshold": 2, "demote_ratio": 0.45}, False),
        (3, 1, {"demote_min_samples": 4}, True),
        (3, 2, {"demote_ratio": 1.0}, False),
    ],
)
def test_the_machine_demotes_when_all_four_hold(
    violations: int, suppressed: int, settings: dict[str, Any], demoted: bool
) -> None:
    assert is_to_be_demoted(make_rule(violations, suppressed), LessonSettings(**settings)) is demoted


@pytest.mark.parametrize("status", ["candidate", "rejected", "demoted", "archived"])
def test_only_what_is_armed_is_judged(status: Any) -> None:
    card = make_card(status=status, violations=9, suppressed=1)
    assert not is_to_be_demoted(card, SETTINGS)
    assert not is_undeterminable(card, SETTINGS, NOW + 400 * DAY_MS)


def test_what_was_counted_under_an_earlier_arming_is_not_held_against_a_rule() -> None:
    rule = make_rule(12, 4, 9, violations_before=10, suppressed_before=3, samples_before=9)
    assert tally_of(rule) == Tally(2, 1, 0)
    assert not is_to_be_demoted(rule, SETTINGS)


@pytest.mark.parametrize(
    ("violations", "suppressed", "clean_at", "days", "undeterminable"),
    [
        (0, 0, None, 30, False),  # the window is not over yet
        (0, 0, None, 30.01, True),
        (2, 0, None, 30.01, True),  # later violations do not begin it anew
        (3, 0, None, 0, True),  # as many violations as demote, and nobody followed it
        (2, 0, None, 0, False),
        (9, 1, None, 400, False),  # one pass clears it
        (0, 0, NOW + 10 * DAY_MS, 40, False),  # a clean hit begins it anew
        (0, 0, NOW + 10 * DAY_MS, 40.01, True),
    ],
)
def test_what_nobody_was_seen_to_follow_only_a_person_can_judge(
    violations: int, suppressed: int, clean_at: int | None, days: float, undeterminable: bool
) -> None:
    rule = make_rule(violations, suppressed, clean_at=clean_at, last_at=NOW + 20 * DAY_MS)
    assert is_undeterminable(rule, SETTINGS, NOW + int(days * DAY_MS)) is undeterminable


@given(COUNTS, COUNTS, COUNTS, st.integers(0, 500))
def test_a_rule_is_never_both_demoted_and_undeterminable(v: int, s: int, n: int, days: int) -> None:
    rule = make_rule(v, s, n)
    assert not (is_to_be_demoted(rule, SETTINGS) and is_undeterminable(rule, SETTINGS, NOW + days * DAY_MS))


@pytest.mark.parametrize(
    ("card", "ready", "step"),
    [
        ({"reports": 2}, False, None),
        ({"reports": 3}, False, "ready"),
        ({"reports": 9}, False, "ready"),  # the threshold was lowered since
        ({"reports": 3, "ready_at": NOW}, True, None),
        ({"reports": 2, "ready_at": NOW}, True, None),  # back after a rejection
        ({"reports": 9, "status": "armed"}, False, None),
        ({"reports": 9, "status": "rejected"}, False, None),
        ({"since_rejection": 2, "status": "rejected"}, False, None),
        ({"since_rejection": 3, "status": "rejected"}, False, "return"),
        ({"since_rejection": 7, "status": "rejected"}, False, "return"),
        ({"since_rejection": 7, "status": "archived"}, False, None),
        ({"since_rejection": 7, "status": "demoted"}, False, None),
    ],
)
def test_a_candidate_becomes_ready_once_and_only_a_rejected_card_comes_back_by_itself(
    card: dict[str, Any], ready: bool, step: str | None
) -> None:
    assert is_ready(make_card(**card)) is ready
    assert step_due(make_card(**card), SETTINGS) == step
