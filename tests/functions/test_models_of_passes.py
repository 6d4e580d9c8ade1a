"""Which models a pass asks is said by parameters of the template: providers and keys apart, over the whole stack."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest

from provenloop.entry.local.stack import LocalStack
from tests.finding_model import FACTS, play
from tests.functions.api import Api
from tests.functions.requests import ADMIN, NOW, ROOT
from tests.model_server import model_server

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:model-key"
KEYS = {"anthropic": "sk-ant-1", "openai": "sk-gate-1"}
FIVE_MINUTES_MS = 300_000


def passed(stack: LocalStack) -> list[dict[str, Any]]:
    """What models made of a memory, once the schedule has had a pass run over it."""
    api = Api(stack)
    api.done("create_memory")
    api.done("record_events", body={"events": FACTS})
    stack.set_clock(NOW + FIVE_MINUTES_MS)
    report = stack.tick()
    assert (report.failed, report.retrying) == ([], 0)
    found: list[dict[str, Any]] = api.done("list_recommendations")["recommendations"]
    return [each for each in found if each["analyzer"] == "loop.llm/1"]


def test_findings_and_their_grounds_may_come_from_two_providers_each_with_its_own_key() -> None:
    with model_server() as server:
        server.plays(play)
        parameters = {
            "Model": "openai:gate/finder:1",
            "GroundModel": "claude-opus-5-5",
            "GatewayUrl": f"{server.url}/v1",
            "ModelUrl": server.url,
            "ModelKeySecretArn": SECRET,
        }
        with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
            secrets = boto3.client("secretsmanager", region_name="us-east-1")
            secrets.create_secret(Name="model-key", SecretString=json.dumps(KEYS))
            [finding] = passed(stack)
    assert finding["origin"] == "llm:gate/finder:1"
    asked = [(seen.body["model"], seen.key) for seen in server.seen]
    assert asked == [
        ("gate/finder:1", "sk-gate-1"),
        ("claude-opus-5-5", "sk-ant-1"),
        ("gate/finder:1", "sk-gate-1"),
    ]


COMMAND = f"""
import json, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.finding_model import answer
asked = json.loads(sys.stdin.read())
print(json.dumps({{"model": "at-hand"}} if asked["op"] == "probe" else answer(asked["op"])))
"""


def test_a_command_stands_in_for_models_in_a_local_stack(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(COMMAND)
    command = shlex.join([sys.executable, str(script)])
    with LocalStack(ROOT, llm_command=command, dev_token=ADMIN, now_ms=NOW) as stack:
        [finding] = passed(stack)
    assert finding["origin"] == "llm:at-hand"


UNSET: list[dict[str, str]] = [{}, {"Model": "openai:gpt-x"}, {"Model": "openai:gpt-x", "ModelKeySecretArn": SECRET}]


@pytest.mark.parametrize("named", UNSET)
def test_without_a_model_or_a_key_for_it_nobody_is_asked(named: Mapping[str, str]) -> None:
    with model_server() as server:
        parameters = {"GatewayUrl": f"{server.url}/v1", **named}
        with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
            secrets = boto3.client("secretsmanager", region_name="us-east-1")
            # Plain text is a key of Anthropic: no gateway is shown it.
            secrets.create_secret(Name="model-key", SecretString="sk-ant-1")
            assert passed(stack) == []
        assert server.seen == []
