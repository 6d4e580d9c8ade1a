"""Where this system answers better than the recordings: what it is to answer instead.

A module a family holds, by scenario, the steps whose answer differs from the recording; the other steps are to be
answered as recorded. A scenario that no module knows is judged by the general rule of its oddity, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.better import con, dup, fork, general, loop, outside, stale, telemetry, tool
from tests.parity.runner.expected import Answers
from tests.parity.runner.scenarios import Scenario

BY_NAME: Mapping[str, Answers] = {
    name: answers
    for module in (tool, con, dup, stale, telemetry, fork, loop, outside)
    for name, answers in module.BETTER.items()
}


def better_answer(scenario: Scenario) -> Answers | None:
    """What is to be answered at the steps that differ from the recording; None where nobody knows."""
    if scenario.name in BY_NAME:
        return BY_NAME[scenario.name]
    found = [general.RULES[number](scenario) for number in scenario.oddities if number in general.RULES]
    fitting = [answers for answers in found if answers is not None]
    return {step: wanted for answers in fitting for step, wanted in answers.items()} if fitting else None
