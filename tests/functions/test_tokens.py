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
    for memories in ("*", "sales-*", "support-1", "support*"):
        assert refusal(api, minting(api, narrow, memories=memories)) == (403, "PVL-E026", "memories")
    assert minting(api, narrow, memories="support-*").status == 201


@pytest.mark.parametrize("label", ["engine:x", "policy:x", "llm:x", "command:x", "Engine:x"])
def test_labels_of_the_engine_are_reserved(api: Api, label: str) -> None:
    assert refusal(api, minting(api, label=label)) == (400, "PVL-E011", "label")


def test_a_label_is_unique_in_its_tenant_only(api: Api) -> None:
    api.mint("writer", "read")
    assert refusal(api, minting(api, label="writer")) == (409, "PVL-E043", "label")
    assert minting(api, f"{ADMIN}@acme", label="writer").status == 201


def test_a_token_cannot_expire_in_the_past(api: Api) -> None:
    assert refusal(api, minting(api, expires_at=NOW)) == (400, "PVL-E011", "expires_at")


def test_a_token_is_not_minted_when_it_is_refused(api: Api) -> None:
    agent = api.mint("robot", "admin", kind="agent")
    before = api.stack.items()
    minting(api, agent, kind="human")
    minting(api, label="robot")
    minting(api, label="engine:x")
    assert api.stack.items() == before
