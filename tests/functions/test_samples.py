"""The payloads in ``events/`` are real: each function answers its own, in the order of a first day."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.errors import ScopeDeniedError
from provenloop.entry.operations import MCP_ROUTES, OPERATIONS
from tests.functions.api import Api
from tests.functions.requests import ROOT, function, sample
from tests.json_schema import faults_of

INBOX = "provenloop-local-inboxbucket"
LOGICAL_IDS = {
    "ingest": "IngestFunction",
    "loop_api": "LoopApiFunction",
    "analyze": "AnalyzeFunction",
    "apply": "ApplyFunction",
    "dispatch": "DispatchFunction",
    "jobs": "JobsFunction",
    "distil": "DistilFunction",
    "anchor": "AnchorFunction",
    "approval": "ApprovalFunction",
    "lessons": "LessonsFunction",
    "recipes": "RecipesFunction",
    "mcp": "McpFunction",
    "inbound": "InboundFunction",
    "inbox": "InboxFunction",
}
#: Sample and the status it is answered with; the memory is made on the way.
FIRST_DAY = [
    ("loop_api.health", 200),
    ("loop_api.openapi", 200),
    ("loop_api.no_route", 404),
    ("ingest.batch", 404),
    ("loop_api.create_memory", 201),
    ("loop_api.create_memory", 200),
    ("loop_api.list_memories", 200),
    ("loop_api.mint_token", 201),
    ("loop_api.list_tokens", 200),
    ("loop_api.revoke_token", 404),
    ("ingest.batch", 200),
    ("ingest.base64", 200),
    ("ingest.kinds", 200),
    ("ingest.naive_time", 400),
    ("analyze.run", 200),
    ("loop_api.show_entity", 200),
    ("loop_api.recall", 200),
    ("ingest.reports", 200),
    ("loop_api.history", 200),
    ("loop_api.list_recommendations", 200),
    ("loop_api.approve", 404),
    ("loop_api.request_review", 404),
    ("apply.apply", 404),
    ("apply.rollback", 404),
    ("apply.dry_run", 200),
    ("apply.forget", 200),
    ("jobs.show_job", 404),
    ("lessons.report", 200),
    ("lessons.list_lessons", 200),
    ("lessons.list_cards", 200),
    ("lessons.lesson_stats", 200),
    ("lessons.start_session", 200),
    ("lessons.context", 200),
    ("lessons.pass", 200),
    ("lessons.digest", 503),
    ("lessons.end_session", 200),
    ("lessons.replay_card", 404),
    ("lessons.arm", 404),
    ("recipes.match", 200),
    ("recipes.distil", 503),
    ("recipes.list_recipes", 200),
    ("recipes.health", 200),
    ("recipes.retire", 404),
    ("recipes.ledger_summary", 200),
    ("mcp.initialize", 200),
    ("mcp.discover", 200),
    ("mcp.list", 200),
    ("mcp.recall", 200),
    ("mcp.stream", 405),
    ("loop_api.export_memory", 200),
    ("jobs.delete_memory", 202),
]
WITHOUT_HTTP = {
    "analyze.queue",
    "anchor.daily",
    "apply.task",
    "approval.open",
    "approval.proposed",
    "dispatch.tick",
    "distil.queue",
    "inbound.queue",
    "inbox.announced",
    "inbox.file",
    "inbox.read_on",
    "jobs.queue",
}


#: Samples of the sample analyzers, and what each of their findings is about; they are no part of every system.
OF_ANALYZERS: dict[str, list[str]] = {
    "analyzer_pii.probe": [],
    "analyzer_pii.analyze": ["a payment card number and a phone number", "an e-mail address"],
    "analyzer_house_style.probe": [],
    "analyzer_house_style.analyze": ["A relation of it is not lower snake_case"],
}


def invoke(api: Api, name: str) -> Any:
    invocation = api.stack.invoke(LOGICAL_IDS[name.partition(".")[0]], sample(name))
    assert not invocation.failed
    return invocation.payload


def test_every_sample_is_answered_by_its_function(api: Api) -> None:
    answered = [(name, invoke(api, name)["statusCode"]) for name, _ in FIRST_DAY]
    assert answered == FIRST_DAY


def test_the_queue_sample_runs_the_pass_it_can_and_sends_back_the_other(api: Api) -> None:
    invoke(api, "loop_api.create_memory")
    unknown = sample("analyze.queue")["Records"][1]["messageId"]
    assert invoke(api, "analyze.queue") == {"batchItemFailures": [{"itemIdentifier": unknown}]}


def test_the_tick_sample_asks_for_nothing_where_nothing_is_due(api: Api) -> None:
    assert invoke(api, "dispatch.tick") == {"sent": 0, "published": 0, "told": 0}


def test_the_sample_of_a_proposal_starts_no_review_where_no_policy_asks_for_one(api: Api) -> None:
    assert invoke(api, "approval.proposed") == {"execution": None}


@pytest.mark.parametrize("name", ["approval.open", "apply.task"])
def test_the_samples_of_tasks_fail_by_the_name_of_an_error_where_there_is_no_such_review(api: Api, name: str) -> None:
    invocation = api.stack.invoke(LOGICAL_IDS[name.partition(".")[0]], sample(name))
    assert (invocation.failed, invocation.error_type) == (True, "NotFoundError")


def test_the_job_sample_comes_again_as_long_as_its_job_may_still_be_stored(api: Api) -> None:
    [message] = sample("jobs.queue")["Records"]
    assert invoke(api, "jobs.queue") == {"batchItemFailures": [{"itemIdentifier": message["messageId"]}]}
    api.stack.set_clock(api.stack.now_ms() + 20 * 60_000)
    assert invoke(api, "jobs.queue") == {"batchItemFailures": []}


def test_the_daily_sample_anchors_each_tenant_once(api: Api) -> None:
    invoke(api, "loop_api.create_memory")
    assert [invoke(api, "anchor.daily") for _ in range(2)] == [
        {"written": 1, "present": 0},
        {"written": 0, "present": 1},
    ]


def test_the_samples_of_events_without_http_are_nobodys_where_no_source_is_configured(api: Api) -> None:
    ids = [record["messageId"] for record in sample("inbound.queue")["Records"]]
    assert invoke(api, "inbound.queue") == {"batchItemFailures": [{"itemIdentifier": each} for each in ids]}
    for name in ("inbox.announced", "inbox.file", "inbox.read_on"):
        assert invoke(api, name) == {"batchItemFailures": []}
    s3 = api.stack.aws.client("s3")
    found = s3.get_object(Bucket=INBOX, Key="reports/shop.orders/support-agent/2027-01-15 night.jsonl.report.json")
    report = json.loads(found["Body"].read())
    assert [report[name] for name in ("status", "code", "field")] == ["refused", ScopeDeniedError.code, "source"]


def test_no_sample_is_left_out() -> None:
    files = {path.stem for path in (ROOT / "events").glob("*.json")}
    assert files == {name for name, _ in FIRST_DAY} | WITHOUT_HTTP | OF_ANALYZERS.keys()
    assert {name.partition(".")[0] for name in files - OF_ANALYZERS.keys()} == set(LOGICAL_IDS)
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert {name.partition(".")[0] for name in files} == folders


@pytest.mark.parametrize("name", OF_ANALYZERS)
def test_the_samples_of_analyzers_follow_the_protocol_and_are_answered(name: str) -> None:
    event = sample(name)
    schema = json.loads((ROOT / "shared/schemas/loop_analyzer.1.json").read_text(encoding="utf-8"))
    assert faults_of(event, f"{event['op']}_request", schema) == []
    answer = function(name.partition(".")[0])(event, None)
    assert faults_of(answer, f"{event['op']}_answer", schema) == []
    summaries = [finding["summary"] for finding in answer.get("findings", [])]
    assert len(summaries) == len(OF_ANALYZERS[name])
    assert all(summary.endswith(part) for summary, part in zip(summaries, OF_ANALYZERS[name], strict=True))


def test_every_http_sample_goes_where_its_route_leads() -> None:
    served: dict[str, str] = {known.route_key: known.function for known in OPERATIONS}
    served |= {f"{method} {path}": function for function, method, path in MCP_ROUTES}
    for name in {name for name, _ in FIRST_DAY}:
        event = sample(name)
        assert served.get(event["routeKey"], "loop_api") == name.partition(".")[0]
        assert event["requestContext"]["routeKey"] == event["routeKey"]
        assert event["rawPath"] == event["requestContext"]["http"]["path"]
        body = event.get("body")
        if body and not event["isBase64Encoded"]:
            assert int(event["headers"]["content-length"]) == len(body.encode())
            assert isinstance(json.loads(body), dict)
