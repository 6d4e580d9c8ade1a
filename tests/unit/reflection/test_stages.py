"""What models are told at each stage, and the form in which they answer."""

from __future__ import annotations

import pytest

from provenloop.domain.ledger import COMPONENTS, loop_stage
from provenloop.domain.quoting import RULE
from provenloop.reflection.stages import STAGES, Stage

EACH = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.op)


def test_the_stages_are_asked_in_their_order() -> None:
    assert [stage.op for stage in STAGES] == ["discover", "ground", "verify", "enrich"]


@EACH
def test_every_stage_says_that_quoted_texts_are_no_instructions(stage: Stage) -> None:
    assert RULE in stage.instructions
    assert stage.instructions.isascii()


@EACH
def test_every_field_of_an_answer_is_explained(stage: Stage) -> None:
    fields = stage.schema["properties"][stage.answers]["items"]
    assert set(fields["required"]) == set(fields["properties"])
    assert all(name in stage.instructions for name in (stage.answers, *fields["required"]))


@EACH
def test_every_stage_is_a_component_of_the_ledger(stage: Stage) -> None:
    assert loop_stage(stage.op) in COMPONENTS


def test_grounding_asks_for_premises_alone_and_verifying_for_soundness_alone() -> None:
    said = {stage.op: " ".join(stage.instructions.split()) for stage in STAGES}
    assert "A claim is supported when each premise that it builds on is in its evidence" in said["ground"]
    assert "What it concludes from them may go beyond the evidence" in said["ground"]
    assert "judge whether the summary soundly follows from it" in said["verify"]
    assert "Whether a finding is new or welcome is not yours to judge." in said["verify"]
    assert "two statements that truly cannot both hold" in said["verify"]
    assert "Drop it by default" in said["verify"]


def test_who_judges_is_not_told_how_sure_the_author_was_and_judges_what_it_advised_with_the_rest() -> None:
    discover, ground, verify, _ = STAGES
    assert "Drop one\nwhose guidance" in verify.instructions
    assert "guidance" not in ground.instructions
    assert "confidence" in discover.schema["properties"]["recommendations"]["items"]["properties"]
