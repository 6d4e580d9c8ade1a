"""Scenarios of a folder, with what the original answered and the verdict on each.

A folder holds ``scenarios/*.json``, ``expected/*.json`` of the same names and, optionally, ``verdicts.json``; without
one every scenario is to match its recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Step = Mapping[str, Any]
Verdict = Literal["match", "differ"]


class FolderError(Exception):
    """The folder cannot be read; says which file and why."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario.

    Attributes:
        recorded: what the original answered, by the number of the step; steps that said nothing are left out.
        oddities: numbers of the faults of the original that a ``differ`` scenario shows.
        twice: facts that are written again are spelt with a trailing blank more, since one fact is one grain here.
        helpers: the programs that stand in for models and external analyzers.
    """

    name: str
    steps: tuple[Step, ...]
    recorded: Mapping[int, Mapping[str, Any]]
    opened: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = "match"
    oddities: tuple[str, ...] = ()
    twice: bool = False
    helpers: Path = Path()

    @property
    def family(self) -> str:
        """What stands before the first dot of the name."""
        return self.name.partition(".")[0]

    def recorded_cards(self) -> Iterator[Mapping[str, Any]]:
        """Every card of every list that was recorded."""
        for answer in self.recorded.values():
            yield from answer.get("recommendations", ())


def read_folder(folder: Path) -> tuple[Scenario, ...]:
    """All scenarios of a folder, by name.

    Raises:
        FolderError: no scenarios, or a file that is no JSON or lacks what it must have.
    """
    paths = sorted((folder / "scenarios").glob("*.json"))
    if not paths:
        raise FolderError(f"{folder / 'scenarios'} holds no *.json")
    verdicts = _read(folder / "verdicts.json") if (folder / "verdicts.json").exists() else {}
    return tuple(_scenario(folder, path, verdicts) for path in paths)


def _scenario(folder: Path, path: Path, verdicts: Mapping[str, Any]) -> Scenario:
    raw = _read(path)
    try:
        name, steps = str(raw["name"]), tuple(raw["steps"])
    except KeyError as error:
        raise FolderError(f"{path} has no {error}") from None
    recorded = _recorded(folder / "expected" / path.name)
    oddities = verdicts.get("differ", {}).get(name)
    twice = name in verdicts.get("same_fact_twice", ())
    return Scenario(
        name=name,
        steps=steps,
        recorded=recorded,
        opened=raw.get("open") or {},
        verdict="match" if oddities is None else "differ",
        oddities=tuple(oddities or ()),
        helpers=folder / "helpers",
        twice=twice or (name not in verdicts.get("match", ()) and _needs_two(steps, recorded, oddities or ())),
    )


def _recorded(path: Path) -> dict[int, Mapping[str, Any]]:
    if not path.exists():
        raise FolderError(f"{path} is missing")
    try:
        return {answer["step"]: answer for answer in _read(path)["results"]}
    except KeyError as error:
        raise FolderError(f"{path} has no {error}") from None


#: What these oddities show needs one grain stated twice, not two grains.
_RESTATED = frozenset({"5.8", "6.4"})


def _needs_two(steps: Sequence[Step], recorded: Mapping[int, Mapping[str, Any]], oddities: Sequence[str]) -> bool:
    """Whether the original found duplicate facts (they name an entity, near-duplicates a grain) that matter here."""
    if not _RESTATED.isdisjoint(oddities):
        return False
    if any(isinstance(step.get("rec"), dict) and step["rec"].get("analyzer") == "duplicate_sweep" for step in steps):
        return True
    cards = (card for answer in recorded.values() for card in answer.get("recommendations", ()))
    return any(card["analyzer"] == "loop.duplicate_sweep" and card["target"].startswith("entity:") for card in cards)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderError(f"{path} is no JSON: {error}") from None
