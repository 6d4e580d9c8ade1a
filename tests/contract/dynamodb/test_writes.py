"""Every kind of write, the condition it carries, and what a refused transaction tells. All or nothing, always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.table import MAX_TRANSACTION_ITEMS
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import TooLargeError
from provenloop.domain.grain import Grain
from provenloop.domain.recommendation import FindingKey
from provenloop.domain.records import Due, History, Replay, Run
from provenloop.services.ports import Entity, Failure, Put, Remove, Replace, Require, Restate, Write, WriteRefusedError
from tests.builders import DAY_MS, MEMORY, NOW, make_grain
from tests.faults import Snapshot, take_snapshot
from tests.faults.tables import TABLE

GRAIN = make_grain("Berlin")
KEY = FindingKey("dedup", "family", "group")


def put(store: DynamoStore, *entities: Entity) -> None:
    store.transact(MEMORY, [Put(entity) for entity in entities], NOW)


def stored(store: DynamoStore, grain: Grain = GRAIN) -> Grain | None:
    return store.grains(MEMORY, [grain.address], NOW).get(grain.address)


def snapshot() -> Snapshot:
    return take_snapshot(table.connection().client, TABLE)


def refused(store: DynamoStore, *writes: Write, now: int = NOW) -> tuple[Failure, ...]:
    """The failures of a transaction that is refused and changes nothing."""
    before = snapshot()
    with pytest.raises(WriteRefusedError) as caught:
        store.transact(MEMORY, writes, now)
    assert snapshot() == before
    return caught.value.failures


def test_put_stores_what_was_not_there(store: DynamoStore) -> None:
    put(store, GRAIN)
    assert stored(store) == GRAIN


def test_put_is_refused_where_something_is_and_shows_it(store: DynamoStore) -> None:
    put(store, GRAIN)
    write = Put(replace(GRAIN, body={"object": "other"}))
    assert refused(store, write) == (Failure(0, write, GRAIN),)


@pytest.mark.parametrize(("after_ms", "allowed"), [(-1000, False), (-1, False), (0, True), (DAY_MS, True)])
def test_put_replaces_what_has_expired_and_nothing_sooner(store: DynamoStore, after_ms: int, allowed: bool) -> None:
    call = replace(GRAIN, kind="tool_call", expires_at=NOW)
    put(store, replace(call, expires_at=NOW))
    newer = replace(call, body={"tool": "t"}, expires_at=NOW + 90 * DAY_MS)
    if allowed:
        store.transact(MEMORY, [Put(newer)], NOW + after_ms)
        assert stored(store) == newer
    else:
        [failure] = refused(store, Put(newer), now=NOW + after_ms)
        assert failure.found == call


def test_what_has_expired_is_not_read_though_it_is_still_there(store: DynamoStore) -> None:
    put(store, replace(GRAIN, expires_at=NOW), Replay("k", "d", NOW - DAY_MS, {}), Run("r", NOW, {"a": 1}))
    assert store.grains(MEMORY, [GRAIN.address], NOW - 1) != {}
    assert store.grains(MEMORY, [GRAIN.address], NOW) == {}
    assert store.grains_by_prefix(MEMORY, GRAIN.address[:8], NOW) == ()
    assert store.replay(MEMORY, "k", NOW - 1) is not None
    assert store.replay(MEMORY, "k", NOW) is None


def test_replace_needs_the_revision_it_names(store: DynamoStore) -> None:
    put(store, KEY)
    store.transact(MEMORY, [Replace(replace(KEY, strikes=1, rev=2), expected=1)], NOW)
    kept = store.finding_key(MEMORY, "family", "group", "dedup")
    assert kept == replace(KEY, strikes=1, rev=2)
    for expected in (1, 3):
        write = Replace(replace(KEY, strikes=9, rev=3), expected=expected)
        assert refused(store, write) == (Failure(0, write, kept),)


def test_replace_of_what_is_not_there_is_refused(store: DynamoStore) -> None:
    for entity in (KEY, GRAIN):
        write = Replace(entity, expected=1)
        assert refused(store, write) == (Failure(0, write, None),)


def test_a_change_of_a_grain_s_head_leaves_its_counters_to_others(store: DynamoStore) -> None:
    put(store, GRAIN)
    store.transact(MEMORY, [Restate(GRAIN, 3, NOW + 5, expected=1)], NOW)
    gone = replace(GRAIN, state="superseded", superseded_by="b" * 64, head_rev=2)
    store.transact(MEMORY, [Replace(gone, expected=1)], NOW)
    assert stored(store) == replace(gone, stated=4, last_stated_at=NOW + 5)


def test_a_change_may_count_statements_or_set_the_counters(store: DynamoStore) -> None:
    put(store, GRAIN)
    changed = replace(GRAIN, body={"object": "b"}, head_rev=2, last_stated_at=NOW + 7)
    store.transact(MEMORY, [Replace(changed, expected=1, restated=2)], NOW)
    assert stored(store) == replace(changed, stated=3)
    store.transact(MEMORY, [Replace(replace(GRAIN, head_rev=3), expected=2, counters=True)], NOW)
    assert stored(store) == replace(GRAIN, head_rev=3)


def test_a_restored_grain_without_expiry_loses_the_one_it_had(store: DynamoStore) -> None:
    put(store, replace(GRAIN, expires_at=NOW + DAY_MS))
    store.transact(MEMORY, [Replace(replace(GRAIN, head_rev=2), expected=1)], NOW)
    assert stored(store) == replace(GRAIN, head_rev=2)


def test_restate_counts_on_a_head_that_stands_and_shows_the_one_that_moved(store: DynamoStore) -> None:
    put(store, GRAIN)
    store.transact(MEMORY, [Restate(GRAIN, 1, NOW, expected=1)], NOW)
    store.transact(MEMORY, [Restate(GRAIN, 2, NOW + 1, expected=1)], NOW)
    counted = replace(GRAIN, stated=4, last_stated_at=NOW + 1)
    assert stored(store) == counted
    write = Restate(GRAIN, 1, NOW, expected=2)
    assert refused(store, write) == (Failure(0, write, counted),)
    missing = Restate(make_grain("Rome"), 1, NOW, expected=1)
    assert refused(store, missing) == (Failure(0, missing, None),)


def test_remove_needs_the_revision_and_the_counter_where_they_are_named(store: DynamoStore) -> None:
    put(store, GRAIN)
    store.transact(MEMORY, [Restate(GRAIN, 1, NOW, expected=1)], NOW)
    for write in (Remove(GRAIN, expected=2), Remove(GRAIN, expected=1, stated=1), Remove(GRAIN, stated=3)):
        assert [failure.write for failure in refused(store, write)] == [write]
    store.transact(MEMORY, [Remove(GRAIN, expected=1, stated=2)], NOW)
    assert stored(store) is None
    assert [failure.found for failure in refused(store, Remove(GRAIN, expected=1))] == [None]


def test_what_is_written_once_is_removed_without_a_condition_even_where_it_is_gone(store: DynamoStore) -> None:
    due = Due(NOW, "group", "x")
    put(store, due)
    for _ in range(2):
        store.transact(MEMORY, [Remove(due)], NOW)
    assert store.due(MEMORY, NOW, 9) == ()


def test_require_changes_nothing_and_insists(store: DynamoStore) -> None:
    put(store, KEY)
    before = snapshot()
    store.transact(MEMORY, [Require(KEY, expected=1), Require(replace(KEY, strikes=9), expected=1)][:1], NOW)
    assert snapshot() == before
    write = Require(KEY, expected=2)
    assert [failure.write for failure in refused(store, write)] == [write]


OTHERS = [make_grain(f"city {n}") for n in range(4)]


@pytest.mark.parametrize("order", list(permutations(range(5)))[::17])
def test_one_refused_write_refuses_all_and_each_failure_names_its_own(store: DynamoStore, order: Sequence[int]) -> None:
    put(store, GRAIN, KEY, *OTHERS[:2])
    kinds: list[tuple[Write, bool]] = [
        (Put(GRAIN), True),
        (Put(LogEntry(1, "c", NOW, "ann")), False),
        (Remove(OTHERS[0], expected=9), True),
        (Require(KEY, expected=9), True),
        (Replace(replace(OTHERS[1], head_rev=3), expected=2), True),
    ]
    writes = [kinds[place][0] for place in order]
    failures = refused(store, *writes)
    assert {failure.index for failure in failures} == {n for n, place in enumerate(order) if kinds[place][1]}
    assert all(writes[failure.index] is failure.write for failure in failures)


def test_history_rows_are_kept_beside_the_grain_and_read_oldest_first(store: DynamoStore) -> None:
    versions = [replace(GRAIN, head_rev=rev, body={"object": str(rev)}) for rev in (1, 2, 10)]
    put(store, GRAIN, *(History(version) for version in reversed(versions)))
    assert store.history(MEMORY, GRAIN.address) == tuple(versions)
    assert store.history_row(MEMORY, GRAIN.address, 2) == versions[1]
    assert store.history_row(MEMORY, GRAIN.address, 3) is None
    assert store.grains_by_prefix(MEMORY, GRAIN.address[:8], NOW) == (GRAIN,)


def test_a_transaction_holds_a_hundred_writes_and_no_more(store: DynamoStore) -> None:
    dues = [Due(NOW + n, "group", "x") for n in range(MAX_TRANSACTION_ITEMS + 1)]
    before = snapshot()
    with pytest.raises(TooLargeError):
        put(store, *dues)
    assert snapshot() == before
    put(store, *dues[:-1])
    assert store.due(MEMORY, NOW + 10**6, 999) == tuple(dues[:-1])
