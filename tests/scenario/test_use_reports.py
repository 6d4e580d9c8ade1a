"""Reports of an agent's own retriever: counted with the batch they came in, exactly as it is stored."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from provenloop.domain.errors import IdempotencyMismatchError, TooLargeError, UnavailableError
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.use_events import AssemblyReport, RecallReport, Report
from provenloop.services import ingest, recall
from provenloop.services.record_use import Telemetry
from tests.builders import MEMORY, Desk, addresses, make_fact, make_observation
from tests.faults import Fault, FaultLayer, Kind

MISS = RecallReport("shared", "opening hours on Sunday")


def report(desk: Desk, *reports: Any, mode: TelemetryMode = "aggregate", **how: Any) -> list[dict[str, Any]]:
    answer = ingest.record_events(desk.store, desk.call(**how), reports, mode)
    return [dict(event) for event in answer["events"]]


def counts(desk: Desk) -> tuple[list[tuple[int, int]], dict[str, int], tuple[int, int]]:
    """(asked, empty) of each question, reads by address, and (assembled, overflowed), after a pass."""
    desk.run()
    asks = [(row.asked, row.empty) for row in desk.store.all_asks(MEMORY)]
    reads = {row.address: sum(row.days.values()) for row in desk.store.all_reads(MEMORY)}
    days = desk.store.assembly_window(MEMORY, "20270101", "20271231")
    return asks, reads, (sum(day.assembled for day in days), sum(day.overflowed for day in days))


def test_reports_are_counted_in_the_commit_of_their_batch(desk: Desk) -> None:
    [berlin, note] = addresses(desk.record(make_fact("Berlin"), make_observation()))
    answers = report(
        desk,
        RecallReport("shared", "where does sam live", returned=(berlin, note, berlin)),
        MISS,
        make_observation("later"),
        RecallReport("shared", subject="sam", returned=(berlin,)),
        RecallReport("shared", subject="nobody"),
        AssemblyReport("shared", 4000, 3900, 0),
        AssemblyReport("shared", 10, 10, 3, "grains"),
    )
    assert [(answer["index"], answer["kind"], answer["status"]) for answer in answers] == [
        (0, "recall_report", "counted"), (1, "recall_report", "counted"), (2, "observation", "stored"),
        (3, "recall_report", "counted"), (4, "recall_report", "counted"), (5, "assembly_report", "counted"),
        (6, "assembly_report", "counted"),
    ]  # fmt: skip
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert (heads.log.seq, heads.log.grains) == (2, 3)
    assert desk.run(min_new=3)["new_grains"] == 3
    asks, reads, assemblies = counts(desk)
    assert sorted(asks) == [(1, 0), (1, 1), (1, 1)]
    assert reads == {berlin: 2, note: 1}
    assert assemblies == (2, 1)


def test_recall_and_reports_count_one_question(desk: Desk) -> None:
    report(desk, MISS, RecallReport("shared", "What are the opening hours on SUNDAY?"))
    report(desk, MISS)
    recall.recall(desk.store, desk.call(), recall.Wanted("shared", question="opening hours, Sunday"), Telemetry())
    assert counts(desk)[0] == [(4, 4)]


def test_what_the_namespace_does_not_hold_is_told_and_not_counted(desk: Desk) -> None:
    [mine] = addresses(desk.record(make_fact("Berlin")))
    [other] = addresses(desk.record(make_fact("Berlin", namespace="other")))
    [answer] = report(desk, RecallReport("shared", "sam", returned=(mine, other, "a" * 64)))
    assert answer["unknown"] == 2
    asks, reads, _ = counts(desk)
    assert (asks, reads) == ([(1, 0)], {mine: 1})


def test_a_request_sent_again_counts_once(desk: Desk) -> None:
    [mine] = addresses(desk.record(make_fact("Berlin")))
    batch = (MISS, RecallReport("shared", subject="sam", returned=(mine,)), AssemblyReport("shared", 9, 9, 1))
    for _ in range(3):
        report(desk, *batch, key="k1", body="b")
    assert [answer["status"] for answer in report(desk, *batch, key="k1", body="b")] == ["duplicate"] * 3
    assert counts(desk) == ([(1, 1)], {mine: 1}, (1, 1))
    with pytest.raises(IdempotencyMismatchError):
        report(desk, MISS, key="k1", body="c")
    report(desk, *batch, key="k2", body="b")
    assert counts(desk) == ([(2, 2)], {mine: 2}, (2, 2))


@pytest.mark.parametrize("kind", [Kind.CRASH_AFTER, Kind.LOST_REPLY, Kind.LOST_REQUEST, Kind.RESENT, Kind.CONFLICT])
@pytest.mark.parametrize("nth", range(1, 4))
def test_a_fault_at_any_call_loses_and_doubles_nothing(desk: Desk, kind: Kind, nth: int) -> None:
    [mine] = addresses(desk.record(make_fact("Berlin")))
    batch = (MISS, RecallReport("shared", subject="sam", returned=(mine,)), AssemblyReport("shared", 9, 9, 1))
    layer = FaultLayer(desk.client)
    try:
        layer.survives(lambda: _quietly(desk, batch), Fault(kind, nth))
    finally:
        layer.remove()
    report(desk, *batch, key="k1", body="b")
    assert counts(desk) == ([(1, 1)], {mine: 1}, (1, 1))


def _quietly(desk: Desk, batch: tuple[Report, ...]) -> None:
    with suppress(UnavailableError):
        report(desk, *batch, key="k1", body="b")


def test_a_refused_batch_counts_nothing(desk: Desk) -> None:
    returned = [tuple(f"{n}{m:02d}".rjust(64, "a") for m in range(100)) for n in range(6)]
    before = desk.snapshot()
    with pytest.raises(TooLargeError):
        report(desk, *(RecallReport("shared", "sam", returned=each) for each in returned))
    assert desk.snapshot() == before


def test_off_ignores_reports_and_keeps_the_rest_of_the_batch(desk: Desk) -> None:
    before = desk.snapshot()
    assert [answer["status"] for answer in report(desk, MISS, mode="off")] == ["ignored"]
    assert desk.snapshot() == before
    assert [answer["status"] for answer in report(desk, MISS, make_observation(), mode="off")] == ["ignored", "stored"]
    assert counts(desk) == ([], {}, (0, 0))


def test_full_keeps_a_row_for_each_recall_with_its_run(desk: Desk) -> None:
    [mine] = addresses(desk.record(make_fact("Berlin")))
    report(
        desk, MISS, RecallReport("shared", subject="sam", returned=(mine,), run_id="r7"), mode="full", key="k", body="b"
    )
    rows = list(desk.store.recall_rows(MEMORY))
    assert [(row.is_miss, row.returned, row.run_id) for row in rows] == [(True, (), None), (False, (mine,), "r7")]
    report(desk, MISS, mode="full", key="k", body="b")
    assert list(desk.store.recall_rows(MEMORY)) == rows


def test_a_report_makes_its_namespace_as_every_event_does(desk: Desk) -> None:
    report(desk, RecallReport("port", "late ferries"))
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert heads.log.namespaces == {"port"}
