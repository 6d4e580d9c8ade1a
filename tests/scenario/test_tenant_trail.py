"""The tenant's own audit trail: a token and its entry are written together or not at all, and what is changed shows."""

from __future__ import annotations

import pytest

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.chain_check import verify_chain
from provenloop.domain.errors import LoopError
from provenloop.domain.names import tenant_itself
from provenloop.services import audit_trail
from tests.builders import MEMORY, make_call
from tests.faults import Crash, Fault, FaultLayer, Kind
from tests.faults.tables import TABLE
from tests.scenario.test_token_races import ROOT, Office
from tests.store_fixture import REGION, fresh_store

TENANT = tenant_itself(MEMORY.tenant)
KINDS = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY, Kind.LOST_REQUEST)


def told(office: Office) -> dict[str, str]:
    """The last status of every token's chain, each of which holds."""
    ends = {end.subject: end for end in office.store.chain_ends(TENANT)}
    for subject, end in ends.items():
        entries = office.store.audit_entries(TENANT, subject)
        assert verify_chain(subject, entries, head=end.head, status=end.status) is None
    return {subject.removeprefix("token:"): end.status for subject, end in ends.items()}


def stored(office: Office) -> dict[str, str]:
    """What the tokens themselves say."""
    tokens = office.tokens.tokens(MEMORY.tenant)
    return {token.id: "minted" if token.revoked_at is None else "revoked" for token in tokens}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nth", range(1, 4))
def test_no_fault_at_any_call_leaves_a_token_without_its_entry_or_an_entry_without_its_token(
    store: DynamoStore, kind: Kind, nth: int
) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    office.mint(minter, "child")
    for work in (lambda: office.mint(ROOT, "late", key="k"), lambda: office.revoke(minter)):
        with FaultLayer(office.client) as layer, layer.faults(Fault(kind, nth)):
            try:
                work()
            except (Crash, LoopError):
                layer.restart()
        assert told(office) == stored(office)
    office.revoke(minter)
    assert told(office) == stored(office)
    assert list(stored(office).values()).count("revoked") == 2


def test_of_two_who_revoke_at_once_one_entry_tells(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    office.at_once([0, 1] * 12, lambda: office.revoke(minter), lambda: office.revoke(minter))
    entries = list(office.store.audit_entries(TENANT, f"token:{minter.token_id}"))
    assert [entry.n for entry in entries] == [1, 2]
    assert told(office) == stored(office)


def test_a_token_that_was_minted_before_there_was_a_trail_is_revoked_with_an_entry(store: DynamoStore) -> None:
    office = Office(store)
    minter = office.mint(ROOT, "minter")
    subject = f"token:{minter.token_id}"
    [entry] = store.audit_entries(TENANT, subject)
    for pk, sk in (
        (keys.partition(TENANT, "AUDIT"), keys.chain(subject, entry.n)),
        (keys.partition(TENANT, "LOOP"), keys.chain_end(subject)),
    ):
        office.client.delete_item(TableName=TABLE, Key={"pk": {"S": pk}, "sk": {"S": sk}})
    office.revoke(minter)
    assert told(office) == stored(office) == {minter.token_id: "revoked"}


@pytest.mark.parametrize("deleted", [1, 2])
def test_an_entry_that_is_taken_away_is_named(deleted: int) -> None:
    with fresh_store() as store:
        office = Office(store)
        minter = office.mint(ROOT, "minter")
        office.revoke(minter)
        subject = f"token:{minter.token_id}"
        key = {"pk": {"S": keys.partition(TENANT, "AUDIT")}, "sk": {"S": keys.chain(subject, deleted)}}
        office.client.delete_item(TableName=TABLE, Key=key)
        found = audit_trail.verify(DynamoStore(TABLE, REGION, pause=lambda _n: None), make_call(ROOT, memory=TENANT))
        assert found["ok"] is False
        assert found["break"]["subject"] == subject
