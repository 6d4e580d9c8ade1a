"""A token that mints while it is revoked: whatever the order of their calls, nothing that it minted is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.tokens import DynamoTokens
from provenloop.domain.errors import LoopError, UnauthenticatedError
from provenloop.domain.principal import Principal
from provenloop.services.revoke_token import revoke_token
from provenloop.services.tokens import MintRequest, mint_token, principal_of
from tests.builders import MEMORY, NOW, make_call, make_principal
from tests.examples import examples
from tests.faults import FaultLayer, Interleaving
from tests.faults.tables import TABLE
from tests.store_fixture import REGION, fresh_store

ROOT = make_principal("root")
CALLS_OF_A_MINT = 3


class Office:
    """The tokens of one tenant."""

    def __init__(self, store: DynamoStore) -> None:
        self.store = store
        self.tokens = DynamoTokens(TABLE, REGION, pause=lambda _attempt: None)
        self._numbers = iter(range(1, 1000))

    @property
    def client(self) -> Any:
        return table.connection().client

    def mint(self, minter: Principal, label: str, key: str | None = None) -> Principal:
        call = make_call(minter, number=next(self._numbers), key=key)
        minted = mint_token(self.store, self.tokens, call, MintRequest(label, "human", "*", ("admin",)))
        return principal_of(self.tokens, minted.secret or "", NOW)

    def revoke(self, principal: Principal) -> dict[str, Any]:
        return revoke_token(self.store, self.tokens, ROOT, principal.token_id, now=NOW + 1)

    def valid(self) -> set[str]:
        return {token.label for token in self.tokens.tokens(MEMORY.tenant) if token.revoked_at is None}

    def at_once(self, schedule: list[int], *works: Callable[[], object]) -> list[object]:
        """Results or errors of several calls whose steps are done in the given order."""
        race = Interleaving(table.connection().client, schedule=schedule)
        for number, work in enumerate(works):
            race.actor(f"actor {number}", work)
        try:
            outcomes = race.run()
        finally:
            race.remove()
        return [outcome.error or outcome.value for outcome in outcomes.values()]


@pytest.mark.parametrize("steps", range(1, CALLS_OF_A_MINT + 1))
def test_a_token_that_is_revoked_in_the_middle_of_minting_mints_nothing(store: DynamoStore, steps: int) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    minted, _ = office.at_once(
        [0] * steps + [1] * 20, lambda: office.mint(minter, "child"), lambda: office.revoke(minter)
    )
    assert isinstance(minted, UnauthenticatedError)
    assert office.valid() == set()


@given(schedule=st.lists(st.integers(0, 2), max_size=24))
@settings(max_examples=examples(15))
def test_nothing_minted_under_a_revoked_token_outlives_it_in_any_order_of_calls(schedule: list[int]) -> None:
    with fresh_store() as store:
        office = Office(store)
        root = office.mint(ROOT, "top")
        child = office.mint(root, "child")
        office.mint(ROOT, "apart")
        outcomes = office.at_once(
            schedule,
            lambda: office.revoke(root),
            lambda: office.mint(child, "leaf"),
            lambda: office.mint(root, "other child"),
        )
        assert isinstance(outcomes[0], dict)
        assert all(isinstance(outcome, Principal | UnauthenticatedError) for outcome in outcomes[1:])
        assert office.valid() == {"apart"}


def test_of_two_who_mint_one_label_at_once_one_is_told(store: DynamoStore) -> None:
    office = Office(store)
    outcomes = office.at_once([0, 1] * 8, lambda: office.mint(ROOT, "x"), lambda: office.mint(ROOT, "x"))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "Principal"]
    assert len(office.tokens.tokens(MEMORY.tenant)) == 1


def test_two_who_revoke_at_once_both_succeed_and_the_first_is_named(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    office.mint(minter, "child")
    first, second = office.at_once([0, 1] * 12, lambda: office.revoke(minter), lambda: office.revoke(minter))
    assert first == second
    assert office.valid() == set()


def test_more_tokens_than_one_transaction_takes_are_all_revoked(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    for number in range(100):
        office.mint(minter, f"child {number}")
    assert len(office.revoke(minter)["descendants"]) == 100
    assert office.valid() == set()


def test_a_revocation_reads_the_audit_chains_of_the_tokens_it_revokes_and_of_no_other(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    family = {minter.token_id, office.mint(minter, "child").token_id}
    for number in range(3):
        office.mint(ROOT, f"apart {number}")
    with FaultLayer(office.client) as layer:
        calls = layer.count(lambda: office.revoke(minter))
    of_trail = [call for call in calls if not call.writes and "#LOOP" in repr(call.params)]
    assert [call.operation for call in of_trail] == ["BatchGetItem"]
    assert {str(sort).removeprefix(keys.chain_end("token:")) for _, sort in of_trail[0].keys} == family


def test_a_revocation_that_was_cut_short_is_ended_by_the_next_one(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    for number in range(100):
        office.mint(minter, f"child {number}")
    cut = Interleaving(table.connection().client)
    # Two to find the token, three to find its family (pages of a hundred), two for where their audit chains end; then
    # the second transaction of four.
    cut.actor("revoker", lambda: office.revoke(minter), crash_at=9)
    try:
        assert cut.run()["revoker"].state == "crashed", cut.story()
    finally:
        cut.remove()
    left = office.valid()
    assert 0 < len(left) < 100, cut.story()
    with pytest.raises(LoopError):
        office.mint(minter, "late")
    office.revoke(minter)
    assert office.valid() == set()
