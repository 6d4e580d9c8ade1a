"""Which tokens may be minted, by whom, and what becomes of their secrets."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.principal import SCOPES
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOW


def minting(api: Api, token: str = ADMIN, **fields: Any) -> Any:
    request = {"label": "x", "kind": "agent", "memories": "*", "scopes": ["read"], **fields}
    return api.call("mint_token", {}, request, token=token)


def refusal(api: Api, response: Any) -> tuple[int, str, str | None]:
    status, code = api.refused(response)
    return status, code, response.json().get("field")


def test_a_token_is_shown_with_its_secret_and_works_at_once(api: Api) -> None:
    response = minting(api, label="writer", memories="support-*", scopes=["write", "read"], expires_at=NOW + 60_000)
    assert response.status == 201
    minted = response.json()
    assert {name: value for name, value in minted.items() if name not in ("id", "secret")} == {
        "label": "writer",
        "kind": "agent",
        "memories": "support-*",
        "scopes": ["read", "write"],
        "minted_by": "bootstrap",
        "lineage": [minted["id"], "bootstrap"],
        "revoked_at": None,
        "revoked_by": None,
        "created_at": "2027-01-15T08:00:00.000Z",
        "expires_at": "2027-01-15T08:01:00.000Z",
    }
    api.done("create_memory", {"memory": "support-1"})
    assert api.call("loop_health", {"memory": "support-1"}, token=minted["secret"]).status == 200


def test_a_secret_holds_256_random_bits_and_is_stored_nowhere(api: Api) -> None:
    secrets = {api.mint(f"label-{number}", "read") for number in range(3)}
    assert len(secrets) == 3
    assert all(len(secret) >= 43 for secret in secrets)
    stored = repr(api.stack.items())
    assert not [secret for secret in secrets if secret in stored or secret.removeprefix("pvl_") in stored]


def test_an_answer_with_a_secret_may_not_be_cached(api: Api) -> None:
    assert minting(api).header("cache-control") == "no-store"


def test_a_token_acts_in_its_minters_tenant(api: Api) -> None:
    api.done("create_memory", token=f"{ADMIN}@acme")
    token = api.mint("root", "admin", token=f"{ADMIN}@acme", kind="human")
    nested = api.mint("nested", "admin", token=token)
    for secret in (token, nested):
        assert [memory["name"] for memory in api.done("list_memories", {}, token=secret)["memories"]] == ["support"]
    assert api.done("list_memories", {})["memories"] == []


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "admin"])
def test_only_an_administrator_mints(api: Api, scope: str) -> None:
    token = api.mint("holder", scope, kind="human")
    assert refusal(api, minting(api, token, label="y", scopes=[scope])) == (403, "PVL-E022", None)


def test_only_a_person_mints_another_kind(api: Api) -> None:
    agent = api.mint("robot", "admin", kind="agent")
    assert refusal(api, minting(api, agent, kind="human")) == (403, "PVL-E024", "kind")
    assert refusal(api, minting(api, agent, kind="service")) == (403, "PVL-E024", "kind")
    assert minting(api, agent, kind="agent").status == 201


def test_a_token_covers_no_memory_that_its_minter_may_not_use(api: Api) -> None:
    narrow = api.mint("narrow", "admin", kind="human", memories="support-*")
    for memories in ("*", "sales-*", "support*", "?upport-1", "support"):
        assert refusal(api, minting(api, narrow, memories=memories)) == (403, "PVL-E026", "memories")
    for memories in ("support-*", "support-1", "support-?", "support-*-eu"):
        assert minting(api, narrow, label=memories, memories=memories).status == 201


def test_a_glob_that_cannot_be_compared_is_refused(api: Api) -> None:
    assert refusal(api, minting(api, memories="*a?????????")) == (400, "PVL-E011", "memories")
    assert refusal(api, minting(api, memories="[a-z]*")) == (400, "PVL-E011", "memories")


@pytest.mark.parametrize(
    "label", ["engine:x", "policy:x", "llm:x", "command:x", "oidc:x", "Engine:x", "ｅngine:x", "telemetry", "Bootstrap"]
)
def test_labels_of_the_engine_are_reserved(api: Api, label: str) -> None:
    assert refusal(api, minting(api, label=label)) == (400, "PVL-E011", "label")


def test_a_label_is_unique_in_its_tenant_only(api: Api) -> None:
    api.mint("writer", "read")
    assert refusal(api, minting(api, label="writer")) == (409, "PVL-E043", "label")
    assert minting(api, f"{ADMIN}@acme", label="writer").status == 201


@pytest.mark.parametrize(
    "label", ["USER:one reviewer", "user:one  reviewer", "user:ｏne\u00a0reviewer", "user:one\u200b reviewer"]
)
def test_a_label_that_only_looks_like_another_names_nobody_else(api: Api, label: str) -> None:
    minting(api, label="user:one reviewer")
    assert refusal(api, minting(api, label=label)) == (409, "PVL-E043", "label")


@pytest.mark.parametrize("label", ["user:reviewer ", " user:reviewer", "user:reviewer\u00a0"])
def test_a_label_has_no_blanks_around_it(api: Api, label: str) -> None:
    assert refusal(api, minting(api, label=label)) == (400, "PVL-E011", "label")


def test_a_token_cannot_expire_in_the_past(api: Api) -> None:
    assert refusal(api, minting(api, expires_at=NOW)) == (400, "PVL-E011", "expires_at")


def test_a_token_ends_no_later_than_the_one_that_minted_it(api: Api) -> None:
    short = api.mint("short", "admin", kind="human", expires_at=NOW + 1000)
    assert refusal(api, minting(api, short, expires_at=NOW + 1001)) == (403, "PVL-E026", "expires_at")
    assert minting(api, short, label="same", expires_at=NOW + 1000).status == 201
    assert minting(api, short, label="unsaid").json()["expires_at"] == "2027-01-15T08:00:01.000Z"


def test_a_token_grants_no_scope_that_its_minter_lacks_though_admin_holds_them_all(api: Api) -> None:
    lead = api.mint("lead", "admin", kind="human")
    assert minting(api, lead, scopes=list(SCOPES)).status == 201


def test_a_repeated_request_finds_the_token_without_its_secret(api: Api) -> None:
    wanted = {"label": "x", "kind": "agent", "memories": "*", "scopes": ["read"]}
    first = api.call("mint_token", {}, wanted, key="k")
    after_first = api.stack.items()
    again = api.call("mint_token", {}, wanted, key="k")
    assert (first.status, again.status) == (201, 200)
    assert again.json() == {**first.json(), "secret": None}
    assert api.stack.items() == after_first
    assert first.json()["secret"] not in repr(after_first)
    other = api.call("mint_token", {}, {**wanted, "label": "y"}, key="k")
    assert refusal(api, other) == (409, "PVL-E014", None)
    assert api.stack.items() == after_first


def test_a_key_of_one_caller_is_no_key_of_another(api: Api) -> None:
    wanted = {"label": "x", "kind": "agent", "memories": "*", "scopes": ["read"]}
    lead = api.mint("lead", "admin", kind="human")
    assert api.call("mint_token", {}, wanted, key="k").status == 201
    assert api.call("mint_token", {}, {**wanted, "label": "y"}, key="k", token=lead).status == 201
    assert api.call("mint_token", {}, wanted, key="k", token=f"{ADMIN}@acme").status == 201


def test_a_token_is_not_minted_when_it_is_refused(api: Api) -> None:
    agent = api.mint("robot", "admin", kind="agent")
    before = api.stack.items()
    minting(api, agent, kind="human")
    minting(api, label="robot")
    minting(api, label="engine:x")
    assert api.stack.items() == before
