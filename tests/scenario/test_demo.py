"""The demo shows the main job, and fails when what it shows is not so."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from provenloop.entry.local.demo import airline, proof, run_demo
from provenloop.entry.local.demo.api import Api
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.stack import LocalStack
from tests.local_stack import ROOT


def shown_on() -> Console:
    return Console(file=io.StringIO(), width=80, color_system=None)


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_demo_tells_its_story_and_everything_holds(stack: LocalStack) -> None:
    console = shown_on()
    assert run_demo(stack, console, ROOT) == 0
    text = text_of(console)
    for line in ("904 stored in 11", "17 of 40 calls", "40 of 92 calls", "Everything held."):
        assert line in text
    assert "NO " not in text


def test_an_expectation_that_does_not_hold_makes_the_demo_fail(
    stack: LocalStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(airline, "learn", lambda *_: None)
    monkeypatch.setattr(proof, "facts_of_sam", lambda _reviewer: [])
    console = shown_on()
    assert run_demo(stack, console, ROOT) == 1
    assert "does not hold: after the apply one value is live" in text_of(console).replace("\n", " ")


def test_an_answer_the_demo_cannot_go_on_with_makes_it_fail(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(airline, "learn", lambda *_: None)
    post = Api.post

    def broken(api: Api, path: str, body: dict[str, Any], status: int = 200) -> Any:
        return post(api, path, {**body, "unknown": 1} if path.endswith("/apply") else body, status)

    monkeypatch.setattr(Api, "post", broken)
    assert run_demo(stack, shown_on(), ROOT) == 1


def test_a_demo_that_checked_nothing_fails() -> None:
    assert not Checks(shown_on()).all_hold
