"""What the models cost and what the recipes saved, over a span of time.

A span may hold more rows than one request reads. Then the answer has a cursor, and the next page goes on with the sums
so far, so that the last page tells of the whole span.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.domain.ledger import (
    COMPONENTS,
    TOTALS_FIELDS,
    LedgerRow,
    Totals,
    as_numbers,
    nano_usd_per_run_saved,
    runs_saved,
    summed,
)
from provenloop.domain.model_cost import usd
from provenloop.domain.model_prices import SOURCE, VERSION
from provenloop.services.call import Call
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

ROWS_A_PAGE = 5_000
_MOST = 10**24
#: A JSON array; what it holds is looked at once it is read.
_PLACE = re.compile(r"\[.+\]")
_ID = re.compile(r"[\x21-\x7e]{1,128}\Z")


@dataclass(frozen=True, slots=True)
class LedgerSpan:
    """From ``since`` up to but not ``until``, epoch ms."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class _Place:
    """How far the pages before have come, and their sums."""

    at: int
    id: str
    totals: Mapping[str, Totals]


def summarise_ledger(
    store: Store, call: Call, span: LedgerSpan, cursor: str | None = None, *, rows_a_page: int = ROWS_A_PAGE
) -> dict[str, Any]:
    """Rows, tokens and cost by component, the runs saved, and what the composer cost for each it saved.

    Args:
        cursor: of the page before, which was asked for with the same span.

    Raises:
        ScopeDeniedError, NotFoundError.
        InvalidInputError: a span that ends before it begins, or a cursor that was never given out.
    """
    call.require("read")
    if span.until < span.since:
        raise InvalidInputError("a span does not end before it begins", field="to")
    place = _place_of(cursor)
    require_heads(store, call.memory)
    after = None if place is None else (place.at, place.id)
    rows = store.ledger(call.memory, span.since, span.until, after=after, limit=rows_a_page + 1)
    page = rows[:rows_a_page]
    totals = summed(page, place.totals if place else {})
    return _told(span, totals, _cursor_at(page[-1], totals) if len(rows) > rows_a_page else None)


def _told(span: LedgerSpan, totals: Mapping[str, Totals], cursor: str | None) -> dict[str, Any]:
    per_run = nano_usd_per_run_saved(totals)
    return {
        "from": format_instant(span.since),
        "to": format_instant(span.until),
        "components": {name: _component_told(totals[name]) for name in sorted(totals)},
        "cost_usd": usd(sum(each.cost_nano_usd for each in totals.values())),
        "unpriced": sum(each.unpriced for each in totals.values()),
        "runs_saved": runs_saved(totals),
        "cost_per_run_saved_usd": None if per_run is None else usd(per_run),
        "prices": {"version": VERSION, "source": SOURCE},
        "cursor": cursor,
    }


def _component_told(totals: Totals) -> dict[str, Any]:
    numbers = dict(zip(TOTALS_FIELDS, as_numbers(totals), strict=True))
    nano = numbers.pop("cost_nano_usd")
    return {**numbers, "cost_usd": usd(nano)}


def row_told(row: LedgerRow) -> dict[str, Any]:
    """One row as callers see it."""
    used = row.usage
    return {
        "id": row.id,
        "at": format_instant(row.at),
        "component": row.component,
        "kind": row.kind or None,
        "model": row.model or None,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cache_write_tokens": used.cache_write_tokens + used.cache_write_1h_tokens,
        "cache_read_tokens": used.cache_read_tokens,
        "cost_usd": None if row.cost_nano_usd is None else usd(row.cost_nano_usd),
        "prices": row.prices or None,
        "session": row.session or None,
        "recipe": row.recipe_id or None,
        "log_fields": dict(row.log_fields),
    }


def _cursor_at(row: LedgerRow, totals: Mapping[str, Totals]) -> str:
    sums = {name: as_numbers(each) for name, each in totals.items()}
    return cursor_at(canonical_json([row.at, row.id, sums]))


def _place_of(cursor: str | None) -> _Place | None:
    if cursor is None:
        return None
    text = place_of(cursor, _PLACE, "a ledger")[0]
    try:
        at, row_id, sums = json.loads(text)
        return _Place(_number(at), _id(row_id), {_component(name): _totals(each) for name, each in sums.items()})
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidInputError("not a cursor of a ledger", field="cursor") from None


def _component(name: object) -> str:
    if name not in COMPONENTS:
        raise ValueError
    return str(name)


def _id(told: object) -> str:
    if not isinstance(told, str) or not _ID.match(told):
        raise ValueError
    return told


def _totals(told: Any) -> Totals:
    if len(told) != len(TOTALS_FIELDS):
        raise ValueError
    return Totals(*map(_number, told))


def _number(told: object) -> int:
    if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told < _MOST:
        raise ValueError
    return told
