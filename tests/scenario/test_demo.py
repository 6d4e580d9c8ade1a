"""The demo shows the main job, and fails when what it shows is not so."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from provenloop.entry.local.demo import airline, forty_days, guarded_week, proof, run_demo
from provenloop.entry.local.demo.api import Api
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.stack import LocalStack
from tests.local_stack import NOW_MS, ROOT

WIDTH = 80


@pytest.fixture(scope="module")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """The stack as the demo has it, with ids that repeat."""
    policy = tmp_path_factory.mktemp("host") / "policy.json"
    policy.write_text("{}", encoding="utf-8")
    with LocalStack(ROOT, now_ms=NOW_MS, seed="demo", policy_file=policy) as stack:
        yield stack


@pytest.fixture
def proof_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the four parts alone; the others take twenty seconds."""
    monkeypatch.setattr(airline, "learn", lambda *_: None)
    monkeypatch.setattr(forty_days, "tell", lambda *_: None)
    monkeypatch.setattr(guarded_week, "tell", lambda *_: None)


def told(stack: LocalStack) -> tuple[int, str]:
    """The demo's exit code, and what it printed."""
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False)
    code = run_demo(stack, console, ROOT)
    assert isinstance(console.file, io.StringIO)
    return code, console.file.getvalue()


@pytest.mark.long
def test_the_demo_tells_its_story_and_everything_holds(stack: LocalStack) -> None:
    code, text = told(stack)
    assert code == 0, text
    joined = " ".join(text.split())
    for line in (
        "9 are known as duplicates, nothing is added",
        "Pass: skipped (gate); 1 read and 0 write units",
        "150 runs with 1808 messages: 904 calls of 14 tools, 64 of them errors.",
        "book_reservation failed 17 of 38 calls (45",
        "update_reservation_flights failed 36 of 85 calls",
        "Error: payment amount does not add up, total price is 1203, but paid 833",
        "Audit chain: 10 entries of 3 subjects verified; it holds.",
        "955 stored; 22 passes ran and 2 skipped",
        "the forty days are as they are told: 113 claims",
        "the week of the guards is as it is told: 49 claims",
        "All 39 hold.",
    ):
        assert line in joined, line
    assert " NO " not in text
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.usefixtures("proof_only")
def test_the_demo_told_again_is_the_same_to_the_letter(stack: LocalStack) -> None:
    first = told(stack)
    stack.reset()
    assert told(stack) == first
    assert first[0] == 0


@pytest.mark.usefixtures("proof_only")
def test_an_expectation_that_does_not_hold_makes_the_demo_fail(
    stack: LocalStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "facts_of_sam", lambda _reviewer: [])
    code, text = told(stack)
    assert code == 1
    assert "does not hold: after the apply one value is live; seen: [] instead of ['Tokyo']" in " ".join(text.split())
    assert "NO after the apply one value is live" in " ".join(text.split())
    assert "Not all hold." in text


def test_a_story_whose_ground_does_not_hold_ends_there(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Api.record

    def one_missing(api: Api, events: list[dict[str, Any]], key: str | None = None) -> list[dict[str, Any]]:
        return record(api, events, key)[1:]

    monkeypatch.setattr(Api, "record", one_missing)
    code, text = told(stack)
    assert code == 1
    assert "The story ends here" in text
    assert "150 real runs" not in text


def test_an_answer_the_demo_cannot_go_on_with_makes_it_fail(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    post = Api.post

    def broken(api: Api, path: str, body: dict[str, Any], status: int = 200, key: str | None = None) -> Any:
        return post(api, path, {**body, "unknown": 1} if path.endswith("/rollback") else body, status, key)

    monkeypatch.setattr(Api, "post", broken)
    code, text = told(stack)
    assert code == 1
    assert "400 instead of 200" in " ".join(text.split())


def test_an_answer_without_its_fields_makes_the_demo_fail(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Api.run
    monkeypatch.setattr(Api, "run", lambda api, **options: {**run(api, **options), "usage": None})
    code, text = told(stack)
    assert code == 1
    assert "does not hold: every answer has the form it must have" in " ".join(text.split())


def test_a_demo_that_checked_nothing_fails() -> None:
    assert not Checks(Console(file=io.StringIO())).all_hold
