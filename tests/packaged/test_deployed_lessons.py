"""Lessons and distillations on the deployed stack: what guards and people do over HTTP, and what timers do alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import RecipeScope
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring
from provenloop.services.distil_recipe import Wanted, begin_distillation, told
from tests.builders import DAY_MS, MEMORY, Desk, make_principal
from tests.lessons import STATEMENT, Guards
from tests.packaged.racing import act_as_root
from tests.packaged.test_deployed_stack import EVENTS, _eventually, _make_due, _minted

if TYPE_CHECKING:
    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

LINE = {"project": "shop", "category": "Migrations", "signature": "edit-without-reading", "source": "quality-gate"}
KEY = {name: LINE[name] for name in ("project", "category", "signature")}


@pytest.fixture
def wired(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Wiring:
    """What the deployed functions work with, in this process and with all rights."""
    act_as_root(deployment.emulator, monkeypatch)
    name = deployment.resources["DistilFunction"]
    found = deployment.aws("lambda").get_function_configuration(FunctionName=name)
    return Wiring(Settings(found["Environment"]["Variables"]))


def test_a_lesson_that_is_reported_often_is_armed_by_a_person_and_put_before_sessions(deployment: Deployment) -> None:
    memory = "/v1/memories/taught"
    guard = _minted(deployment, {"label": "guard", "kind": "agent", "memories": "*", "scopes": ["read", "write"]})
    rita = _minted(deployment, {"label": "rita", "kind": "human", "memories": "*", "scopes": ["read", "review"]})
    with deployment.http(token=deployment.token) as admin:
        assert admin.put(memory, json={}).status_code == 201
    with deployment.http(token=guard) as agent, deployment.http(token=rita) as person:
        reports = [agent.post(f"{memory}/lessons", json={**LINE, "detail": f"seen {n}"}).json() for n in range(3)]
        assert [each["just_ready"] for each in reports] == [False, False, True], reports
        card = f"{memory}/cards/{reports[0]['card']}"
        wish = {"because": "seen it three times", "statement": STATEMENT}
        assert agent.post(f"{card}/arm", json=wish).status_code == 403
        assert _done(agent, "POST", f"{memory}/sessions/s-0/start", {"project": "shop"})["rules"] == []
        assert _done(person, "POST", f"{card}/arm", wish)["status"] == "armed"

        started = _done(agent, "POST", f"{memory}/sessions/s-1/start", {"project": "shop"})
        assert started["rules"] == [reports[0]["card"]]
        assert STATEMENT in started["block"]
        assert (
            _done(agent, "POST", f"{memory}/lessons/pass", {**KEY, "session": "s-1"})["pass_of"] == started["rules"][0]
        )
        ends = [_done(agent, "POST", f"{memory}/sessions/s-1/end") for _ in range(2)]
        assert [(end["suppressed"], end["samples"], end["repeated"]) for end in ends] == [(1, 1, False), (1, 1, True)]

        shown = _done(person, "GET", card)
        assert (shown["reports"], shown["suppressed"], shown["samples"], shown["verified"]) == (3, 1, 1, True)
        assert [entry["to"] for entry in shown["audit"]] == ["candidate", "armed"]
        assert [each["counted"] for each in shown["evidence"]] == ["report"] * 3
        assert _done(person, "GET", f"{memory}/audit/verify")["ok"]


def test_a_tick_settles_sessions_that_nobody_ended_and_judges_rules(deployment: Deployment, wired: Wiring) -> None:
    """What happened the day before yesterday is done in this process; what is due by now the functions do alone."""
    desk = Desk(_store(wired), now=wired.now() - 2 * DAY_MS).open()
    guards = Guards(desk)
    broken, kept = guards.armed(), guards.armed(category="Deploys")
    for session in ("s-1", "s-2"):
        guards.start(session)
        guards.passes(session)
    guards.end("s-1")
    guards.reports(4, session="s-2")
    assert guards.counts(broken.id) == (4, 1, 1)

    _make_due(deployment, MEMORY)
    tick = (EVENTS / "dispatch.tick.json").read_text()
    answer = deployment.aws("lambda").invoke(FunctionName=deployment.resources["DispatchFunction"], Payload=tick)
    assert "FunctionError" not in answer, answer["Payload"].read()

    assert _eventually(lambda: guards.card(broken.id).status == "demoted")
    # The rule was followed in the session that nobody ended; as something went wrong in it, it is no sample.
    assert _eventually(lambda: guards.counts(broken.id) == (4, 2, 1)), guards.counts(broken.id)
    assert (guards.counts(kept.id), guards.card(kept.id).status) == ((0, 0, 1), "armed")
    assert guards.chain(broken.id)[-1] == ("armed", "demoted")
    with deployment.http(token=f"{deployment.token}@{MEMORY.tenant}") as admin:
        assert _done(admin, "GET", f"/v1/memories/{MEMORY.name}/audit/verify")["ok"]
        started = _done(admin, "POST", f"/v1/memories/{MEMORY.name}/sessions/s-3/start", {"project": "shop"})
    assert started["rules"] == [kept.id]


def test_a_distillation_without_a_model_key_ends_with_its_code(deployment: Deployment, wired: Wiring) -> None:
    memory = MemoryId(MEMORY.tenant, "distilled")
    desk = Desk(_store(wired), now=wired.now(), memory=memory).open()
    envelope = {"problem": "Why is it late?", "final_message": "It rains.", "signals": ["thumbs_up"]}
    wanted = Wanted(envelope, RecipeScope(agent="support"))
    call = desk.call(by=make_principal("runner", "write", kind="agent"))
    job = begin_distillation(wired.store, wired.distillations, call, wanted, has_model=True)

    def is_over() -> bool:
        found = wired.store.distillation(memory, job.id)
        return found is not None and found.is_over

    assert _eventually(is_over)
    ended = wired.store.distillation(memory, job.id)
    assert ended is not None
    answer = told(ended)
    assert (answer["status"], answer["reason"], answer["failure"]) == ("skipped", "opus_error", "auth")
    assert wired.store.envelope(memory, job.id) is None
    assert _eventually(lambda: _waiting(deployment, wired.settings.distil_queue_url) == 0)


def _store(wired: Wiring) -> DynamoStore:
    assert isinstance(wired.store, DynamoStore)
    return wired.store


def _waiting(deployment: Deployment, url: str) -> int:
    """How many messages a queue holds, hidden ones among them."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counted = deployment.aws("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(counted[name]) for name in names)


def _done(client: Any, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The answer to a request that succeeds."""
    answer = client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return json.loads(answer.text)
