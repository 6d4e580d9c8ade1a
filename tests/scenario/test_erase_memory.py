"""Erasing a whole memory: nothing that was ever sent is left, whoever was writing at the time and whatever crashed."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import (
    InvalidInputError,
    LoopError,
    MemoryErasedError,
    NotFoundError,
    ScopeDeniedError,
    TooLargeError,
    UnavailableError,
)
from provenloop.domain.grain import Grain
from provenloop.domain.job import ERASURE_CHAIN
from provenloop.domain.names import MemoryId
from provenloop.services import erase_memory, jobs, memories, recall
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.erase_memory import LATE_MS, begin_erasure
from provenloop.services.record_use import Telemetry
from provenloop.services.run_job import Occasion, run_job
from tests.builders import (
    Desk,
    make_calls,
    make_fact,
    make_free_event,
    make_goal,
    make_grain,
    make_observation,
    make_principal,
    make_skill,
)
from tests.faults import Crash, Fault, FaultLayer, Kind
from tests.scenario.test_forget_job import Sent
from tests.store_fixture import prepared

BECAUSE = "the heliotrope contract ended"
#: Every text that is ever sent; each stands in one place only.
TEXTS = (
    "amaranth", "bergamot", "celadon", "damask", "ecru", "fallow", "gamboge", "heliotrope", "isabelline", "jonquil",
    "kobicha", "lazuli", "mauveine", "nacarat",
)  # fmt: skip


def use(desk: Desk) -> None:
    """Everything that a memory can hold: all kinds, versions, questions, findings, decisions, an undo, settings."""
    desk.record(
        make_fact("amaranth", subject="bergamot", relation="celadon"),
        make_fact("damask", subject="bergamot", relation="celadon"),
        make_observation("ecru"),
        make_skill("fallow", proficiency=0.1),
        make_goal("gamboge"),
        make_free_event({"isabelline": "jonquil"}),
        *make_calls(5, 2, name="kobicha", tool="lazuli", error="no mauveine"),
        key="k1",
    )
    desk.record(make_skill("fallow", proficiency=0.2))
    query = recall.Wanted("shared", None, None, "where is nacarat?")
    recall.recall(desk.store, desk.call(), query, Telemetry("full"))
    desk.run()
    lesson = desk.finding("tool_failure")
    desk.approve_and_apply(lesson, "since mauveine", key="k2")
    desk.roll_back(lesson, "not mauveine", key="k3")
    configure(desk.store, desk.call(), ConfigChange(passes_enabled=True, analyzer="loop.cold_grains", enabled=False))


@pytest.fixture
def used(store: Any) -> Desk:
    return prepared(store, use)[0]


def begin(desk: Desk, sent: Sent, **how: Any) -> dict[str, Any]:
    return begin_erasure(desk.store, sent, desk.call(**how), BECAUSE)


def deliver(desk: Desk, sent: Sent) -> str:
    memory, job_id, delay_s = sent.messages[0]
    desk.now += delay_s * 1000
    call = desk.call()
    outcome = run_job(
        desk.store, sent, memory, job_id, Occasion(call.request_id, call.now, call.entropy, lambda: False)
    )
    del sent.messages[0]
    return outcome


def finish(desk: Desk, sent: Sent) -> dict[str, Any]:
    """Deliver messages until none is left; the job then."""
    job_id = sent.messages[0][1]
    for _ in range(20):
        if not sent.messages:
            break
        deliver(desk, sent)
    return jobs.show_job(desk.store, desk.call(), job_id)


def texts_left(desk: Desk) -> list[str]:
    stored = "\n".join(
        f"{name}={unpack(value) if name == 'doc' else value!r}"
        for item in desk.snapshot().values()
        for name, value in item.items()
    ).casefold()
    return [text for text in TEXTS if text in stored]


def partitions_left(desk: Desk) -> set[str]:
    return {pk.rpartition("#")[2] for pk, _ in desk.snapshot()}


def is_own(desk: Desk, pk: str) -> bool:
    """Whether a partition is the memory's, and not of the tenant itself."""
    return pk.startswith(f"{keys.memory_prefix(desk.memory)}#")


