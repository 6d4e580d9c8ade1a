"""Pseudonyms on the whole stack: no model is sent who somebody is, and what is stored and told says it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.functions.recipe_desk import KEY, SCOPE, SECRET, USE, RecipeDesk, taught
from tests.functions.requests import ADMIN, MEMORY, NOW, ROOT
from tests.model_server import ModelServer, model_server, says

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

POLICY = {"pseudonymize": {"enabled": True, "names": ["Project Zeus"]}}
#: Who and what must not leave.
PEOPLE = ("Maria", "Lopez", "maria@example.com", "+49 30 901820", "ORD-77120", "Zeus")
REQUEST = "How do I reset my password? I am Maria Lopez, maria@example.com"
LOOK_ALIKE = "How do I reset my pin? I am Maria Lopez, maria@example.com"
ANSWER = "Dear Maria Lopez, call +49 30 901820 about order ORD-77120 of Project Zeus."
SEEN = "Dear PVL_PERSON_1, call PVL_PHONE_1 about order PVL_ID_1 of PVL_PERSON_2."


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalStack, ModelServer]]:
    policy = tmp_path_factory.mktemp("host") / "policy.json"
    with model_server() as server:
        parameters = {"ModelUrl": server.url, "ModelKeySecretArn": SECRET}
        with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW, policy_file=policy) as stack:
            yield stack, server


@pytest.fixture
def desk(running: tuple[LocalStack, ModelServer]) -> RecipeDesk:
    desk = RecipeDesk.opened(*running)
    put(desk, POLICY)
    return desk


def put(desk: RecipeDesk, policy: Any) -> None:
    assert desk.api.stack.policy_file is not None
    desk.api.stack.policy_file.write_text(json.dumps(policy), encoding="utf-8")


def put_list(desk: RecipeDesk, number: int, names: list[str]) -> None:
    policy = desk.api.stack.policy_file
    assert policy is not None
    policy.with_name(f"{policy.name}-names-{number}").write_text(json.dumps(names), encoding="utf-8")


def sent(desk: RecipeDesk) -> str:
    """All that a provider was sent of one question."""
    [seen] = desk.server.seen
    return json.dumps(seen.body, ensure_ascii=False)


def assert_nobody_left(desk: RecipeDesk) -> None:
    body = sent(desk).casefold()
    assert [value for value in PEOPLE if value.casefold() in body] == []


def test_names_in_lists_beside_the_policy_are_kept_from_models_and_only_counted(desk: RecipeDesk) -> None:
    put_list(desk, 1, ["Project Hera"])
    put_list(desk, 2, ["blue otter"])
    put(desk, {"pseudonymize": {**POLICY["pseudonymize"], "name_lists": 2}})
    assert desk.api.done("show_policy")["policy"]["pseudonymize"] == {"enabled": True, "names": 3}
    desk.learn(REQUEST, f"{ANSWER} It is like project hera and the Blue Otter.")
    desk.server.plays(says(USE))
    desk.match(LOOK_ALIKE)
    assert_nobody_left(desk)
    assert [name for name in ("hera", "otter") if name in sent(desk).casefold()] == []


def test_the_composer_chooses_without_knowing_whom_it_is_for(desk: RecipeDesk) -> None:
    recipe = desk.learn(REQUEST, ANSWER)
    adapted = [{"name": "salutation", "value": "Dear pvl_person_1 (PVL_EMAIL_1)"}]
    desk.server.plays(says({**USE, "reasoning": "PVL_PERSON_1 asks again", "adaptations": adapted}))
    hit = desk.match(LOOK_ALIKE)["hit"]
    assert (hit["kind"], hit["recipe_id"]) == ("composed", recipe.id)
    assert hit["adaptations"] == {"salutation": "Dear Maria Lopez (maria@example.com)"}
    assert_nobody_left(desk)
    assert SEEN in sent(desk)


@pytest.mark.parametrize("waits", [True, False])
def test_a_recipe_that_was_distilled_says_again_who_it_speaks_of(desk: RecipeDesk, waits: bool) -> None:
    envelope = {"problem": REQUEST, "final_message": ANSWER, "trace": "maria said: zeus", "signals": ["thumbs_up"]}
    desk.server.plays(says(taught('Ask PVL_PERSON_1 (PVL_EMAIL_1), or PVL_PERSON_99, for "PVL_ID_1".')))
    job = desk.api.done("distil_recipe", body={"envelope": envelope, "scope": SCOPE, "wait": waits})
    if not waits:
        desk.api.stack.set_clock(NOW + 10_000)
        desk.api.stack.tick()
        job = desk.api.done("show_distillation", {**MEMORY, "job": job["job"]})
    assert job["status"] == "done"
    told = desk.api.done("show_recipe", {**MEMORY, "id": job["recipe"]})
    assert told["response"] == 'Ask Maria Lopez (maria@example.com), or PVL_PERSON_99, for "ORD-77120".'
    assert_nobody_left(desk)


def test_a_card_of_a_digest_says_again_who_it_speaks_of(desk: RecipeDesk) -> None:
    desk.api.done("start_session", {**MEMORY, "id": "s1"}, {"project": "shop"})
    down = {"kind": "feedback", "rating": "down", "text": f"{ANSWER} Never again, says Maria."}
    desk.api.done("record_events", body={"events": [{"kind": "event", "session": "s1", "body": down}]})
    card = {
        "category": "orders",
        "signature": "calls",
        "statement": "Do not call PVL_PERSON_1.",
        "detail": "PVL_PHONE_1",
    }
    desk.server.plays(says({"cards": [card]}))
    [saved] = desk.api.done("digest_lessons", body={"session": "s1"})["saved"]
    told = json.dumps(desk.api.done("show_card", {**MEMORY, "id": saved["card"]}), ensure_ascii=False)
    assert "Do not call Maria Lopez." in told
    assert_nobody_left(desk)


def test_while_the_policy_is_refused_nobody_leaves_either(desk: RecipeDesk) -> None:
    desk.learn(REQUEST, ANSWER)
    put(desk, {**POLICY, "telemetry": "on"})
    desk.server.plays(says(USE))
    desk.match(LOOK_ALIKE)
    assert_nobody_left(desk)


def assert_half_of_nobody_left(desk: RecipeDesk) -> None:
    [seen] = desk.server.seen
    asked = json.dumps(seen.body["messages"])
    assert ("so it is" in asked, "proj" in asked) == (True, False)


def test_a_name_at_the_place_where_a_text_is_cut_does_not_leave_by_half(desk: RecipeDesk) -> None:
    at_the_end = {limit: f"{('so it is. ' * limit)[: limit - 8]} project zeus, and more" for limit in (1_500, 4_000)}
    desk.learn(REQUEST, at_the_end[4_000])
    desk.server.plays(says(USE), says({"cards": []}))
    desk.match(LOOK_ALIKE)
    assert_half_of_nobody_left(desk)
    desk.server.seen.clear()
    desk.api.done("start_session", {**MEMORY, "id": "s1"}, {"project": "shop"})
    down = {"kind": "feedback", "rating": "down", "text": at_the_end[1_500]}
    desk.api.done("record_events", body={"events": [{"kind": "event", "session": "s1", "body": down}]})
    desk.api.done("digest_lessons", body={"session": "s1"})
    assert_half_of_nobody_left(desk)


#: What may be wrong with a policy so that nobody knows which names it lists, and that none was read before.
UNREADABLE = [
    "{nope",
    '{"pseudonymise": {"enabled": true, "names": ["Zeus"]}}',
    '{"pseudonymize": {"enabled": true, "names": ["Zeus", 1]}}',
]


@pytest.fixture(params=[None, *UNREADABLE], ids=["away", "no JSON", "misspelt", "half"])
def blind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecipeDesk]:
    """A stack that began when nobody could know whom the policy names."""
    policy = tmp_path / "policy.json"
    if request.param is not None:
        policy.write_text(request.param, encoding="utf-8")
    with model_server() as server:
        parameters = {"ModelUrl": server.url, "ModelKeySecretArn": SECRET, "Model": "claude-opus-5-5"}
        with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW, policy_file=policy) as stack:
            yield RecipeDesk.opened(stack, server)


def test_while_nobody_knows_whom_the_policy_names_no_model_is_asked_with_whatever_key(blind: RecipeDesk) -> None:
    blind.learn(REQUEST, ANSWER)
    assert blind.match(LOOK_ALIKE)["hit"] is None
    envelope = {"problem": REQUEST, "final_message": ANSWER, "signals": ["thumbs_up"]}
    assert blind.own_key("distil_recipe", {"envelope": envelope, "scope": SCOPE, "wait": True}, KEY).status == 503
    blind.api.done("start_session", {**MEMORY, "id": "s1"}, {"project": "shop"})
    down = {"kind": "feedback", "rating": "down", "text": ANSWER}
    blind.api.done("record_events", body={"events": [{"kind": "event", "session": "s1", "body": down}]})
    assert blind.api.call("digest_lessons", body={"session": "s1"}).status == 503
    outcome = blind.api.done("run_pass", body={})
    assert (outcome["model"]["stopped"], outcome["model"]["calls"]) == ("policy", 0)
    assert blind.rows() == []
    assert blind.server.seen == []


def test_what_was_new_meanwhile_is_looked_at_once_the_names_are_known(blind: RecipeDesk) -> None:
    fact = {"kind": "fact", "subject": "isolde", "relation": "reports_to", "object": "Zeus"}
    blind.api.done("record_events", body={"events": [fact]})
    assert blind.api.done("run_pass", body={})["model"]["stopped"] == "policy"
    assert "is_known" not in blind.api.done("show_policy")["policy"]["pseudonymize"]
    put(blind, {"pseudonymize": {"enabled": True, "names": ["Zeus"]}})
    blind.server.plays(says({"recommendations": []}))
    blind.api.done("record_events", body={"events": [{**fact, "subject": "tristan"}]})
    blind.api.stack.set_clock(NOW + 300_000)
    assert blind.api.stack.tick().failed == []
    assert sent(blind).count("reports_to") == 2
    assert [name for name in ("zeus", "isolde") if name in sent(blind).casefold()] == []


def test_without_the_field_models_see_the_texts(desk: RecipeDesk) -> None:
    desk.learn(REQUEST, ANSWER)
    put(desk, {})
    desk.server.plays(says(USE))
    desk.match(LOOK_ALIKE)
    assert ANSWER in sent(desk)
