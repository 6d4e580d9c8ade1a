"""Rollups: the same counts in whatever order calls are folded, and whatever chunks they come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.domain.commit import Change, ChangeOp, count_new
from provenloop.domain.rollup import (
    MAX_SIGNATURES_A_DAY,
    NEWEST_KEPT,
    OVERFLOW,
    ROLLUP_KEPT_DAYS,
    AskDay,
    AskDayId,
    AssemblyDay,
    AssemblyDayId,
    ReadDays,
    ReadDaysId,
    Rollup,
    SignatureDay,
    Tally,
    ToolDay,
    ToolWindow,
    counted,
    id_of,
    rows_of,
)
from tests.builders import DAY_MS, NOW
from tests.examples import examples

MIDNIGHT = NOW - NOW % DAY_MS


def called(number: int, *, at: int = NOW, signature: str | None = None, tool: str = "t1", **more: str) -> Change:
    """One new call of a tool, failed when it has a signature."""
    return Change(
        op="add",
        kind="tool_call",
        address=f"{number:064x}",
        namespace="shared",
        tool_key=tool,
        signature=signature,
        is_error=signature is not None,
        occurred_at=at,
        **more,  # type: ignore[arg-type]
    )


def folded(changes: Iterable[Change], rows: Iterable[Rollup] = ()) -> dict[object, Rollup]:
    tally = Tally(rows)
    for change in changes:
        tally.add(change)
    return {id_of(row): row for row in tally.touched}


def test_calls_are_counted_by_tool_day_and_signature() -> None:
    rows = folded(
        [called(1), called(2, signature="s1"), called(3, signature="s1", at=NOW + 5), called(4, signature="s2")]
    )

    assert rows["t1", "20270115"] == ToolDay(
        "t1", "20270115", "shared", calls=4, errors=3, signatures=2, sample=f"{1:064x}"
    )
    newest = ((NOW + 5, f"{3:064x}"), (NOW, f"{2:064x}"))
    assert rows["t1", "20270115", "s1"] == SignatureDay("t1", "20270115", "s1", 2, NOW, NOW + 5, newest)
    assert len(rows) == 3


def test_a_call_belongs_to_the_utc_day_on_which_it_occurred() -> None:
    rows = folded([called(1, at=MIDNIGHT - 1), called(2, at=MIDNIGHT), called(3, at=MIDNIGHT + DAY_MS - 1)])
    assert {name: row.calls for name, row in rows.items() if isinstance(row, ToolDay)} == {
        ("t1", "20270114"): 1,
        ("t1", "20270115"): 2,
    }


def test_only_new_tool_calls_are_counted() -> None:
    call = called(1, signature="s1")
    others = [replace(call, op="restate"), replace(call, op="remove"), replace(call, kind="fact", tool_key=None)]
    assert folded(others) == {}
    assert not any(counted(change) for change in others)
    assert [rows_of(change) for change in others] == [(), (), ()]


def test_a_change_touches_no_row_that_it_does_not_announce() -> None:
    for change in (called(1), called(2, signature="s1")):
        assert set(folded([change])) <= set(rows_of(change))
    full = ToolDay("t1", "20270115", "shared", calls=600, errors=600, signatures=MAX_SIGNATURES_A_DAY)
    assert set(folded([called(3, signature="late")], [full])) <= set(rows_of(called(3, signature="late")))


def test_signatures_beyond_the_day_s_limit_are_counted_together_and_known_ones_still_on_their_own() -> None:
    many = [called(n, signature=f"s{n}") for n in range(MAX_SIGNATURES_A_DAY + 20)]
    rows = folded([*many, called(9000, signature="s7"), called(9001, signature="s510")])

    assert rows["t1", "20270115"].signatures == MAX_SIGNATURES_A_DAY  # type: ignore[union-attr]
    assert rows["t1", "20270115"].errors == len(many) + 2  # type: ignore[union-attr]
    assert rows["t1", "20270115", OVERFLOW].n == 21  # type: ignore[union-attr]
    assert rows["t1", "20270115", "s7"].n == 2  # type: ignore[union-attr]
    assert ("t1", "20270115", "s510") not in rows


def test_the_newest_few_are_kept_by_time_and_then_by_address() -> None:
    rows = folded([called(n, at=NOW + n // 2, signature="s1") for n in range(40)])
    kept = rows["t1", "20270115", "s1"].newest  # type: ignore[union-attr]
    assert kept == tuple((NOW + n // 2, f"{n:064x}") for n in (38, 39, 36, 37, 34, 35, 32, 33))
    assert len(kept) == NEWEST_KEPT


def used(op: ChangeOp, name: str = "a", *, at: int = NOW, is_miss: bool = False) -> Change:
    """A question asked, a grain read, or a context assembled."""
    kinds = {"ask": "question", "read": "fact", "assemble": "assembly"}
    return Change(op, kinds[op], "" if op == "assemble" else name, "shared", occurred_at=at, is_miss=is_miss)


def test_questions_are_counted_by_day_and_those_that_found_nothing_apart() -> None:
    rows = folded([used("ask"), used("ask", is_miss=True), used("ask", "b"), used("ask", at=NOW - DAY_MS)])

    assert rows[AskDayId("a", "20270115")] == AskDay("a", "20270115", "shared", asked=2, empty=1)
    assert rows[AskDayId("b", "20270115")] == AskDay("b", "20270115", "shared", asked=1, empty=0)
    assert rows[AskDayId("a", "20270114")] == AskDay("a", "20270114", "shared", asked=1, empty=0)


def test_assembled_contexts_are_counted_by_day_and_those_that_dropped_something_apart() -> None:
    rows = folded([used("assemble"), used("assemble", is_miss=True), used("assemble", at=NOW - DAY_MS)])

    assert rows[AssemblyDayId("20270115")] == AssemblyDay("20270115", assembled=2, overflowed=1)
    assert rows[AssemblyDayId("20270114")] == AssemblyDay("20270114", assembled=1, overflowed=0)


def test_reads_of_a_grain_are_counted_by_day_in_one_row() -> None:
    rows = folded([used("read"), used("read"), used("read", at=NOW - 2 * DAY_MS), used("read", "b")])

    row = ReadDays("a", {"20270113": 1, "20270115": 2})
    assert rows == {ReadDaysId("a"): row, ReadDaysId("b"): ReadDays("b", {"20270115": 1})}
    assert (row.since("20270114"), row.since("20270113")) == (2, 3)


def test_reads_of_over_400_days_ago_are_dropped_whichever_comes_first() -> None:
    edge = used("read", at=NOW - (ROLLUP_KEPT_DAYS - 1) * DAY_MS)
    older = used("read", at=NOW - ROLLUP_KEPT_DAYS * DAY_MS)
    for changes in ([older, edge, used("read")], [used("read"), older, edge], [edge, used("read"), older]):
        [row] = folded(changes).values()
        assert isinstance(row, ReadDays)
        assert len(row.days) == 2
        assert row.since("20270115") == 1


def test_telemetry_announces_exactly_the_rows_it_touches_and_counts_as_nothing_new() -> None:
    for change in (used("ask"), used("read"), used("assemble")):
        assert counted(change)
        assert set(folded([change])) == set(rows_of(change))
        assert count_new([change]) == (0, 0)


CALLS = st.lists(
    st.builds(
        called,
        st.integers(0, 10_000),
        at=st.integers(NOW - 3 * DAY_MS, NOW),
        signature=st.sampled_from([None, "s1", "s2", "s3"]),
        tool=st.sampled_from(["t1", "t2"]),
    )
    | st.builds(
        used,
        st.sampled_from(["ask", "read", "assemble"]),
        st.sampled_from(["a", "b"]),
        at=st.sampled_from([NOW, NOW - DAY_MS, NOW - 399 * DAY_MS, NOW - 400 * DAY_MS, NOW - 700 * DAY_MS]),
        is_miss=st.booleans(),
    ),
    max_size=40,
)


@given(CALLS.flatmap(lambda calls: st.tuples(st.just(calls), st.permutations(calls))))
def test_folding_commutes(orders: tuple[list[Change], list[Change]]) -> None:
    first, second = orders
    assert folded(first) == folded(second)


@given(CALLS, st.lists(st.integers(0, 40), max_size=4))
def test_folding_in_chunks_gives_what_folding_at_once_gives(calls: list[Change], cuts: list[int]) -> None:
    stored: dict[object, Rollup] = {}
    for chunk in _cut(calls, sorted(cuts)):
        stored |= folded(chunk, stored.values())
    assert stored == folded(calls)


def _cut(calls: Sequence[Change], cuts: Sequence[int]) -> list[Sequence[Change]]:
    places = [0, *cuts, len(calls)]
    return [calls[start:end] for start, end in pairwise(places)]


@given(st.integers(0, MAX_SIGNATURES_A_DAY + 2), st.booleans())
@settings(max_examples=examples(10))
def test_beyond_the_limit_the_totals_still_do_not_depend_on_the_order(start: int, is_reversed: bool) -> None:
    calls = [called(n, signature=f"s{n}") for n in range(MAX_SIGNATURES_A_DAY + 3)]
    turned = [*calls[start:], *calls[:start]]
    rows = folded(turned[::-1] if is_reversed else turned)
    assert rows["t1", "20270115"] == folded(calls)["t1", "20270115"]
    assert rows["t1", "20270115", OVERFLOW].n == 3  # type: ignore[union-attr]


def test_a_window_sums_its_days_and_groups_its_signatures() -> None:
    rows = folded([called(n, at=NOW - n % 3 * DAY_MS, signature="s1" if n % 2 else None) for n in range(12)])
    days = tuple(row for row in rows.values() if isinstance(row, ToolDay))
    window = ToolWindow("t1", days, tuple(row for row in rows.values() if isinstance(row, SignatureDay)))
    assert (window.calls, window.errors) == (12, 6)
    assert {name: sum(row.n for row in group) for name, group in window.by_signature().items()} == {"s1": 6}


def test_new_grains_are_what_was_added_or_came_back() -> None:
    ops: tuple[ChangeOp, ...] = get_args(ChangeOp)
    changes = {op: replace(called(n, signature="s1"), op=op) for n, op in enumerate(ops)}
    assert {op for op, change in changes.items() if count_new([change]) == (1, 1)} == {"add", "revive"}
    assert count_new(changes.values()) == (2, 2)
