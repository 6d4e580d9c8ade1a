"""Tokens in lists, and what revoking one ends."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.entry.credentials import CACHE_MS
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOTE, NOW

UNAUTHENTICATED = (401, "PVL-E025")


def mint(api: Api, label: str, *scopes: str, token: str = ADMIN, **fields: Any) -> dict[str, Any]:
    request = {"label": label, "kind": "human", "memories": "*", "scopes": list(scopes or ("admin",)), **fields}
    minted: dict[str, Any] = api.done("mint_token", {}, request, token=token)
    return minted


def revoke(api: Api, token_id: str, token: str = ADMIN) -> Any:
    return api.call("revoke_token", {"id": token_id}, token=token)


def listed(api: Api, token: str = ADMIN, **query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = api.done("list_tokens", {}, token=token, query=query)["tokens"]
    return rows


def labels(api: Api, token: str = ADMIN) -> set[str]:
    return {row["label"] for row in listed(api, token)}


def works(api: Api, minted: dict[str, Any]) -> bool:
    """Whether the token is let in where it is read afresh."""
    return api.call("list_memories", {}, token=minted["secret"]).status == 200


def test_tokens_are_listed_as_they_were_minted_without_secret_or_digest(api: Api) -> None:
    minted = [mint(api, label, "admin", "read", memories="support-*", expires_at=NOW + 1000) for label in ("a", "b")]
    without = [{name: value for name, value in row.items() if name != "secret"} for row in minted]
    assert listed(api) == sorted(without, key=lambda row: row["id"])
    assert listed(api)[0]["minted_by"] == "bootstrap"


def test_expired_and_revoked_tokens_stay_in_the_list(api: Api) -> None:
    mint(api, "short", expires_at=NOW + 1000)
    revoke(api, mint(api, "gone")["id"])
    api.stack.set_clock(NOW + 2000)
    by_label = {row["label"]: row for row in listed(api)}
    assert by_label["short"]["expires_at"] == "2027-01-15T08:00:01.000Z"
    assert by_label["gone"]["revoked_at"] == "2027-01-15T08:00:00.000Z"
    assert by_label["gone"]["revoked_by"] == "bootstrap"


def test_a_list_comes_in_pages_that_hold_each_token_once(api: Api) -> None:
    for number in range(5):
        mint(api, f"t{number}")
    pages: list[list[str]] = []
    cursor = None
    while cursor is not None or not pages:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = api.done("list_tokens", {}, query=query)
        pages.append([row["id"] for row in page["tokens"]])
        cursor = page["cursor"]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [token_id for page in pages for token_id in page] == [row["id"] for row in listed(api)]


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"cursor": ""}, {"state": "active"}])
def test_a_list_is_asked_for_in_its_own_words_only(api: Api, query: dict[str, str]) -> None:
    assert api.refused(api.call("list_tokens", {}, query=query)) == (400, "PVL-E011")


def test_a_tenant_sees_and_revokes_its_own_tokens_only(api: Api) -> None:
    ours, theirs = mint(api, "ours"), mint(api, "theirs", token=f"{ADMIN}@acme")
    assert labels(api) == {"ours"}
    assert labels(api, f"{ADMIN}@acme") == {"theirs"}
    before = api.stack.items()
    assert api.refused(revoke(api, theirs["id"])) == (404, "PVL-E040")
    assert api.refused(revoke(api, ours["id"], theirs["secret"])) == (404, "PVL-E040")
    assert api.stack.items() == before


def test_an_admin_of_some_memories_sees_and_revokes_only_tokens_for_those(api: Api) -> None:
    narrow = mint(api, "narrow", memories="support-*")
    wide, within = mint(api, "wide"), mint(api, "within", memories="support-eu-?")
    assert labels(api, narrow["secret"]) == {"narrow", "within"}
    assert api.refused(revoke(api, wide["id"], narrow["secret"])) == (404, "PVL-E040")
    assert revoke(api, within["id"], narrow["secret"]).status == 200
    assert works(api, wide)
    assert not works(api, within)


def test_a_persons_token_is_revoked_by_a_person_only(api: Api) -> None:
    robot, person = mint(api, "robot", kind="agent"), mint(api, "person")
    before = api.stack.items()
    assert api.refused(revoke(api, person["id"], robot["secret"])) == (403, "PVL-E024")
    assert api.stack.items() == before
    assert revoke(api, robot["id"], person["secret"]).status == 200


def test_what_is_no_token_cannot_be_revoked(api: Api) -> None:
    minted = mint(api, "x")
    for token_id in ("bootstrap", "tok_unknown", minted["id"][:8], minted["id"] + "a", "x"):
        assert api.refused(revoke(api, token_id)) == (404, "PVL-E040")
    assert works(api, minted)


def test_a_revoked_token_decides_and_administers_nothing_from_then_on(api: Api) -> None:
    api.find()
    minted = mint(api, "lead", "admin", "review", "apply")
    path = {"memory": "support", "id": "aaaa"}
    assert works(api, minted)
    assert revoke(api, minted["id"]).status == 200
    before = api.stack.items()
    for name in ("approve", "reject", "apply", "approve_and_apply", "roll_back"):
        answer = api.call(name, path, {"because": "x"}, token=minted["secret"])
        assert api.refused(answer) == UNAUTHENTICATED, name
    assert api.stack.items() == before


def test_a_revoked_token_reads_and_writes_for_a_minute_at_most(api: Api) -> None:
    api.done("create_memory")
    minted = mint(api, "agent", "read", "write", kind="agent")

    def write() -> int:
        return api.call("record_events", body={"events": [NOTE]}, token=minted["secret"]).status

    assert write() == 200
    assert revoke(api, minted["id"]).status == 200
    api.stack.set_clock(NOW + CACHE_MS)
    assert write() == 401
    assert api.call("loop_health", token=minted["secret"]).status == 401


def test_revoking_again_changes_nothing_and_answers_the_same(api: Api) -> None:
    minted = mint(api, "x")
    first = revoke(api, minted["id"])
    after_first = api.stack.items()
    api.stack.set_clock(NOW + 5000)
    assert revoke(api, minted["id"]).json() == first.json()
    assert api.stack.items() == after_first


def test_a_revoked_token_takes_everything_minted_under_it_along(api: Api) -> None:
    root, other = mint(api, "root"), mint(api, "other")
    child = mint(api, "child", token=root["secret"])
    leaf = mint(api, "leaf", "read", "admin", token=child["secret"])
    apart = mint(api, "apart", token=other["secret"])
    answer = revoke(api, root["id"]).json()
    assert answer["descendants"] == [child["id"], leaf["id"]]
    assert [works(api, minted) for minted in (root, child, leaf)] == [False] * 3
    assert [works(api, minted) for minted in (other, apart)] == [True, True]


def test_a_token_may_revoke_itself(api: Api) -> None:
    minted = mint(api, "x")
    assert revoke(api, minted["id"], minted["secret"]).status == 200
    assert not works(api, minted)


def test_the_label_of_a_revoked_token_stays_its_own(api: Api) -> None:
    revoke(api, mint(api, "x")["id"])
    request = {"label": "x", "kind": "human", "memories": "*", "scopes": ["read"]}
    assert api.refused(api.call("mint_token", {}, request)) == (409, "PVL-E043")
