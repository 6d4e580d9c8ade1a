"""Where in a scenario the passes, lists, decisions and reads stand."""

from __future__ import annotations

from collections.abc import Iterator

from tests.parity.runner.cards import Card, recorded_card
from tests.parity.runner.expected import Answers, cards_about, ran
from tests.parity.runner.scenarios import Scenario


def steps_of(scenario: Scenario, *operations: str, after: int = -1) -> list[int]:
    """Numbers of the steps of these kinds, behind a step."""
    return [n for n, step in enumerate(scenario.steps) if step["op"] in operations and n > after]


def one_pass(scenario: Scenario, found: tuple[Card, ...], about: str = "") -> Answers | None:
    """A pass that finds these cards and lists that show them, in a scenario with one pass.

    Args:
        about: the analyzers that are looked at, by their short names; all by default.

    Returns:
        None for a scenario of another shape.
    """
    runs = steps_of(scenario, "run")
    if len(runs) != 1:
        return None
    shown: Answers = {n: cards_about(about, *found) for n in steps_of(scenario, "list", after=runs[0])}
    return shown if about else {**shown, runs[0]: ran(stored=len(found))}


def first_of_each(scenario: Scenario, step: int) -> tuple[Card, ...]:
    """The recorded cards of a list without those that repeat an earlier finding."""
    return tuple(_firsts(scenario, step))


def _firsts(scenario: Scenario, step: int) -> Iterator[Card]:
    seen: set[tuple[str, str]] = set()
    for raw in scenario.recorded.get(step, {}).get("recommendations", ()):
        found = recorded_card(raw)
        if (found.analyzer, found.target) not in seen:
            seen.add((found.analyzer, found.target))
            yield found
