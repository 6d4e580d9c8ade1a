"""The corpus: small memories, and what a model may propose about each, labelled. ``corpus/<theme>.toml``.

| field of a memory | what it holds |
|---|---|
| name | what it is about, unique in the corpus |
| grains | steps in the order of time, each with its label ``as``; see ``tests/precision/bench/steps.py`` |
| found | what built-in analyzers find in it, all of it: analyzer, cites, and what a model is told of it |
| drafts | what may be proposed about it |

| field of a draft | what it holds |
|---|---|
| label | ``sound``, or why it is not: see ``LABELS`` |
| trick | of one that is not sound: what makes it look so |
| says, target | its summary, and its target; ``grain:<label>`` for that grain |
| cites | labels of the evidence that it needs |
| premises | by label: what it takes from that evidence; ``none``: what it takes for granted without any |
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
#: What a draft is. ``premise``: it rests on something that its evidence does not say, so GROUND is to say no.
#: ``conclusion``: what it rests on is there and it does not follow, so VERIFY is to say no. ``repeat``: a built-in
#: analyzer found it; sound, so only the rules can leave it out, or DISCOVER.
LABELS = ("sound", "premise", "conclusion", "repeat")
NOT_THERE = "none"
_MEMORY = {"name", "grains", "found", "drafts"}
_FOUND = {"analyzer", "cites", "says", "target", "severity"}
_DRAFT = {"label", "says", "target", "cites", "premises"}


class CorpusError(ValueError):
    """The corpus is not well formed."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a built-in analyzer (its name without ``loop.``) finds."""

    analyzer: str
    cites: frozenset[str]
    says: str
    target: str
    severity: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """What may be proposed, and what it is."""

    label: str
    trick: str
    says: str
    target: str
    cites: frozenset[str]
    premises: Mapping[str, str]

    @property
    def is_right(self) -> bool:
        """Whether a person gains by it."""
        return self.label == "sound"


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory."""

    name: str
    grains: Sequence[Mapping[str, Any]]
    found: Sequence[Found]
    drafts: Sequence[Labelled]


@cache
def memories(folder: Path = CORPUS) -> tuple[Memory, ...]:
    """All of them, by file and in their order.

    Raises:
        CorpusError: one is not well formed, or two have one name.
    """
    files = sorted(folder.glob("*.toml"))
    found = tuple(memory for file in files for memory in _memories(file))
    names = [memory.name for memory in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CorpusError(f"more than one memory is called {min(twice)!r}")
    return found


def _memories(file: Path) -> Iterator[Memory]:
    for given in tomllib.loads(file.read_text(encoding="utf-8"))["memory"]:
        where = f"{file.name}: {given.get('name')}"
        _require(where, given, {"name", "grains"}, _MEMORY)
        labels = {grain.get("as") for grain in given["grains"]}
        if None in labels or len(labels) < len(given["grains"]):
            raise CorpusError(f"{where}: every grain has a label of its own")
        drafts = [_draft(where, draft, labels) for draft in given.get("drafts", ())]
        if len({(draft.target, draft.cites) for draft in drafts} | {(draft.says,) for draft in drafts}) < 2 * len(
            drafts
        ):
            raise CorpusError(f"{where}: two drafts say the same, or have target and evidence in common")
        yield Memory(
            given["name"], given["grains"], [_found(where, row, labels) for row in given.get("found", ())], drafts
        )


def _found(where: str, given: Mapping[str, Any], labels: set[Any]) -> Found:
    _require(where, given, _FOUND, _FOUND)
    return Found(**{**given, "cites": _cited(where, given["cites"], labels)})


def _draft(where: str, given: Mapping[str, Any], labels: set[Any]) -> Labelled:
    is_tricky = given.get("label") in ("premise", "conclusion")
    wanted = _DRAFT | ({"trick"} if is_tricky else set())
    _require(where, given, wanted, wanted)
    draft = Labelled(**{"trick": "", **given, "cites": _cited(where, given["cites"], labels)})
    missing = {NOT_THERE} if draft.label == "premise" else set()
    if draft.label not in LABELS or draft.premises.keys() != draft.cites | missing:
        raise CorpusError(f"{where}: label and premises do not agree: {draft.says}")
    return draft


def _cited(where: str, text: str, labels: set[Any]) -> frozenset[str]:
    cited = frozenset(text.split())
    if not cited or cited - labels:
        raise CorpusError(f"{where}: no grains of it: {text!r}")
    return cited


def _require(where: str, given: Mapping[str, Any], needed: set[str], known: set[str]) -> None:
    odd = (given.keys() - known) | (needed - given.keys())
    if odd:
        raise CorpusError(f"{where}: {', '.join(sorted(odd))}")
