"""Forgetting over HTTP: what was forgotten is in no answer any more, and in no item of the table."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import ADDRESS, MEMORY

WORD = "Nezahualcoyotl"
BECAUSE = {"because": "They asked us to."}
EVENTS: list[dict[str, Any]] = [
    {**VALUES[0], "object": f"{WORD}-1"},
    {**VALUES[1], "object": f"{WORD}-2"},
    *({**call, "result": f"no route to {WORD}"} for call in CALLS),
    {"kind": "observation", "text": f"{WORD} was there"},
    {"kind": "skill", "name": f"talk to {WORD}", "proficiency": 0.1, "practice_count": 9},
    {"kind": "goal", "name": f"reach {WORD}"},
    {"kind": "event", "body": [{"from": WORD}], "event_id": "e-1"},
]


def stored(api: Api) -> str:
    """Every attribute of every item, documents unpacked, folded."""
    items = [item for table in api.stack.items().values() for item in table]
    return "\n".join(_text(value) for item in items for value in item.values()).casefold()


def _text(value: Any) -> str:
    [inner] = value.values()
    if isinstance(inner, bytes):
        return (zlib.decompress(inner) if inner[:1] == b"\x78" else inner).decode(errors="replace")
    return str(inner)


def answers(api: Api, ids: list[str], addresses: list[str]) -> str:
    """Everything that can be read, folded."""
    asked = [
        api.call("list_recommendations", query={"status": "all"}),
        api.call("export_audit"),
        api.call("verify_audit"),
        api.call("loop_health"),
        api.call("openapi", {}),
        api.call("show_entity", {**MEMORY, "namespace": "shared", "subject": "checkout"}),
        api.call("show_history", query={"namespace": "shared", "subject": "checkout", "relation": "deploy_target"}),
        *(api.call("show_recommendation", {**MEMORY, "id": rec}) for rec in ids),
        *(api.call("show_grain", {**MEMORY, "address": address}) for address in addresses),
        *(api.call("show_history", query={"address": address}) for address in addresses),
    ]
    assert {response.status for response in asked} == {200}
    return "\n".join(response.text for response in asked).casefold()


def test_what_took_part_in_findings_an_apply_and_an_undo_is_in_no_answer_and_no_item(api: Api) -> None:
    api.done("create_memory")
    addresses = [event["address"] for event in api.done("record_events", body={"events": EVENTS}, key="k-1")["events"]]
    run = api.done("run_pass", body={}, key="k-2")
    rows = api.done("list_recommendations")["recommendations"]
    ids = [row["id"] for row in rows]
    for row in rows:
        for name in ("approve_and_apply", "roll_back") if row["rollbackable"] else ("reject",):
            api.done(name, {**MEMORY, "id": row["id"]}, {"because": f"as {WORD} said"}, key=f"{name}-{row['id']}")
    assert {row["analyzer"] for row in rows if row["rollbackable"]} >= {
        "loop.tool_failure/1", "loop.contradiction_sweep/1",
    }  # fmt: skip
    assert WORD.casefold() in answers(api, ids, addresses)
    assert WORD.casefold() in stored(api)

    for address in addresses:
        assert api.done("forget", body={"address": address, **BECAUSE}, key=address)["forgotten"] == 1

    assert WORD.casefold() not in stored(api)
    assert WORD.casefold() not in answers(api, ids, addresses)
    assert WORD.casefold() not in api.call("show_run", {**MEMORY, "run": run["run"]}).text.casefold()
    api.done("run_pass", body={"full_sweep": True})
    assert WORD.casefold() not in stored(api)
    assert api.done("verify_audit")["ok"] is True


def test_a_subject_is_forgotten_once_and_its_request_answered_again(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": VALUES})
    wanted = {"namespace": "shared", "subject": "CheckOut", **BECAUSE}
    first = api.done("forget", body=wanted, key="k")
    assert first["forgotten"] == 2
    assert api.done("forget", body=wanted, key="k") == first
    assert api.done("forget", body=wanted)["forgotten"] == 0
    assert api.refused(api.call("forget", body={**wanted, "because": "another"}, key="k")) == (409, "PVL-E014")
    entity = api.done("show_entity", {**MEMORY, "namespace": "shared", "subject": "checkout"})
    assert entity["facts"] == []
    values = api.done("show_history", query={"namespace": "shared", "subject": "checkout", "relation": "deploy_target"})
    assert [(value["state"], "object" in value) for value in values["values"]] == [("forgotten", False)] * 2


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"address": ADDRESS}, 400, "because"),
        ({"address": ADDRESS, "because": "  "}, 400, "because"),
        ({"address": ADDRESS, "because": "x" * 501}, 400, "because"),
        ({"because": "x"}, 400, "namespace"),
        ({"namespace": "shared", "because": "x"}, 400, "subject"),
        ({"subject": "checkout", "because": "x"}, 400, "namespace"),
        ({"address": ADDRESS, "namespace": "shared", "because": "x"}, 400, "address"),
        ({"address": "0", "because": "x"}, 400, "address"),
        ({"address": ADDRESS, "because": "x", "everything": True}, 400, "everything"),
        ({"address": ADDRESS, "because": "x"}, 404, "address"),
        ({"namespace": "nowhere", "subject": "checkout", "because": "x"}, 404, "namespace"),
        ({"namespace": "shared", "subject": "nobody", "because": "x"}, 404, "subject"),
    ],
)
def test_a_bad_request_to_forget_names_its_field_and_changes_nothing(
    api: Api, body: dict[str, Any], status: int, field: str
) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": VALUES})
    before = api.stack.items()
    response = api.call("forget", body=body)
    assert (api.refused(response)[0], response.json()["field"]) == (status, field)
    assert api.stack.items() == before


@pytest.mark.parametrize("scopes", [("read",), ("write",), ("review", "apply")])
def test_only_an_admin_forgets(api: Api, scopes: tuple[str, ...]) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": VALUES})
    token = api.mint("somebody", *scopes)
    wanted = {"namespace": "shared", "subject": "checkout", **BECAUSE}
    assert api.refused(api.call("forget", body=wanted, token=token)) == (403, "PVL-E022")
