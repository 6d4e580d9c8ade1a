"""What a grain can be found by: which kinds have text, which of their fields are read, and when it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from provenloop.domain.grain import Grain, text_of
from provenloop.domain.terms import terms_of
from provenloop.domain.text import normalise_relation

#: Fields that are searched, per kind. A kind that is not named here is not found by text: tool calls, questions.
_FIELDS = {
    "fact": ("subject", "relation", "object"),
    "observation": ("text",),
    "skill": ("name",),
    "goal": ("name", "description"),
    "event": ("body",),
}
RECALLED_KINDS = frozenset(_FIELDS)
#: By how many of its terms a long text can be found; the first ones.
MAX_TERMS = 64


def terms_of_grain(grain: Grain) -> tuple[str, ...]:
    """The terms of a grain's text, with repetitions, in order; empty where it has none (a forgotten grain, say)."""
    return terms_of("\n".join(_texts(grain)))


def key_terms(grain: Grain) -> tuple[str, ...]:
    """The terms under which a grain is indexed, each once."""
    return tuple(dict.fromkeys(terms_of_grain(grain)))[:MAX_TERMS]


def _texts(grain: Grain) -> Iterator[str]:
    for name in _FIELDS.get(grain.kind, ()):
        if name == "relation":
            yield normalise_relation(text_of(grain, name)).replace("_", " ")
        else:
            yield from _strings(grain.body.get(name))


def _strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, names of members left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
