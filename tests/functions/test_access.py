"""Who may do what: every operation, every way of not being allowed to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest

from provenloop.domain.principal import SCOPES
from provenloop.domain.records import Token
from provenloop.entry.local.gateway import HttpResponse
from provenloop.entry.operations import OPERATIONS, Operation
from provenloop.entry.wiring import wiring
from provenloop.services.ports import Put
from provenloop.services.tokens import digest_of_secret
from tests.functions.api import Api
from tests.functions.requests import ADDRESS, ADMIN, NOTE, NOW

PROTECTED = [known for known in OPERATIONS if known.scopes]
OF_A_MEMORY = [known for known in PROTECTED if known.names_memory]
PATH = {
    "memory": "support",
    "address": ADDRESS,
    "namespace": "shared",
    "subject": "s",
    "id": "aaaa",
    "run": "r",
    "job": "0" * 32,
    "action": "arm",
}
DECISIONS = ("approve", "reject", "acknowledge", "wake", "apply", "approve_and_apply", "roll_back")
RECIPE_DECISIONS = ("restore_recipe", "retire_recipe", "forget_recipe")
BODIES: dict[str, dict[str, Any]] = {
    "record_events": {"events": [NOTE]},
    "configure": {"passes_enabled": True},
    "report_lesson": {"project": "p", "category": "c", "signature": "s", "detail": "d"},
    "act_on_card": {"because": "x", "statement": "x"},
    "start_session": {"project": "p"},
    "digest_lessons": {"session": "s1"},
    "offer_lesson": {"because": "x", "project": "p"},
    "pass_lesson": {"project": "p", "category": "c", "signature": "s", "session": "s1"},
    "match_recipe": {"request": "x", "scope": {"agent": "a"}},
    "commit_recipe": {"hit_token": "x"},
    "give_feedback": {"hit_token": "x", "verdict": "held", "because": "x"},
    "distil_recipe": {
        "envelope": {"problem": "x", "final_message": "x", "signals": []},
        "scope": {"agent": "a"},
    },
    "forget": {"address": ADDRESS, "because": "x"},
    "snooze": {"because": "x", "until": NOW + 1},
    "batch_review": {"ids": ["aaaa"], "action": "reject", "because": "x"},
    "mint_token": {"label": "x", "kind": "agent", "memories": "*", "scopes": ["read"]},
    **{name: {"because": "x"} for name in (*DECISIONS, *RECIPE_DECISIONS, "delete_memory", "migrate_cards")},
}
QUERIES = {"recall": {"subject": "s"}, "show_history": {"address": ADDRESS}, "show_context": {"project": "p"}}
UNAUTHENTICATED = (401, "PVL-E025")
DENIED = (403, "PVL-E022")


VARIABLE = re.compile(r"\{(\w+)\+?\}")
#: Path variables that name no single thing of a memory, but a place in it that may be empty.
PLACES = {"memory", "namespace", "subject", "action"}


def attempt(api: Api, known: Operation, token: str | None) -> HttpResponse:
    return api.call(known.name, PATH, BODIES.get(known.name), token=token, query=QUERIES.get(known.name))


def refusals(api: Api, operations: Iterable[Operation], token: str | None) -> dict[str, tuple[int, str]]:
    """How each operation refuses the token."""
    return {known.name: api.refused(attempt(api, known, token)) for known in operations}


def all_as(operations: Iterable[Operation], refusal: tuple[int, str]) -> dict[str, tuple[int, str]]:
    return {known.name: refusal for known in operations}


def test_these_tests_can_ask_for_every_operation_there_is() -> None:
    """Whatever is added to the table is walked by the tests below, and fails here until it can be."""
    for known in PROTECTED:
        assert set(VARIABLE.findall(known.path)) <= PATH.keys(), known.name
        body = BODIES.get(known.name)
        assert known.body is None or known.body_optional or body is not None, known.name
        if body is not None:
            assert known.body is not None
            known.body.model_validate_json(json.dumps(body))
        if known.query is not None:
            known.query.model_validate_json(json.dumps(QUERIES.get(known.name, {})))


@pytest.mark.parametrize("token", [None, "", "wrong", "pvl_wrong", "wrong@default", f"{ADMIN}x", f"{ADMIN}@No.Such"])
def test_nobody_is_let_in_anywhere_without_a_valid_token(api: Api, token: str | None) -> None:
    assert refusals(api, PROTECTED, token) == all_as(PROTECTED, UNAUTHENTICATED)
    assert api.stack.items() == {"Table": []}


def test_a_401_says_how_to_authenticate(api: Api) -> None:
    assert (api.call("list_memories", {}, token=None).header("www-authenticate") or "").startswith("Bearer")


def test_an_expired_token_lets_nobody_in_anywhere(api: Api) -> None:
    token = api.mint("short", *SCOPES, expires_at=NOW + 1000)
    api.stack.set_clock(NOW + 1000)
    before = api.stack.items()
    assert refusals(api, PROTECTED, token) == all_as(PROTECTED, UNAUTHENTICATED)
    assert api.stack.items() == before


def test_a_revoked_token_lets_nobody_in_anywhere(api: Api) -> None:
    api.done("create_memory")
    secret = "pvl_revoked"
    gone = Token(
        digest=digest_of_secret(secret),
        id="tok_gone",
        principal_id="tok_gone",
        label="gone",
        kind="human",
        tenant="default",
        memories="*",
        scopes=SCOPES,
        lineage=("tok_gone",),
        created_at=NOW,
        revoked_at=NOW,
    )
    wiring().tokens.transact("default", [Put(gone)], NOW)
    before = api.stack.items()
    assert refusals(api, PROTECTED, secret) == all_as(PROTECTED, UNAUTHENTICATED)
    assert api.stack.items() == before


@pytest.mark.parametrize("missing", [scope for scope in SCOPES if scope != "admin"])
def test_all_other_scopes_together_do_not_stand_in_for_one(api: Api, missing: str) -> None:
    needing = [known for known in PROTECTED if missing in known.scopes]
    token = api.mint("others", *(scope for scope in SCOPES if scope not in (missing, "admin")))
    before = api.stack.items()
    assert refusals(api, needing, token) == all_as(needing, DENIED)
    assert api.stack.items() == before


def test_all_scopes_together_do_not_stand_in_for_admin(api: Api) -> None:
    needing = [known for known in PROTECTED if "admin" in known.scopes]
    token = api.mint("others", *(scope for scope in SCOPES if scope != "admin"))
    before = api.stack.items()
    assert refusals(api, needing, token) == all_as(needing, DENIED)
    assert api.stack.items() == before


def test_the_needed_scopes_alone_are_enough_everywhere(api: Api) -> None:
    api.done("create_memory")
    # Some decisions are people's alone.
    needed = {known.scopes for known in PROTECTED}
    tokens = {scopes: api.mint("-".join(scopes), *scopes, kind="human") for scopes in needed}
    reached = {known.name: attempt(api, known, tokens[known.scopes]).status for known in PROTECTED}
    assert not {401, 403, 500} & set(reached.values()), reached


def test_admin_stands_in_for_every_scope(api: Api) -> None:
    api.done("create_memory")
    token = api.mint("root", "admin", kind="human")
    reached = {known.name: attempt(api, known, token).status for known in PROTECTED}
    assert not {401, 403, 500} & set(reached.values()), reached


def test_a_token_for_other_memories_reaches_none_but_those(api: Api) -> None:
    api.done("create_memory")
    token = api.mint("elsewhere", "admin", memories="other-*")
    before = api.stack.items()
    assert refusals(api, OF_A_MEMORY, token) == all_as(OF_A_MEMORY, DENIED)
    assert api.stack.items() == before
    assert api.call("create_memory", {"memory": "other-one"}, token=token).status == 201
    (listed,) = api.done("list_memories", {}, token=token)["memories"]
    assert listed["name"] == "other-one"


def test_a_memory_of_another_tenant_is_not_there(api: Api) -> None:
    api.find()
    minted = api.mint("theirs", "admin", kind="human", token=f"{ADMIN}@other")
    before = api.stack.items()
    # One makes a memory of their own; the other answers for each listed id, none of which is there either.
    others = [known for known in OF_A_MEMORY if known.name != "create_memory"]
    for token in (f"{ADMIN}@other", minted):
        assert refusals(api, others, token) == all_as(others, (404, "PVL-E040"))
    assert api.stack.items() == before


def test_what_is_of_one_memory_is_not_found_in_another_of_the_same_tenant(api: Api) -> None:
    """Also by a token that may use both: an id means something in its own memory only."""
    found = api.find()
    run = api.done("run_pass", body={})["run"]
    evidence = api.done("show_recommendation", {"memory": "support", "id": found[0]["id"]})["evidence"]
    api.done("create_memory", {"memory": "other"})
    token = api.mint("of-the-other", "admin", kind="human", memories="other")
    theirs = {**PATH, "memory": "other", "id": found[0]["id"], "run": run, "address": evidence[0]["address"]}
    of_one = [known for known in OF_A_MEMORY if set(VARIABLE.findall(known.path)) - PLACES]
    # The caller names a session that starts: it is another one there.
    of_one = [known for known in of_one if known.name != "start_session"]
    assert len(of_one) > 10
    before = api.stack.items()
    for asking in (token, ADMIN):
        refused = {
            known.name: api.refused(api.call(known.name, theirs, BODIES.get(known.name), token=asking))
            for known in of_one
        }
        assert refused == all_as(of_one, (404, "PVL-E040"))
    assert api.stack.items() == before


def test_what_is_of_no_memory_shows_and_changes_another_tenants_things_only(api: Api) -> None:
    api.find()
    ours = api.done("mint_token", {}, BODIES["mint_token"])
    minted = api.mint("theirs", "admin", kind="human", token=f"{ADMIN}@other")
    of_the_tenant = {known.name for known in PROTECTED if not known.names_memory}
    assert of_the_tenant == {
        "list_memories", "mint_token", "list_tokens", "revoke_token", "export_tenant_audit", "verify_tenant_audit",
    }  # fmt: skip
    before = api.stack.items()["Table"]
    assert api.done("list_memories", {}, token=minted) == {"memories": []}
    assert [row["label"] for row in api.done("list_tokens", {}, token=minted)["tokens"]] == ["theirs"]
    assert api.refused(api.call("revoke_token", {"id": ours["id"]}, token=minted)) == (404, "PVL-E040")
    assert '"subject":"token:' in api.call("export_tenant_audit", {}, token=minted).text
    assert ours["id"] not in api.call("export_tenant_audit", {}, token=minted).text
    foreign = {"subject": f"token:{ours['id']}"}
    for name in ("export_tenant_audit", "verify_tenant_audit"):
        assert api.refused(api.call(name, {}, token=minted, query=foreign)) == (404, "PVL-E040")
    assert api.stack.items()["Table"] == before
    assert api.call("mint_token", {}, BODIES["mint_token"], token=minted).status == 201
    assert api.call("create_memory", {"memory": "support"}, token=minted).status == 201
    assert [row for row in before if row not in api.stack.items()["Table"]] == []
    assert [row["label"] for row in api.done("list_tokens", {})["tokens"]] == ["x"]


def test_tenants_may_use_the_same_names_without_meeting(api: Api) -> None:
    api.done("create_memory")
    api.done("create_memory", token=f"{ADMIN}@other")
    api.done("record_events", body={"events": [{**NOTE, "text": "ours"}]})
    (theirs,) = api.done("list_memories", {}, token=f"{ADMIN}@other")["memories"]
    assert theirs["name"] == "support"
    assert api.done("loop_health", token=f"{ADMIN}@other")["seq"] == 0
    assert api.done("loop_health")["seq"] == 1


def test_what_needs_no_token_needs_none(api: Api) -> None:
    assert {known.name for known in OPERATIONS} - {known.name for known in PROTECTED} == {"health", "openapi"}
    assert api.done("health", {}, token=None)["status"] == "ok"
    assert api.done("openapi", {}, token=None)["openapi"] == "3.1.0"


def test_an_expired_token_is_refused_at_once_though_it_was_good_before(api: Api) -> None:
    api.find()
    token = api.mint("reviewer", "read", "review", kind="human", expires_at=NOW + 1000)
    assert api.call("list_recommendations", token=token).status == 200
    api.stack.set_clock(NOW + 2000)
    assert api.refused(api.call("list_recommendations", token=token)) == UNAUTHENTICATED
    assert api.refused(api.call("reject", PATH, {"because": "x"}, token=token)) == UNAUTHENTICATED
    assert api.refused(api.call("list_recommendations", token=token)) == UNAUTHENTICATED


def test_a_body_cannot_say_who_is_asking(api: Api) -> None:
    api.done("create_memory")
    for claim in ("tenant", "principal", "by", "label", "scopes"):
        response = api.call("record_events", body={"events": [NOTE], claim: "other"})
        assert api.refused(response) == (400, "PVL-E011")
        assert response.json()["field"] == claim
