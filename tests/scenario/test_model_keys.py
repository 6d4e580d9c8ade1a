"""Keys of models in passes: read once, where models may be asked, and whoever asked meanwhile cannot decide later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from provenloop.domain.errors import InternalError, SelfApprovalError
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.policy import Policy
from provenloop.services import review
from provenloop.services.outside_port import Outside
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.builders import Desk, make_fact, make_principal
from tests.scenario.test_outside_findings import OTHER, TRIGGER, about_sam, record_notes
from tests.scripted_model import ScriptedModel

HOUR_MS = 3_600_000


class CountedKey:
    """A key that knows how often it was read, and may be unreadable."""

    def __init__(self) -> None:
        self.reads = 0
        self.is_readable = True

    def current(self) -> str:
        self.reads += 1
        if not self.is_readable:
            raise InternalError("the secret cannot be read")
        return "key-of-tests"


@pytest.fixture
def key() -> CountedKey:
    return CountedKey()


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(about_sam)


@pytest.fixture
def noted(desk: Desk, key: CountedKey, model: ScriptedModel) -> Desk:
    desk.outside = asking(model, key, key)
    record_notes(desk)
    return desk


def asking(model: ScriptedModel, main: CountedKey, ground: CountedKey) -> Outside:
    models = ReflectionModels(ReflectionModel(model, main, "scripted-1"), ReflectionModel(model, ground, "scripted-1"))
    return Outside(models=models)


def test_a_key_is_read_once_in_a_pass_however_many_questions_it_serves(noted: Desk, key: CountedKey) -> None:
    assert noted.run()["model"]["calls"] == 4
    assert key.reads == 1
    noted.run()
    assert key.reads == 2


def test_two_keys_are_read_once_each(noted: Desk, key: CountedKey, model: ScriptedModel) -> None:
    other = CountedKey()
    noted.outside = asking(model, key, other)
    noted.run()
    assert (key.reads, other.reads) == (1, 1)


def deny(desk: Desk) -> None:
    desk.policy = Policy(deny=("llm",))


def deny_by_name(desk: Desk) -> None:
    desk.policy = Policy(deny=("loop.llm",))


def switch_off(desk: Desk) -> None:
    desk.plant(MemoryConfig(rev=1, analyzers={"loop.llm": AnalyzerConfig(enabled=False)}))


@pytest.mark.parametrize("forbid", [deny, deny_by_name, switch_off])
def test_where_models_may_not_be_asked_no_key_is_read(
    noted: Desk, key: CountedKey, model: ScriptedModel, forbid: Callable[[Desk], None]
) -> None:
    forbid(noted)
    outcome = noted.run()
    assert "loop.llm/1" in [row["id"] for row in outcome["analyzers_skipped"]]
    assert (key.reads, model.seen) == (0, [])


def require_barred(desk: Desk) -> None:
    """Who began it cannot accept what was found, and who came later neither."""
    for decider in (TRIGGER, OTHER):
        with pytest.raises(SelfApprovalError):
            review.approve(desk.store, desk.call(by=decider), desk.only()["id"], "it is right")


def test_whoever_asked_for_a_pass_without_a_readable_key_cannot_accept_what_a_later_one_finds(
    noted: Desk, key: CountedKey
) -> None:
    key.is_readable = False
    outcome = noted.run(by=TRIGGER)
    assert {"id": "loop.llm/1", "reason": InternalError.code} in outcome["analyzers_skipped"]
    key.is_readable = True
    noted.run(by=OTHER, at=noted.now + HOUR_MS)
    require_barred(noted)


def test_a_pass_without_a_readable_key_leaves_what_is_new_to_one_an_hour_later(noted: Desk, key: CountedKey) -> None:
    key.is_readable = False
    noted.run()
    for _ in range(3):
        noted.record(make_fact("naps", relation="note"))
        noted.run()
    heads = noted.store.heads(noted.memory)
    assert heads is not None
    assert heads.timer.due_at is not None
    assert HOUR_MS - 60_000 < heads.timer.due_at - noted.now <= HOUR_MS
    key.is_readable = True
    noted.run(at=heads.timer.due_at)
    assert noted.only()["origin"] == "llm:scripted-1"


def test_with_nothing_new_an_unreadable_key_is_told_and_nothing_is_written_down(noted: Desk, key: CountedKey) -> None:
    noted.run()
    key.is_readable = False
    before = noted.store.looked(noted.memory, "loop.llm")
    assert {"id": "loop.llm/1", "reason": InternalError.code} in noted.run(by=OTHER)["analyzers_skipped"]
    assert noted.store.looked(noted.memory, "loop.llm") == before


def test_whoever_asked_while_a_failed_model_was_left_alone_cannot_accept_what_it_finds_then(
    noted: Desk, model: ScriptedModel
) -> None:
    model.failing["discover"] = "server"
    noted.run(by=make_principal("first", "write"))
    noted.record(make_fact("naps", relation="note"))
    noted.run(by=TRIGGER)
    model.failing.clear()
    noted.run(by=OTHER, at=noted.now + HOUR_MS)
    require_barred(noted)


def test_whoever_asked_while_nobody_knew_the_policy_cannot_accept_what_is_found_then(
    noted: Desk, model: ScriptedModel
) -> None:
    known = noted.policy
    noted.policy = replace(known, pseudonymize=replace(known.pseudonymize, is_known=False))
    noted.run(by=TRIGGER)
    assert model.seen == []
    noted.policy = known
    noted.run(by=OTHER)
    require_barred(noted)
