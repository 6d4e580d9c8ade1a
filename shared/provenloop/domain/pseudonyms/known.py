"""Texts that are known to name somebody, found again in whatever case and however their words are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from provenloop.domain.pseudonyms.marks import PERSON
from provenloop.domain.pseudonyms.name_words import PARTICLES
from provenloop.domain.pseudonyms.names import is_word
from provenloop.domain.pseudonyms.seen import Seen, Span, seen
from provenloop.domain.tokens import UNBROKEN

_WORDS = re.compile(r"[^\W_]+")
_UNBROKEN = re.compile(f"[{UNBROKEN}]")
_JOINT = re.compile(r"[\W_]{0,4}")
_MAX_JOINT = 3
_MIN_CHARS = 2
#: What has a longer word is found by its form, or not at all.
_MAX_WORD_CHARS = 100


@dataclass
class _Known:
    """One text to find. ``cased``: only where it begins with a capital, for without one it is a common word;
    ``listed``: also in the plural.
    """

    kind: str
    cased: bool
    listed: bool


@dataclass
class _Node:
    """What may come after some words: each next word, the lengths of those that begin with a character, and what is
    known under the words so far.
    """

    following: dict[str, _Node] = field(default_factory=dict)
    lengths: dict[str, set[int]] = field(default_factory=dict)
    known: _Known | None = None

    def next(self, word: str) -> _Node:
        """The node after one more word, made where there is none."""
        self.lengths.setdefault(word[0], set()).add(len(word))
        return self.following.setdefault(word, _Node())

    def reached(self, text: str, at: int) -> Iterator[tuple[_Node, int]]:
        """The nodes after each word that stands at a place of a text, and where the word ends."""
        for length in self.lengths.get(text[at : at + 1], ()):
            node = self.following.get(text[at : at + length])
            if node is not None and at + length <= len(text):
                yield node, at + length


@dataclass
class KnownNames:
    """What is known so far. How long finding takes depends on the text and on how many lengths words of names have,
    not on how many names there are.
    """

    _root: _Node = field(default_factory=_Node)

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
        if sum(map(len, words)) < _MIN_CHARS or max(map(len, words)) > _MAX_WORD_CHARS:
            return
        node = self._root
        for word in words:
            node = node.next(word)
        cased = not listed and kind == PERSON and all(map(is_word, words))
        if node.known is None:
            node.known = _Known(kind, cased, listed)
        node.known.cased = node.known.cased and cased
        node.known.listed = node.known.listed or listed

    def find(self, view: Seen) -> Iterator[Span]:
        """Where a text holds them, as whole words."""
        folded = view.folded
        text = folded.text
        for at in range(len(text)):
            if text[at] not in self._root.lengths or not _is_edge(view, at):
                continue
            start = folded.starts[at]
            for known, end in self._ends(text, at):
                if not _is_end(view, end, is_listed=known.listed):
                    continue
                if not known.cased or view.text[start].isupper():
                    yield Span(start, folded.ends[end - 1], known.kind)

    def _ends(self, text: str, at: int) -> Iterator[tuple[_Known, int]]:
        """What is known that stands at a place, as words or as parts of words, and where it ends."""
        open_nodes = list(self._root.reached(text, at))
        while open_nodes:
            node, end = open_nodes.pop()
            if node.known is not None:
                yield node.known, end
            joint = _JOINT.match(text, end)
            after = end if joint is None else joint.end()
            if node.following and after - end <= _MAX_JOINT:
                open_nodes += node.reached(text, after)


def _is_end(view: Seen, at: int, *, is_listed: bool) -> bool:
    """Whether a name may end at a place of the folded text; one that is listed also before the ``s`` of a plural."""
    if _is_edge(view, at):
        return True
    return is_listed and view.folded.text[at] == "s" and _is_edge(view, at + 1)


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
