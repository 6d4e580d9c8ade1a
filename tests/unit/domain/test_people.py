"""From the claims of a verified JWT to a principal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.errors import InternalError, UnauthenticatedError
from provenloop.domain.people import SKEW_MS, ClaimRow, person_of, read_table

NOW = 1_800_000_000_000
S = NOW // 1000
ROW: dict[str, Any] = {
    "claim": "groups",
    "value": "reviewers",
    "tenant": "acme",
    "memories": "support-*",
    "scopes": ["read", "review"],
    "label": "email",
}
ADMINS = {**ROW, "value": "admins", "memories": "*", "scopes": ["admin"]}
CLAIMS: dict[str, Any] = {
    "iss": "https://issuer.example",
    "sub": "u-1",
    "exp": S + 600,
    "iat": S,
    "groups": ["reviewers"],
    "email": "ann@example.com",
}


def table(*rows: dict[str, Any]) -> tuple[ClaimRow, ...]:
    return read_table(json.dumps(rows or [ROW]))


def nobody(claims: dict[str, Any], now: int = NOW) -> None:
    with pytest.raises(UnauthenticatedError):
        person_of({name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}, table(), now)


def test_a_person_may_do_what_the_row_says() -> None:
    person = person_of(CLAIMS, table(), NOW)
    assert (person.kind, person.tenant, person.memories, person.scopes) == (
        "human",
        "acme",
        "support-*",
        frozenset({"read", "review"}),
    )
    assert person.label == "oidc:ann@example.com"
    assert person.id == person.token_id
    assert person.lineage == (person.id,)
    assert person.mints_until is None


def test_what_a_jwt_says_of_itself_has_no_effect() -> None:
    claims = {**CLAIMS, "tenant": "other", "scopes": ["admin"], "memories": "*", "kind": "service", "id": "bootstrap"}
    assert person_of(claims, table(), NOW) == person_of(CLAIMS, table(), NOW)


def test_the_first_row_that_fits_decides() -> None:
    both = {**CLAIMS, "groups": ["reviewers", "admins"]}
    assert person_of(both, table(ADMINS, ROW), NOW).scopes == {"admin"}
    assert person_of(both, table(ROW, ADMINS), NOW).scopes == {"read", "review"}


def test_a_claim_may_be_one_text_as_well() -> None:
    assert person_of({**CLAIMS, "groups": "reviewers"}, table(), NOW).tenant == "acme"


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["other", "reviewers"]}}),
        ("realm_access.roles", {"realm_access": {"roles": "reviewers"}}),
        ("resource_access.loop.example.roles", {"resource_access": {"loop.example": {"roles": ["reviewers"]}}}),
        ("a.b.c.d", {"a": {"b": {"x": 1}, "b.c": {"d": ["reviewers"]}}}),
        ("https://acme.example/v1.0/roles", {"https://acme.example/v1.0/roles": ["reviewers"]}),
        ("https://acme.example/claims.roles", {"https://acme.example/claims": {"roles": ["reviewers"]}}),
        ("cognito:groups", {"cognito:groups": ["reviewers"]}),
        ("roles.", {"roles.": ["reviewers"]}),
    ],
)
def test_a_claim_inside_another_is_named_by_its_path_and_one_with_dots_by_its_name(
    name: str, claims: dict[str, Any]
) -> None:
    assert person_of({**CLAIMS, **claims}, table({**ROW, "claim": name}), NOW).scopes == {"read", "review"}


@pytest.mark.parametrize(
    "claims",
    [
        {"realm_access": {"roles": []}},
        {"realm_access": ["roles", "reviewers"]},
        {"realm_access": "reviewers"},
        {"realm_access": {"Roles": ["reviewers"]}},
        {"realm_access": {"roles": {"reviewers": True}}},
        {"realm_access": None, "roles": ["reviewers"]},
        {"other": {"realm_access": {"roles": ["reviewers"]}}},
        {"realm_access.roles": ["other"], "realm_access": {"roles": ["reviewers"]}},
        {"realm_access.roles": None, "realm_access": {"roles": ["reviewers"]}},
    ],
)
def test_what_is_not_at_the_end_of_the_path_is_no_claim(claims: dict[str, Any]) -> None:
    with pytest.raises(UnauthenticatedError):
        person_of({**CLAIMS, **claims}, table({**ROW, "claim": "realm_access.roles"}), NOW)


def test_people_are_shown_by_a_claim_inside_another_as_well() -> None:
    claims = {**CLAIMS, "profile": {"name": "Ann"}}
    assert person_of(claims, table({**ROW, "label": "profile.name"}), NOW).label == "oidc:Ann"


@pytest.mark.parametrize(
    "groups", [None, [], ["Reviewers"], "reviewers admins", ["reviewer"], {"reviewers": 1}, 1, True, [["reviewers"]]]
)
def test_whoever_fits_no_row_is_nobody(groups: object) -> None:
    nobody({"groups": groups})


def test_a_person_is_known_by_issuer_and_subject_whatever_the_label() -> None:
    ann = person_of(CLAIMS, table(), NOW)
    assert person_of({**CLAIMS, "email": "other@example.com"}, table(), NOW).id == ann.id
    assert person_of({**CLAIMS, "sub": "u-2"}, table(), NOW).id != ann.id
    assert person_of({**CLAIMS, "iss": "https://other.example"}, table(), NOW).id != ann.id


@pytest.mark.parametrize("label", [None, "", " ann", "a\nb", "a\u202eb", 7, ["ann"], "x" * 60])
def test_a_label_that_cannot_be_shown_gives_way_to_the_id(label: object) -> None:
    person = person_of({**CLAIMS, "email": label}, table(), NOW)
    assert person.label == person.id


@pytest.mark.parametrize("subject", [None, "", 1, "x" * 256, ["u-1"]])
def test_a_jwt_that_names_nobody_is_refused(subject: object) -> None:
    nobody({"sub": subject})


def test_clocks_may_differ_by_a_minute() -> None:
    ends = CLAIMS["exp"] * 1000
    person = person_of(CLAIMS, table(), ends + SKEW_MS - 1)
    assert person.expires_at == ends + SKEW_MS
    nobody({}, ends + SKEW_MS)
    for name in ("nbf", "iat"):
        assert person_of({**CLAIMS, name: S + 60}, table(), NOW).tenant == "acme"
        nobody({name: S + 61})


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("value", ["1800000600", True, -1, float("nan"), float("inf"), 10**30, [1], {}])
def test_an_instant_that_is_none_is_refused(name: str, value: object) -> None:
    nobody({name: value})


def test_a_jwt_without_end_is_refused() -> None:
    nobody({"exp": None})


def test_a_jwt_need_not_say_when_it_was_made() -> None:
    assert person_of({name: value for name, value in CLAIMS.items() if name != "iat"}, table(), NOW).tenant == "acme"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("{}", "list"),
        ("[]", "list"),
        (json.dumps([ROW] * 101), "list"),
        (json.dumps([ROW, 1]), "row 2"),
        (json.dumps([{**ROW, "kind": "agent"}]), "row 1"),
        (json.dumps([{name: ROW[name] for name in ROW if name != "tenant"}]), "row 1"),
        (json.dumps([{**ROW, "tenant": "Acme"}]), "row 1, tenant"),
        (json.dumps([{**ROW, "tenant": "*"}]), "row 1, tenant"),
        (json.dumps([{**ROW, "memories": "[a]"}]), "row 1, memories"),
        (json.dumps([{**ROW, "scopes": []}]), "row 1, scopes"),
        (json.dumps([{**ROW, "scopes": ["root"]}]), "row 1, scopes"),
        (json.dumps([{**ROW, "scopes": "read"}]), "row 1: scopes"),
        (json.dumps([{**ROW, "value": ""}]), "row 1"),
        (json.dumps([{**ROW, "value": 1}]), "row 1"),
    ],
)
def test_a_table_that_is_none_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(InternalError, match=said):
        read_table(text)
