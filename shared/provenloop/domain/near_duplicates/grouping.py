"""Grouping of near-duplicates: of all items in memory, and of the part of a store that one item belongs to."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from provenloop.domain.near_duplicates.measure import Postings, Text, Threshold, exact, exact_form

#: More texts than these that may match one text: it is left out, with the reason below.
MAX_CANDIDATES = 2000
TOO_MANY_CANDIDATES = "too_many_candidates"


class Item(NamedTuple):
    """One text to compare; ``recorded_at`` (sortable as text) and ``address`` (unique) order the items."""

    recorded_at: str
    address: str
    text: str


class Group(NamedTuple):
    """Items of which every two qualify: the earliest, and the others in their order (at least one)."""

    seed: Item
    members: tuple[Item, ...]


class Skipped(NamedTuple):
    """An item left out, and why."""

    item: Item
    reason: str


class Found(NamedTuple):
    """Groups in the order of their seeds, and what was left out, in the order of items."""

    groups: tuple[Group, ...]
    skipped: tuple[Skipped, ...]


class Component(NamedTuple):
    """The items that an item is joined to, over any number of steps, in their order; and those left out on the way."""

    items: tuple[Item, ...]
    skipped: tuple[Skipped, ...]


def groups(items: Iterable[Item], threshold: Threshold) -> Found:
    """Group items: the earliest unused is a seed, a later unused one joins when it qualifies with every member.

    Copies of one text always go together. An item with more than ``MAX_CANDIDATES`` other texts that may match takes
    no part. The answer is that of comparing all pairs, whatever the order of ``items``.

    Raises:
        ValueError: the threshold is not above 0 and at most 1.
    """
    share = exact(threshold)
    copies = _copies(items)
    texts = [Text(of_one[0].text, share) for of_one in copies]
    candidates = _candidates(texts)
    skipped = {index for index, found in enumerate(candidates) if found is None}
    used = set(skipped)
    grouped: list[Group] = []
    for seed, around in enumerate(candidates):
        if seed in used or around is None:
            continue
        joined = _joined(texts, seed, sorted(around - used))
        used.update(joined)
        first, *others = sorted(item for index in joined for item in copies[index])
        if others:
            grouped.append(Group(first, tuple(others)))
    return Found(tuple(grouped), _left_out(item for index in skipped for item in copies[index]))


def component(start: Item, candidates: Callable[[Item], Iterable[Item]], threshold: Threshold) -> Component:
    """The part of all items that decides the groups of one: :func:`groups` of it are those of the whole that hold it.

    Args:
        start: the item to begin at.
        candidates: gives, for an item, the stored items its postings admit; more of them do no harm, the item itself
            may be among them. Of an item with too many it may stop after ``MAX_CANDIDATES + 1`` other texts.
        threshold: the same as for the groups.

    Raises:
        ValueError: the threshold is not above 0 and at most 1.
    """
    search = _Search(candidates, exact(threshold))
    waiting, seen = deque([start]), {exact_form(start.text)}
    kept: set[Item] = set()
    skipped: set[Item] = set()
    while waiting:
        item = waiting.popleft()
        copies, others = search.around(item)
        if len({exact_form(other.text) for other in others}) > MAX_CANDIDATES:
            skipped |= copies
            continue
        kept |= copies
        for other in others:
            if exact_form(other.text) not in seen and search.qualify(item, other):
                seen.add(exact_form(other.text))
                waiting.append(other)
    return Component(tuple(sorted(kept)), _left_out(skipped))


class _Search:
    """Looks for what an item is joined to; each text is read once."""

    def __init__(self, candidates: Callable[[Item], Iterable[Item]], threshold: Fraction) -> None:
        self._candidates = candidates
        self._threshold = threshold
        self._texts: dict[str, Text] = {}

    def around(self, item: Item) -> tuple[set[Item], list[Item]]:
        """The copies of an item, itself among them, and the others that its postings admit."""
        copies, others = {item}, []
        mine = self._text(item).postings
        for other in self._candidates(item):
            if exact_form(other.text) == exact_form(item.text):
                copies.add(other)
            elif mine.admits(self._text(other).postings):
                others.append(other)
        return copies, others

    def qualify(self, left: Item, right: Item) -> bool:
        return self._text(left).qualifies(self._text(right))

    def _text(self, item: Item) -> Text:
        form = exact_form(item.text)
        if form not in self._texts:
            self._texts[form] = Text(form, self._threshold)
        return self._texts[form]


def _left_out(items: Iterable[Item]) -> tuple[Skipped, ...]:
    return tuple(Skipped(item, TOO_MANY_CANDIDATES) for item in sorted(items))


def _copies(items: Iterable[Item]) -> list[list[Item]]:
    """The items of each text, in their order; texts in the order of their first."""
    found: dict[str, list[Item]] = {}
    for item in sorted(items):
        found.setdefault(exact_form(item.text), []).append(item)
    return list(found.values())


def _candidates(texts: Sequence[Text]) -> list[set[int] | None]:
    """For each text those that its postings admit, by their places; None where there are too many."""
    rows: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for index, text in enumerate(texts):
        for token in text.postings.prefix_tokens:
            rows[text.postings.block, token].append((text.postings.size, index))
    for of_token in rows.values():
        of_token.sort()
    return [_admitted(index, text.postings, rows) for index, text in enumerate(texts)]


def _admitted(
    index: int, asked: Postings, rows: Mapping[tuple[str, str], Sequence[tuple[int, int]]]
) -> set[int] | None:
    least, greatest = asked.sizes
    found: set[int] = {index}
    for token in asked.prefix_tokens:
        of_token = rows[asked.block, token]
        first, last = bisect_left(of_token, (least, 0)), bisect_left(of_token, (greatest + 1, 0))
        # As many as decide are enough: one token's row list may hold every text of the block.
        found.update(other for _, other in of_token[first : min(last, first + MAX_CANDIDATES + 2)])
        if len(found) > MAX_CANDIDATES + 1:
            return None
    return found - {index}


def _joined(texts: Sequence[Text], seed: int, around: Iterable[int]) -> list[int]:
    joined = [seed]
    for index in around:
        if all(texts[index].qualifies(texts[member]) for member in joined):
            joined.append(index)
    return joined
