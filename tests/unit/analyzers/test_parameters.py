"""Parameters are refused when they are set: unknown, of a wrong type, out of range, too long, or no choice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import Analyzer, Manifest, Parameter
from provenloop.analyzers.parameters import parse_parameters
from provenloop.domain.errors import InvalidInputError, ParameterError

EVERY = {family.manifest.id.removeprefix("loop.").removesuffix("/1"): family.manifest for family in ANALYZERS}
SWITCHED = Manifest(
    "loop.switched/1", "Switched", "Has a switch.", "T0", "builtin", default_on=True, sources=("grain",),
    parameters=(Parameter("loud", "bool", False),),
)  # fmt: skip


def refused(manifest: Manifest, given_: Any) -> ParameterError:
    with pytest.raises(ParameterError) as caught:
        parse_parameters(manifest, given_)
    assert isinstance(caught.value, InvalidInputError)
    assert caught.value.code == "PVL-E031"
    return caught.value


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=lambda analyzer: analyzer.manifest.id)
def test_nothing_given_is_every_default_and_every_default_may_be_given(analyzer: Analyzer) -> None:
    defaults = analyzer.manifest.defaults()
    assert parse_parameters(analyzer.manifest, {}) == defaults
    assert parse_parameters(analyzer.manifest, dict(defaults)) == defaults


def test_what_is_given_stands_and_the_rest_stays_at_its_default() -> None:
    assert parse_parameters(EVERY["tool_failure"], {"min_count": 7}) == {
        "min_count": 7, "min_rate": 0.4, "min_abs": 50, "window_days": 30,
    }  # fmt: skip
    assert parse_parameters(SWITCHED, {"loud": True}) == {"loud": True}


#: Every parameter with its bounds: name, least, one less, most, one more.
BOUNDS: list[tuple[str, str, Any, Any, Any, Any]] = [
    ("tool_failure", "min_count", 1, 0, 1000, 1001),
    ("tool_failure", "min_rate", 0.0, -0.001, 1.0, 1.001),
    ("tool_failure", "min_abs", 1, 0, 100_000, 100_001),
    ("tool_failure", "window_days", 1, 0, 365, 366),
    ("duplicate_sweep", "jaccard", 0.5, 0.499, 1.0, 1.001),
    ("contradiction_sweep", "extra_relations", "", None, "x" * 2000, "x" * 2001),
    ("contradiction_sweep", "many_valued", "", None, "x" * 2000, "x" * 2001),
    ("staleness", "grace_days", 0, -1, 3650, 3651),
    ("skill_stall", "min_practice", 1, 0, 100_000, 100_001),
    ("skill_stall", "max_proficiency", 0.0, -0.001, 1.0, 1.001),
    ("goal_stagnation", "max_progress", 0.0, -0.001, 1.0, 1.001),
    ("goal_stagnation", "min_age_days", 1, 0, 3650, 3651),
    ("cold_grains", "min_age_days", 0, -1, 3650, 3651),
    ("cold_grains", "max_recalls", 0, -1, 1_000_000, 1_000_001),
    ("coverage_gap", "min_runs", 1, 0, 1_000_000, 1_000_001),
    ("coverage_gap", "min_empty_ratio", 0.0, -0.001, 1.0, 1.001),
    ("coverage_gap", "window_days", 1, 0, 365, 366),
    ("budget_pressure", "min_samples", 1, 0, 10_000_000, 10_000_001),
    ("budget_pressure", "min_overflow_ratio", 0.0, -0.001, 1.0, 1.001),
    ("budget_pressure", "window_days", 1, 0, 365, 366),
    ("retention_sweep", "max_age_days", 0, -1, 36_500, 36_501),
    ("retention_sweep", "grain_type", "", None, "observation", "x" * 33),
    ("retention_sweep", "max_grains", 1, 0, 5000, 5001),
]


def test_the_bounds_below_are_those_of_every_parameter_there_is() -> None:
    named = {(family, parameter.name) for family, manifest in EVERY.items() for parameter in manifest.parameters}
    assert {(family, name) for family, name, *_ in BOUNDS} == named


@pytest.mark.parametrize(("family", "name", "least", "less", "most", "more"), BOUNDS)
def test_bounds_are_inclusive_and_what_is_beyond_them_is_refused(
    family: str, name: str, least: Any, less: Any, most: Any, more: Any
) -> None:
    manifest = EVERY[family]
    for fine in (least, most):
        assert parse_parameters(manifest, {name: fine})[name] == fine
    for wrong in (less, more):
        assert refused(manifest, {name: wrong}).field == f"parameters.{name}"


@pytest.mark.parametrize(
    ("family", "given_", "field"),
    [
        ("tool_failure", {"min_cuont": 3}, "parameters.min_cuont"),
        ("outcome_review", {"min_count": 3}, "parameters.min_count"),
        ("tool_failure", {"min_count": 3, "window": 3}, "parameters.window"),
        ("tool_failure", [["min_count", 3]], "parameters"),
        ("tool_failure", None, "parameters"),
    ],
)
def test_an_unknown_name_is_refused_and_named(family: str, given_: Any, field: str) -> None:
    assert refused(EVERY[family], given_).field == field


@pytest.mark.parametrize(
    ("manifest", "name", "wrong"),
    [
        (EVERY["tool_failure"], "min_count", 3.0),
        (EVERY["tool_failure"], "min_count", True),
        (EVERY["tool_failure"], "min_count", "3"),
        (EVERY["tool_failure"], "min_count", None),
        (EVERY["tool_failure"], "min_rate", True),
        (EVERY["tool_failure"], "min_rate", "0.4"),
        (EVERY["tool_failure"], "min_rate", float("nan")),
        (EVERY["tool_failure"], "min_rate", float("inf")),
        (EVERY["tool_failure"], "min_rate", 10**400),
        (EVERY["contradiction_sweep"], "extra_relations", ["speaks"]),
        (EVERY["retention_sweep"], "grain_type", "facts"),
        (EVERY["retention_sweep"], "grain_type", "Fact"),
        (SWITCHED, "loud", 1),
        (SWITCHED, "loud", "true"),
    ],
)
def test_a_wrong_type_or_no_choice_is_refused_and_named(manifest: Manifest, name: str, wrong: Any) -> None:
    assert refused(manifest, {name: wrong}).field == f"parameters.{name}"


def test_a_whole_number_is_fine_for_a_rate() -> None:
    rate = parse_parameters(EVERY["tool_failure"], {"min_rate": 1})["min_rate"]
    assert (rate, type(rate)) == (1.0, float)


def test_the_choices_are_told() -> None:
    assert refused(EVERY["retention_sweep"], {"grain_type": "facts"}).message.startswith('one of "", fact, ')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=3
)


@given(st.sampled_from(ANALYZERS), st.data())
def test_whatever_is_given_is_refused_or_gives_values_within_the_manifest(
    analyzer: Analyzer, data: st.DataObject
) -> None:
    manifest = analyzer.manifest
    names = st.sampled_from([parameter.name for parameter in manifest.parameters] or ["none"])
    given_ = data.draw(st.dictionaries(names, JSON, max_size=3))
    if _is_refused(manifest, given_):
        assert (refused(manifest, given_).field or "").startswith("parameters.")
    else:
        parsed = parse_parameters(manifest, given_)
        assert parsed.keys() == manifest.defaults().keys()
        assert parse_parameters(manifest, parsed) == parsed


def _is_refused(manifest: Manifest, given_: Any) -> bool:
    try:
        parse_parameters(manifest, given_)
    except ParameterError:
        return True
    return False
