"""The figures that say how well the guards tell look-alikes from paraphrases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provenloop.entry.measure_look_alikes import main, score

SAME = ("restart the worker", "Restart the worker.")
LEAK = ("water the ferns of the west wing", "water the palms of the west wing")


def _file(folder: Path, content: object) -> str:
    path = folder / "pairs.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_a_pair_is_vetoed_leaks_or_is_merged() -> None:
    found = score([("keep 5 backups", "keep 6 backups"), LEAK, SAME])
    assert (found.pairs, found.vetoed, found.merged, found.reasons) == (3, 1, 1, {"number": 1})


def test_the_tables_count_each_kind_and_the_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {
        "positive": [SAME, ("keep it", "never keep it")],
        "negative": {"number": [("keep 5", "keep 6")], "plant": [LEAK]},
    }
    assert main([_file(tmp_path, pairs)], clock=iter([0.0, 0.004]).__next__) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert rows[1:4] == [["number", "1", "0", "0"], ["plant", "1", "0", "1"], ["all", "2", "0", "1"]]
    assert rows[5] == ["positive", "2", "1", "negation", "1"]
    assert rows[6] == ["1000", "us", "a", "pair"]


def test_a_merged_look_alike_is_told_by_the_exit_code(tmp_path: Path) -> None:
    assert main([_file(tmp_path, {"negative": {"plant": [SAME]}})]) == 1


@pytest.mark.parametrize("content", [[], {}, {"negative": []}, {"negative": {"a": [1]}}, {"negative": {"a": [["x"]]}}])
def test_a_file_of_another_form_is_refused(content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([_file(tmp_path, content)]) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["no-such-file.json"], ["a", "b"]])
def test_nothing_to_measure_is_told_by_the_exit_code(arguments: list[str]) -> None:
    assert main(arguments) == 2
