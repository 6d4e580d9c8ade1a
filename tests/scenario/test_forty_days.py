"""Forty days of two agents and a reviewer: the story is the one that is pinned, and leaves everything in order.

``tests/scenario/forty_days.py`` says how to pin another one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from rich.console import Console

from provenloop.entry.local.demo import forty_days
from provenloop.entry.local.demo.api import Api, Usage
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.forty_days.cast import MEMORY
from provenloop.entry.local.demo.forty_days.diary import Diary
from provenloop.entry.local.stack import LocalStack
from tests.scenario.forty_days import RECORD, TEXT, WIDTH, Story, statuses, system, told

#: What is printed fits a screen and a half.
LINES = 80


@dataclass(frozen=True)
class Told:
    """The story, what it left, and for each request that was refused whether it wrote anything."""

    story: Story
    admin: Api
    wrote: tuple[tuple[str, bool], ...]


@pytest.fixture(scope="module")
def after() -> Iterator[Told]:
    """The story once it is told."""
    wrote: list[tuple[str, bool]] = []
    send = Api._send  # noqa: SLF001 - every request goes through it

    def watched(api: Api, method: str, path: str, body: dict[str, Any] | None, status: int, *more: Any) -> Any:
        before = stack.items() if status >= 400 else None
        answer = send(api, method, path, body, status, *more)
        if before is not None:
            wrote.append((path, stack.items() != before))
        return answer

    with system() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Api, "_send", watched)
        story = told(stack)
        yield Told(story, Api(stack, MEMORY, stack.dev_token, Usage()), tuple(wrote))


def test_the_story_is_printed_as_it_is_pinned(after: Told) -> None:
    assert after.story.text == TEXT.read_text(encoding="utf-8")


def test_everything_that_happened_is_what_is_pinned(after: Told) -> None:
    assert json.loads(after.story.record) == json.loads(RECORD.read_text(encoding="utf-8"))


def test_every_claim_holds_and_every_line_fits(after: Told) -> None:
    lines = after.story.text.splitlines()
    assert after.story.all_hold
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH


def test_each_refusal_wrote_nothing(after: Told) -> None:
    refused = [line for line in after.story.diary.lines if (line.status or 0) >= 400]
    assert len(after.wrote) == len(refused) == 8
    assert {path for path, is_changed in after.wrote if is_changed} == set()


def test_every_chain_holds_and_gives_the_status_that_is_stored(after: Told) -> None:
    verified = after.admin.get("/audit/verify")
    derived = statuses([json.loads(line) for line in after.admin.lines("/audit")])
    assert (verified["ok"], verified["subjects"]) == (True, len(derived))
    stored = {subject: after.admin.get(f"/loop/recommendations/{subject}") for subject in derived}
    assert {subject: rec["status"] for subject, rec in stored.items()} == derived
    assert all(rec["verified"] for rec in stored.values())
    assert set(derived.values()) == {"applied", "rejected", "acknowledged", "rolled_back"}


def test_what_happens_otherwise_than_it_should_is_said_and_fails_the_demo() -> None:
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
    own, demo = Checks(console), Checks(console)
    Diary(console, own).tell("reviewer", "approves", "pending", "approved")
    demo.take_in("the story is as it is told", own)
    assert demo.made == [("day 0, reviewer: approves", False), ("the story is as it is told: 1 claims", False)]
    assert isinstance(console.file, io.StringIO)
    assert "does not hold: day 0, reviewer: approves" in console.file.getvalue()


def test_a_stack_without_a_place_for_the_host_policy_cannot_tell_it(stack: LocalStack) -> None:
    checks = Checks(Console(file=io.StringIO()))
    before = stack.items()
    with pytest.raises(LookupError, match="no file for the host policy"):
        forty_days.tell(Console(file=io.StringIO()), checks, stack, Usage())
    assert not checks.all_hold
    assert stack.items() == before
