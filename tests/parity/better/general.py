"""General rules by the number of an oddity, for scenarios that no module names.

A rule works its answer out from the steps of the scenario, and from the recording where that is right in part. It says
None of a scenario that it does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.parity.better import from_calls, from_facts
from tests.parity.better.dup import alike
from tests.parity.better.shape import first_of_each, one_pass, steps_of
from tests.parity.better.stale import expired_fact, stuck_goal
from tests.parity.runner.cards import Card, recorded_card
from tests.parity.runner.expected import (
    ANYTHING,
    Answers,
    Wanted,
    card,
    cards,
    done,
    live,
    ran,
    refused,
    same_as,
)
from tests.parity.runner.scenarios import Scenario
from tests.parity.runner.timeline import offset_ms, resolved

Rule = Callable[[Scenario], Answers | None]

_WITH_OFFSET = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})")
_EARLIEST_MS = 946_684_800_000
_MONTH_MS = 30 * 86_400_000


def _as_recorded(scenario: Scenario) -> Answers:
    """The recording is right in all that can be compared."""
    del scenario
    return {}


def _undone_exactly(scenario: Scenario) -> Answers | None:
    """1.1 and 2.18: reads after the undo are those before the apply, and an undo is a verdict."""
    undone = steps_of(scenario, "rollback")
    if not undone:
        return None
    before = [n for n in steps_of(scenario, "live") if n < min(steps_of(scenario, "apply"), default=undone[0])]
    reads = {n: same_as(before[-1]) if before else ANYTHING for n in steps_of(scenario, "live", after=undone[0])}
    return {undone[0]: done("rolled_back"), **reads, **_nothing_again(scenario, undone[0])}


def _settled(scenario: Scenario) -> Answers | None:
    """1.2 and 1.3: one live value is left, and what an apply did is no new finding."""
    applied = steps_of(scenario, "apply")
    return _nothing_again(scenario, applied[0]) if applied else None


def _nothing_again(scenario: Scenario, after: int) -> Answers:
    shown = {n: Wanted(cards=_own(scenario, n)) for n in steps_of(scenario, "list", after=after)}
    return {**{n: ran(stored=0) for n in steps_of(scenario, "run", after=after)}, **shown}


def _own(scenario: Scenario, step: int) -> tuple[Card, ...]:
    """The first findings, without the duplicates that the original made itself when it resolved a conflict."""
    found = first_of_each(scenario, step)
    if any(one.analyzer == "contradiction_sweep" for one in found):
        return tuple(one for one in found if one.analyzer != "duplicate_sweep")
    return found


def _kept_spelling(scenario: Scenario) -> Answers | None:
    """1.6: whatever spelling is asked for, the fact is found."""
    objects = [step["object"] for step in scenario.steps if step["op"] == "fact"]
    applied = steps_of(scenario, "apply", "run")
    return {n: live(objects[0]) for n in steps_of(scenario, "live", after=applied[0])} if objects and applied else None


def _reader_denied(scenario: Scenario) -> Answers | None:
    """2.3: who may only read decides nothing and runs nothing; what is shown then is not as recorded."""
    became = [n for n in steps_of(scenario, "open") if scenario.steps[n].get("principal")]
    if not became:
        return None
    acts = steps_of(scenario, "apply", "approve", "dismiss", "rollback", "run", "config", after=became[0])
    looks = steps_of(scenario, "list", "live", "health", after=became[0])
    return {**dict.fromkeys(looks, ANYTHING), **{n: refused("PVL-E022", "PVL-E026") for n in acts}}


def _no_duration(scenario: Scenario) -> Answers | None:
    """2.11: what is no duration is refused."""
    runs = (n for n in steps_of(scenario, "run") if "if_stale" in scenario.steps[n])
    good = re.compile(r"[1-9][0-9]*[smhd]\Z")
    return {n: refused("PVL-E011") for n in runs if not good.match(scenario.steps[n]["if_stale"])} or None


def _resolved(scenario: Scenario) -> Answers | None:
    """2.9: what has no cause any more is not pending."""
    lists = steps_of(scenario, "list")
    if not lists:
        return None
    found = (recorded_card(raw) for raw in scenario.recorded[lists[-1]].get("recommendations", ()))
    return {
        lists[-1]: cards(*(replace(one, status="expired") if one.status == "pending" else one for one in found)),
        **{n: Wanted(refused=("PVL-E020",), status="expired") for n in steps_of(scenario, "apply", after=lists[-1])},
    }


def _nobody(scenario: Scenario) -> Answers | None:
    """2.14: who has no name decides nothing."""
    blank = [n for n in steps_of(scenario, "open") if not str(scenario.steps[n].get("actor", "x")).strip()]
    acts = steps_of(scenario, "apply", "approve", "dismiss", "rollback", after=blank[0]) if blank else []
    looks = steps_of(scenario, "list", "live", after=acts[0]) if acts else []
    return {**dict.fromkeys(looks, ANYTHING), **{n: refused() for n in acts}} if acts else None


def _all_findings(scenario: Scenario) -> Answers | None:
    """3: every finding is a card of its own."""
    if any(step["op"] == "tool_call" for step in scenario.steps):
        return from_calls.failures(scenario, from_calls.each_text)
    if any(step["op"] == "fact" for step in scenario.steps) and not steps_of(scenario, "fork"):
        return from_facts.findings(scenario)
    proposed = {n: scenario.recorded[n]["proposed"] for n in steps_of(scenario, "run") if n in scenario.recorded}
    shown = {n: Wanted(how_many=sum(proposed.values())) for n in steps_of(scenario, "list")}
    return {**{n: ran(stored=count) for n, count in proposed.items()}, **shown} if len(proposed) == 1 else None


def _one_fault(scenario: Scenario) -> Answers | None:
    """4.1, 4.2, 4.4: spellings of one fault are one fault."""
    return from_calls.failures(scenario, from_calls.one_cause)


def _each_fault(scenario: Scenario) -> Answers | None:
    """4.3, 4.5, 4.8, 4.9: each text is a fault, each namespace by itself, tools by their folded names."""
    return from_calls.failures(scenario, from_calls.each_text)


def _no_future(scenario: Scenario) -> Answers | None:
    """4.10: a call that has not happened yet is refused."""
    ahead = [n for n in steps_of(scenario, "tool_call") if offset_ms(scenario.steps[n].get("at", "0")) > 0]
    shown = one_pass(scenario, ())
    return None if shown is None else {**shown, **dict.fromkeys(ahead, refused("PVL-E011"))}


def _nothing_found(scenario: Scenario) -> Answers | None:
    """No finding at all."""
    return one_pass(scenario, ())


def _texts_compared(scenario: Scenario) -> Answers | None:
    """5.1: the text that is stored is compared; one text is one observation."""
    texts = [step["fields"].get("content") for step in scenario.steps if step["op"] == "grain"]
    first = next((step.get("id", "g1") for step in scenario.steps if step["op"] == "grain"), "g1")
    return one_pass(scenario, (alike(first),) if len(set(texts)) > 1 else ())


def _pairs_of_characters(scenario: Scenario) -> Answers | None:
    """5.5: texts without blanks are compared by their pairs of characters."""
    texts = [step["fields"]["content"] for step in scenario.steps if step["op"] == "grain"]
    sets = [{text[n : n + 2] for n in range(len(text) - 1)} for text in texts]
    near = len(sets) == 2 and len(sets[0] & sets[1]) / len(sets[0] | sets[1]) >= 0.9
    first = next((step.get("id", "g1") for step in scenario.steps if step["op"] == "grain"), "g1")
    return one_pass(scenario, (alike(first),) if near else ())


def _validity_read(scenario: Scenario) -> Answers | None:
    """7.1 and 7.2: an instant is read or refused, never read as something else."""
    answers: dict[int, Wanted] = {}
    found: list[Card] = []
    for n in steps_of(scenario, "fact"):
        step = scenario.steps[n]
        value = resolved((step.get("fields") or {}).get("valid_to"))
        if isinstance(value, str) and _WITH_OFFSET.fullmatch(value):
            found.append(expired_fact(step.get("id", "g1")))
        elif not isinstance(value, int) or value < _EARLIEST_MS:
            answers[n] = refused("PVL-E011")
    shown = one_pass(scenario, tuple(found))
    return None if shown is None else {**shown, **answers}


def _goals_as_given(scenario: Scenario) -> Answers | None:
    """7.6: a goal has the state and the progress that it was given."""
    return one_pass(scenario, tuple(_stuck(scenario)))


def _stuck(scenario: Scenario) -> Iterator[Card]:
    for step in scenario.steps:
        fields = step.get("fields") or {}
        if step["op"] == "grain" and step["type"] == "goal" and fields.get("goal_state", "active") == "active":
            old = offset_ms(step.get("at", "0")) <= -_MONTH_MS
            if old and fields.get("progress", 0.0) <= 0.1:
                yield stuck_goal(fields["description"].casefold())


def _one_gap(scenario: Scenario) -> Answers | None:
    """8.6: what was asked and not answered is a gap, in whatever way it was asked."""
    return one_pass(scenario, (card("coverage_gap", "medium", "query:*"),))


def _not_known(scenario: Scenario) -> Answers | None:
    """9.1: where nothing happened, nothing held."""
    wanted: dict[int, Wanted] = {}
    for n in steps_of(scenario, "outcomes"):
        rows = scenario.recorded[n]["outcomes"]
        found = ((row["metric"], round(row["horizon_days"]), "inconclusive") for row in rows)
        wanted[n] = Wanted(verdicts=tuple(sorted(found)))
    return wanted or None


def _counted_by_arrival(scenario: Scenario) -> Answers | None:
    """10.1: what arrived is new, whatever its date and kind."""
    gated = (n for n in steps_of(scenario, "run") if "min_new" in scenario.steps[n])
    return {n: ran() for n in gated if scenario.recorded[n].get("outcome") == "skipped"} or None


RULES: Mapping[str, Rule] = {
    "1.1": _undone_exactly,
    "1.2": _settled,
    "1.3": _settled,
    "1.5": _as_recorded,
    "1.6": _kept_spelling,
    "1.7": from_facts.findings,
    "1.8": _as_recorded,
    "2.3": _reader_denied,
    "2.9": _resolved,
    "2.11": _no_duration,
    "2.13": _as_recorded,
    "2.14": _nobody,
    "2.18": _undone_exactly,
    "3": _all_findings,
    "4.1": _one_fault,
    "4.2": _one_fault,
    "4.3": _each_fault,
    "4.4": _one_fault,
    "4.5": _each_fault,
    "4.8": _each_fault,
    "4.9": _each_fault,
    "4.10": _no_future,
    "4.12": _as_recorded,
    "5.1": _texts_compared,
    "5.3": _nothing_found,
    "5.4": _nothing_found,
    "5.5": _pairs_of_characters,
    "5.6": _as_recorded,
    "5.7": from_facts.findings,
    "5.8": _nothing_found,
    "6.1": from_facts.findings,
    "6.2": from_facts.findings,
    "6.3": from_facts.findings,
    "6.4": _as_recorded,
    "6.5": _as_recorded,
    "7.1": _validity_read,
    "7.2": _validity_read,
    "7.5": _as_recorded,
    "7.6": _goals_as_given,
    "7.8": _nothing_found,
    "7.11": _as_recorded,
    "7.12": _as_recorded,
    "7.13": _as_recorded,
    "8.4": _nothing_found,
    "8.6": _one_gap,
    "8.8": _as_recorded,
    "9.1": _not_known,
    "10.1": _counted_by_arrival,
    "11.3": _as_recorded,
}
