"""Cards, their evidence, the rules that armed ones are, and the stream of lessons."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.faults import translating
from provenloop.adapters.dynamodb.keys import Key, partition
from provenloop.adapters.dynamodb.reading import as_entity, entities
from provenloop.adapters.dynamodb.rows import Row, number_of
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.names import MemoryId
from provenloop.lessons.card import Card, CardEvidence, CardStatus, LessonPlace, Rule
from provenloop.services.lesson_port import CardPage, LessonTotals

#: A place in the order that ``keys.card_order`` makes.
_PLACE = re.compile(r"[0-9a-f]{32}#[0-9]+#[a-z2-7]+")


class LessonRows:
    """Implements ``services.lesson_port.LessonReader``; part of the store."""

    _pause: table.Pause

    def card(self, memory: MemoryId, card_id: str) -> Card | None:
        """See ``LessonReader``."""
        row = table.get(Key(partition(memory, "LESSON"), keys.card(card_id)))
        return None if row is None else as_entity(row, Card)

    def cards(self, memory: MemoryId, ids: Iterable[str]) -> Mapping[str, Card]:
        """See ``LessonReader``."""
        wanted = (Key(partition(memory, "LESSON"), keys.card(card_id)) for card_id in ids)
        return {card.id: card for card in entities(table.get_many(wanted, self._pause), Card)}

    def cards_by_prefix(self, memory: MemoryId, prefix: str, limit: int) -> tuple[Card, ...]:
        """See ``LessonReader``."""
        rows = table.query(partition(memory, "LESSON"), Row.sk.startswith(keys.card(prefix)), limit=limit)
        return tuple(entities(rows, Card))

    def count_cards_by_prefix(self, memory: MemoryId, prefix: str) -> int:
        """See ``LessonReader``."""
        chosen = Row.sk.startswith(keys.card(prefix))
        return translating(lambda: Row.count(partition(memory, "LESSON"), chosen, consistent_read=True))

    def card_page(
        self,
        memory: MemoryId,
        statuses: Sequence[CardStatus],
        project_key: str | None,
        *,
        limit: int,
        cursor: str | None,
    ) -> CardPage:
        """See ``LessonReader``."""
        first = keys.cards_of(project_key) if project_key is not None else " "
        last = first + keys.LAST if project_key is not None else keys.LAST
        after = max(first, place_of(cursor, _PLACE)[0] + keys.FIRST_AFTER) if cursor is not None else first
        if after > last:
            return CardPage((), None)
        streams = [_places(memory, status, after, last, limit + 1) for status in statuses]
        places = list(islice(heapq.merge(*streams), limit + 1))
        ids = tuple(place.rpartition("#")[2] for place in places[:limit])
        return CardPage(ids, cursor_at(places[limit - 1]) if len(places) > limit else None)

    def count_cards(self, memory: MemoryId, status: CardStatus) -> int:
        """See ``LessonReader``."""
        return translating(lambda: Row.queue.count(keys.card_partition(memory, status)))

    def all_cards(self, memory: MemoryId) -> Iterator[Card]:
        """See ``LessonReader``."""
        return entities(table.query(partition(memory, "LESSON"), Row.sk.startswith(keys.CARD_PREFIX)), Card)

    def card_evidence(self, memory: MemoryId, card_id: str, limit: int | None = None) -> tuple[CardEvidence, ...]:
        """See ``LessonReader``."""
        rows = self._newest(memory, keys.evidence_of(card_id), limit)
        return tuple(entities(rows, CardEvidence))

    def rules(self, memory: MemoryId, project_key: str) -> tuple[Rule, ...]:
        """See ``LessonReader``."""
        return tuple(entities(self._newest(memory, keys.rules_of(project_key), None), Rule))

    def rules_after(self, memory: MemoryId, place: str, limit: int) -> tuple[tuple[Rule, str], ...]:
        """See ``LessonReader``."""
        first = keys.RULE_PREFIX + (place + keys.FIRST_AFTER if place else "")
        chosen = Row.sk.between(first, keys.RULE_PREFIX + keys.LAST)
        rows = table.query(partition(memory, "LESSON"), chosen, limit=limit)
        return tuple((as_entity(row, Rule), row.sk.removeprefix(keys.RULE_PREFIX)) for row in rows)

    def lesson_places(
        self, memory: MemoryId, project_key: str | None, *, before: int | None = None, limit: int
    ) -> tuple[LessonPlace, ...]:
        """See ``LessonReader``."""
        if project_key is None:
            return tuple(islice(_stream(memory, before, limit), limit))
        prefix = keys.lessons_of(project_key)
        chosen = Row.sk.between(prefix, prefix + (keys.LAST if before is None else keys.number(before)))
        rows = table.query(partition(memory, "LESSON"), chosen, forward=False, limit=limit)
        return tuple(entities(rows, LessonPlace))

    def applied_lessons(self, memory: MemoryId, at_once: int) -> Iterator[str]:
        """See ``LessonReader``."""
        applied = keys.applied_partition(memory)
        return (row.sk for row in _rows(Row.bytime.query(applied, scan_index_forward=False, page_size=at_once)))

    def lesson_totals(self, memory: MemoryId) -> LessonTotals:
        """See ``LessonReader``."""
        row = table.get(Key(partition(memory, "HEAD"), keys.LOG_HEAD))
        counted = (row.lessons, row.lesson_bytes) if row is not None else (None, None)
        return LessonTotals(*(number_of(value) or 0 for value in counted))

    def _newest(self, memory: MemoryId, prefix: str, limit: int | None) -> Iterator[Row]:
        return table.query(partition(memory, "LESSON"), Row.sk.startswith(prefix), forward=False, limit=limit)


def _places(memory: MemoryId, status: str, after: str, last: str, limit: int) -> Iterator[str]:
    chosen = Row.queue_sk.between(after, last)
    for row in _rows(Row.queue.query(keys.card_partition(memory, status), chosen, limit=limit)):
        yield row.queue_sk


def _stream(memory: MemoryId, before: int | None, limit: int) -> Iterator[LessonPlace]:
    chosen = None if before is None else Row.time_sk < keys.number(before)
    stream = keys.stream_partition(memory)
    for row in _rows(Row.bytime.query(stream, chosen, scan_index_forward=False, limit=limit)):
        seq, address = keys.place_in_stream(row.sk)
        yield LessonPlace(row.sk.split("#")[1], seq, address)


def _rows(found: Iterator[Row]) -> Iterator[Row]:
    while (row := translating(lambda: next(found, None))) is not None:
        yield row
