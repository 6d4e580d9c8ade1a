"""Jobs over HTTP and by the queue: begun by a request, carried out by messages, told about until they are over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functions.api import Api
from tests.functions.requests import ADMIN, MEMORY, NOW, function, operation

SUBJECT = "checkout"
WANTED = {"namespace": "shared", "subject": SUBJECT, "because": "It was shut down."}
FACTS = [{"kind": "fact", "subject": SUBJECT, "relation": f"r{n}", "object": f"o{n}"} for n in range(60)]
GONE = {"because": "The contract ended."}
LATER_MS = 10_000
ERASURE_MS = 1_000_000


def begun(api: Api) -> str:
    """A memory with a subject of 60 facts, and the id of the job that forgets it."""
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    response = api.call("forget", body=WANTED, key="k")
    assert response.status == 202
    job: str = response.json()["job"]
    return job


def test_a_large_subject_is_forgotten_by_a_job_that_can_be_watched(api: Api) -> None:
    job = begun(api)
    before = api.done("show_job", {**MEMORY, "job": job})
    assert (before["status"], before["counts"], before["by"]) == ("running", {}, "bootstrap")
    assert api.call("forget", body=WANTED, key="k").json() == before
    api.stack.set_clock(NOW + LATER_MS)
    report = api.stack.tick()
    assert (report.failed, report.retrying) == ([], 0)
    done = api.done("show_job", {**MEMORY, "job": job})
    assert (done["status"], done["counts"]) == ("done", {"grains": 60})
    facts = api.done("show_entity", {**MEMORY, "namespace": "shared", "subject": SUBJECT})["facts"]
    assert [fact for fact in facts if fact["state"] != "forgotten"] == []


def test_a_dry_run_shows_what_would_go_and_begins_nothing(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    before = api.stack.items()
    wanted = {"namespace": "shared", "subject": SUBJECT, "dry_run": True}
    told = api.done("forget", body=wanted)
    assert (told["forgotten"], told["dry_run"], told["seq"]) == (60, True, None)
    assert api.stack.items() == before
    assert api.stack.queue_depth("JobQueue") == 0


class Hurried:
    """A runtime that has time for one stretch."""

    def __init__(self) -> None:
        self.asked = 0

    def get_remaining_time_in_millis(self) -> int:
        self.asked += 1
        return 100_000 if self.asked <= 2 else 1_000


def record(body: object, sent_at: int = NOW) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"messageId": "m-1", "body": text, "attributes": {"SentTimestamp": str(sent_at)}}


def delivered(api: Api, *records: dict[str, Any]) -> list[str]:
    """Ids of the messages that must come again."""
    invocation = api.stack.invoke("JobsFunction", {"Records": list(records)})
    assert not invocation.failed
    return [failure["itemIdentifier"] for failure in invocation.payload["batchItemFailures"]]


def test_a_job_that_runs_out_of_time_is_sent_on(api: Api) -> None:
    job = begun(api)
    depth = api.stack.queue_depth("JobQueue")
    message = record({"tenant": "default", "memory": "support", "job": job})
    assert function("jobs")({"Records": [message]}, Hurried()) == {"batchItemFailures": []}
    assert api.stack.queue_depth("JobQueue") == depth + 1
    assert api.done("show_job", {**MEMORY, "job": job})["status"] == "running"
    api.stack.set_clock(NOW + LATER_MS)
    api.stack.tick()
    assert api.done("show_job", {**MEMORY, "job": job})["counts"] == {"grains": 60}


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", {}, {"tenant": "default", "memory": "support"},
     {"tenant": "default", "memory": "support", "job": "x"}, {"tenant": "default", "memory": "support", "job": 1},
     {"tenant": "default", "memory": "a/b", "job": "0" * 32}],
)  # fmt: skip
def test_a_message_that_names_no_job_comes_again_and_ends_among_the_dead(api: Api, body: object) -> None:
    api.done("create_memory")
    assert delivered(api, record(body)) == ["m-1"]


def test_a_message_whose_job_was_never_stored_is_dropped_in_the_end(api: Api) -> None:
    api.done("create_memory")
    named = {"tenant": "default", "memory": "support", "job": "0" * 32}
    assert delivered(api, record(named)) == ["m-1"]
    assert delivered(api, record(named, NOW - 3_600_000)) == []


def test_a_job_is_looked_up_by_an_admin_only_and_in_its_own_memory(api: Api) -> None:
    job = begun(api)
    reader = api.mint("reader", "read")
    assert operation("show_job").is_fresh
    assert api.refused(api.call("show_job", {**MEMORY, "job": job}, token=reader)) == (403, "PVL-E022")
    assert api.refused(api.call("show_job", {"memory": "other", "job": job})) == (404, "PVL-E040")
    assert api.refused(api.call("show_job", {**MEMORY, "job": "0" * 32}, token=ADMIN)) == (404, "PVL-E040")


def test_a_memory_is_erased_by_a_job_and_unknown_from_then_on(api: Api) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    begun = api.done("delete_memory", body=GONE)
    assert (begun["kind"], begun["status"]) == ("erase", "running")
    assert api.refused(api.call("record_events", body={"events": FACTS[:1]})) == (404, "PVL-E040")
    assert api.done("delete_memory", body=GONE)["job"] == begun["job"]
    for step in (1, 2):
        api.stack.set_clock(NOW + step * ERASURE_MS)
        assert api.stack.tick().failed == []
    assert api.done("show_job", {**MEMORY, "job": begun["job"]})["status"] == "done"
    assert api.done("list_memories", {})["memories"] == []
    assert api.refused(api.call("create_memory")) == (409, "PVL-E044")
    assert {row["pk"]["S"].rpartition("#")[2] for row in api.stack.items()["Table"]} == {"REG", "AUDIT", "LOOP"}


@pytest.mark.parametrize("body", [None, {}, {"because": " "}, {"because": "x", "memory": "other"}])
def test_erasing_needs_a_reason_and_nothing_else(api: Api, body: Any) -> None:
    api.done("create_memory")
    before = api.stack.items()
    assert api.refused(api.call("delete_memory", body=body))[0] == 400
    assert api.stack.items() == before


def test_only_an_admin_erases_a_memory(api: Api) -> None:
    api.done("create_memory")
    token = api.mint("somebody", "read", "write", "review", "apply")
    assert api.refused(api.call("delete_memory", body=GONE, token=token)) == (403, "PVL-E022")
    assert api.refused(api.call("delete_memory", {"memory": "other"}, GONE)) == (404, "PVL-E040")


def test_an_export_is_json_lines_with_its_cursor_in_a_header(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    whole = api.call("export_memory")
    assert (whole.status, whole.header("content-type")) == (200, "application/x-ndjson")
    assert whole.header("provenloop-cursor") is None
    assert len(whole.text.splitlines()) == 62
    monkeypatch.setattr("provenloop.services.export.PAGE_BYTES", 5_000)
    first = api.call("export_memory")
    cursor = first.header("provenloop-cursor")
    assert cursor is not None
    assert json.loads(first.text.splitlines()[-1]) == {"cursor": cursor}
    second = api.call("export_memory", query={"cursor": cursor})
    assert second.text.splitlines()[0] == whole.text.splitlines()[len(first.text.splitlines()) - 1]
    assert api.refused(api.call("export_memory", query={"cursor": "!"})) == (400, "PVL-E011")
    reader = api.mint("reader", "read")
    assert api.refused(api.call("export_memory", token=reader)) == (403, "PVL-E022")
