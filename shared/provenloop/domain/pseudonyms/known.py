"""Texts that are known to name somebody, found again in whatever case and however their words are joined."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from provenloop.domain.pseudonyms.marks import PERSON
from provenloop.domain.pseudonyms.name_words import PARTICLES
from provenloop.domain.pseudonyms.names import is_word
from provenloop.domain.pseudonyms.seen import Seen, Span, seen
from provenloop.domain.tokens import UNBROKEN

_WORDS = re.compile(r"[^\W_]+")
_UNBROKEN = re.compile(f"[{UNBROKEN}]")
_JOINT = r"[\W_]{0,3}"
_MIN_CHARS = 2
#: Characters by which names are looked up; names of a shorter first word by that word.
_HEAD = 2


@dataclass
class _Known:
    """One text to find; ``cased``: only where it begins with a capital, for without one it is a common word."""

    words: tuple[str, ...]
    kind: str
    cased: bool
    pattern: re.Pattern[str] | None = None

    def match(self, text: str, at: int) -> re.Match[str] | None:
        self.pattern = self.pattern or re.compile(_JOINT.join(map(re.escape, self.words)))
        return self.pattern.match(text, at)


@dataclass
class KnownNames:
    """What is known so far. Finding takes time linear in the text, times the names that begin with the same letters."""

    _by_head: dict[str, list[_Known]] = field(default_factory=lambda: defaultdict(list))
    _seen: dict[tuple[str, ...], _Known] = field(default_factory=dict)

    def add(self, text: str, kind: str = PERSON, *, listed: bool = False) -> None:
        """Find this from now on; of a person of several words also each word that is no common one.

        Args:
            listed: whoever lists it wants it gone in any case, common word or not.
        """
        words = tuple(_WORDS.findall(seen(text).folded.text))
        self._add(words, kind, listed=listed)
        if kind == PERSON and len(words) > 1:
            for word in words:
                if len(word) > _MIN_CHARS and word not in PARTICLES and not is_word(word):
                    self._add((word,), kind, listed=False)

    def _add(self, words: tuple[str, ...], kind: str, *, listed: bool) -> None:
        joined = "".join(words)
        if len(joined) < _MIN_CHARS:
            return
        known = self._seen.get(words)
        cased = not listed and kind == PERSON and all(map(is_word, words))
        if known is None:
            self._seen[words] = known = _Known(words, kind, cased)
            self._by_head[words[0][:_HEAD]].append(known)
        known.cased = known.cased and cased

    def find(self, view: Seen) -> Iterator[Span]:
        """Where a text holds them, as whole words."""
        folded = view.folded
        text = folded.text
        for at in range(len(text)):
            for known in (*self._by_head.get(text[at : at + _HEAD], ()), *self._by_head.get(text[at], ())):
                found = known.match(text, at)
                if found is None or not (_is_edge(view, at) and _is_edge(view, found.end())):
                    continue
                start = folded.starts[at]
                if not known.cased or view.text[start].isupper():
                    yield Span(start, folded.ends[found.end() - 1], known.kind)


def _is_edge(view: Seen, at: int) -> bool:
    """Whether a word may begin or end at a place of the folded text."""
    folded = view.folded
    if not 0 < at < len(folded.text):
        return True
    left, right = folded.text[at - 1], folded.text[at]
    if not (left.isalnum() and right.isalnum()) or left.isdecimal() != right.isdecimal():
        return True
    if _UNBROKEN.match(left) or _UNBROKEN.match(right):
        return True
    return view.text[folded.starts[at - 1]].islower() and view.text[folded.starts[at]].isupper()
