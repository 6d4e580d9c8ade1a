"""Fifty people decide at once, in threads, on a table that takes transactions as they come: exactly one of them wins.

All of them have read before the first writes; else one who withdraws would just come after one who approves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import ConflictError, LoopError
from provenloop.entry.problems import status_of
from provenloop.services import apply_change, review, roll_back
from provenloop.services.call import Call
from tests.builders import Desk, make_fact, make_principal
from tests.packaged.emulator import Emulator
from tests.packaged.racing import act_as_root, at_once, raced_memory

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

DECIDERS = 50

Decide = Callable[[DynamoStore, Call, str, str], dict[str, Any]]


@pytest.fixture
def desk(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A memory with one contradiction that waits for a decision."""
    act_as_root(emulator, monkeypatch)
    with raced_memory(emulator) as found:
        found.record(make_fact("Berlin"), make_fact("Tokyo"))
        found.run()
        yield found


def all_do(desk: Desk, rec: str, *deeds: Decide) -> list[dict[str, Any] | LoopError]:
    """What fifty people get, each of whom does one of the deeds, all at the same time."""
    calls = [desk.call(by=make_principal(f"p{n}"), key=f"k{n}") for n in range(DECIDERS)]

    def decide(n: int) -> dict[str, Any] | LoopError:
        try:
            return deeds[n % len(deeds)](desk.store, calls[n], rec, "so be it")
        except LoopError as error:
            return error

    return at_once(desk, DECIDERS, decide)


def require_one_winner(desk: Desk, rec: str, outcomes: list[dict[str, Any] | LoopError], entries: int) -> None:
    """One has decided and the others are told that they came second; the chain holds so many entries and verifies."""
    [won] = [outcome for outcome in outcomes if isinstance(outcome, dict)]
    lost = [type(outcome) for outcome in outcomes if isinstance(outcome, LoopError)]
    assert lost == [ConflictError] * (DECIDERS - 1)
    assert status_of(ConflictError) == 409
    chain = list(desk.store.audit_entries(desk.memory, rec))
    assert (len(chain), chain[-1].id) == (entries, won["audit"])
    assert desk.recommendation(rec).status == won["status"]
    desk.verify()


def require_no_number_lost(desk: Desk) -> None:
    """Whoever took a number of the log and lost has given it back."""
    desk.run()
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    assert dict(heads.folds.holes) == {}


def test_of_fifty_who_approve_or_reject_one_decides(desk: Desk) -> None:
    rec = desk.finding("contradiction_sweep")
    require_one_winner(desk, rec, all_do(desk, rec, review.approve, review.reject), entries=2)


def test_of_fifty_who_apply_one_changes_the_memory(desk: Desk) -> None:
    rec = desk.finding("contradiction_sweep")
    desk.approve(rec)
    outcomes = all_do(desk, rec, apply_change.apply)
    require_one_winner(desk, rec, outcomes, entries=3)
    assert list(desk.facts()) == ["Tokyo"]
    require_no_number_lost(desk)


def test_of_fifty_who_apply_or_withdraw_one_decides(desk: Desk) -> None:
    rec = desk.finding("contradiction_sweep")
    desk.approve(rec)
    outcomes = all_do(desk, rec, apply_change.apply, review.reject)
    require_one_winner(desk, rec, outcomes, entries=3)
    applied = desk.recommendation(rec).status == "applied"
    assert sorted(desk.facts()) == (["Tokyo"] if applied else ["Berlin", "Tokyo"])
    require_no_number_lost(desk)


def test_of_fifty_who_roll_back_one_undoes(desk: Desk) -> None:
    rec = desk.finding("contradiction_sweep")
    before = desk.facts()
    desk.approve_and_apply(rec)
    outcomes = all_do(desk, rec, roll_back.roll_back)
    require_one_winner(desk, rec, outcomes, entries=4)
    assert desk.facts() == before
    require_no_number_lost(desk)