def test_the_texts_are_all_there_before(used: Desk) -> None:
    assert set(TEXTS) - set(texts_left(used)) == {"heliotrope"}


def test_no_text_that_was_ever_sent_is_left_in_the_table(used: Desk) -> None:
    sent = Sent()
    answer = begin(used, sent)
    assert (answer["kind"], answer["status"]) == ("erase", "running")
    done = finish(used, sent)
    assert texts_left(used) == []
    assert partitions_left(used) == {"REG", "AUDIT", "LOOP"}
    assert [sk for pk, sk in used.snapshot() if pk.endswith("#LOOP") and is_own(used, pk)] == [
        keys.chain_end(ERASURE_CHAIN),
        keys.job(done["job"]),
    ]
    assert done["status"] == "done"
    assert done["counts"]["grain"] > 10
    assert set(done["counts"]) >= {"grain", "index", "log", "loop", "note", "replay", "head"}


def test_the_trail_stays_and_ends_in_the_erasure(used: Desk) -> None:
    before = [entry.id for entry in used.store.audit_entries(used.memory)]
    sent = Sent()
    job = begin(used, sent)["job"]
    finish(used, sent)
    after = list(used.store.audit_entries(used.memory))
    assert {entry.id for entry in after} > set(before)
    [last] = [entry for entry in after if entry.id not in before]
    assert (last.subject, last.n) == (ERASURE_CHAIN, 1)
    assert job in last.text


def test_from_the_request_on_the_memory_is_unknown_to_everybody(used: Desk) -> None:
    begin(used, Sent())
    with pytest.raises(NotFoundError):
        used.record(make_fact("Berlin"))
    with pytest.raises(NotFoundError):
        used.run()
    with pytest.raises(NotFoundError):
        used.queue("snoozed")
    assert memories.list_memories(used.store, used.principal) == ()


def test_the_key_is_gone_with_the_request(used: Desk) -> None:
    heads = used.store.heads(used.memory)
    assert heads is not None
    begin(used, Sent())
    assert heads.log.key not in [value for item in used.snapshot().values() for value in item.values()]


def test_the_name_is_never_given_again(used: Desk) -> None:
    sent = Sent()
    begin(used, sent)
    for _ in range(2):
        with pytest.raises(MemoryErasedError) as caught:
            memories.create_memory(used.store, used.call())
        assert caught.value.field == "memory"
        finish(used, sent) if sent.messages else None


def test_asked_for_again_it_is_the_same_job(used: Desk) -> None:
    sent = Sent()
    first = begin(used, sent)
    assert begin(used, sent)["job"] == first["job"]
    assert [job for _, job, _ in sent.messages] == [first["job"]] * 2
    done = finish(used, sent)
    assert begin(used, sent) == done
    assert sent.messages == []


