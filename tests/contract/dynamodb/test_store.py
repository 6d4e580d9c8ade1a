"""Reading one memory: pages, prefixes, the head items, the review queue and the wake index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from provenloop.adapters.dynamodb.heads import MAX_NAMESPACES
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.wake import DynamoWakeIndex
from provenloop.domain.audit import AuditEntry, Note
from provenloop.domain.checkpoint import HORIZONS_MS, Checkpoint, Watch
from provenloop.domain.commit import LogEntry, TimerHead
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.lifecycle import STATUSES, Status
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import Proposal
from provenloop.domain.recommendation import SEVERITIES, FindingKey, Recommendation, Severity, Summary, Target
from provenloop.domain.records import Due, MemoryRecord
from provenloop.domain.rollup import (
    AskDay,
    AskDayId,
    AssemblyDay,
    AssemblyDayId,
    ReadDays,
    ReadDaysId,
    Rollup,
    RowId,
    SignatureDay,
    ToolDay,
)
from provenloop.services.ports import Replace, Reservation
from tests.builders import KEY, MEMORY, NOW, CallCounter, Desk, make_grain, plant
from tests.faults.hooks import ClientHooks, Exchange
from tests.faults.tables import TABLE
from tests.store_fixture import REGION

OTHER = MemoryId("acme", "other")


def make_rec(
    rec_id: str, *, severity: Severity = "low", status: Status = "pending", created_at: int = NOW
) -> Recommendation:
    return Recommendation(
        id=rec_id.ljust(26, "a"), dedup_key="d", family="loop.x", group="g", occurrence=0, analyzer="loop.x/1",
        parameters={}, origin="builtin", namespace="shared", target=Target("entity", ("x",)), summary=Summary("t"),
        severity=severity, proposal=Proposal(), proposal_digest="p", destructive=False, rollbackable=True, evidence=(),
        count=1, confidence=1.0, created_at=created_at, updated_at=NOW, expires_at=NOW, creators=("engine:x",),
        status=status,
    )  # fmt: skip


# heads


def reservation(*namespaces: str, grains: int = 1, errors: int = 0, at: int = NOW) -> Reservation:
    return Reservation(grains, errors, frozenset(namespaces), at, at + 1000)


def test_a_memory_that_was_never_made_has_no_heads_and_gives_no_number(store: DynamoStore) -> None:
    assert store.heads(MEMORY) is None
    assert store.reserve(MEMORY, reservation("shared")) is None
    assert store.heads(MEMORY) is None


def test_a_memory_is_made_once_and_keeps_its_key(store: DynamoStore) -> None:
    record = MemoryRecord("demo", NOW, "ann")
    assert store.create_memory(MEMORY, record, KEY)
    assert not store.create_memory(MEMORY, replace(record, created_by="bob"), bytes(32))
    heads = store.heads(MEMORY)
    assert heads is not None
    assert (heads.log.key, heads.log.seq, heads.folds.folded, heads.timer.due_at) == (KEY, 0, 0, None)
    assert store.memories("acme") == (record,)
    assert store.memories("acme2") == ()


def test_numbers_count_up_and_carry_what_was_reserved(desk: Desk) -> None:
    heads = [desk.store.reserve(MEMORY, reservation("a", grains=3, errors=2, at=NOW + n)) for n in range(3)]
    assert [head.seq for head in heads if head] == [1, 2, 3]
    last = heads[-1]
    assert last is not None
    assert (last.grains, last.errors, last.namespaces, last.reserved_at) == (9, 6, frozenset("a"), NOW + 2)
    assert last.wake_at == NOW + 1000
    read = desk.store.heads(MEMORY)
    assert read is not None
    assert read.log == last


def test_a_memory_holds_exactly_a_hundred_namespaces(desk: Desk) -> None:
    store = desk.store
    names = [f"n{n:03d}" for n in range(MAX_NAMESPACES + 1)]
    assert store.reserve(MEMORY, reservation(*names[:60])) is not None
    assert store.reserve(MEMORY, reservation(*names[:99])) is not None
    assert store.reserve(MEMORY, reservation(names[99])) is not None
    before = desk.snapshot()
    for wanted in (names[100:], names[99:101], names[40:101]):
        with pytest.raises(InvalidInputError, match="at most 100 namespaces"):
            store.reserve(MEMORY, reservation(*wanted))
    assert desk.snapshot() == before
    head = store.reserve(MEMORY, reservation(*names[10:100]))
    assert head is not None
    assert (head.seq, head.namespaces) == (4, frozenset(names[:100]))


def test_a_hundred_namespaces_at_once_are_no_more_than_one_by_one(desk: Desk) -> None:
    head = desk.store.reserve(MEMORY, reservation(*(f"n{n}" for n in range(MAX_NAMESPACES))))
    assert head is not None
    with pytest.raises(InvalidInputError):
        desk.store.reserve(MEMORY, reservation("one more"))


# pages and prefixes


class SmallPages(ClientHooks):
    """Lets every query evaluate three items only, as a page of 1 MB would end somewhere."""

    def before_call(self, exchange: Exchange) -> None:
        if exchange.operation == "Query":
            asked = json.loads(exchange.request["body"])
            exchange.request["body"] = json.dumps({**asked, "Limit": min(asked.get("Limit", 3), 3)}).encode()


def test_every_page_of_a_query_is_followed(desk: Desk) -> None:
    grains = [make_grain(f"v{n}", address=f"{n:064x}") for n in range(10)]
    entries = [LogEntry(n, f"c{n}", NOW, "ann") for n in range(1, 8)]
    recs = [make_rec(f"ab{letter}") for letter in "abcdefgh"]
    desk.plant(*grains, *entries, *recs)
    with SmallPages(desk.client), CallCounter(desk.client) as counter:
        assert desk.store.grains_by_prefix(MEMORY, "0" * 8, NOW) == tuple(grains)
        assert counter.names == ["Query"] * 4
        assert list(desk.store.all_grains(MEMORY, "", NOW)) == grains
        assert list(desk.store.all_grains(MEMORY, grains[4].address, NOW)) == grains[5:]
        assert desk.store.log_entries(MEMORY, 0, 9) == tuple(entries)
        assert list(desk.store.all_recommendations(MEMORY)) == recs
        assert desk.store.count_recommendations(MEMORY, "ab") == len(recs)
        page = desk.store.queue(MEMORY, ["pending"], limit=5, cursor=None)
        assert [row["id"] for row in page.rows] == [rec.id for rec in recs[:5]]


def test_more_keys_than_one_batch_holds_are_all_asked_for(desk: Desk) -> None:
    grains = [make_grain(f"v{n}") for n in range(130)]
    desk.plant(*grains)
    wanted = [grain.address for grain in grains]
    with CallCounter(desk.client) as counter:
        found = desk.store.grains(MEMORY, [*wanted, "f" * 64, *wanted], NOW)
    assert found == {grain.address: grain for grain in grains}
    assert counter.names == ["BatchGetItem"] * 2


def test_nothing_is_asked_where_nothing_is_wanted(desk: Desk) -> None:
    with CallCounter(desk.client) as counter:
        assert desk.store.grains(MEMORY, [], NOW) == {}
        assert desk.store.recommendations(MEMORY, []) == {}
        assert desk.store.log_entries(MEMORY, 3, 3) == ()
    assert counter.names == []


def test_a_prefix_gives_an_entity_or_a_cluster_and_never_another_memory_s(desk: Desk) -> None:
    addresses = ["aaaaaaaabbbbbbbb", "aaaaaaaacccccccc", "aaaaaaabbbbbbbbb"]
    grains = [make_grain(name, address=name.ljust(64, "0")) for name in addresses]
    desk.plant(*grains)
    plant(desk.client, OTHER, [make_grain("x", address="aaaaaaaabbbbbbbb".ljust(64, "1"))])
    assert desk.store.grains_by_prefix(MEMORY, "a" * 8, NOW) == tuple(grains[:2])
    assert desk.store.grains_by_prefix(MEMORY, "aaaaaaaacccccccc", NOW) == (grains[1],)
    assert list(desk.store.all_grains(MEMORY, "", NOW)) == sorted(grains, key=lambda grain: grain.address)


def test_log_entries_come_in_order_between_two_numbers_or_by_number(desk: Desk) -> None:
    entries = [LogEntry(seq, f"c{seq}", NOW, "ann") for seq in (1, 2, 4, 10, 11, 1000)]
    desk.plant(*entries)
    assert desk.store.log_entries(MEMORY, 1, 11) == tuple(entries[1:5])
    assert desk.store.log_entries_at(MEMORY, [3, 4, 1000]) == {4: entries[2], 1000: entries[5]}


def test_a_damaged_log_entry_is_handed_on_as_unreadable(desk: Desk) -> None:
    desk.plant(LogEntry(1, "c1", NOW, "ann"), LogEntry(2, "c2", NOW, "ann"))
    key = {"pk": {"S": "T#acme#M#demo#LOG"}, "sk": {"S": "L#000000000001"}}
    desk.client.update_item(
        TableName=TABLE, Key=key, UpdateExpression="SET doc = :d", ExpressionAttributeValues={":d": {"B": b"{"}}
    )
    first, second = desk.store.log_entries(MEMORY, 0, 2)
    assert (first.seq, first.unreadable, second.unreadable) == (1, True, False)


def test_a_tool_s_window_holds_its_days_with_both_ends_and_no_other_tool(desk: Desk) -> None:
    days = ["20270101", "20270102", "20270103", "20270104"]
    mine = [ToolDay("t" * 32, day, "shared", calls=1, rev=1) for day in days]
    signed = [SignatureDay("t" * 32, day, "s" * 32, n=1, rev=1) for day in days]
    desk.plant(*mine, *signed, ToolDay("u" * 32, days[1], "shared", rev=1))
    window = desk.store.tool_window(MEMORY, "t" * 32, days[1], days[2])
    assert window.days == tuple(mine[1:3])
    assert window.signatures == tuple(signed[1:3])
    assert desk.store.tool_keys(MEMORY) == ("t" * 32, "u" * 32)


def test_a_question_s_window_holds_its_days_with_both_ends_and_no_other_question(desk: Desk) -> None:
    days = ["20270101", "20270102", "20270103", "20270104"]
    mine = [AskDay("a" * 64, day, "shared", asked=2, empty=1, rev=1) for day in days]
    desk.plant(*mine, AskDay("b" * 64, days[1], "shared", rev=1))
    assert desk.store.ask_window(MEMORY, "a" * 64, days[1], days[2]) == tuple(mine[1:3])
    assert desk.store.ask_window(MEMORY, "c" * 64, days[0], days[3]) == ()
    assert desk.store.questions(MEMORY) == ("a" * 64, "b" * 64)


def test_assembled_contexts_and_reads_are_told_by_day_and_by_grain(desk: Desk) -> None:
    days = [AssemblyDay(day, assembled=3, overflowed=1, rev=1) for day in ("20270101", "20270102", "20270103")]
    reads = ReadDays("a" * 64, {"20270101": 2}, rev=1)
    desk.plant(*days, reads)
    assert desk.store.assembly_window(MEMORY, "20270102", "20270109") == tuple(days[1:])
    assert desk.store.grain_reads(MEMORY, ["a" * 64, "b" * 64]) == {"a" * 64: reads}


def test_rows_of_use_are_read_by_their_ids_like_those_of_tools(desk: Desk) -> None:
    rows: list[Rollup] = [
        AskDay("a" * 64, "20270101", "shared", asked=1, rev=1),
        AssemblyDay("20270101", assembled=1, rev=1),
        ReadDays("a" * 64, {"20270101": 1}, rev=1),
        ToolDay("t" * 32, "20270101", "shared", rev=1),
    ]
    desk.plant(*rows)
    wanted: list[RowId] = [
        AskDayId("a" * 64, "20270101"),
        AssemblyDayId("20270101"),
        ReadDaysId("a" * 64),
        ("t" * 32, "20270101"),
    ]
    assert set(map(repr, desk.store.rollups(MEMORY, wanted, NOW))) == set(map(repr, rows))
    over_400_days_later = NOW + 402 * 86_400_000
    assert desk.store.rollups(MEMORY, wanted, over_400_days_later) == ()


def test_due_instants_come_earliest_first_up_to_now_and_no_more_than_asked(desk: Desk) -> None:
    rows = [Due(NOW + at, what, "ref") for at, what in ((-5, "b"), (-5, "a"), (0, "a"), (1, "a"))]
    desk.plant(*rows)
    assert desk.store.due(MEMORY, NOW, 10) == (rows[1], rows[0], rows[2])
    assert desk.store.due(MEMORY, NOW, 2) == (rows[1], rows[0])
    assert desk.store.due_present(MEMORY, [rows[3], Due(NOW, "a", "other")]) == {rows[3]}


def test_loop_records_are_read_by_what_they_belong_to(desk: Desk) -> None:
    rec = make_rec("aaaa")
    keys = [FindingKey(name, "loop.x", group) for name, group in (("d", "g"), ("e", "g"), ("f", "g2"))]
    checkpoints = [Checkpoint(rec.id, horizon, NOW) for horizon in HORIZONS_MS]
    watches = [Watch(rec.id, tool, None, NOW, 1) for tool in ("t1", "t2")]
    grain = make_grain()
    desk.plant(rec, *keys, *reversed(checkpoints), *watches, grain)
    assert desk.store.finding_keys(MEMORY, "g") == tuple(keys[:2])
    assert desk.store.checkpoints(MEMORY, rec.id) == tuple(checkpoints)
    assert desk.store.watches(MEMORY) == tuple(watches)
    assert desk.store.change_context(MEMORY, rec, [grain.address, "f" * 64], NOW) == (keys[0], {grain.address: grain})
    assert list(desk.store.all_recommendations(MEMORY)) == [rec]


def test_audit_entries_come_by_subject_and_number_and_notes_by_number(desk: Desk) -> None:
    entries = [AuditEntry(subject, n, "{}", NOW) for subject in ("a", "ab", "b") for n in (1, 2, 10)]
    notes = [Note("a", n, "00", f"because {n}") for n in (2, 10)]
    desk.plant(*reversed(entries), *notes, Note("ab", 2, "00", "other"))
    assert list(desk.store.audit_entries(MEMORY)) == entries
    assert list(desk.store.audit_entries(MEMORY, "a")) == entries[:3]
    assert desk.store.notes(MEMORY, "a") == {note.n: note for note in notes}


def test_ids_resolve_by_prefix_and_are_counted(desk: Desk) -> None:
    recs = [make_rec(name) for name in ("abca", "abcb", "abd", "b")]
    desk.plant(*recs)
    assert desk.store.recommendations_by_prefix(MEMORY, "b", 2) == (recs[3],)
    assert desk.store.recommendations_by_prefix(MEMORY, "ab", 2) == tuple(recs[:2])
    assert [desk.store.count_recommendations(MEMORY, prefix) for prefix in ("a", "abc", "abca", "c")] == [3, 2, 1, 0]


# queue


def queue_of_all(store: DynamoStore, statuses: Sequence[Status], limit: int) -> list[str]:
    ids: list[str] = []
    cursor = None
    for _ in range(200):
        page = store.queue(MEMORY, statuses, limit=limit, cursor=cursor)
        assert len(page.rows) <= limit
        ids += [row["id"] for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            return ids
        assert len(page.rows) == limit
    raise AssertionError("the queue never ends")


def queued(desk: Desk) -> list[Recommendation]:
    """Nine recommendations of every severity and many statuses."""
    recs = [
        make_rec(
            f"{'abcdefghijklmnopqrstuvwx'[n]}{'qwertyuiopasdfghjklzxcvb'[n]}",
            severity=SEVERITIES[n * 7 % 4],
            status=STATUSES[n * 3 % 5],
            created_at=NOW - n * 11 % 5,
        )
        for n in range(9)
    ]
    desk.plant(*recs)
    return recs


def in_order(recs: Sequence[Recommendation]) -> list[str]:
    ordered = sorted(recs, key=lambda rec: (-SEVERITIES.index(rec.severity), rec.created_at, rec.id))
    return [rec.id for rec in ordered]


@pytest.mark.parametrize("limit", [2, 5, 9, 100])
def test_the_queue_goes_by_severity_then_age_then_id_across_all_statuses(desk: Desk, limit: int) -> None:
    recs = queued(desk)
    assert queue_of_all(desk.store, STATUSES[:5], limit) == in_order(recs)


def test_a_cursor_goes_on_where_it_was_though_rows_have_left_the_queue(desk: Desk) -> None:
    recs = [make_rec(name) for name in ("a", "b", "c", "d")]
    desk.plant(*recs)
    page = desk.store.queue(MEMORY, ["pending"], limit=2, cursor=None)
    decided = replace(recs[1], status="rejected", rev=2)
    desk.store.transact(MEMORY, [Replace(decided, expected=1)], NOW)
    following = desk.store.queue(MEMORY, ["pending"], limit=2, cursor=page.cursor)
    assert [row["id"] for row in following.rows] == [recs[2].id, recs[3].id]
    assert following.cursor is None


@pytest.mark.parametrize("cursor", ["", "!!!!", "abcd", "8J-YgA", "~", "x" * 500, "ICAg", "fn5-"])
def test_what_is_no_cursor_is_refused(desk: Desk, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        desk.store.queue(MEMORY, ["pending"], limit=2, cursor=cursor)
    assert caught.value.field == "cursor"


def test_the_queue_s_row_follows_the_recommendation(desk: Desk) -> None:
    rec = make_rec("a")
    desk.plant(rec)
    risen = replace(rec, severity="high", count=9, revision=2, rev=2)
    desk.store.transact(MEMORY, [Replace(risen, expected=1)], NOW)
    [row] = desk.store.queue(MEMORY, ["pending"], limit=2, cursor=None).rows
    assert (row["severity"], row["count"], row["revision"]) == ("high", 9, 2)


# wake index


@pytest.fixture
def wake(desk: Desk) -> DynamoWakeIndex:
    del desk
    return DynamoWakeIndex(TABLE, REGION)


def test_a_memory_wakes_when_its_slot_has_come_and_is_found_once(desk: Desk, wake: DynamoWakeIndex) -> None:
    store = desk.store
    store.create_memory(OTHER, MemoryRecord("other", NOW, "ann"), KEY)
    assert wake.due_memories(NOW + 10**9) == ()
    store.reserve(MEMORY, reservation(at=NOW))
    store.reserve(OTHER, reservation(at=NOW + 1))
    store.transact(MEMORY, [Replace(TimerHead(2, NOW + 500), expected=1)], NOW)
    assert wake.due_memories(NOW + 499) == ()
    assert wake.due_memories(NOW + 500) == (MEMORY,)
    assert set(wake.due_memories(NOW + 1001)) == {MEMORY, OTHER}
    assert len(wake.due_memories(NOW + 1001)) == 2


def test_a_memory_is_claimed_by_one_dispatcher_until_the_claim_runs_out(desk: Desk, wake: DynamoWakeIndex) -> None:
    desk.store.reserve(MEMORY, reservation())
    assert wake.claim(MEMORY, NOW, NOW + 100)
    assert not wake.claim(MEMORY, NOW + 99, NOW + 300)
    assert wake.claim(MEMORY, NOW + 100, NOW + 300)
    assert not wake.claim(OTHER, NOW, NOW + 100)
    assert desk.store.heads(OTHER) is None


def test_a_memory_sleeps_again_unless_more_was_reserved_meanwhile(desk: Desk, wake: DynamoWakeIndex) -> None:
    desk.store.reserve(MEMORY, reservation())
    desk.store.reserve(MEMORY, reservation())
    desk.store.clear_wake(MEMORY, 1)
    assert wake.due_memories(NOW + 1000) == (MEMORY,)
    desk.store.clear_wake(MEMORY, 2)
    assert wake.due_memories(NOW + 10**9) == ()
    desk.store.clear_wake(MEMORY, 2)
    head = desk.store.reserve(MEMORY, reservation(at=NOW + 5000))
    assert head is not None
    assert head.wake_at == NOW + 6000


def test_a_timer_without_an_instant_wakes_nobody(desk: Desk, wake: DynamoWakeIndex) -> None:
    desk.store.transact(MEMORY, [Replace(TimerHead(2, NOW), expected=1)], NOW)
    assert wake.due_memories(NOW) == (MEMORY,)
    desk.store.transact(MEMORY, [Replace(TimerHead(3, None), expected=2)], NOW)
    assert wake.due_memories(NOW + 10**9) == ()
