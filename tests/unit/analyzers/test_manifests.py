"""What every analyzer says of itself, so that API, console and docs can be fed from it."""

from __future__ import annotations

import re

import pytest

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import Analyzer, Parameter
from provenloop.domain.recommendation import family_of
from provenloop.services.texts import TEMPLATES

PARAMETERS = [
    pytest.param(parameter, id=f"{analyzer.manifest.id} {parameter.name}")
    for analyzer in ANALYZERS
    for parameter in analyzer.manifest.parameters
]


def test_ids_are_versioned_and_families_are_unique() -> None:
    ids = [analyzer.manifest.id for analyzer in ANALYZERS]
    assert ids == ["loop.tool_failure/1", "loop.contradiction_sweep/1"]
    assert len({family_of(name) for name in ids}) == len(ids)


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=lambda analyzer: analyzer.manifest.id)
def test_a_manifest_is_complete(analyzer: Analyzer) -> None:
    manifest = analyzer.manifest
    assert re.fullmatch(r"loop\.[a-z_]+/[1-9]", manifest.id)
    assert manifest.title
    assert manifest.line.endswith(".")
    assert (manifest.trust, manifest.auto_apply) == ("builtin", "never")
    assert manifest.defaults().keys() == {parameter.name for parameter in manifest.parameters}
    assert any(
        template.startswith(family_of(manifest.id).removeprefix("loop.").split("_")[0]) for template in TEMPLATES
    )


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_default_has_its_parameter_s_type_and_lies_within_its_bounds(parameter: Parameter) -> None:
    kinds: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
    assert isinstance(parameter.default, kinds[parameter.kind])
    measured = len(parameter.default) if isinstance(parameter.default, str) else parameter.default
    assert parameter.low is None or parameter.low <= measured
    assert parameter.high is None or measured <= parameter.high
    assert parameter.describes
