"""The tenant's own audit trail over HTTP: who minted and revoked which token, who made and erased which memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functions.api import Api
from tests.functions.requests import ADMIN, MEMORY, NOW

WANTED = {"label": "lead", "kind": "human", "memories": "support*", "scopes": ["admin"]}
DENIED = (403, "PVL-E022")


def trail(api: Api, token: str = ADMIN, **query: str) -> list[dict[str, Any]]:
    """The entries, each as JSON."""
    answer = api.call("export_tenant_audit", {}, token=token, query=query)
    assert answer.status == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def steps(api: Api, **query: str) -> list[tuple[str, str, str, str]]:
    """Subject, from, to and who."""
    return [(each["subject"], each["from"], each["to"], each["by"]["label"]) for each in trail(api, **query)]


def test_minting_and_revoking_a_token_is_told_with_who_and_what_it_may(api: Api) -> None:
    minted = api.done("mint_token", {}, WANTED)
    api.done("revoke_token", {"id": minted["id"]})
    [first, second] = trail(api)
    subject = f"token:{minted['id']}"
    assert (first["subject"], first["from"], first["to"], first["by"]["label"]) == (subject, "", "minted", "bootstrap")
    assert first["effects"] == {
        "label": "lead", "kind": "human", "memories": "support*", "scopes": ["admin"],
        "lineage": [minted["id"], "bootstrap"], "expires_at": None,
    }  # fmt: skip
    assert (second["from"], second["to"], second["effects"]) == (
        "minted", "revoked", {"label": "lead", "with": minted["id"]},
    )  # fmt: skip
    assert second["previous"] == first["id"]
    assert api.done("verify_tenant_audit", {}) == {"ok": True, "subjects": 1, "entries": 2, "break": None}


def test_neither_the_secret_nor_anything_made_of_it_is_told(api: Api) -> None:
    minted = api.done("mint_token", {}, WANTED)
    text = api.call("export_tenant_audit", {}).text
    stored = [item for item in api.stack.items()["Table"] if item["pk"]["S"].startswith("TOKEN#")]
    [digest] = [item["pk"]["S"].removeprefix("TOKEN#") for item in stored]
    assert minted["secret"] not in text
    assert minted["secret"].removeprefix("pvl_") not in text
    assert digest not in text


def test_what_is_revoked_with_another_token_is_told_of_each_once(api: Api) -> None:
    top = api.done("mint_token", {}, WANTED)
    child = api.done("mint_token", {}, {**WANTED, "label": "child"}, token=top["secret"])
    before = len(trail(api))
    for _ in range(2):
        api.done("revoke_token", {"id": top["id"]})
    told = [each for each in trail(api) if each["to"] == "revoked"]
    assert {each["subject"]: each["effects"]["with"] for each in told} == {
        f"token:{top['id']}": top["id"],
        f"token:{child['id']}": top["id"],
    }
    assert len(trail(api)) == before + 2
    assert steps(api, subject=f"token:{child['id']}") == [
        (f"token:{child['id']}", "", "minted", "lead"),
        (f"token:{child['id']}", "minted", "revoked", "bootstrap"),
    ]


def test_a_request_sent_again_or_refused_is_told_of_once_or_not_at_all(api: Api) -> None:
    for _ in range(2):
        api.call("mint_token", {}, WANTED, key="k")
    assert api.call("mint_token", {}, {**WANTED, "scopes": ["read"]}).status == 409
    assert api.call("mint_token", {}, {**WANTED, "label": "engine:x"}).status == 400
    assert [api.call("create_memory").status for _ in range(2)] == [201, 200]
    assert [each[2] for each in steps(api)] == ["created", "minted"]


def test_that_a_memory_was_made_and_erased_is_told_after_it_is_gone(api: Api) -> None:
    api.done("create_memory")
    job = api.done("delete_memory", body={"because": "The contract with Quetzalcoatl ended."})["job"]
    for step in (1, 2):
        api.stack.set_clock(NOW + step * 1_000_000)
        assert api.stack.tick().failed == []
    assert api.call("export_audit").status == 404
    [created, erased] = trail(api, subject="memory:support")
    assert (created["to"], erased["from"], erased["to"]) == ("created", "created", "erased")
    assert erased["effects"]["job"] == job
    assert erased["because"] is None
    assert "Quetzalcoatl" not in repr(api.stack.items())
    assert api.done("verify_tenant_audit", {})["ok"]


def test_the_trail_is_read_by_an_admin_of_all_memories_only(api: Api) -> None:
    api.done("create_memory")
    for scopes, memories in ((("admin",), "support*"), (("read", "write", "review", "apply"), "*")):
        token = api.mint(f"{memories}-{len(scopes)}", *scopes, memories=memories)
        for name in ("export_tenant_audit", "verify_tenant_audit"):
            assert api.refused(api.call(name, {}, token=token)) == DENIED
    assert trail(api, api.mint("root", "admin"))


def test_a_part_of_the_trail_is_asked_for_by_subject_and_time(api: Api) -> None:
    api.done("create_memory")
    api.stack.set_clock(NOW + 5000)
    api.mint("late", "read")
    assert [each[2] for each in steps(api, since="2027-01-15T08:00:01Z")] == ["minted"]
    assert [each[2] for each in steps(api, until="2027-01-15T08:00:01Z")] == ["created"]
    assert [each[0] for each in steps(api, subject="memory:support")] == ["memory:support"]
    for subject in ("memory:other", "token:tok_unknown", "aaaa"):
        refused = api.call("export_tenant_audit", {}, query={"subject": subject})
        assert api.refused(refused) == (404, "PVL-E040")


def test_a_memory_has_no_entry_of_the_tenant_in_its_own_trail(api: Api) -> None:
    api.done("create_memory")
    api.mint("x", "read")
    assert api.call("export_audit", MEMORY).text == ""
    assert api.done("verify_audit", MEMORY)["subjects"] == 0


@pytest.mark.parametrize("tenant", ["default", "acme"])
def test_each_tenant_has_a_trail_of_its_own(api: Api, tenant: str) -> None:
    for name in ("default", "acme"):
        api.mint(f"of-{name}", "admin", token=f"{ADMIN}@{name}")
    [entry] = trail(api, f"{ADMIN}@{tenant}")
    assert entry["effects"]["label"] == f"of-{tenant}"
