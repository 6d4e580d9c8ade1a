"""The runner judges what it was given: nothing agrees by being left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.parity.folders import (
    FAILURE,
    LESSON,
    LIST,
    RUN,
    THREE_FAILURES,
    Raw,
    listed,
    pass_of_three,
    ran,
    verdicts,
    write,
)
from tests.parity.runner.differences import Difference, Differences
from tests.parity.runner.judge import Judgement
from tests.parity.runner.report import judge_folder, lines, summary
from tests.parity.runner.scenarios import FolderError

NONE = Differences()


def judged(stack: LocalStack, folder: Path, differences: Differences = NONE) -> dict[str, Judgement]:
    return {judgement.name: judgement for judgement in judge_folder(stack, folder, differences)}


def only(stack: LocalStack, folder: Path, differences: Differences = NONE) -> Judgement:
    (judgement,) = judged(stack, folder, differences).values()
    return judgement


def test_a_folder_is_counted_by_what_became_of_its_scenarios(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.agrees", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    write(tmp_path, "tool.mismatches", THREE_FAILURES, pass_of_three(stored=0), listed(2))
    write(tmp_path, "tool.stale", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    write(tmp_path, "tool.differs", THREE_FAILURES, pass_of_three(), listed(2, {**LESSON, "severity": "low"}))
    write(tmp_path, "tool.waits", ({"op": "dance"},))
    write(tmp_path, "tool.better", THREE_FAILURES, pass_of_three(), listed(2))
    verdicts(tmp_path, {"tool.better": ["4.5"]})
    reason = Difference(frozenset({2}), "for the test")
    found = judged(stack, tmp_path, Differences({"tool.stale": reason, "tool.differs": reason}))
    assert {name: judgement.kind for name, judgement in found.items()} == {
        "tool.agrees": "agree",
        "tool.mismatches": "mismatch",
        "tool.stale": "mismatch",
        "tool.differs": "differ on purpose",
        "tool.waits": "waiting",
        "tool.better": "better",
    }
    assert summary(found.values()) == "1 agree, 1 better, 1 differ on purpose, 1 waiting, 2 mismatch"


def test_a_mismatch_is_told_by_scenario_step_and_both_answers(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(stored=0), listed(2))
    assert list(lines(only(stack, tmp_path))) == [
        "tool.x step 1: got stored=1, expected stored=0",
        "tool.x step 1: got proposed=1, expected proposed=0",
        "tool.x step 2: got tool_failure medium pending entity:lessons/pay count=3, expected no such card",
    ]


def test_a_difference_covers_its_own_steps_only(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(stored=0), listed(2))
    found = only(stack, tmp_path, Differences({"tool.x": Difference(frozenset({2}), "for the test")}))
    assert found.kind == "mismatch"
    assert {mismatch.step for mismatch in found.found} == {1}


def test_a_scenario_to_differ_without_a_better_answer_is_a_mismatch(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    verdicts(tmp_path, {"tool.x": ["99.9"]})
    (line,) = lines(only(stack, tmp_path))
    assert line == "tool.x: got nothing to hold it against, expected no better answer known"


def test_a_general_rule_is_a_claim_that_can_fail(stack: LocalStack, tmp_path: Path) -> None:
    steps = ({**FAILURE, "result": "no"}, {**FAILURE, "result": "yes"}, {**FAILURE, "result": "maybe"}, RUN, LIST)
    write(tmp_path, "tool.x", steps, ran(3, 0), listed(4))
    verdicts(tmp_path, {"tool.x": ["4.1"]})
    # Three unlike texts are no spellings of one fault, so the rule's single card is rightly missing.
    found = only(stack, tmp_path)
    assert found.kind == "mismatch"
    assert "expected tool_failure medium pending entity:lessons/pay count=3" in "\n".join(lines(found))


def test_a_step_that_is_not_recorded_must_not_be_refused(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "edge.x", ({"op": "fact", "subject": "", "relation": "r", "object": "o"},))
    (line,) = lines(only(stack, tmp_path))
    assert line == "edge.x step 0: got refused with PVL-E011, expected done"


@pytest.mark.parametrize(
    ("code", "kind"), [("VAL-E001", "agree"), ("LOP-E011", "agree"), ("uncoded", "agree"), ("LOP-E040", "mismatch")]
)
def test_a_refusal_must_be_of_the_recorded_class(stack: LocalStack, tmp_path: Path, code: str, kind: str) -> None:
    steps = ({"op": "fact", "subject": "", "relation": "r", "object": "o"},)
    write(tmp_path, "edge.x", steps, {"step": 0, "op": "fact", "error": code})
    assert only(stack, tmp_path).kind == kind


def test_an_analyzer_that_is_not_there_is_waited_for(stack: LocalStack, tmp_path: Path) -> None:
    card = {**LESSON, "analyzer": "loop.weather_forecast", "target": "entity:x"}
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(), listed(2, card))
    assert only(stack, tmp_path).note == "analyzers weather_forecast"


def test_an_option_that_is_not_there_is_waited_for(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", ({**RUN, "horoscope": True},), ran(0, 0))
    assert only(stack, tmp_path).note == "horoscope of a pass"


def test_what_is_known_to_be_missing_is_waited_for(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    assert only(stack, tmp_path, Differences(waiting={"tool.*": "spring"})).note == "spring"


def test_steps_without_counterpart_set_a_scenario_aside(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", ({"op": "split"},))
    write(tmp_path, "sync.y", (RUN,), ran(0, 0))
    known = Differences(not_portable={"sync.*": "no replicas"}, steps_not_portable={"split": "no files"})
    found = judged(stack, tmp_path, known)
    assert {name: (judgement.kind, judgement.note) for name, judgement in found.items()} == {
        "tool.x": ("differ on purpose", "no files"),
        "sync.y": ("differ on purpose", "no replicas"),
    }


DECIDED: Raw = {"op": "dismiss", "rec": {"analyzer": "tool_failure"}}


def test_a_decision_is_judged_by_the_status_after_it(stack: LocalStack, tmp_path: Path) -> None:
    told = {"step": 2, "op": "dismiss", "rec": "r1", "ok": True, "status": "rejected"}
    write(tmp_path, "tool.right", (*THREE_FAILURES[:2], DECIDED), pass_of_three(), told)
    write(tmp_path, "tool.wrong", (*THREE_FAILURES[:2], DECIDED), pass_of_three(), {**told, "status": "approved"})
    found = judged(stack, tmp_path)
    assert found["tool.right"].kind == "agree"
    assert list(lines(found["tool.wrong"])) == ["tool.wrong step 2: got status=rejected, expected status=approved"]


def test_live_values_are_compared_as_they_are_read(stack: LocalStack, tmp_path: Path) -> None:
    facts = [{"op": "fact", "subject": "ann", "relation": "likes", "object": text, "id": text} for text in "ab"]
    look = {"op": "live", "subject": "ann", "relation": "likes"}
    both = {"step": 2, "op": "live", "live": {"recall": [{"object": "a"}, {"object": "b"}]}}
    write(tmp_path, "edge.both", (*facts, look), both)
    write(tmp_path, "edge.one", (*facts, look), {"step": 2, "op": "live", "live": {"recall": [{"object": "a"}]}})
    found = judged(stack, tmp_path)
    assert (found["edge.both"].kind, found["edge.one"].kind) == ("agree", "mismatch")


def test_a_fact_written_again_is_another_grain_where_the_recording_shows_duplicates(
    stack: LocalStack, tmp_path: Path
) -> None:
    fact = {"op": "fact", "subject": "ann", "relation": "likes", "object": "tea", "repeat": 2}
    look = {"op": "live", "subject": "ann"}
    write(tmp_path, "edge.x", (fact, look, LIST), listed(2, {**LESSON, "analyzer": "loop.duplicate_sweep"}))
    write(tmp_path, "edge.y", (fact, look), {"step": 1, "op": "live", "live": {"recall": [{"object": "tea"}]}})
    found = judged(stack, tmp_path)
    assert found["edge.y"].kind == "agree"
    assert found["edge.x"].kind != "agree"


def test_a_difference_of_a_scenario_that_is_not_there_says_nothing(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "tool.x", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    assert only(stack, tmp_path, Differences({"tool.y": Difference(frozenset({2}), "elsewhere")})).kind == "agree"


def test_a_folder_must_be_whole(stack: LocalStack, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="holds no"):
        judged(stack, tmp_path)
    write(tmp_path, "tool.x", THREE_FAILURES)
    (tmp_path / "expected" / "tool.x.json").unlink()
    with pytest.raises(FolderError, match=r"tool\.x\.json is missing"):
        judged(stack, tmp_path)
    (tmp_path / "expected" / "tool.x.json").write_text("{", encoding="utf-8")
    with pytest.raises(FolderError, match="no JSON"):
        judged(stack, tmp_path)


def test_a_scenario_that_cannot_be_replayed_stops_no_other(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "edge.broken", ({"op": "fact", "subject": "ann"}, {"op": "run", "at": "soon"}))
    write(tmp_path, "tool.agrees", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    found = judged(stack, tmp_path)
    assert found["tool.agrees"].kind == "agree"
    assert list(lines(found["edge.broken"])) == [
        "edge.broken: got FolderError: 'soon' is no offset, expected a scenario that can be replayed"
    ]


def test_a_step_about_a_grain_that_was_refused_is_refused(stack: LocalStack, tmp_path: Path) -> None:
    fact = {"op": "fact", "subject": "", "relation": "r", "object": "o", "id": "f1"}
    newer = {"op": "supersede", "target": "f1", "fields": {"subject": "s", "relation": "r", "object": "p"}}
    write(tmp_path, "edge.x", (fact, newer), {"step": 0, "op": "fact", "error": "VAL-E001"})
    assert list(lines(only(stack, tmp_path))) == ["edge.x step 1: got refused with no such grain, expected done"]


SIZE: Raw = {"op": "fact", "subject": "kit", "relation": "shoe_size", "object": "large", "id": "size"}
SIZE_RUN: Raw = {"op": "run", "analyzer_cmd": "{python} {helpers}/analyzer.py"}
SIZE_CARD: Raw = {
    "analyzer": "size.check",
    "severity": "low",
    "status": "pending",
    "destructive": False,
    "target": "entity:shared/kit",
    "origin": "command",
    "rollbackable": False,
    "evidence": ["size"],
    "confidence": 0.5,
    "proposal": {"kind": "data", "data": {"source": "command"}},
}
ANALYZER = """
import json, sys
asked = json.load(sys.stdin)
found = [
    {"target": "entity:shared/kit", "summary": "x", "evidence": [grain["hash"]]} for grain in asked.get("grains", [])
]
print(json.dumps({"id": "size.check/1"} if asked["op"] == "probe" else {"findings": found}))
"""
MODEL = """
import json, sys
print(json.dumps({"model": "m"} if json.load(sys.stdin)["op"] == "probe" else {"recommendations": []}))
"""


def helper(folder: Path, name: str, code: str) -> None:
    (folder / "helpers").mkdir(exist_ok=True)
    (folder / "helpers" / name).write_text(code, encoding="utf-8")


def first_pass(stored: int) -> Raw:
    found = {"new_grains": 1, "new_error_events": 0, "proposed": stored}
    return {**ran(1, stored, **found), "analyzers_run": ["size.check"] if stored else []}


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({}, "agree"),
        ({"origin": "llm"}, "mismatch"),
        ({"rollbackable": True}, "mismatch"),
        ({"evidence": []}, "mismatch"),
        ({"confidence": 0.9}, "mismatch"),
        ({"proposal": {"kind": "data", "data": {"source": "command", "guidance": "ask"}}}, "mismatch"),
        ({"analyzer": "shoe.check"}, "mismatch"),
    ],
)
def test_what_an_external_analyzer_finds_is_compared_whole(
    stack: LocalStack, tmp_path: Path, changed: Raw, kind: str
) -> None:
    helper(tmp_path, "analyzer.py", ANALYZER)
    write(tmp_path, "ext.x", (SIZE, SIZE_RUN, LIST), first_pass(stored=1), listed(2, {**SIZE_CARD, **changed}))
    assert only(stack, tmp_path).kind == kind


def test_a_program_is_there_for_the_pass_that_names_it_only(stack: LocalStack, tmp_path: Path) -> None:
    helper(tmp_path, "analyzer.py", ANALYZER)
    again = {**SIZE, "subject": "lou", "id": "other"}
    later = ran(3, 0, new_grains=1, new_error_events=0)
    write(tmp_path, "ext.x", (SIZE, SIZE_RUN, again, RUN, LIST), first_pass(stored=1), later, listed(4, SIZE_CARD))
    assert only(stack, tmp_path).kind == "agree"


def test_programs_that_are_not_there_are_no_programs_that_fail(stack: LocalStack, tmp_path: Path) -> None:
    write(tmp_path, "ext.x", (SIZE, SIZE_RUN, LIST), first_pass(stored=0), listed(2))
    (line,) = lines(only(stack, tmp_path))
    assert line.startswith(f"ext.x: got FolderError: {tmp_path / 'helpers'} is missing")


@pytest.mark.parametrize(("code", "kind"), [(MODEL, "agree"), ("raise SystemExit(1)", "agree"), (None, "mismatch")])
def test_a_model_that_finds_nothing_must_have_been_asked(
    stack: LocalStack, tmp_path: Path, code: str | None, kind: str
) -> None:
    helper(tmp_path, "model.py", code or "")
    command = "{python} {helpers}/model.py" if code else " "
    write(tmp_path, "llm.x", (SIZE, {"op": "run", "llm_cmd": command}, LIST), first_pass(stored=0), listed(2))
    assert only(stack, tmp_path).kind == kind
