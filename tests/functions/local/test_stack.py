"""The stack as a whole: resources, reset, clock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provenloop.entry.local.intrinsics import TemplateError
from provenloop.entry.local.resources import queues
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.local.template import Template
from provenloop.entry.settings import ANALYZER_COMMANDS, LLM_COMMAND
from provenloop.entry.wiring import wiring

SMALL = Path(__file__).parent / "small"
NOW_MS = 1_767_225_600_000
LATER_MS = NOW_MS + 86_400_000


def test_tables_are_created_as_the_template_says(small: LocalStack) -> None:
    client = small.aws.client("dynamodb")
    table = client.describe_table(TableName="provenloop-local-Things")["Table"]
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    (index,) = table["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["Projection"]) == (
        "due",
        {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["row"]},
    )
    described = client.describe_time_to_live(TableName="provenloop-local-Things")["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}


def test_queues_are_created_where_the_templates_references_point(small: LocalStack) -> None:
    sqs = small.aws.client("sqs")
    for queue in queues(Template.load(SMALL / "template.yaml")):
        attributes = sqs.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["All"])["Attributes"]
        assert attributes["QueueArn"] == queue.arn
        assert attributes["VisibilityTimeout"] == str(queue.visibility_s)
        if queue.dead_letter_arn:
            redrive = {"deadLetterTargetArn": queue.dead_letter_arn, "maxReceiveCount": queue.max_receive_count}
            assert json.loads(attributes["RedrivePolicy"]) == redrive


def test_the_generated_secret_holds_the_dev_token_and_is_found_by_its_reference(small: LocalStack) -> None:
    arn = small.request("GET", "/x").json()["environment"]["SECRET"]
    secret = small.aws.client("secretsmanager").get_secret_value(SecretId=arn)
    assert secret["SecretString"] == small.dev_token


def test_clients_that_functions_keep_go_on_working_after_a_reset(small: LocalStack) -> None:
    assert small.request("PUT", "/kept/a").status == 201
    small.reset()
    assert small.items() == {"Things": []}
    assert small.request("PUT", "/kept/b").status == 201
    assert [(item["pk"]["S"], item["sk"]["S"]) for item in small.items()["Things"]] == [("b", "client"), ("b", "model")]


def test_clients_that_functions_keep_go_on_working_after_a_stop_and_a_start() -> None:
    stack = LocalStack(SMALL)
    for name in ("first", "second"):
        with stack:
            assert stack.request("PUT", f"/kept/{name}").status == 201
            assert {item["pk"]["S"] for item in stack.items()["Things"]} == {name}


def test_a_reset_begins_ids_schedules_and_queues_anew(small: LocalStack) -> None:
    first = small.request("GET", "/x").json()["context"]["request_id"]
    small.aws.client("sqs").send_message(QueueUrl=small.aws.queue("Errands").url, MessageBody="x")
    assert small.tick().fired == ["BeatFunction.Beat"]
    small.reset()
    assert small.request("GET", "/x").json()["context"]["request_id"] == first
    assert small.tick().fired == ["BeatFunction.Beat"]
    assert small.queue_depth("Errands") == 0


def test_items_are_ordered_by_key_so_that_two_snapshots_compare(small: LocalStack) -> None:
    for name in ("b", "a", "c"):
        small.request("PUT", f"/kept/{name}")
    before = small.items()
    small.request("GET", "/x")
    assert small.items() == before
    assert [item["pk"]["S"] for item in before["Things"]] == ["a", "a", "b", "b", "c", "c"]


def test_the_clock_stands_where_it_is_set_and_may_go_back(small: LocalStack) -> None:
    for now in (LATER_MS, NOW_MS):
        small.set_clock(now)
        told = small.request("GET", "/x").json()
        assert told["environment"]["PROVENLOOP_NOW"] == str(now)
        assert told["event"]["requestContext"]["timeEpoch"] == small.now_ms() == now


def test_a_clock_that_is_let_go_follows_the_wall_clock(small: LocalStack) -> None:
    small.set_clock(None)
    assert "PROVENLOOP_NOW" not in small.request("GET", "/x").json()["environment"]
    assert small.now_ms() > NOW_MS


def test_clock_and_token_of_the_environment_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_NOW", "2026-01-02T00:00:00Z")
    monkeypatch.setenv("PROVENLOOP_DEV_TOKEN", "chosen")
    stack = LocalStack(SMALL)
    assert (stack.now_ms(), stack.dev_token) == (LATER_MS, "chosen")


def test_without_a_chosen_token_each_stack_draws_its_own() -> None:
    tokens = {LocalStack(SMALL).dev_token for _ in range(2)}
    assert len(tokens) == 2
    assert all(len(token) >= 43 for token in tokens)


def test_parameters_and_variables_reach_the_functions() -> None:
    with LocalStack(SMALL, parameters={"Colour": "red"}, variables={"EXTRA": "1"}) as stack:
        environment = stack.request("GET", "/x").json()["environment"]
    assert (environment["COLOUR"], environment["EXTRA"]) == ("red hot", "1")


def test_programs_may_change_between_requests_and_ids_go_on() -> None:
    with LocalStack(SMALL, seed="x") as stack:

        def commands() -> dict[str, str]:
            seen = stack.request("GET", "/x").json()["environment"]
            return {name: seen[name] for name in (LLM_COMMAND, ANALYZER_COMMANDS) if name in seen}

        assert commands() == {}
        drawn = wiring().entropy(8)
        stack.use_commands(llm="model", analyzers=["one", "two"])
        assert commands() == {LLM_COMMAND: "model", ANALYZER_COMMANDS: "one\ntwo"}
        assert wiring().entropy(8) != drawn
        stack.use_commands()
        assert commands() == {}
        stack.reset()
        assert wiring().entropy(8) == drawn


def test_the_command_of_an_analyzer_is_one_line() -> None:
    with pytest.raises(ValueError, match="one line"):
        LocalStack(SMALL, analyzer_commands=["a\nb"])


def test_what_the_stack_lacks_is_listed(small: LocalStack) -> None:
    assert small.unsupported == ("Warehouse (AWS::Kinesis::Stream)", "EchoFunction.Uploads (S3)")


def test_a_folder_without_a_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="there is no template"):
        LocalStack(tmp_path)


def test_an_unknown_function_or_queue_is_an_error(small: LocalStack) -> None:
    with pytest.raises(KeyError):
        small.invoke("NobodyFunction", {})
    with pytest.raises(KeyError):
        small.queue_depth("Nowhere")


def test_stopping_twice_is_harmless() -> None:
    stack = LocalStack(SMALL)
    stack.stop()
    with stack:
        stack.client.get("/x")
    stack.stop()
    with pytest.raises(RuntimeError, match="not running"):
        stack.request("GET", "/x")
