"""The judgement on one scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provenloop.entry.local.stack import LocalStack
from tests.parity.better import better_answer
from tests.parity.runner.compare import Mismatch, mismatches
from tests.parity.runner.differences import Difference, Differences
from tests.parity.runner.drive import play
from tests.parity.runner.expected import Answers
from tests.parity.runner.recorded import from_recording
from tests.parity.runner.scenarios import Scenario
from tests.parity.runner.served import ANALYZER_OF_FAMILY, EXTERNAL, NotServedError, Served, short
from tests.parity.runner.steps import OPERATIONS
from tests.parity.runner.timeline import instants

Kind = Literal["agree", "better", "differ on purpose", "waiting", "mismatch"]
NO_ANSWER = Mismatch(-1, "nothing to hold it against", "no better answer known")
STALE = Mismatch(-1, "agrees after all", "the stale entry of differences.toml removed")


@dataclass(frozen=True)
class Judgement:
    """What became of a scenario.

    Attributes:
        note: the reason of a difference, or what is waited for.
        found: in what it differs.
    """

    name: str
    kind: Kind
    found: tuple[Mismatch, ...] = ()
    note: str = ""


def judge(stack: LocalStack, scenario: Scenario, served: Served, differences: Differences) -> Judgement:
    """Drive a scenario and hold its answers against the recording, or against the better answer.

    A scenario that cannot be read or replayed is a mismatch of its own, and stops no other.
    """
    try:
        return _judged(stack, scenario, served, differences)
    except Exception as error:  # noqa: BLE001 - a folder from elsewhere may hold anything
        found = Mismatch(-1, f"{type(error).__name__}: {error}", "a scenario that can be replayed")
        return Judgement(scenario.name, "mismatch", (found,))


def _judged(stack: LocalStack, scenario: Scenario, served: Served, differences: Differences) -> Judgement:
    reason = differences.no_counterpart(scenario)
    if reason is not None:
        return Judgement(scenario.name, "differ on purpose", note=reason)
    awaited = differences.waited_for(scenario)
    if awaited is not None:
        return Judgement(scenario.name, "waiting", note=awaited)
    wanted = answers(scenario)
    try:
        served.need_analyzers(needed(scenario, wanted))
        said = play(stack, scenario, served, OPERATIONS)
    except NotServedError as error:
        return Judgement(scenario.name, "waiting", note=str(error))
    found = (NO_ANSWER,) if wanted is None else mismatches(wanted, said)
    return weigh(scenario, found, differences.scenarios.get(scenario.name))


def needed(scenario: Scenario, wanted: Answers | None) -> frozenset[str]:
    """Analyzers without which the scenario says nothing: that of its family, and those that are wanted to speak."""
    found = {card.analyzer for answer in (wanted or {}).values() for card in answer.cards or ()}
    found |= {short(row[0]) for answer in (wanted or {}).values() for row in answer.roster or ()}
    own = ANALYZER_OF_FAMILY.get(scenario.family)
    # External analyzers are there once a pass of the scenario brings them.
    return frozenset(name for name in found | ({own} if own else set()) if not name.startswith(EXTERNAL))


def answers(scenario: Scenario) -> Answers | None:
    """What is wanted at each step; None where the recording is not wanted and nothing better is known."""
    recorded = from_recording(scenario, instants(scenario.steps))
    if scenario.verdict == "match":
        return recorded
    better = better_answer(scenario)
    return None if better is None else {**recorded, **better}


def weigh(scenario: Scenario, found: tuple[Mismatch, ...], difference: Difference | None) -> Judgement:
    """The judgement on what was found, with what may differ."""
    if difference is None:
        agreed: Kind = "agree" if scenario.verdict == "match" else "better"
        return Judgement(scenario.name, "mismatch" if found else agreed, found)
    if not found:
        return Judgement(scenario.name, "mismatch", (STALE,))
    if not difference.covers(found):
        return Judgement(scenario.name, "mismatch", tuple(one for one in found if one.step not in difference.steps))
    return Judgement(scenario.name, "differ on purpose", found, difference.reason)
