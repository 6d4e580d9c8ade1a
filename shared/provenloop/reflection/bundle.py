"""What a model is shown of a memory: briefs of what programs found, evidence, and what people thought of earlier
findings.

Invariants: at most 32 briefs, 64 pieces of evidence and 20 decisions of each sort; everything in it is text from
outside, and is only ever quoted. Of each text 400 characters are shown, and more of it is kept (``MARGIN``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from provenloop.domain.model_cost import NANO_USD
from provenloop.domain.outside import SAME_EVIDENCE, in_common
from provenloop.domain.quoting import MARGIN
from provenloop.domain.text import normalise

MAX_BRIEFS = 32
MAX_EVIDENCE = 64
MAX_TASTE = 20
TEXT_CHARS = 400
KEPT_CHARS = TEXT_CHARS + MARGIN


@dataclass(frozen=True, slots=True)
class Brief:
    """A finding of a built-in analyzer, in short."""

    analyzer: str
    summary: str
    target: str
    severity: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A live grain. ``label`` (``e1``, ``e2`` ...) is what a model cites, ``target`` how it is named as a target.

    ``fact`` is the subject, the relation and the object of a fact, apart and whole; ``text`` is what is quoted.
    """

    label: str
    address: str
    kind: str
    target: str
    text: str
    fact: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """An earlier finding of a model that a person approved or rejected, and why."""

    summary: str
    because: str


@dataclass(frozen=True, slots=True)
class Known:
    """A finding that is open or was decided, which nobody has to be told of again: ``target`` as evidence names it,
    ``evidence`` by address. ``may_grow``: with further evidence it is worth being found once more.
    """

    target: str
    evidence: frozenset[str]
    may_grow: bool = False

    def covers(self, target: str, evidence: Collection[str]) -> bool:
        """Whether a finding about a target, that rests on some grains, is this one."""
        if normalise(target) != normalise(self.target):
            return False
        return self.evidence >= set(evidence) if self.may_grow else in_common(self.evidence, evidence) >= SAME_EVIDENCE


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that a model is shown in one pass, but for what is ``known``. Decisions are newest first."""

    briefs: tuple[Brief, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    approved: tuple[Decided, ...] = ()
    rejected: tuple[Decided, ...] = ()
    known: tuple[Known, ...] = ()

    @property
    def pieces(self) -> int:
        """How many items it shows."""
        return len(self.briefs) + len(self.evidence) + len(self.approved) + len(self.rejected)

    @property
    def by_label(self) -> Mapping[str, Evidence]:
        """The evidence by what it is cited as."""
        return {item.label: item for item in self.evidence}


def less_and_less(bundle: Bundle) -> list[Bundle]:
    """A bundle with evidence, then what may be shown instead of it, each smaller than the one before: without its last
    pieces of evidence; once half of them are gone, without its last briefs and its oldest decisions; and then with
    nothing but less and less evidence.
    """
    many, half = len(bundle.evidence), len(bundle.evidence) // 2
    others = max(len(bundle.briefs), len(bundle.approved), len(bundle.rejected))
    evidence = (replace(bundle, evidence=bundle.evidence[:kept]) for kept in range(many, half, -1))
    *with_all, least = evidence
    return [
        *with_all,
        *(_with_others(least, kept) for kept in range(others, 0, -1)),
        *(_with_others(replace(least, evidence=bundle.evidence[:kept]), 0) for kept in range(half + 1, 0, -1)),
    ]


def _with_others(bundle: Bundle, kept: int) -> Bundle:
    """With so many of each sort of what is not evidence."""
    return replace(
        bundle, briefs=bundle.briefs[:kept], approved=bundle.approved[:kept], rejected=bundle.rejected[:kept]
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What one pass may use of models: findings below ``min_confidence`` are dropped; ``max_tokens`` and
    ``max_cost_nano_usd`` bound all calls of the pass together, prompts and answers.
    """

    min_confidence: float = 0.75
    max_tokens: int = 120_000
    max_cost_nano_usd: int = 1_000_000_000
    max_ms: int = 75_000


def limits_from(parameters: Mapping[str, str | int | float | bool]) -> Limits:
    """The limits that the parameters ``min_confidence``, ``max_tokens`` and ``max_cost_usd`` set."""
    return Limits(
        min_confidence=float(parameters["min_confidence"]),
        max_tokens=int(parameters["max_tokens"]),
        max_cost_nano_usd=round(float(parameters["max_cost_usd"]) * NANO_USD),
    )
