"""Recordings of the original, as what is to be expected here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.parity.runner.cards import recorded_card
from tests.parity.runner.comparable import figures
from tests.parity.runner.expected import Answers, Wanted, refused
from tests.parity.runner.scenarios import Scenario
from tests.parity.runner.served import EXTERNAL, short

#: Codes of ours that say what a code of the original says; the loop's own ones (LOP-E020) keep their number.
_CODES: Mapping[str, tuple[str, ...]] = {
    "VAL-E001": ("PVL-E011", "PVL-E012"),
    "MEM-E001": ("PVL-E040", "PVL-E041"),
    "MEM-E002": ("PVL-E041", "PVL-E043", "PVL-E020"),
    "AUT-E001": ("PVL-E022", "PVL-E026"),
    "uncoded": ("*",),
}
_DAY_MS = 86_400_000


def from_recording(scenario: Scenario, times: Sequence[Sequence[int]]) -> Answers:
    """What is expected at each step; a step that is missing is expected to be done without a word."""
    return {number: _wanted(scenario, number, answer, times) for number, answer in scenario.recorded.items()}


def _wanted(scenario: Scenario, number: int, answer: Mapping[str, Any], times: Sequence[Sequence[int]]) -> Wanted:
    if "error" in answer:
        return _refusal(answer)
    if "outcome" in answer:
        return _pass(scenario, number, answer, times)
    if "status" in answer and "rec" in answer:
        return Wanted(status=answer["status"])
    reader = next((_READERS[name] for name in _READERS if name in answer), None)
    return Wanted() if reader is None else reader(answer)


def _pass(scenario: Scenario, number: int, answer: Mapping[str, Any], times: Sequence[Sequence[int]]) -> Wanted:
    found = {name: answer[name] for name in figures(scenario, number, times) if name in answer}
    if scenario.verdict == "match" and "analyzer_cmd" in scenario.steps[number]:
        names = map(short, answer["analyzers_run"])
        found["external_run"] = sorted(name for name in names if name.startswith(EXTERNAL))
    if "llm_cmd" in scenario.steps[number] and answer["new_grains"]:
        found["asks_model"] = True
    return Wanted(figures=found)


def _refusal(answer: Mapping[str, Any]) -> Wanted:
    code = str(answer["error"])
    inner = [ours for name in answer.get("inner", ()) for ours in _CODES.get(name, ())]
    codes = tuple(inner) or _CODES.get(code) or (code.replace("LOP-", "PVL-"),)
    wanted = refused(*codes)
    return Wanted(refused=wanted.refused, status=answer.get("status"))


def _list(answer: Mapping[str, Any]) -> Wanted:
    return Wanted(cards=tuple(recorded_card(raw) for raw in answer["recommendations"]))


def _live(answer: Mapping[str, Any]) -> Wanted:
    shown = answer["live"]
    if "recall" in shown:
        # The original leaves copies of what it resolves; a copy that is written here may end in a blank.
        return Wanted(values=frozenset(fact["object"].rstrip() for fact in shown["recall"]))
    if "observations" in shown:
        return Wanted(live=tuple(sorted(observation["grain"] for observation in shown["observations"])))
    return Wanted()


def _some(answer: Mapping[str, Any]) -> Wanted:
    found = answer["results"]
    return Wanted(some=found > 0) if isinstance(found, int) else Wanted()


def _health(answer: Mapping[str, Any]) -> Wanted:
    ours = ("grains_since_run", "error_events_since_run", "stale", "last_run")
    return Wanted(figures={name: answer["health"][name] for name in ours if name in answer["health"]})


def _roster(answer: Mapping[str, Any]) -> Wanted:
    rows = answer["analyzers"]
    return Wanted(roster=tuple((row["id"], row["default_on"], row["tier"], row["trust"]) for row in rows))


def _collapsed(answer: Mapping[str, Any]) -> Wanted:
    return Wanted(figures={"distinct_grains": answer["distinct_grains"]})


def _made(answer: Mapping[str, Any]) -> Wanted:
    return Wanted(figures={"made": [answer["made"]]})


def _outcomes(answer: Mapping[str, Any]) -> Wanted:
    rows = answer["outcomes"]
    return Wanted(verdicts=tuple(sorted((row["metric"], round(row["horizon_days"]), row["verdict"]) for row in rows)))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Wanted]] = {
    "recommendations": _list,
    "distinct_grains": _collapsed,
    "made": _made,
    "live": _live,
    "results": _some,
    "health": _health,
    "analyzers": _roster,
    "outcomes": _outcomes,
}
