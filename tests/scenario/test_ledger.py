"""The ledger of a memory: each row once, and sums over any span, read in one page or in many."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain import ledger
from provenloop.domain.errors import InvalidInputError, LoopError, NotFoundError, ScopeDeniedError
from provenloop.domain.ledger import About, LedgerRow, free_row, metered_row
from provenloop.domain.model_cost import Usage
from provenloop.domain.names import MemoryId
from provenloop.services.keep_ledger import count_rows
from provenloop.services.ledger_summary import LedgerSpan, row_told, summarise_ledger
from tests.builders import MEMORY, NOW, Desk, make_principal

HAIKU = "claude-haiku-4-5-20251001"
ABOUT = About("s-1", "r-1", {"team": "support"})
ROWS = [
    metered_row("a1", NOW, ledger.COMPOSER_ATTEMPT, ABOUT, usage=Usage(1000, 200), models=(HAIKU, HAIKU)),
    metered_row("a2", NOW, ledger.COMPOSER_ATTEMPT, ABOUT, usage=None, models=(HAIKU,), kind="network"),
    free_row("h1", NOW + 1, ledger.COMPOSER_HIT, ABOUT),
    free_row("h2", NOW + 2, ledger.EXACT_HIT, About()),
    metered_row("d1", NOW + 3, ledger.DISTILLATION, ABOUT, usage=Usage(10, 1, 4, 2, 3), models=("claude-opus-5-5",)),
    metered_row("d2", NOW + 3, ledger.DISTILLATION, ABOUT, usage=Usage(10, 1), models=("my-model",)),
]
ALL = LedgerSpan(NOW, NOW + 4)


class NoKey:
    """Models are off."""

    def current(self) -> str:
        return ""


@pytest.fixture
def kept(desk: Desk) -> Desk:
    count(desk, *ROWS)
    return desk


def count(desk: Desk, *rows: LedgerRow) -> list[LedgerRow]:
    """Have them counted; the rows that are told of as lost."""
    lost: list[LedgerRow] = []
    count_rows(desk.store, desk.call(), lambda _, rows: lost.extend(rows), rows)
    return lost


def summary(desk: Desk, span: LedgerSpan = ALL, cursor: str | None = None, **how: Any) -> dict[str, Any]:
    return summarise_ledger(desk.store, desk.call(), span, cursor, **how)


def test_the_same_row_is_counted_once(desk: Desk) -> None:
    assert [count(desk, ROWS[0]) for _ in range(3)] == [[], [], []]
    assert desk.store.ledger(MEMORY, NOW, NOW + 1, after=None, limit=9) == (ROWS[0],)


def test_a_summary_tells_rows_tokens_and_cost_of_every_component(kept: Desk) -> None:
    told = summary(kept)
    assert told["components"]["titw.composer.attempt"] == {
        "rows": 2,
        "input_tokens": 1000,
        "output_tokens": 200,
        "cache_write_tokens": 0,
        "cache_write_1h_tokens": 0,
        "cache_read_tokens": 0,
        "cost_usd": 0.002,
        "unpriced": 0,
    }
    assert told["components"]["recipe.distillation.opus"]["unpriced"] == 1
    assert told["components"]["recipe.distillation.opus"]["cost_usd"] == 0.0000966
    assert (told["cost_usd"], told["unpriced"]) == (0.0020966, 1)
    assert (told["runs_saved"], told["cost_per_run_saved_usd"]) == (2, 0.002)
    assert told["cursor"] is None
    assert told["prices"]["version"]


def test_a_span_takes_its_beginning_and_not_its_end(kept: Desk) -> None:
    told = summary(kept, LedgerSpan(NOW + 1, NOW + 3))
    assert set(told["components"]) == {"titw.composer.hit", "titw.recipe_hit.exact"}
    assert summary(kept, LedgerSpan(NOW, NOW))["components"] == {}
    assert summary(kept, LedgerSpan(NOW + 4, NOW + 10**9))["components"] == {}


@pytest.mark.parametrize("rows_a_page", [1, 4, 6])
def test_pages_go_on_with_the_sums_so_far(kept: Desk, rows_a_page: int) -> None:
    told, pages = summary(kept, rows_a_page=rows_a_page), 1
    while told["cursor"] is not None:
        told = summary(kept, cursor=told["cursor"], rows_a_page=rows_a_page)
        pages += 1
    assert told == summary(kept)
    assert pages == -(-len(ROWS) // rows_a_page)


def test_a_memory_sees_its_own_ledger_only(kept: Desk) -> None:
    other = Desk(kept.store, memory=MemoryId("acme", "other")).open()
    assert summary(other)["components"] == {}


def forged(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "%",
        "bm90IGpzb24",
        forged(),
        forged(1, "a"),
        forged("1", "a", {}),
        forged(-1, "a", {}),
        forged(1, "", {}),
        forged(1, "a b", {}),
        forged(1, "a", []),
        forged(1, "a", {"titw.composer.attempt": [1, 2]}),
        forged(1, "a", {"titw.composer.attempt": [1.5] * 8}),
        forged(1, "a", {"titw.composer.attempt": [True] * 8}),
        forged(1, "a", {"titw.composer.attempt": [10**24] * 8}),
        forged(1, "a", {"mine": [1] * 8}),
    ],
)
def test_a_cursor_that_was_never_given_out_is_refused(desk: Desk, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        summary(desk, cursor=cursor)
    assert refused.value.field == "cursor"


def test_who_may_not_read_and_what_is_not_there_is_refused(store: DynamoStore) -> None:
    desk = Desk(store)
    refusals: list[tuple[Any, type[LoopError]]] = [
        (desk.call(), NotFoundError),
        (desk.call(by=make_principal("bob", "write")), ScopeDeniedError),
    ]
    for call, refusal in refusals:
        with pytest.raises(refusal):
            summarise_ledger(store, call, ALL)
    with pytest.raises(InvalidInputError):
        summarise_ledger(store, desk.call(), LedgerSpan(NOW, NOW - 1))


def test_a_row_is_told_with_its_call_and_without_what_it_does_not_have() -> None:
    told = row_told(ROWS[1])
    assert (told["component"], told["kind"], told["cost_usd"]) == ("titw.composer.attempt", "network", 0.0)
    assert (told["session"], told["recipe"], told["log_fields"]) == ("s-1", "r-1", {"team": "support"})
    bare: LedgerRow = ROWS[3]
    assert [row_told(bare)[name] for name in ("kind", "model", "prices", "session", "recipe")] == [None] * 5
    assert row_told(ROWS[5])["cost_usd"] is None
