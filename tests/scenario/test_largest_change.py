"""The largest changes there are: applied, measured and undone, each in one transaction within the limits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from provenloop.adapters.dynamodb.limits import TRANSACTION_BYTES, TRANSACTION_ITEMS
from provenloop.domain.events import FactEvent
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_MERGES, MAX_OPERATIONS
from tests.builders import DAY_MS, NOW, Desk, make_fact, make_grain
from tests.faults.hooks import ClientHooks, Exchange
from tests.scenario.test_review_waits import Review

HOUR_MS = 3_600_000
#: As long as a stored body may be.
LONG = "x" * 7_500


class Transactions(ClientHooks):
    """How many items, and bytes of JSON, each transaction had that was sent while this was on."""

    def __init__(self, client: Any) -> None:
        self.sent: list[tuple[int, int]] = []
        super().__init__(client)

    def before_call(self, exchange: Exchange) -> None:
        if exchange.operation == "TransactWriteItems":
            self.sent.append((len(exchange.params["TransactItems"]), len(exchange.request["body"])))

    def is_one_within_the_limits(self) -> None:
        """Insist on it. The JSON is larger than what it stores."""
        [(items, size)] = self.sent
        assert MAX_OPERATIONS < items <= TRANSACTION_ITEMS
        assert size <= TRANSACTION_BYTES


def conflict_of_many(desk: Desk) -> str:
    """Sam lives in so many towns at once; resolved, and then there is one more."""
    desk.record(make_fact("Berlin"))
    cluster = desk.facts()["Berlin"].address[:16]
    body = {"source": LONG}
    desk.plant(*(make_grain(f"town {n}", address=f"{cluster}{n:048x}", at=NOW - 500 + n, body=body) for n in range(82)))
    desk.run(full_sweep=True)
    return desk.finding("contradiction_sweep")


def spellings_of_many(desk: Desk) -> str:
    """One fact in so many spellings; merged, and then there is one more."""
    letters = itertools.product(*((letter, letter.upper()) for letter in "seventh"))
    spelt = ["".join(each) for each in letters][:82]
    for start in (0, 41):
        facts = (make_fact(value, relation="likes", tags=(value,)) for value in spelt[start : start + 41])
        desk.record(*facts)
    desk.run()
    return desk.finding("duplicate_sweep")


#: For each, how many operations it may have, and what shows that it did not hold.
CHANGES: dict[Callable[[Desk], str], tuple[int, FactEvent]] = {
    conflict_of_many: (MAX_OPERATIONS, make_fact("Rome")),
    spellings_of_many: (MAX_MERGES, make_fact("SEVENTH", relation="likes")),
}


def regressed(desk: Desk, prepare: Callable[[Desk], str]) -> tuple[str, dict[str, Grain]]:
    """The change applied, and measured not to have held; its id, and the grains as they were before it."""
    rec_id = prepare(desk)
    review_of(desk, rec_id)
    before = desk.grains()
    assert len(desk.recommendation(rec_id).proposal.operations) == CHANGES[prepare][0]
    with Transactions(desk.client) as applying:
        desk.approve_and_apply(rec_id, key="apply")
    applying.is_one_within_the_limits()
    desk.now += HOUR_MS
    desk.record(CHANGES[prepare][1])
    desk.run(at=desk.now + DAY_MS + HOUR_MS)
    return rec_id, before


def review_of(desk: Desk, rec_id: str) -> None:
    """A workflow waits for it, and has to be told in the transaction of the decision."""
    review = Review(desk, rec_id)
    review.request()
    review.wait("token")


@pytest.mark.parametrize("prepare", list(CHANGES))
def test_the_revert_of_the_largest_change_gives_back_every_grain(desk: Desk, prepare: Callable[[Desk], str]) -> None:
    rec_id, before = regressed(desk, prepare)
    revert = desk.finding("outcome_review")
    review_of(desk, revert)
    with Transactions(desk.client) as undoing:
        answer = desk.approve_and_apply(revert, key="undo")
    undoing.is_one_within_the_limits()
    assert answer["reverted"] == rec_id
    after = desk.grains()
    assert {address: after[address] for address in before} == before
    desk.verify()