def test_what_somebody_was_still_writing_is_found_at_the_last_look(used: Desk) -> None:
    sent = Sent()
    job = begin(used, sent)["job"]
    assert deliver(used, sent) == "sent on"
    assert sent.messages == [(used.memory, job, LATE_MS // 1000)]
    late: Grain = make_grain("amaranth")
    used.plant(late)
    assert texts_left(used) == ["amaranth"]
    used.now += 60_000
    early = used.call()
    run_job(used.store, sent, used.memory, job, Occasion("early", early.now, early.entropy, lambda: False))
    assert texts_left(used) == ["amaranth"]
    assert sent.messages[-1][2] < LATE_MS // 1000
    assert finish(used, sent)["status"] == "done"
    assert texts_left(used) == []


def test_other_memories_are_left_alone(used: Desk) -> None:
    other = Desk(used.store, now=used.now, memory=MemoryId("acme", "demo2")).open()
    other.record(make_fact("amaranth"))
    before = {key: item for key, item in other.snapshot().items() if "#M#demo2#" in key[0]}
    sent = Sent()
    begin(used, sent)
    finish(used, sent)
    assert {key: item for key, item in other.snapshot().items() if "#M#demo2#" in key[0]} == before
    assert [record.name for record in memories.list_memories(used.store, used.principal)] == ["demo2"]


def test_items_too_large_for_one_transaction_go_in_several(used: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, sizes = DynamoStore.erase_items, []

    def tight(store: DynamoStore, memory: MemoryId, item_class: Any, items: Any, *more: Any) -> None:
        sizes.append(len(items))
        if len(items) > 2:
            raise TooLargeError("the change is over a limit of the store")
        whole(store, memory, item_class, items, *more)

    monkeypatch.setattr(DynamoStore, "erase_items", tight)
    sent = Sent()
    begin(used, sent)
    assert finish(used, sent)["status"] == "done"
    assert max(sizes) > 4
    assert texts_left(used) == []


@pytest.mark.parametrize("nth", range(1, 7))
@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY])
def test_a_crash_at_any_write_loses_and_counts_nothing_twice(
    used: Desk, monkeypatch: pytest.MonkeyPatch, kind: Kind, nth: int
) -> None:
    monkeypatch.setattr(erase_memory, "AT_ONCE", 25)
    there = {pk.rpartition("#")[2].lower() for pk, _ in used.snapshot()} - {"audit", "reg"}
    sent = Sent()
    begin(used, sent)
    held = [key for key in used.snapshot() if is_own(used, key[0]) and key[0].rpartition("#")[2].lower() in there]
    with FaultLayer(used.client) as layer, layer.faults(Fault(kind, nth, operation="TransactWriteItems")):
        try:
            deliver(used, sent)
        except (Crash, LoopError):
            layer.restart()
    done = finish(used, sent)
    assert done["status"] == "done"
    assert sum(done["counts"].values()) == len(held) - 2
    assert texts_left(used) == []


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER])
def test_a_crash_while_it_is_closed_closes_it_or_leaves_it_whole(used: Desk, kind: Kind) -> None:
    sent = Sent()
    before = used.snapshot()
    with FaultLayer(used.client) as layer:
        layer.survives(lambda: begin(used, sent), Fault(kind, 1, operation="TransactWriteItems"))
    is_closed = used.store.heads(used.memory) is None
    assert is_closed == (kind is Kind.CRASH_AFTER)
    assert is_closed or used.snapshot() == before
    job = begin(used, sent)["job"]
    sent.messages = [message for message in sent.messages if message[1] == job]
    assert finish(used, sent)["status"] == "done"


class Down:
    """A queue that takes nothing."""

    def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
        raise UnavailableError(f"{memory.name} {job_id} {delay_s}")


def test_a_queue_that_is_down_leaves_the_memory_as_it_was(used: Desk) -> None:
    before = used.snapshot()
    with pytest.raises(UnavailableError):
        begin_erasure(used.store, Down(), used.call(), BECAUSE)
    assert used.snapshot() == before


@pytest.mark.parametrize("scopes", [("read",), ("write",), ("review", "apply")])
def test_only_an_admin_erases(used: Desk, scopes: Any) -> None:
    before = used.snapshot()
    with pytest.raises(ScopeDeniedError):
        begin(used, Sent(), by=make_principal("bob", *scopes))
    with pytest.raises(ScopeDeniedError):
        begin(used, Sent(), by=make_principal("bob", memories="team-*"))
    with pytest.raises(InvalidInputError):
        begin_erasure(used.store, Sent(), used.call(), " ")
    assert used.snapshot() == before


def test_a_memory_that_never_was_is_not_found(store: Any) -> None:
    desk = Desk(store)
    with pytest.raises(NotFoundError):
        begin(desk, Sent())
