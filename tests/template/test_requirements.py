"""What is pinned where: the layer ships what was tested, nothing is missing from it, and no file names a registry."""

from __future__ import annotations

import re
from importlib.metadata import requires, version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LAYER = ROOT / "layers/dependencies/requirements.txt"
MODELS = ROOT / "layers/models/requirements.txt"
EMBEDDER = ROOT / "layers/embedder/requirements.txt"
DEV = ROOT / ".ci/requirements-dev.txt"
PINNED = [LAYER, MODELS, EMBEDDER, *sorted((ROOT / ".ci").glob("requirements-*.txt"))]

#: In the Lambda runtime: botocore and what botocore brings along.
RUNTIME = {"boto3", "botocore", "python-dateutil", "six", "urllib3"}
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "implementation_name": "cpython", "extra": ""}


def entries(file: Path) -> Iterator[str]:
    """Each requirement of a pinned file as one line, its hashes included."""
    text = re.sub(r"\\\n", " ", file.read_text(encoding="utf-8"))
    return (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def pins(file: Path) -> dict[str, str]:
    """Version by canonical name."""
    requirements = (Requirement(entry.split("--hash")[0]) for entry in entries(file))
    return {
        canonicalize_name(requirement.name): str(requirement.specifier)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    }


def needs(package: str) -> set[str]:
    """Canonical names of what an installed package requires on Linux, extras aside."""
    requirements = map(Requirement, requires(package) or [])
    return {
        canonicalize_name(requirement.name)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(LINUX)
    }


def test_the_layer_ships_the_versions_that_the_tests_run_with() -> None:
    layer, dev = pins(LAYER), pins(DEV)
    assert layer
    assert layer == {name: dev.get(name) for name in layer}


def test_the_layer_of_models_adds_what_is_not_in_the_first_at_the_versions_that_the_tests_run_with() -> None:
    layer, first, dev = pins(MODELS), pins(LAYER), pins(DEV)
    assert "anthropic" in layer
    assert layer == {name: dev.get(name) for name in layer}
    assert not layer.keys() & (first.keys() | RUNTIME)
    missing = {need for package in layer for need in needs(package)} - layer.keys()
    assert missing <= first.keys() | RUNTIME


def test_the_layer_lacks_only_what_the_runtime_brings() -> None:
    layer = pins(LAYER)
    missing = {need for package in layer for need in needs(package)} - layer.keys()
    assert missing <= RUNTIME
    assert not layer.keys() & RUNTIME


def test_the_layer_of_the_embedder_ships_the_versions_that_the_tests_run_with_and_nothing_else() -> None:
    installed = {name: f"=={version(name)}" for name in ("numpy", "tokenizers", "wordllama")}
    assert pins(EMBEDDER) == installed
    assert not pins(LAYER).keys() & installed.keys()


@pytest.mark.parametrize("file", PINNED, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_requirement_is_pinned_and_hashed(file: Path) -> None:
    listed = list(entries(file))
    assert listed
    assert [entry for entry in listed if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)] == []


@pytest.mark.parametrize(
    "file", [*PINNED, *(file.with_suffix(".in") for file in PINNED)], ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_no_requirements_file_names_a_registry_or_a_folder_of_some_machine(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert re.search(r"://|^\s*(-i|-f|--(extra-)?index-url|--find-links)\b|(?<![\w.])/", text, re.MULTILINE) is None
