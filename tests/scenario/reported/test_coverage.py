"""The map from reported faults to tests: every test it names is there, and every test beside it is named."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
LATER = "later"


def mapped() -> dict[str, list[str]]:
    """The tests of each fault."""
    sections = tomllib.loads((HERE / "coverage.toml").read_text(encoding="utf-8"))
    return {fault: tests for name, section in sections.items() if name != LATER for fault, tests in section.items()}


@cache
def names_in(file: Path) -> frozenset[str]:
    """Names of the tests that a file defines."""
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_")


def own_tests() -> Iterator[str]:
    """Ids of the tests of this folder."""
    for file in sorted(HERE.glob("test_*.py")):
        if file != Path(__file__):
            yield from (f"{file.relative_to(TESTS)}::{name}" for name in sorted(names_in(file)))


def test_every_fault_names_tests_that_there_are() -> None:
    missing = [
        (fault, test)
        for fault, tests in mapped().items()
        for test in tests or ["none"]
        if test.partition("::")[2] not in names_in(TESTS / test.partition("::")[0])
    ]
    assert missing == []


def test_every_test_of_a_reported_fault_is_named_by_one() -> None:
    named = {test for tests in mapped().values() for test in tests}
    assert [test for test in own_tests() if test not in named] == []


def test_a_test_that_is_not_there_is_missed() -> None:
    assert "test_nothing" not in names_in(Path(__file__))
    assert names_in(HERE / "test_nowhere.py") == frozenset()
    assert len(mapped()) > 150
