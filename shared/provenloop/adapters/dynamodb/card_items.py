"""How a card is stored: its document, and the counters that stand beside it so that others may move them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.codec import decode, encode
from provenloop.adapters.dynamodb.rows import Row, number_of, pack
from provenloop.domain.canonical import canonical_json
from provenloop.domain.names import MemoryId
from provenloop.lessons.card import COUNTERS, Card, LessonPlace
from provenloop.services.card_count import Count, Within

#: What a card's document leaves out, since others may be moving it.
_BESIDE = (*COUNTERS, "last_at", "clean_at", "suggestion", "suggested_by")


def card_doc(card: Card) -> str:
    """A card's document without what stands beside it."""
    fields = json.loads(encode(card))
    return canonical_json({name: value for name, value in fields.items() if name not in (*_BESIDE, "rev")})


def card_of(row: Row, text: str) -> Card:
    """The card of a row, whose document is ``text``.

    Raises:
        IntegrityError: the document is none.
    """
    counters: dict[str, Any] = {name: number_of(getattr(row, name)) or 0 for name in COUNTERS}
    return replace(
        decode(Card, text),
        rev=int(row.rev),
        last_at=number_of(row.last_at),
        clean_at=number_of(row.clean_at),
        suggestion=row.suggestion,
        suggested_by=row.suggested_by,
        **counters,
    )


def beside_card(memory: MemoryId, card: Card) -> Mapping[str, Any]:
    """The attributes that stand beside a card's document."""
    return {**{name: getattr(card, name) for name in _BESIDE}, **_listed(memory, card)}


def beside_place(memory: MemoryId, place: LessonPlace) -> Mapping[str, Any]:
    """Where a line stands in the stream of the whole memory."""
    return {"time_pk": keys.stream_partition(memory), "time_sk": keys.number(place.seq)}


def add_count(transaction: table.Transaction, memory: MemoryId, write: Count, row: Row) -> None:
    """Move counters, and the head where it has moved, under the conditions of the write."""
    actions: list[Action] = [getattr(Row, name).add(number) for name, number in write.add.items() if number]
    actions += [getattr(Row, name).set(0) for name in write.reset]
    stamps = {"last_at": write.last_at, "clean_at": write.clean_at}
    actions += [getattr(Row, name).set(at) for name, at in stamps.items() if at is not None]
    if write.expected is not None and write.card.rev != write.expected:
        actions += [Row.doc.set(pack(card_doc(write.card))), Row.rev.set(write.card.rev), Row.version.set(row.version)]
        actions += [getattr(Row, name).set(value) for name, value in _listed(memory, write.card).items()]
    if write.suggests:
        actions.append(Row.suggestion.set(Row.suggestion | write.card.suggestion))
        actions.append(Row.suggested_by.set(Row.suggested_by | write.card.suggested_by))
    if write.forgets_suggestion:
        actions += [Row.suggestion.remove(), Row.suggested_by.remove()]
    transaction.update(row, actions, _assumed(write))


def _assumed(write: Count) -> Condition:
    condition: Condition = Row.sk.exists() if write.expected is None else Row.rev == write.expected
    if write.forgets_suggestion:
        condition = condition & (Row.suggested_by == write.card.suggested_by)
    for bound in write.within:
        condition = condition & _bounded(bound)
    return condition


def _bounded(bound: Within) -> Condition:
    attribute = getattr(Row, bound.counter)
    if bound.low is not None and bound.high is not None:
        between: Condition = attribute.between(bound.low, bound.high)
        return between
    limit: Condition = attribute <= bound.high if bound.high is not None else attribute >= (bound.low or 0)
    return limit


def _listed(memory: MemoryId, card: Card) -> Mapping[str, str]:
    """Where a card stands in the list of its status."""
    place = keys.card_order(card.project_key, card.created_at, card.id)
    return {"queue_pk": keys.card_partition(memory, card.status), "queue_sk": place}
