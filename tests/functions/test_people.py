"""People with JWTs of an issuer, on the whole system: what they may do, and what the audit trail calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.entry.local.stack import LocalStack
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOW, ROOT
from tests.functions.test_access import OF_A_MEMORY, PROTECTED, UNAUTHENTICATED, all_as, attempt, refusals
from tests.oidc_issuer import AUDIENCE, LocalIssuer, local_issuer, rsa_key

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ROW = {
    "claim": "groups",
    "value": "reviewers",
    "tenant": "default",
    "memories": "support*",
    "scopes": ["read", "review"],
}
TABLE: list[dict[str, Any]] = [
    {**ROW, "value": "admins", "memories": "*", "scopes": ["admin"], "label": "email"},
    {**ROW, "label": "email"},
    {**ROW, "value": "elsewhere", "tenant": "acme", "memories": "*", "scopes": ["admin"]},
    {**ROW, "value": "others", "memories": "other-*", "scopes": ["admin"]},
    {**ROW, "claim": "realm_access.roles", "value": "loop-auditor", "scopes": ["read"]},
    {**ROW, "claim": "https://acme.example/roles", "value": "auditor", "scopes": ["read"]},
]


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as served:
        yield served


def parameters_of(issuer: LocalIssuer) -> dict[str, str]:
    return {"OidcIssuer": issuer.address, "OidcAudience": AUDIENCE, "OidcClaims": json.dumps(TABLE)}


@pytest.fixture
def api(issuer: LocalIssuer) -> Iterator[Api]:
    with LocalStack(ROOT, parameters=parameters_of(issuer), dev_token=ADMIN, now_ms=NOW) as stack:
        yield Api(stack)


def test_a_person_of_the_issuer_reviews_and_is_named_in_the_audit_trail(api: Api, issuer: LocalIssuer) -> None:
    found = api.find()
    path = {"memory": "support", "id": found[0]["id"]}
    token = issuer.sign(email="ann@example.com")
    assert api.call("list_recommendations", token=token).status == 200
    api.done("approve", path, {"because": "agreed"}, token=token)
    assert api.refused(api.call("apply", path, {"because": "agreed"}, token=token)) == (403, "PVL-E022")
    decision = api.done("show_recommendation", path)["audit"][-1]
    assert "oidc:ann@example.com" in json.dumps(decision)


@pytest.mark.parametrize(
    "claims", [{"realm_access": {"roles": ["offline", "loop-auditor"]}}, {"https://acme.example/roles": ["auditor"]}]
)
def test_a_role_inside_another_claim_or_under_an_address_is_found(
    api: Api, issuer: LocalIssuer, claims: dict[str, Any]
) -> None:
    [first, *_] = api.find()
    token = issuer.sign(groups=[], **claims)
    assert api.call("list_recommendations", token=token).status == 200
    answer = api.call("reject", {"memory": "support", "id": first["id"]}, {"because": "x"}, token=token)
    assert api.refused(answer) == (403, "PVL-E022")


def test_a_person_with_admin_mints_tokens_that_last_and_are_known_as_theirs(api: Api, issuer: LocalIssuer) -> None:
    token = issuer.sign(groups=["admins"])
    request = {"label": "robot", "kind": "agent", "memories": "*", "scopes": ["read"]}
    minted = api.done("mint_token", {}, request, token=token)
    assert minted["expires_at"] is None
    assert minted["lineage"] == [minted["id"], minted["minted_by"]]
    assert minted["minted_by"].startswith("oidc:")
    assert [row["id"] for row in api.done("list_tokens", {}, token=token)["tokens"]] == [minted["id"]]
    assert api.done("revoke_token", {"id": minted["id"]}, token=token)["revoked_by"] == minted["minted_by"]


def test_a_person_stays_the_same_from_one_jwt_to_the_next(api: Api, issuer: LocalIssuer) -> None:
    person = issuer.sign(groups=["admins"])
    again = issuer.sign(groups=["admins"], iat=NOW // 1000 - 5)
    first = api.done("mint_token", {}, _wanted("a"), token=person)
    second = api.done("mint_token", {}, _wanted("b"), token=again)
    assert first["lineage"][1:] == second["lineage"][1:]


def test_a_jwt_that_is_not_valid_lets_nobody_in_anywhere(api: Api, issuer: LocalIssuer) -> None:
    api.done("create_memory")
    before = api.stack.items()
    bad = {
        "expired": issuer.sign(groups=["admins"], exp=NOW // 1000 - 60),
        "for others": issuer.sign(groups=["admins"], aud="other"),
        "of a stranger": issuer.sign(rsa_key("stranger"), groups=["admins"]),
        "of nobody": issuer.sign(groups=["everyone"]),
    }
    for why, token in bad.items():
        assert refusals(api, PROTECTED, token) == all_as(PROTECTED, UNAUTHENTICATED), why
    assert api.stack.items() == before


def test_a_jwt_ends_when_it_says_though_it_was_good_before(api: Api, issuer: LocalIssuer) -> None:
    api.done("create_memory")
    token = issuer.sign(groups=["admins"], exp=NOW // 1000 + 1)
    assert api.call("loop_health", token=token).status == 200
    api.stack.set_clock(NOW + 61_000)
    assert api.refused(api.call("loop_health", token=token)) == UNAUTHENTICATED


def test_a_person_of_another_tenant_or_memory_gets_nowhere(api: Api, issuer: LocalIssuer) -> None:
    api.find()
    before = api.stack.items()
    others = [known for known in OF_A_MEMORY if known.name != "create_memory"]
    elsewhere = issuer.sign(groups=["elsewhere"])
    assert refusals(api, others, elsewhere) == all_as(others, (404, "PVL-E040"))
    other_memories = issuer.sign(groups=["others"])
    assert refusals(api, OF_A_MEMORY, other_memories) == all_as(OF_A_MEMORY, (403, "PVL-E022"))
    assert api.stack.items() == before


def test_without_the_issuer_people_are_told_to_try_again_and_tokens_work(api: Api, issuer: LocalIssuer) -> None:
    issuer.is_down = True
    answer = api.call("list_memories", {}, token=issuer.sign(groups=["admins"]))
    assert api.refused(answer) == (503, "PVL-E004")
    assert answer.header("retry-after") is not None
    assert api.call("list_memories", {}).status == 200


def test_a_person_is_let_in_by_every_operation(api: Api, issuer: LocalIssuer) -> None:
    api.done("create_memory")
    token = issuer.sign(groups=["admins"])
    reached = {known.name: attempt(api, known, token).status for known in PROTECTED}
    # A digest takes a model, and none is set up here.
    assert reached.pop("digest_lessons") == 503
    assert not {401, 403, 500, 503} & set(reached.values()), reached


def _wanted(label: str) -> dict[str, Any]:
    return {"label": label, "kind": "agent", "memories": "*", "scopes": ["read"]}


@pytest.mark.parametrize(
    "wrong", [{"OidcClaims": "{}"}, {"OidcClaims": ""}, {"OidcAudience": ""}, {"OidcIssuer": "http://issuer.example"}]
)
def test_a_deployment_that_is_set_up_wrongly_lets_no_person_in_and_keeps_tokens_working(
    issuer: LocalIssuer, wrong: dict[str, str]
) -> None:
    with LocalStack(ROOT, parameters={**parameters_of(issuer), **wrong}, dev_token=ADMIN, now_ms=NOW) as stack:
        broken = Api(stack)
        answer = broken.call("list_memories", {}, token=issuer.sign(groups=["admins"]))
        assert broken.refused(answer) == (500, "PVL-E099")
        assert "detail" not in answer.json()
        assert broken.call("list_memories", {}).status == 200
