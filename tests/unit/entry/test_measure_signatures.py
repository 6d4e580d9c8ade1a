"""The figures that say how well signatures group."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from provenloop.entry.measure_signatures import Line, main, score

LINES = [
    Line("order 7 lost", "order <*> lost"),
    Line("order 8 lost", "order <*> lost"),
    Line("disk full", "disk full"),
    Line("alice is away", "<*> is away"),
    Line("bob is away", "<*> is away"),
]


def test_a_split_group_costs_accuracy_and_recall_but_no_precision() -> None:
    found = score(LINES, clock=iter([0.0, 0.001]).__next__)
    assert (found.groups, found.clusters) == (3, 4)
    assert (found.accuracy, found.precision, found.recall) == (0.6, 1.0, 0.5)
    assert found.us_a_line == pytest.approx(200)


def test_merged_groups_cost_accuracy_and_precision() -> None:
    found = score([Line("order 7 lost", "a"), Line("order 8 lost", "b")])
    assert (found.accuracy, found.precision, found.recall) == (0.0, 0.0, 1.0)


def test_the_table_has_a_row_for_each_set_and_the_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("One", "Two"):
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("message", "group"))
            rows.writerows((line.message, line.group) for line in LINES)
    assert main([str(tmp_path)]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in table] == ["set", "One", "Two", "mean"]
    assert table[1][1:6] == ["3", "4", "0.600", "1.0000", "0.500"]
    assert table[3][1:4] == ["0.600", "1.0000", "0.500"]


@pytest.mark.parametrize("arguments", [[], ["no-such-folder"], ["a", "b"]])
def test_nothing_to_measure_is_told_by_the_exit_code(arguments: list[str]) -> None:
    assert main(arguments) == 2
