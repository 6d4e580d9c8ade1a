"""What tool failures a scenario's own calls amount to, worked out by the published rule of tool_failure."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator

from tests.parity.better.shape import one_pass
from tests.parity.better.tool import lesson
from tests.parity.runner.cards import Card
from tests.parity.runner.expected import Answers
from tests.parity.runner.scenarios import Scenario, Step

Cause = Callable[[Step], str]


def each_text(step: Step) -> str:
    """Every text is a cause of its own."""
    return str(step.get("result", ""))


def one_cause(step: Step) -> str:
    """All errors have one cause."""
    del step
    return ""


def failures(scenario: Scenario, cause: Cause) -> Answers | None:
    """What the pass stores and the list shows, for a scenario of calls, one pass and one list."""
    return one_pass(scenario, tuple(_cards(scenario, cause)))


def _cards(scenario: Scenario, cause: Cause) -> Iterator[Card]:
    calls: Counter[tuple[str, str]] = Counter()
    errors: Counter[tuple[str, str, str]] = Counter()
    for step in scenario.steps:
        if step["op"] == "tool_call":
            tool = (str(step.get("ns", "")), _folded(step["name"]))
            calls[tool] += step.get("repeat", 1)
            if step.get("is_error"):
                errors[(*tool, cause(step))] += step.get("repeat", 1)
    for (namespace, name, _), n in errors.items():
        severity = _severity(n, n / calls[namespace, name])
        if severity is not None:
            yield lesson(name, severity, n)


def _severity(errors: int, rate: float) -> str | None:
    """None where it does not fire."""
    if errors < 3 or (rate < 0.4 and errors < 50):
        return None
    if rate >= 0.7 and errors >= 5:
        return "high"
    return "medium" if rate >= 0.5 or errors >= 50 else "low"


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
