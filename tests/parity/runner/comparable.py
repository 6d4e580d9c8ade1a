"""Which figures of a recorded pass can be expected here.

Passes here look at what is new, where the original read everything anew each time: what it proposed and dropped again
has no counterpart after the first pass. What a loop wrote itself, what was imported with an old date, and kinds that
the original did not count, count differently on purpose (oddities 10.1 and 10.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.parity.runner.cards import GATHERED
from tests.parity.runner.events import kind_of
from tests.parity.runner.scenarios import Scenario, Step
from tests.parity.runner.served import short

_ALWAYS = ("outcome", "auto_applied")
_COUNTS = ("new_grains", "new_error_events")
_WRITES = frozenset({"fact", "tool_call", "grain", "supersede", "fork"})
_OWN = frozenset({"apply", "rollback", "forget"})
_UNCOUNTED = frozenset({"skill", "goal", "state"})


def figures(scenario: Scenario, number: int, times: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Names of the figures of the pass at this step that are to be equal."""
    if scenario.verdict == "differ":
        return ("outcome",)
    before = _since_last_pass(scenario, number)
    found = list(_ALWAYS)
    if not any(_moves_counts(scenario, n, step, times) for n, step in before):
        found += _COUNTS
    if not any(short(card["analyzer"]) in GATHERED for card in scenario.recorded_cards()):
        found.append("stored")
    recorded = scenario.recorded[number]
    if len(before) == number and not recorded.get("deduped") and "stored" in found:
        found.append("proposed")
    return tuple(found)


def _since_last_pass(scenario: Scenario, number: int) -> list[tuple[int, Step]]:
    """The steps before this one, back to the last pass that ran."""
    found: list[tuple[int, Step]] = []
    for n in range(number - 1, -1, -1):
        if scenario.recorded.get(n, {}).get("outcome") == "ran":
            break
        found.append((n, scenario.steps[n]))
    return found


def _moves_counts(scenario: Scenario, number: int, step: Step, times: Sequence[Sequence[int]]) -> bool:
    if step["op"] in _OWN or "policy" in step:
        return True
    if step["op"] not in _WRITES:
        return False
    if kind_of(str(step.get("type"))) in _UNCOUNTED:
        return True
    return times[number][0] <= _last_pass_at(scenario, number, times)


def _last_pass_at(scenario: Scenario, number: int, times: Sequence[Sequence[int]]) -> int:
    ran = (times[n][0] for n in range(number) if scenario.recorded.get(n, {}).get("outcome") == "ran")
    return max(ran, default=-1)
