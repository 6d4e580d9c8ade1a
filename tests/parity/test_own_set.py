"""The committed scenarios, and the command that replays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.parity import __main__ as command
from tests.parity.better import BY_NAME
from tests.parity.folders import LESSON, THREE_FAILURES, listed, pass_of_three, write
from tests.parity.runner.differences import COMMITTED, read_differences
from tests.parity.runner.report import judge_folder, lines
from tests.parity.runner.scenarios import read_folder


def test_the_committed_scenarios_agree_or_say_why_not(stack: LocalStack) -> None:
    judgements = list(judge_folder(stack, command.OWN))
    assert [line for judgement in judgements if judgement.kind == "mismatch" for line in lines(judgement)] == []
    assert {judgement.kind for judgement in judgements} >= {"agree", "better", "differ on purpose"}


def test_the_command_says_at_last_how_many_there_are_of_each_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "tool.agrees", THREE_FAILURES, pass_of_three(), listed(2, LESSON))
    assert command.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 agree, 0 better, 0 differ on purpose, 0 waiting, 0 mismatch\n"


def test_the_command_fails_on_a_mismatch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "tool.mismatches", THREE_FAILURES, pass_of_three(), listed(2))
    assert command.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("1 mismatch")


def test_the_command_says_why_a_folder_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(tmp_path)]) == 2
    assert "holds no" in capsys.readouterr().err


def test_no_scenario_has_a_better_answer_and_is_to_match() -> None:
    matching = {scenario.name for scenario in read_folder(command.OWN) if scenario.verdict == "match"}
    assert matching.isdisjoint(BY_NAME)


def test_every_difference_gives_its_reason() -> None:
    assert all(difference.reason.strip() for difference in read_differences(COMMITTED).scenarios.values())
