"""What is our fault is told to nobody outside, and the log says where it was without saying what was sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from provenloop.domain.errors import InternalError, UnavailableError
from provenloop.entry import telemetry
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring, use_wiring
from tests.functions.requests import ADMIN, MEMORY, NOTE, NOW, batch, call, function, http_event, ingest, sample

SECRET_TEXT = "the-customer-said-this"


class Broken:
    """A store in which every call ends in the same error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fail(*_: object, **__: object) -> Any:
            raise self._error

        return fail


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Log records of the entry room."""
    monkeypatch.setattr(telemetry, "_logger", logging.getLogger("entry-under-test"))
    caplog.set_level(logging.DEBUG)
    return caplog


def broken(error: Exception) -> None:
    current = Wiring(Settings({"PROVENLOOP_DEV_TOKEN": ADMIN}), now=lambda: NOW, entropy=bytes)
    current.__dict__.update(store=Broken(error), tokens=Broken(error))
    use_wiring(current)


@pytest.fixture(autouse=True)
def _put_back() -> Any:
    yield
    use_wiring(None)


def everything_in(records: list[logging.LogRecord]) -> str:
    return " ".join(repr(record.__dict__) for record in records)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(SECRET_TEXT),
        KeyError("T#acme#M#support"),
        InternalError("the store refused the request"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_fault_is_a_500_that_tells_nothing(error: Exception) -> None:
    broken(error)
    status, problem, headers = call(ingest(batch(NOTE)))
    assert status == 500
    assert headers["content-type"] == "application/problem+json"
    assert problem == {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "code": "PVL-E099",
    }


def test_the_log_tells_the_type_and_the_place_of_a_fault_and_not_its_text(lines: pytest.LogCaptureFixture) -> None:
    broken(RuntimeError(SECRET_TEXT))
    call(ingest(batch({**NOTE, "text": SECRET_TEXT})))
    (record,) = [record.__dict__ for record in lines.records if record.levelname == "ERROR"]
    assert record["error"] == "RuntimeError"
    assert record["at"].startswith("provenloop.services.ingest:")
    assert (record["operation"], record["correlation_id"]) == ("record_events", "request-1")
    assert (record["tenant"], record["memory"]) == ("default", "support")
    assert SECRET_TEXT not in everything_in(lines.records)


def test_a_store_that_does_not_answer_is_a_503_that_may_be_tried_again(lines: pytest.LogCaptureFixture) -> None:
    broken(UnavailableError("the store did not answer in time; try again"))
    status, problem, headers = call(ingest(batch(NOTE)))
    assert (status, problem["code"]) == (503, "PVL-E001")
    assert int(headers["retry-after"]) >= 1
    assert [record.levelname for record in lines.records] == ["ERROR", "INFO"]


def test_no_log_line_holds_a_payload_a_token_or_a_key(lines: pytest.LogCaptureFixture) -> None:
    broken(RuntimeError(SECRET_TEXT))
    body = json.dumps({"events": [{**NOTE, "text": SECRET_TEXT, SECRET_TEXT: 1}]})
    for text in (body, "{" + SECRET_TEXT, batch({**NOTE, "text": SECRET_TEXT})):
        headers = {"idempotency-key": SECRET_TEXT}
        for token in (ADMIN, SECRET_TEXT, f"pvl_{SECRET_TEXT}"):
            call(http_event("record_events", path=MEMORY, body=text, token=token, headers=headers))
    written = everything_in(lines.records)
    assert len(lines.records) >= 9
    assert SECRET_TEXT not in written
    assert ADMIN not in written


def test_a_refused_request_is_logged_with_its_tenant_and_code(lines: pytest.LogCaptureFixture) -> None:
    broken(RuntimeError(SECRET_TEXT))
    call(ingest("{"))
    (record,) = [record.__dict__ for record in lines.records]
    assert (record["tenant"], record["memory"], record["status"]) == ("default", "support", 400)
    assert record["code"] == "PVL-E011"


def test_a_missing_setting_is_named_in_the_log_and_nowhere_else(lines: pytest.LogCaptureFixture) -> None:
    use_wiring(Wiring(Settings({}), now=lambda: NOW))
    status, problem, _ = call(ingest(batch(NOTE)))
    assert (status, set(problem)) == (500, {"type", "title", "status", "code"})
    assert "PROVENLOOP_TABLE" in everything_in(lines.records)


def test_one_message_that_breaks_does_not_send_back_the_batch(lines: pytest.LogCaptureFixture) -> None:
    broken(RuntimeError(SECRET_TEXT))
    answer = function("analyze")(sample("analyze.queue"), None)
    assert [failure["itemIdentifier"] for failure in answer["batchItemFailures"]] == [
        record["messageId"] for record in sample("analyze.queue")["Records"]
    ]
    assert SECRET_TEXT not in everything_in(lines.records)


def test_metrics_that_cannot_be_written_do_not_fail_what_was_done(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("POWERTOOLS_METRICS_NAMESPACE", raising=False)
    telemetry.count("EventsStored", 1)
    (record,) = [record for record in lines.records if record.levelname == "ERROR"]
    assert record.__dict__["error"] == "SchemaValidationError"


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_a_method_that_no_route_takes_is_not_there(method: str) -> None:
    event = sample("loop_api.no_route")
    event["requestContext"]["http"]["method"] = method
    status, problem, _ = call(event)
    assert (status, problem["code"]) == (404, "PVL-E040")
