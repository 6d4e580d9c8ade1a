"""Folding: path-shaped categories become category-level keys, so that one general lesson is one card.

The concrete target stays in the evidence: in ``target`` for a denied edit that lacked facts, in ``signature`` for
secret paths and dangerous commands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.text import normalise
from provenloop.lessons.line import Line, LineEvidence

FACTGATE = "edit-before-factgate"
SECRET_PATH = "edit-before-secret-path"
DANGEROUS_BASH = "dangerous-bash"

#: Category that a guard may report, alone or with a target behind it, and the key that it folds into.
FOLDS: Mapping[str, str] = {
    "edit-before-factgate": FACTGATE,
    "factgate-deny": FACTGATE,
    "edit-before-secret-path": SECRET_PATH,
    "secret-path": SECRET_PATH,
    "dangerous-bash": DANGEROUS_BASH,
}
MAX_FOLDS = 50
MAX_FOLD_CHARS = 128
#: What a guard writes between a category and a target.
_TARGET = re.compile(r"[\s:/\\#|@>=(\[](?P<target>.*)\Z", re.DOTALL)
_EDIT_BEFORE = "edit-before"


class CardKey(NamedTuple):
    """What makes two lines one card, besides their project."""

    category: str
    signature: str


class Folded(NamedTuple):
    """The key of a line, and its evidence with the concrete target where the key leaves it out."""

    key: CardKey
    evidence: LineEvidence


def check_folds(given: Mapping[str, str], *, field: str = "lesson_folds") -> Mapping[str, str]:
    """A memory's own folds as they are kept: the category folded, the key too.

    Raises:
        InvalidInputError: too many, or a category or key that is blank or too long.
    """
    if len(given) > MAX_FOLDS:
        raise InvalidInputError(f"at most {MAX_FOLDS}", field=field)
    checked = {normalise(category): normalise(key) for category, key in given.items()}
    for category, key in checked.items():
        if not 1 <= len(category) <= MAX_FOLD_CHARS or not 1 <= len(key) <= MAX_FOLD_CHARS:
            raise InvalidInputError(f"a category and its key have 1 to {MAX_FOLD_CHARS} characters", field=field)
    return dict(sorted(checked.items()))


def fold(line: Line, folds: Mapping[str, str] | None = None) -> Folded:
    """The key and the evidence of a line.

    Args:
        folds: the memory's own, which go before those that come with Provenloop.
    """
    category = normalise(line.category)
    key, target = _found(category, line.category, {**FOLDS, **(folds or {})})
    if key is None and category.startswith(_EDIT_BEFORE) and ("/" in category or "\\" in category):
        # A path stands where the gate's name should: what was seen tells which gate it was.
        key = FACTGATE if line.evidence.target is not None else SECRET_PATH
        target = line.category.strip()[len(_EDIT_BEFORE) :].strip("-: ")
    if key is None:
        return Folded(CardKey(category, line.signature), line.evidence)
    return Folded(CardKey(key, key), _concrete(line, key, target))


def _found(category: str, written: str, folds: Mapping[str, str]) -> tuple[str | None, str]:
    """The key of the longest known category that the line's begins with, and the target behind it as it was written."""
    for known in sorted(folds, key=len, reverse=True):
        name = normalise(known)
        if category == name:
            return folds[known], ""
        behind = _TARGET.match(written.strip(), len(name)) if category.startswith(name) else None
        if behind is not None:
            target = behind["target"]
            # Of a path the first slash belongs to it.
            return folds[known], (written.strip()[len(name) :] if behind.group()[:1] in "/\\" else target).strip()
    return None, ""


def _concrete(line: Line, key: str, target: str) -> LineEvidence:
    said = line.signature if normalise(line.signature) != key else ""
    evidence = line.evidence
    if key == FACTGATE:
        return replace(evidence, target=evidence.target or target or said or None)
    return replace(evidence, signature=evidence.signature or said or target or None)
