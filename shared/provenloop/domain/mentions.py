"""What a grain alone says, and whether another text repeats it.

Forgetting uses it to find reasons that people wrote and that repeat what is forgotten. Names that many grains share
(subject, relation, tool, source ...) are no grain's own. A paraphrase is not found.

A text that mentions another holds the :func:`probe_of` of that other among its :func:`words_of`, so texts that are
indexed by their words need not all be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from provenloop.domain.grain import Grain
from provenloop.domain.text import normalise

#: Shorter texts stand in every sentence.
MIN_CHARS = 3
_WORD = re.compile(r"\w+")
#: Fields of a body that hold names, ids or figures, not what was said.
_SHARED = frozenset({
    "subject", "relation", "tool", "source", "tags", "session", "call_id", "event_id", "state", "full_sha256",
    "input_full_sha256", "lesson",
})  # fmt: skip


def own_texts(grain: Grain) -> frozenset[str]:
    """The texts that this grain says, folded, those too short to tell left out."""
    said = (text for name, value in grain.body.items() if name not in _SHARED for text in texts_in(value))
    folded = (normalise(text) for text in said)
    return frozenset(text for text in folded if len(text) >= MIN_CHARS)


def texts_in(value: Any) -> Iterator[str]:
    """All texts among the values of what JSON can hold."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def mentions(text: str, folded: frozenset[str]) -> bool:
    """Whether a text holds one of some folded texts as whole words (in scripts without blanks: anywhere)."""
    within = normalise(text)
    return any(part in within and (not part.isascii() or _as_words(part, within)) for part in folded)


def words_of(text: str) -> frozenset[str]:
    """What a text is indexed by: its folded words of ASCII letters, and every other character by itself."""
    within = normalise(text)
    return frozenset((*(run for _, run in _ascii_words(within)), *_others(within)))


def probe_of(folded: str) -> str:
    """The longest word that a text cannot lack where it mentions a folded text, which is not empty."""
    # Where part of it is not ASCII it may begin and end inside of a word.
    inside = range(0 if folded.isascii() else 1, len(folded) + (1 if folded.isascii() else 0))
    sure = (run for at, run in _ascii_words(folded) if at in inside and at + len(run) in inside)
    return max((*sure, *_others(folded)), key=lambda word: (len(word), word))


def _ascii_words(folded: str) -> Iterator[tuple[int, str]]:
    """Each with where it begins."""
    return ((found.start(), found[0]) for found in _WORD.finditer(folded) if found[0].isascii())


def _others(folded: str) -> Iterator[str]:
    return (char for char in folded if not char.isspace() and not (char.isascii() and _WORD.match(char)))


def names(subject: str, text: str) -> bool:
    """Whether a text names a folded subject: anywhere; as the whole of it, where the subject is too short to tell."""
    if len(subject) >= MIN_CHARS:
        return mentions(text, frozenset({subject}))
    return bool(subject) and normalise(text) == subject


def _as_words(part: str, within: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", within) is not None
