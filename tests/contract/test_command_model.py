"""A model behind a command: real processes, asked in JSON on their standard input."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from provenloop.adapters.command_model import CommandModel
from provenloop.domain.errors import InternalError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import RULE, Quoted
from provenloop.reflection.bundle import Brief, Bundle, Decided, Evidence
from provenloop.reflection.quoting import quoted_bundle
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest

#: Notes each question in a file, and answers with what a test says; the name of the model first.
COMMAND = """
import json, pathlib, sys, time
notes, name, answer = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
asked = json.loads(sys.stdin.buffer.read())
with notes.open("a") as file:
    file.write(json.dumps(asked) + chr(10))
if asked["op"] == "probe":
    print(name)
else:
    exec(answer)
"""
EVIDENCE = Evidence("e1", "grain-1", "fact", "entity:shared/ann", "ann lives_in <Oslo> & \u2603")
BUNDLE = Bundle(
    briefs=(Brief("loop.staleness/1", "old", "grain:1", "low"),),
    evidence=(EVIDENCE,),
    rejected=(Decided("it rains", "not here"),),
)


class Desk:
    """Where commands are written and note what they are asked."""

    def __init__(self, folder: Path) -> None:
        self._script, self._notes = folder / "a model.py", folder / "notes"
        self._script.write_text(COMMAND)

    def model(self, answer: str = "print('{}')", name: str = '{"model": "m-1"}') -> CommandModel:
        argv = [sys.executable, str(self._script), str(self._notes), name, answer]
        return CommandModel(shlex.join(argv), {})

    @property
    def asked(self) -> list[Any]:
        return [json.loads(line) for line in self._notes.read_text().splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def request(*quoted: Quoted, op: str = "discover", timeout_ms: int = 20_000) -> ModelRequest:
    return ModelRequest("any", f"Say a word. {RULE}", quoted, {"type": "object"}, 64, timeout_ms, op=op)


def test_a_command_is_asked_with_the_fields_of_its_stage(desk: Desk) -> None:
    answer = desk.model("""print(json.dumps({"recommendations": []}))""").ask(request(*quoted_bundle(BUNDLE)), "")
    assert answer == ModelAnswer({"recommendations": []}, '{"recommendations": []}', Usage(), "m-1")
    probe, asked = desk.asked
    assert probe == {"loop": 1, "op": "probe"}
    assert asked == {
        "loop": 1,
        "op": "discover",
        "instructions": f"Say a word. {RULE}",
        "findings": [
            {"analyzer": "loop.staleness/1", "summary": "old", "target": "grain:1", "severity": "low"},
        ],
        "evidence": [
            {"hash": "e1", "grain_type": "fact", "target": "entity:shared/ann", "text": "ann lives_in <Oslo> & \u2603"},
        ],
        "rejected": [{"summary": "it rains", "because": "not here"}],
    }


@pytest.mark.parametrize(("group", "op", "field"), [("claim", "ground", "claims"), ("finding", "verify", "findings")])
def test_claims_and_findings_have_fields_of_their_own(desk: Desk, group: str, op: str, field: str) -> None:
    fields = {"id": "f1", "evidence": ["one"]}
    desk.model().ask(request(Quoted(f"{group}:f1", json.dumps(fields)), op=op), "")
    assert desk.asked[1][field] == [fields]


def test_the_name_of_the_model_is_asked_for_once(desk: Desk) -> None:
    model = desk.model()
    for _ in range(2):
        assert isinstance(model.ask(request(), ""), ModelAnswer)
    assert [asked["op"] for asked in desk.asked] == ["probe", "discover", "discover"]


@pytest.mark.parametrize(
    "told",
    ['{"model": ""}', "{}", '{"model": 3}', json.dumps({"model": "x" * 101}), '{"model": "Ann Example"}'],
)
def test_a_model_without_a_name_is_unspecified(desk: Desk, told: str) -> None:
    assert desk.model(name=told).ask(request(), "").model == "unspecified"


FAILURES: list[tuple[str, str, ModelFailure]] = [
    ("another code", "print('{}'); sys.exit(2)", ModelFailure("unknown")),
    ("no UTF-8", "sys.stdout.buffer.write(bytes([255]))", ModelFailure("parse")),
    ("nothing", "pass", ModelFailure("parse", model="m-1", empty=True)),
    ("prose", "print('<<<')", ModelFailure("parse", model="m-1")),
    ("a list", "print('[]')", ModelFailure("parse", model="m-1")),
    ("too much", "print('x' * 2_000_001)", ModelFailure("unknown")),
]


@pytest.mark.parametrize(("answer", "failure"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_every_failure_has_a_kind(desk: Desk, answer: str, failure: ModelFailure) -> None:
    assert desk.model(answer).ask(request(), "") == failure
    assert len(desk.asked) == 2


@pytest.mark.parametrize(("told", "empty"), [("", True), ("m-1", False), ("[]", False)])
def test_a_command_that_does_not_answer_the_first_question_is_asked_no_other(
    desk: Desk, told: str, *, empty: bool
) -> None:
    assert desk.model(name=told).ask(request(), "") == ModelFailure("parse", empty=empty)
    assert [asked["op"] for asked in desk.asked] == ["probe"]


def test_both_questions_together_have_the_time_of_one(desk: Desk) -> None:
    begun = monotonic()
    answer: ModelOutcome = desk.model("time.sleep(60)").ask(request(timeout_ms=1_500), "")
    assert answer == ModelFailure("network", timed_out=True)
    assert monotonic() - begun < 8


def test_a_command_that_cannot_be_started_is_a_failure() -> None:
    assert CommandModel("/no/such/program", {}).ask(request(), "") == ModelFailure("unknown")


@pytest.mark.parametrize("command", ["", "  ", "python 'x"])
def test_a_command_that_is_none_is_refused_at_once(command: str) -> None:
    with pytest.raises(InternalError):
        CommandModel(command, {})
