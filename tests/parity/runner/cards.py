"""Cards: recommendations of either system in a form in which they can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.text import normalise
from tests.parity.runner.served import short

#: Analyzers that here speak once about many grains, where the original made a card for each.
GATHERED = frozenset({"cold_grains"})


@dataclass(frozen=True, slots=True)
class Advice:
    """What is told of a finding from outside: whose it is, what it rests on, how sure that is, what to do.

    Attributes:
        origin: its class: llm or command.
        evidence: labels, in their order.
        source: what the advice says it comes from.
    """

    origin: str
    rollbackable: bool
    evidence: tuple[str, ...]
    confidence: float
    source: str
    guidance: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """What two systems must agree on. ``count`` and ``advice`` are None where the other side states none."""

    analyzer: str
    severity: str
    status: str
    target: str
    destructive: bool = False
    count: int | None = None
    advice: Advice | None = None

    def __str__(self) -> str:
        removal = " removal" if self.destructive else ""
        count = "" if self.count is None else f" count={self.count}"
        advice = "" if self.advice is None else f" {self.advice}"
        return f"{self.analyzer} {self.severity} {self.status}{removal} {self.target}{count}{advice}"


def recorded_card(raw: Mapping[str, Any]) -> Card:
    """A card of a recording."""
    analyzer = short(raw["analyzer"])
    count = (raw.get("args") or {}).get("count")
    return Card(
        analyzer=analyzer,
        severity=raw["severity"],
        status=raw["status"],
        target=plain_target(analyzer, raw["target"]),
        destructive=bool(raw["destructive"]),
        count=count if analyzer in _COUNTED else None,
        advice=_recorded_advice(raw) if raw.get("origin") in _OUTSIDE else None,
    )


def _recorded_advice(raw: Mapping[str, Any]) -> Advice:
    data = raw["proposal"]["data"]
    return Advice(
        origin=raw["origin"],
        rollbackable=raw["rollbackable"],
        evidence=tuple(sorted(raw["evidence"])),
        confidence=raw["confidence"],
        source=data["source"],
        guidance=data.get("guidance") or raw.get("guidance") or "",
    )


def is_from_outside(row: Mapping[str, Any]) -> bool:
    """Whether a row of our queue is what a model or an external analyzer found."""
    return row["origin"].partition(":")[0] in _OUTSIDE


def our_advice(shown: Mapping[str, Any], labels: Mapping[str, str]) -> Advice:
    """The advice of a recommendation of ours, shown whole."""
    advice = shown["proposal"]["advice"]
    return Advice(
        origin=shown["origin"].partition(":")[0],
        rollbackable=shown["rollbackable"],
        evidence=tuple(sorted(labels.get(grain["address"], "<other>") for grain in shown["evidence"])),
        confidence=shown["confidence"],
        source=advice["source"],
        guidance=advice.get("guidance", ""),
    )


def our_card(row: Mapping[str, Any], labels: Mapping[str, str], namespaces: Mapping[str, str]) -> Card:
    """A row of our queue.

    Args:
        labels: of grains, by address.
        namespaces: as the scenario spells them, by our spelling.
    """
    analyzer = short(row["analyzer"])
    scheme, _, opaque = row["target"].partition(":")
    if scheme == "grain":
        opaque = labels.get(opaque, "<other>")
    for ours, theirs in namespaces.items():
        if opaque.startswith(f"{ours}/"):
            opaque = theirs + opaque[len(ours) :]
    return Card(
        analyzer=analyzer,
        severity=row["severity"],
        status=row["status"],
        target=plain_target(analyzer, f"{scheme}:{opaque}", str(row.get("namespace", ""))),
        destructive=bool(row["destructive"]),
        count=int(row["count"]) if analyzer in _COUNTED else None,
    )


def tally(cards: Iterable[Card]) -> Counter[Card]:
    """Cards with how many there are of each; those of a gathering analyzer are one."""
    counts = Counter(cards)
    return Counter({card: 1 if card.analyzer in GATHERED else n for card, n in counts.items()})


#: Analyzers whose target says nothing more: a memory has one budget; a revert names in its proposal what it reverts.
_ONE_TARGET = frozenset({"budget_pressure", "outcome_review"})
#: The origins of what was found by others than the built-in analyzers.
_OUTSIDE = frozenset({"llm", "command"})
#: Analyzers that count the same thing in both systems.
_COUNTED = frozenset({"tool_failure", "contradiction_sweep"})


#: A goal's name is bounded here; the original's description is not.
_GOAL_CHARS = 200


def plain_target(analyzer: str, target: str, namespace: str = "") -> str:
    """A target without what only one of the systems puts in: spelling, batch, kind, the namespace beside a subject.

    Args:
        namespace: of the recommendation, where the target may name it as well.
    """
    scheme, _, opaque = target.partition(":")
    opaque = normalise(opaque)
    within = opaque.removeprefix(f"{normalise(namespace)}/") if namespace else opaque
    if analyzer in GATHERED or analyzer in _ONE_TARGET:
        return f"{scheme}:{analyzer}"
    if analyzer == "retention_sweep":
        opaque = "/".join(opaque.split("/")[:2])
    elif analyzer == "fork_surfacing":
        opaque = within
    elif analyzer == "coverage_gap":
        return "query:" + normalise(within.removeprefix("coverage/"))
    elif analyzer == "goal_stagnation":
        opaque = opaque[:_GOAL_CHARS].strip()
    return f"{scheme}:{opaque}"
