"""The corpus is whole, a sample of it is judged right, and the table in README.md says what a whole run finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.analyzers import ANALYZERS as BUILTIN
from provenloop.domain.recommendation import family_of
from tests.precision import __main__ as command
from tests.precision.bench.cases import CORPUS, Case, CorpusError, analyzers, read_cases
from tests.precision.bench.report import README, rows_of, wrong
from tests.precision.bench.run import judge, served
from tests.precision.bench.score import MIN_PRECISION, MIN_RECALL, score
from tests.precision.bench.times import NOW, instant

LEAST_OF_EACH = 40
#: One case of so many is judged here; ``make precision`` judges all.
SAMPLED = 20

#: So many of a sample may be wrong where README.md does not claim that nothing is.
FEW = 2
SPOTLESS = "| 1.000 | 1.000 |"

ANALYZERS = analyzers()
ROWS = {row.split(" | ")[0].removeprefix("| "): row for row in rows_of(README.read_text(encoding="utf-8"))}
TWO_FAILURES = {"call": "refund", "error": "card declined", "times": 2, "as": "a"}
THREE_FAILURES = {**TWO_FAILURES, "times": 3}


def write(folder: Path, *lines: dict[str, object], analyzer: str = "tool_failure") -> Path:
    whole = [{"name": f"case {number}", "class": "plain", **line} for number, line in enumerate(lines)]
    (folder / f"{analyzer}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in whole), encoding="utf-8")
    return folder


def case(*events: dict[str, object], expected: tuple[str, ...] = (), analyzer: str = "tool_failure") -> Case:
    return Case(analyzer, "a case", "plain", events, frozenset(expected))


def test_every_analyzer_has_cases() -> None:
    assert set(ANALYZERS) == {family_of(one.manifest.id).removeprefix("loop.") for one in BUILTIN}


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_there_are_enough_cases_of_either_kind(analyzer: str) -> None:
    cases = read_cases(analyzer)
    positives = sum(one.is_positive for one in cases)
    assert min(positives, len(cases) - positives) >= LEAST_OF_EACH


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_a_sample_of_the_cases_is_judged_right(store: DynamoStore, analyzer: str) -> None:
    assert analyzer in served()
    verdicts = [judge(one, store) for one in read_cases(analyzer)[::SAMPLED]]
    said = [text for verdict in verdicts for text in wrong(verdict)]
    assert len(said) <= (0 if ROWS[analyzer].endswith(SPOTLESS) else FEW), said


def test_the_readme_has_a_row_of_every_analyzer_with_all_its_cases() -> None:
    assert set(ROWS) == set(ANALYZERS)
    for analyzer, row in ROWS.items():
        cases = read_cases(analyzer)
        positives = sum(one.is_positive for one in cases)
        assert f"| {positives} + {len(cases) - positives} |" in row


def test_the_readme_shows_no_figure_below_the_gate() -> None:
    for row in ROWS.values():
        precision, recall = (float(figure) for figure in row.strip("| ").split(" | ")[2:])
        assert precision >= MIN_PRECISION
        assert recall >= MIN_RECALL


def test_a_finding_where_none_is_expected_is_a_false_positive(store: DynamoStore) -> None:
    found = score("tool_failure", [judge(case(THREE_FAILURES), store)])
    assert (found.tp, found.fp, found.fn, found.tn) == (0, 1, 0, 0)
    assert not found.passes


def test_a_finding_that_is_not_there_is_a_false_negative(store: DynamoStore) -> None:
    found = score("tool_failure", [judge(case(TWO_FAILURES, expected=("a",)), store)])
    assert (found.tp, found.fp, found.fn, found.tn) == (0, 0, 1, 0)
    assert not found.passes


def test_a_finding_about_something_else_is_wrong_twice(store: DynamoStore) -> None:
    verdict = judge(case(THREE_FAILURES, expected=("b",)), store)
    assert list(wrong(verdict)) == [
        "  tool_failure [plain] a case: found 'a', which is not expected",
        "  tool_failure [plain] a case: 'b' is missing",
    ]


def test_a_finding_about_the_whole_tool_is_not_one_about_an_error(store: DynamoStore) -> None:
    errors = [f"{word} is missing" for word in "bucket quota key region disk schema lease peer body header".split()]
    verdict = judge(case({"call": "store", "errors": errors, "as": "a"}, expected=("* a",)), store)
    assert not verdict.extra
    assert not verdict.missing


def test_a_whole_run_says_what_is_wrong_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(
        tmp_path, {"events": [THREE_FAILURES], "expected": ["a"]}, {"events": [TWO_FAILURES], "expected": ["a"]}
    )
    monkeypatch.setattr(command, "read_cases", lambda name: read_cases(name, folder))
    assert command.main(["tool_failure"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == "tool_failure 2 0 1 0 1 0 1.000 0.500 below 0.98 or 0.95".split()
    assert said[2:] == ["  tool_failure [plain] case 1: 'a' is missing"]


def test_a_run_of_an_unknown_analyzer_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["tool_failures"]) == 2
    assert "there are some for" in capsys.readouterr().err


def test_a_line_with_an_unknown_field_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"tool_failure\.jsonl:1: expects"):
        read_cases("tool_failure", write(tmp_path, {"events": [], "expected": [], "expects": []}))


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    twice: dict[str, object] = {"name": "twice", "events": [], "expected": []}
    with pytest.raises(CorpusError, match="twice"):
        read_cases("tool_failure", write(tmp_path, twice, twice))


@pytest.mark.parametrize("step", [{"fact": ["sam", "likes", "tea"], "til": "3d"}, {"facts": ["sam", "likes", "tea"]}])
def test_a_step_that_is_none_is_refused(store: DynamoStore, step: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"til|facts"):
        judge(case(step), store)


@pytest.mark.parametrize(
    ("text", "before_ms"), [("0", 0), ("5ms", 5), ("1d12h", 129_600_000), ("+1ms", -1), ("30d1ms", 2_592_000_001)]
)
def test_times_are_told_from_the_last_pass(text: str, before_ms: int) -> None:
    assert instant(text) == NOW - before_ms


@pytest.mark.parametrize("text", ["", "5", "-1d", "1 d", "yesterday", "1d-2h"])
def test_a_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        instant(text)


def test_the_corpus_is_plain_lines_of_json() -> None:
    for path in CORPUS.iterdir():
        assert path.suffix == ".jsonl"
        assert path.read_text(encoding="utf-8").endswith("\n")
