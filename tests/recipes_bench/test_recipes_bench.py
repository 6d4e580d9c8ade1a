"""The bench: its figures are those of the code, its tables those of the page, and its bars hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provenloop.recipes.decide import Candidate, decide
from tests.recipes_bench import figures
from tests.recipes_bench.__main__ import main
from tests.recipes_bench.data_sets import DATA, Pairs, Questions, pairs_of
from tests.recipes_bench.measures import BAND, at_threshold, decided, judge

README = Path(__file__).parents[2] / "README.md"
PAGE = Path(__file__).parents[2] / "shared/RECIPES.md"


def test_the_page_shows_the_figures_that_were_measured() -> None:
    found = figures.committed()
    text = PAGE.read_text(encoding="utf-8")
    for table in (figures.set_table(found), figures.offered_table(found), figures.pair_table(found)):
        assert table in text
    assert figures.set_table(found) in README.read_text(encoding="utf-8")


def test_the_figures_are_those_of_the_code_as_it_is() -> None:
    found = figures.committed()
    assert found["band"] == {"threshold": BAND.threshold, "floor": BAND.floor, "margin": BAND.margin}
    assert json.loads(json.dumps(figures.sampled())) == found["sampled"]
    for name in figures.PAIR_FILES:
        assert json.loads(json.dumps(figures.of_pairs(name))) == found["pairs"][name]


def test_no_look_alike_is_served_and_half_of_the_paraphrases_are_offered() -> None:
    for found in figures.committed()["pairs"].values():
        assert [row for row in found["look_alikes"] if row["served"]] == []
        same = found["same"]
        assert same["served"] + same["composer"] >= same["pairs"] / 2


def test_what_is_served_is_right_and_the_right_recipe_is_offered() -> None:
    sets = figures.committed()["sets"]
    for name in ("999 paraphrases", "banking77"):
        [row] = [row for row in sets[name]["rows"] if row["threshold"] == BAND.threshold]
        assert row["right"] >= 0.98 * row["served"] > 0
    band = sets["999 paraphrases"]["offered"]
    assert band["first_right"] >= 900
    assert band["first_wrong"] <= 50


def test_the_bench_decides_as_the_ladder_does() -> None:
    questions = Questions([("where is my order", "a"), ("cancel my order", "b")], [("where's my order now?", "a")])
    [judged] = judge(questions)
    row = at_threshold([judged], BAND.threshold)
    near = [
        Candidate(str(place), text, answer, similarity)
        for place, ((text, answer), (similarity, _, _)) in enumerate(
            zip(questions.stored, judged.candidates, strict=False)
        )
    ]
    assert decide(questions.asked[0][0], near, BAND).outcome == ("served" if row.served else "composer")
    assert decided("where is my order", "WHERE is my order?") == "served"


def test_pairs_of_a_file_are_summed_up_in_the_last_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps({
        "positive": [["where is my order", "can you tell me where my order is"], ["turn off 2FA", "gardening tips"]],
        "negative": {"number": [["buy 10 shares", "buy 12 shares"]]},
    }))  # fmt: skip
    assert main([str(file)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "0 look-alikes served, 1 of 2 paraphrases offered (served or composer)"


def test_a_look_alike_that_is_served_is_told_by_the_status(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps({"negative": {"case": [["Reset it!", "reset it"]]}}))
    assert main([str(file)]) == 1


@pytest.mark.parametrize("content", ["{", "7", '{"negative": 7}', '{"positive": [["one"]]}'])
def test_a_file_of_no_pairs_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "pairs.json"
    file.write_text(content)
    assert main([str(file)]) == 2
    assert main([str(tmp_path / "missing.json")]) == 2


def test_a_list_of_paraphrases_is_read_as_well() -> None:
    found = pairs_of(DATA / "paraphrase-999.json")
    assert (len(found.same), found.look_alikes) == (999, {})
    assert isinstance(found, Pairs)
