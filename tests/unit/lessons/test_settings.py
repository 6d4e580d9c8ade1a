"""Settings of lessons: every row of their table, and that nothing else is one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import IntegrityError, ParameterError
from provenloop.lessons.settings import DEFAULTS, NAMES, RANGES, LessonSettings, check_settings, settings_from

FLAGS = ["enabled", "report_enabled", "inject_enabled", "section_enabled"]
#: Name, default, lowest and highest value, as the table of the design has them.
NUMBERS: list[tuple[str, float, float, float | None]] = [
    ("promote_threshold", 3, 1, 20),
    ("demote_threshold", 3, 1, 50),
    ("demote_min_samples", 5, 1, 100),
    ("demote_ratio", 0.5, 0.05, 1),
    ("decay_days", 30, 1, 365),
    ("revive_threshold", 3, 1, 20),
    ("max_lessons_bytes", 0, 0, 1 << 30),
    ("digest_timeout_ms", 120_000, 1000, None),
    ("decay_interval_ms", 86_400_000, 1000, None),
    ("max_injected_rules", 50, 0, 1000),
]


def refused(name: str, value: Any) -> str | None:
    with pytest.raises(ParameterError) as caught:
        check_settings({name: value})
    return caught.value.field


def test_the_table_is_complete() -> None:
    assert [*FLAGS, *(name for name, *_ in NUMBERS)] == list(NAMES)


@pytest.mark.parametrize("name", FLAGS)
def test_a_switch_is_on_and_can_be_switched(name: str) -> None:
    assert DEFAULTS[name] is True
    assert check_settings({name: False}) == {name: False}
    for wrong in (0, 1, "yes", None, 0.0):
        assert refused(name, wrong) == f"lessons.{name}"


@pytest.mark.parametrize(("name", "default", "low", "high"), NUMBERS)
def test_a_number_has_its_default_and_its_range(name: str, default: float, low: float, high: float | None) -> None:
    assert DEFAULTS[name] == default
    highest = RANGES[name][1] if high is None else high
    assert check_settings({name: low})[name] == low
    assert check_settings({name: highest})[name] == highest
    step = 0.05 if name == "demote_ratio" else 1
    for wrong in (low - step, highest + step, True, "3", None, [3]):
        assert refused(name, wrong) == f"lessons.{name}"


@pytest.mark.parametrize("value", [0.051, 0.333, 0.99, float("nan"), float("inf")])
def test_the_ratio_goes_in_steps(value: float) -> None:
    assert refused("demote_ratio", value) == "lessons.demote_ratio"


@given(st.integers(1, 20))
def test_every_step_of_the_ratio_is_taken(step: int) -> None:
    assert check_settings({"demote_ratio": step * 0.05}) == {"demote_ratio": step / 20}


@pytest.mark.parametrize("name", ["promote_threshold", "decay_days", "max_injected_rules"])
def test_whole_numbers_have_no_fraction(name: str) -> None:
    assert refused(name, 3.5) == f"lessons.{name}"


def test_an_unknown_name_is_refused_with_all_that_come_with_it() -> None:
    with pytest.raises(ParameterError) as caught:
        check_settings({"promote_threshold": 4, "promote_treshold": 4})
    assert caught.value.field == "lessons.promote_treshold"


@pytest.mark.parametrize("stored", [{"promote_threshold": 0}, {"enabled": "no"}, {"threshold": 3}])
def test_what_is_stored_and_out_of_range_cannot_be_read(stored: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        settings_from(stored)


def test_what_is_not_stored_is_the_default() -> None:
    assert settings_from({}) == LessonSettings()
    assert settings_from({"demote_ratio": 0.75}) == LessonSettings(demote_ratio=0.75)


@pytest.mark.parametrize(
    ("off", "takes_reports", "injects", "shows_section"),
    [
        ({}, True, True, True),
        ({"enabled": False}, False, False, False),
        ({"report_enabled": False}, False, True, True),
        ({"inject_enabled": False}, True, False, True),
        ({"section_enabled": False}, True, True, False),
    ],
)
def test_each_switch_takes_away_what_it_names_and_the_main_one_everything(
    off: dict[str, bool], takes_reports: bool, injects: bool, shows_section: bool
) -> None:
    settings = settings_from(off)
    assert (settings.takes_reports, settings.injects, settings.shows_section) == (takes_reports, injects, shows_section)
