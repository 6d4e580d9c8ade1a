"""What recall leaves behind: questions, reads and misses, counted once, and never at the expense of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.rows import number_of
from provenloop.domain.errors import NotFoundError
from provenloop.domain.grain import Grain
from provenloop.domain.principal import Principal
from provenloop.services import grain_read
from provenloop.services.recall import Wanted, recall
from provenloop.services.record_use import Telemetry
from tests.builders import (
    DAY_MS,
    MEMORY,
    NOW,
    Desk,
    addresses,
    make_fact,
    make_observation,
    make_principal,
    make_tool_call,
)
from tests.faults import Crash, Fault, FaultLayer, Kind

COUNTED = Telemetry("aggregate")
AGENT = make_principal("bot", "read", kind="agent")
KINDS = (Kind.LOST_REPLY, Kind.LOST_REQUEST, Kind.RESENT, Kind.THROTTLE, Kind.CONFLICT)


def ask(desk: Desk, question: str | None = None, telemetry: Telemetry = COUNTED, **wanted: Any) -> dict[str, Any]:
    query = Wanted(**{"namespace": "shared", "question": question, **wanted})
    return recall(desk.store, desk.call(), query, telemetry)


def look(desk: Desk, *told: str, subject: str, by: Principal) -> None:
    """Somebody reads grains by address, and all about a subject."""
    for address in told:
        grain_read.show_grain(desk.store, replace(desk.call(), principal=by), address, COUNTED)
    grain_read.show_entity(desk.store, replace(desk.call(), principal=by), "shared", subject, COUNTED)


def questions(desk: Desk) -> dict[str, Grain]:
    """Grains of questions by what was asked."""
    return {
        str(grain.body.get("text") or dict(sorted(grain.body.items()))): grain
        for grain in desk.grains().values()
        if grain.kind == "question"
    }


def asked(desk: Desk, run: bool = True) -> dict[str, tuple[int, int]]:
    """(asked, empty) by question, after a pass."""
    if run:
        desk.run()
    texts = {grain.address: text for text, grain in questions(desk).items()}
    rows = desk.store.all_asks(MEMORY)
    return {texts[row.question]: (row.asked, row.empty) for row in rows}


def reads(desk: Desk) -> Mapping[str, int]:
    """Reads by address, after a pass."""
    desk.run()
    return {row.address: sum(row.days.values()) for row in desk.store.all_reads(MEMORY)}


def test_wordings_of_a_question_are_one_and_what_found_nothing_is_counted_apart(desk: Desk) -> None:
    for wording in ("refund policy for islands", "What is the REFUND policy for islands?"):
        assert ask(desk, wording)["results"] == []
    desk.record(make_fact("refund policy for islands is ten days", subject="shop", relation="rule"))
    assert len(ask(desk, "refund-policy, islands")["results"]) == 1
    ask(desk, "islands refund policy")
    ask(desk, "refund policy")
    assert asked(desk) == {"refund policy for islands": (4, 2), "refund policy": (1, 0)}


def test_the_same_words_about_two_subjects_are_two_questions(desk: Desk) -> None:
    for subject in ("ann", "bob", "Ann"):
        ask(desk, "refund policy", subject=subject)
    desk.run()
    assert sorted(row.asked for row in desk.store.all_asks(MEMORY)) == [1, 2]


def test_every_way_of_reading_counts_the_grains_it_returned(desk: Desk) -> None:
    told = addresses(desk.record(make_fact("Berlin"), make_observation("lighthouse"), make_tool_call("c1")))
    ask(desk, subject="sam")
    ask(desk, relation="lives_in")
    ask(desk, "lighthouse")
    look(desk, *told, subject="SAM", by=AGENT)
    assert reads(desk) == {told[0]: 4, told[1]: 2}
    assert asked(desk) == {"lighthouse": (1, 0)}


def test_a_person_who_looks_uses_nothing_and_one_who_recalls_does(desk: Desk) -> None:
    [told] = addresses(desk.record(make_fact("Berlin")))
    look(desk, told, subject="sam", by=make_principal())
    look(desk, subject="nobody", by=make_principal())
    assert desk.store.log_entries(MEMORY, 1, 99) == ()
    ask(desk, subject="sam")
    assert (reads(desk), asked(desk)) == ({told: 1}, {})


def test_a_look_up_that_finds_nothing_is_a_question_and_one_that_finds_something_is_none(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    ask(desk, subject="Nobody", relation="planOf")
    ask(desk, subject="nobody ", relation="plan_of")
    look(desk, subject="nobody", by=AGENT)
    ask(desk, subject="sam")
    assert asked(desk) == {
        "{'relation': 'planOf', 'subject': 'Nobody'}": (2, 2), "{'subject': 'nobody'}": (1, 1)
    }  # fmt: skip


def test_telemetry_is_no_memory_and_opens_no_gate(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    desk.run()
    for _ in range(5):
        ask(desk, "parrots")
        ask(desk, subject="sam")
    entries = desk.store.log_entries(MEMORY, 1, 99)
    assert {(entry.by, entry.grains, entry.errors) for entry in entries} == {("telemetry", 0, 0)}
    outcome = desk.run(min_new=1)
    assert (outcome["outcome"], outcome["new_grains"]) == ("skipped", 0)
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert heads.log.namespaces == {"shared"}
    assert desk.run()["new_grains"] == 0


def test_a_secret_in_a_question_is_not_kept(desk: Desk) -> None:
    ask(desk, "what is password=hunter2hunter2 for?")
    assert "hunter2" not in str(table_text(desk))


def table_text(desk: Desk) -> list[Any]:
    return [(grain.body, grain.address) for grain in desk.grains().values()]


def test_days_are_told_apart_and_the_window_sees_both_ends(desk: Desk) -> None:
    for day in range(3):
        desk.now = NOW + day * DAY_MS
        ask(desk, "parrots")
    desk.run()
    [grain] = questions(desk).values()
    window = desk.store.ask_window(MEMORY, grain.address, "20270116", "20270117")
    assert [(row.day, row.asked, row.empty) for row in window] == [("20270116", 1, 1), ("20270117", 1, 1)]
    assert desk.store.questions(MEMORY) == (grain.address,)


def test_off_leaves_nothing_and_full_leaves_a_row_with_its_run(desk: Desk) -> None:
    [berlin] = addresses(desk.record(make_fact("Berlin")))
    before = desk.snapshot()
    ask(desk, "parrots", Telemetry("off"))
    ask(desk, None, Telemetry("off"), subject="sam")
    assert desk.snapshot() == before
    ask(desk, None, Telemetry("full"), subject="sam", run_id="run-7")
    ask(desk, "parrots", Telemetry("full"))
    hit, miss = desk.store.recall_rows(MEMORY)
    assert (hit.returned, hit.is_miss, hit.run_id, hit.question) == ((berlin,), False, "run-7", None)
    assert (miss.returned, miss.is_miss, miss.run_id) == ((), True, None)
    assert miss.question == questions(desk)["parrots"].address
    desk.run()
    assert not [row.sk for row in table.query(keys.partition(MEMORY, "INDEX")) if "run-7" in row.sk]


def test_a_forgotten_question_stays_forgotten_and_is_counted_no_more(desk: Desk) -> None:
    ask(desk, "parrots of ann")
    [grain] = questions(desk).values()
    gone = Grain(grain.address, "question", "shared", {}, NOW, NOW, 1, "ann", state="forgotten", head_rev=2)
    desk.plant(gone)
    ask(desk, "parrots of ann")
    desk.run()
    assert [(row.asked, row.empty) for row in desk.store.all_asks(MEMORY)] == [(1, 1)]
    assert desk.grains()[grain.address].body == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nth", range(1, 5))
def test_no_fault_of_telemetry_changes_an_answer_or_counts_twice(desk: Desk, kind: Kind, nth: int) -> None:
    desk.record(make_observation("lighthouse keeper"))
    desk.run()
    expected = ask(desk, "lighthouse", Telemetry("off"))
    with desk.counted() as calls:
        ask(desk, "lighthouse", Telemetry("off"))
    first_of_telemetry = len(calls) + nth
    lost: list[int] = []
    layer = FaultLayer(desk.client)
    layer.arm(Fault(kind, first_of_telemetry))
    try:
        answer = ask(desk, "lighthouse", Telemetry("aggregate", lambda: lost.append(1)))
    finally:
        layer.remove()
    assert answer == expected
    desk.run()
    desk.now += 20 * 60_000
    [n] = [row.asked for row in _after_a_pass(desk)] or [0]
    assert n == 1 or (n == 0 and lost)
    assert sum(n for row in desk.store.all_reads(MEMORY) for n in row.days.values()) == n


def _after_a_pass(desk: Desk) -> list[Any]:
    desk.run()
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert not heads.folds.holes
    return list(desk.store.all_asks(MEMORY))


def test_a_crash_in_the_middle_of_telemetry_counts_once_or_not_at_all(desk: Desk) -> None:
    for nth in range(1, 9):
        layer = FaultLayer(desk.client)
        layer.arm(Fault(Kind.CRASH_AFTER, nth))
        try:
            ask(desk, f"lighthouse {nth}")
        except Crash:
            pass
        finally:
            layer.remove()
    desk.run()
    desk.now += 20 * 60_000
    assert {row.asked for row in _after_a_pass(desk)} == {1}


def test_a_busy_table_is_tried_once(desk: Desk) -> None:
    lost: list[int] = []
    layer = FaultLayer(desk.client)
    layer.arm(*(Fault(Kind.CONFLICT, nth, "TransactWriteItems") for nth in range(1, 9)))
    try:
        ask(desk, "parrots", Telemetry("aggregate", lambda: lost.append(1)))
    finally:
        layer.remove()
    assert lost == [1]
    # The second one gives the number back, so that no pass has to look for it.
    assert [call.operation for call in layer.calls].count("TransactWriteItems") == 2


def test_entries_of_use_go_with_the_counts_and_those_of_grains_stay(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    ask(desk, "parrots")
    kept, gone = (number_of(row.ttl) for row in table.query(keys.partition(MEMORY, "LOG")))
    assert kept is None
    assert gone is not None
    assert NOW // 1000 + 400 * 86_400 < gone <= NOW // 1000 + 402 * 86_400


def test_an_unknown_address_is_no_question(desk: Desk) -> None:
    with pytest.raises(NotFoundError):
        grain_read.show_grain(desk.store, desk.call(), "a" * 64, COUNTED)
    assert desk.store.log_entries(MEMORY, 0, 9) == ()


def test_passes_fold_telemetry_once_however_often_they_run(desk: Desk) -> None:
    desk.record(make_fact("Berlin"))
    ask(desk, subject="sam")
    ask(desk, "parrots")
    for _ in range(3):
        desk.run()
    desk.run(full_sweep=True)
    assert asked(desk, run=False) == {"parrots": (1, 1)}
    assert list(reads(desk).values()) == [1]
