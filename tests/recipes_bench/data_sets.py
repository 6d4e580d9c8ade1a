"""Labelled data as questions about a store: what is stored, what is asked, and which answer is right."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenloop.recipes.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DATA = Path(__file__).parent / "data"
#: One in so many of the training questions of Banking77 is asked of the others.
HELD_OUT = 5

Text = str
Answer = str


@dataclass(frozen=True)
class Questions:
    """Texts with their answers: stored ones, and asked ones."""

    stored: Sequence[tuple[Text, Answer]]
    asked: Sequence[tuple[Text, Answer]]


@dataclass(frozen=True)
class Pairs:
    """Pairs that mean the same, and look-alikes by kind."""

    same: Sequence[tuple[Text, Text]]
    look_alikes: Mapping[str, Sequence[tuple[Text, Text]]]


def paraphrases() -> Questions:
    """The 999: stored as ``origin``, asked as ``similar``; equal origins answer the same."""
    found = json.loads((DATA / "paraphrase-999.json").read_text(encoding="utf-8"))
    stored = [(pair["origin"], normalise(pair["origin"])) for pair in found]
    return Questions(stored, [(pair["similar"], normalise(pair["origin"])) for pair in found])


def banking77() -> Questions:
    """The training questions stored, the test questions asked; the intent is the answer."""
    return Questions(_labelled("banking77-train.csv"), _labelled("banking77-test.csv"))


def banking77_held_out() -> Questions:
    """Every fifth training question, asked of the others: no list, rule or threshold was fitted to them."""
    rows = _labelled("banking77-train.csv")
    return Questions([row for place, row in enumerate(rows) if place % HELD_OUT], rows[::HELD_OUT])


def pairs_of(path: Path) -> Pairs:
    """The labelled pairs of a JSON file.

    ``negative`` maps a kind to look-alikes, every other name holds pairs that mean the same; or the file is a list of
    ``{origin, similar}`` that mean the same.

    Raises:
        ValueError: the file is of another form.
        OSError: it cannot be read.
    """
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, list):
            return Pairs([(str(pair["origin"]), str(pair["similar"])) for pair in found], {})
        look_alikes = {kind: _pairs(pairs) for kind, pairs in found.pop("negative", {}).items()}
        return Pairs([pair for pairs in found.values() for pair in _pairs(pairs)], look_alikes)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} holds no labelled pairs: {error!r}") from error


def _pairs(found: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    return [(str(left), str(right)) for left, right in found]


def _labelled(name: str) -> list[tuple[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as opened:
        return [(row["text"], row["category"]) for row in csv.DictReader(opened)]
