"""The index by which near-duplicates are found: one row for each prefix token of an observation.

A text finds what may be like it under its own tokens, and so on from there: everything that decides its groups. Rows
hold digests under the memory's key, never words, so they can be taken out when the text itself is gone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from provenloop.analyzers.contract import NearView
from provenloop.domain.address import Addresses
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.names import MemoryId
from provenloop.domain.near_duplicates import MAX_CANDIDATES, Item, component, groups, postings
from provenloop.domain.records import NearPosting, NearText
from provenloop.services.pass_settings import Setting
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Put, Remove, Replace, Store, Write


@dataclass
class NearIndex:
    """The index of one memory at time ``now`` (epoch ms), as one pass keeps it."""

    store: Store
    memory: MemoryId
    addresses: Addresses
    now: int
    writes: PassWrites
    _views: dict[str, tuple[tuple[Grain, ...], int]] = field(default_factory=dict)
    _known: dict[str, Grain] = field(default_factory=dict)

    def rearrange(self, setting: Setting, touched: Sequence[str]) -> list[str]:
        """Bring the index in line with touched observations; those to look at, among them and what is like them.

        Only an observation that leads a group now, or led one when it was last looked at, can have a finding.
        """
        threshold = _threshold(setting)
        grains = self.store.grains(self.memory, touched, self.now)
        known = self.store.near_texts(self.memory, touched)
        gone = [row for address, row in known.items() if not _is_text(grains.get(address), self.now)]
        around = [address for row in gone for address in self._addresses_under(row, threshold)]
        leading = {address for address, row in known.items() if row.leads}
        for address in touched:
            self.writes.make(lambda address=address: self._index(address, grains.get(address), threshold))  # type: ignore[misc]
        self._views.clear()
        self._known = dict(self.store.grains(self.memory, {*touched, *around}, self.now))
        for address in dict.fromkeys((*touched, *around)):
            if address not in self._views:
                leading |= self._look_around(address, threshold)
        return sorted(leading)

    def view(self, group: str) -> NearView:
        """The observation and every live one that is like it, or like one of those."""
        texts, skipped = self._views.get(group, ((), 0))
        return NearView(group, texts, skipped)

    def _look_around(self, address: str, threshold: float) -> set[str]:
        """See what an observation is joined to; those of it that lead a group, or did."""
        grain = self._known.get(address)
        if not _is_text(grain, self.now):
            self._views[address] = ((), 0)
            return set()
        found = component(_item(grain), lambda item: self._candidates(item, threshold), threshold)
        texts = tuple(self._known[item.address] for item in found.items)
        leaders = {group.seed.address for group in groups(found.items, threshold).groups}
        for text in (*texts, grain):
            self._views[text.address] = (texts, len(found.skipped))
        return leaders | self._mark_leaders([text.address for text in texts], leaders)

    def _mark_leaders(self, around: Sequence[str], leaders: set[str]) -> set[str]:
        """Remember who leads a group now; those who did so before."""
        if len(around) < 2 and not leaders:
            return set()
        before = {row.address for row in self.store.near_texts(self.memory, around).values() if row.leads}
        if before != leaders:
            self.writes.make(lambda: self._leading(around, leaders))
        return before

    def _leading(self, around: Sequence[str], leaders: set[str]) -> Iterator[Write]:
        for row in self.store.near_texts(self.memory, around).values():
            if row.leads != (row.address in leaders):
                yield Replace(replace(row, leads=not row.leads, rev=row.rev + 1), expected=row.rev)

    def _candidates(self, item: Item, threshold: float) -> Iterator[Item]:
        """The live observations of the same namespace under the tokens of a text."""
        own = self._known[item.address]
        row = self._wanted(own, threshold)
        asked = postings(item.text, threshold)
        found: dict[str, None] = {}
        for token in row.tokens:
            rows = self.store.near_postings(self.memory, token, asked.sizes, MAX_CANDIDATES + 2)
            found |= dict.fromkeys(posting.address for posting in rows)
            if len(found) > MAX_CANDIDATES + 1:
                break
        unknown = [address for address in found if address not in self._known]
        self._known |= self.store.grains(self.memory, unknown, self.now)
        for address in found:
            grain = self._known.get(address)
            if _is_text(grain, self.now) and grain.namespace == own.namespace:
                yield _item(grain)

    def _addresses_under(self, row: NearText, threshold: float) -> Iterator[str]:
        """What may have been like a text that is gone, by what is kept of it."""
        sizes = (math.floor(row.size * threshold), math.ceil(row.size / threshold))
        for token in row.tokens:
            for posting in self.store.near_postings(self.memory, token, sizes, MAX_CANDIDATES + 2):
                yield posting.address

    def _wanted(self, grain: Grain, threshold: float) -> NearText:
        """The rows a text should have."""
        read = postings(text_of(grain, "text"), threshold)
        tokens = (self.addresses.short("near", grain.namespace, read.block, token) for token in read.prefix_tokens)
        return NearText(grain.address, read.size, tuple(sorted(set(tokens))))

    def _index(self, address: str, grain: Grain | None, threshold: float) -> Iterator[Write]:
        """What puts in and takes out the rows of one observation; its own record goes last, so nothing is forgotten."""
        is_there = grain is not None and grain.is_current and text_of(grain, "text") != ""
        wanted = self._wanted(grain, threshold) if grain is not None and is_there else None
        known = self.store.near_texts(self.memory, [address]).get(address)
        have = known or NearText(address, 0, ())
        if wanted is not None and (wanted.size, wanted.tokens) == (have.size, have.tokens):
            return
        before, after = set(_rows(have)), set(_rows(wanted) if wanted is not None else ())
        present = self.store.near_present(self.memory, before | after)
        yield from (Put(row) for row in sorted(after - present, key=repr))
        yield from (Remove(row) for row in sorted((before - after) & present, key=repr))
        if wanted is not None:
            kept = replace(wanted, leads=have.leads, rev=have.rev + 1)
            yield Put(kept) if known is None else Replace(kept, expected=have.rev)
        elif known is not None:
            yield Remove(have, expected=have.rev)


def _rows(text: NearText) -> Iterator[NearPosting]:
    return (NearPosting(token, text.size, text.address) for token in text.tokens)


def _is_text(grain: Grain | None, now: int) -> TypeGuard[Grain]:
    return grain is not None and grain.kind == "observation" and grain.is_live(now) and text_of(grain, "text") != ""


def _item(grain: Grain) -> Item:
    return Item(f"{grain.recorded_at:015d}", grain.address, text_of(grain, "text"))


def _threshold(setting: Setting) -> float:
    return float(setting.parameters["jaccard"])
