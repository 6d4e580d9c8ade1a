"""Rights that no request shows at once: what functions send to the bus, to queues and to the bucket of anchors.

The emulator judges these by role as it does the table, and by the bucket's policy. Object Lock and signing are left to
``tests/template`` and ``tests/contract``: it takes no lock from a template, and makes no RSA keys without a package
that is not in its environment.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provenloop.domain.anchor import anchor_from
from provenloop.entry import audit_verify
from tests.packaged.racing import act_as_root
from tests.packaged.test_deployed_stack import EVENTS, _eventually, _pending, _record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.packaged.deployment import Deployment

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SUBJECT = {"namespace": "shared", "subject": "checkout"}
FACTS = [{"kind": "fact", **SUBJECT, "relation": f"r{n}", "object": f"o{n}"} for n in range(60)]


def test_what_a_pass_and_a_decision_did_is_heard_on_the_bus(deployment: Deployment) -> None:
    url = _listening(deployment)
    _record(deployment, "heard")
    with deployment.http(token=deployment.token) as admin:
        assert admin.post("/v1/memories/heard/loop/run", json={}).status_code == 200
        (pending,) = _pending(deployment, "heard")
        path = f"/v1/memories/heard/loop/recommendations/{pending['id']}"
        assert admin.post(f"{path}/approve-and-apply", json={"because": "agreed"}).status_code == 200
        assert admin.post(f"{path}/rollback", json={"because": "it did harm"}).status_code == 200
    heard: list[str] = []
    wanted = {"RecommendationProposed", "RecommendationDecided", "ChangeApplied", "ChangeRolledBack"}

    def has_come() -> bool:
        heard.extend(_received(deployment, url, pending["id"]))
        return wanted <= set(heard)

    assert _eventually(has_come), heard


def test_a_large_subject_is_forgotten_and_a_memory_erased_by_way_of_the_job_queue(deployment: Deployment) -> None:
    with deployment.http(token=deployment.token) as admin:
        assert admin.put("/v1/memories/forgetful", json={}).status_code == 201
        assert admin.post("/v1/memories/forgetful/events", json={"events": FACTS}).status_code == 200
        begun = admin.post("/v1/memories/forgetful/forget", json={**SUBJECT, "because": "It was shut down."})
        assert begun.status_code == 202, begun.text
        job = f"/v1/memories/forgetful/jobs/{begun.json()['job']}"
        assert _eventually(lambda: admin.get(job).json()["status"] == "done"), admin.get(job).text
        assert admin.get(job).json()["counts"] == {"grains": 60}

        erased = admin.request("DELETE", "/v1/memories/forgetful", json={"because": "The contract ended."})
        assert erased.status_code == 202, erased.text
        job = f"/v1/memories/forgetful/jobs/{erased.json()['job']}"
        assert _eventually(lambda: admin.get(job).json()["counts"].get("grain", 0) >= 60), admin.get(job).text
        trail = admin.get("/v1/audit", params={"subject": "memory:forgetful"})
    assert [json.loads(line)["to"] for line in trail.text.splitlines()] == ["created", "erased"]


def test_a_days_anchor_is_written_once_by_who_comes_over_tls_only_and_exports_hold_against_it(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The emulator has no TLS: the bucket's policy refuses the function. What its role may do shows without it."""
    _record(deployment, "anchored")
    act_as_root(deployment.emulator, monkeypatch)
    with deployment.http(token=deployment.token) as admin:
        assert admin.post("/v1/memories/anchored/loop/run", json={}).status_code == 200
        wanted = {"label": "short-lived", "kind": "agent", "memories": "*", "scopes": ["read"]}
        token = admin.post("/v1/tokens", json=wanted).json()["id"]
        assert admin.delete(f"/v1/tokens/{token}").status_code == 200
    s3, bucket = deployment.aws("s3"), deployment.outputs["AnchorBucketName"]
    assert _anchor(deployment)["errorMessage"] == "the bucket of anchors did not answer"
    s3.delete_bucket_policy(Bucket=bucket)
    written = [_anchor(deployment)["written"] for _ in range(2)]
    objects = s3.list_objects_v2(Bucket=bucket)["Contents"]
    # One for each tenant, among them those of other tests.
    assert written == [len(objects), 0]
    (kept,) = (each for each in objects if each["Key"].endswith("/default.json"))
    anchor = anchor_from(s3.get_object(Bucket=bucket, Key=kept["Key"])["Body"].read().decode())
    assert anchor.tenant == "default"
    assert anchor.count > 0
    with deployment.http(token=deployment.token) as admin:
        assert admin.get("/v1/audit/verify").json()["ok"]
        chain = admin.get("/v1/audit", params={"subject": f"token:{token}"}).text.splitlines()
        assert [json.loads(line)["to"] for line in chain] == ["minted", "revoked"]
        for address, whose in (("/v1/audit", []), ("/v1/memories/anchored/audit", ["--memory", "anchored"])):
            export = tmp_path / "export.jsonl"
            export.write_text(admin.get(address).text, encoding="utf-8")
            arguments = [str(export), "--tenant", "default", *whose, "--anchors", f"s3://{bucket}"]
            assert audit_verify.main(arguments) == 0, capsys.readouterr().out
            lines = export.read_text(encoding="utf-8").splitlines()
            export.write_text("\n".join(lines[1:]), encoding="utf-8")
            assert audit_verify.main(arguments) == 1


def _anchor(deployment: Deployment) -> dict[str, Any]:
    """What the anchor function answers to its daily event."""
    daily = (EVENTS / "anchor.daily.json").read_text()
    answer = deployment.aws("lambda").invoke(FunctionName=deployment.resources["AnchorFunction"], Payload=daily)
    said: dict[str, Any] = json.loads(answer["Payload"].read())
    return said


def _listening(deployment: Deployment) -> str:
    """A queue that gets whatever is told on the bus."""
    sqs, events = deployment.aws("sqs"), deployment.aws("events")
    url = sqs.create_queue(QueueName="listener")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus = deployment.outputs["EventBusName"]
    events.put_rule(Name="all", EventBusName=bus, EventPattern=json.dumps({"source": ["provenloop"]}))
    events.put_targets(Rule="all", EventBusName=bus, Targets=[{"Id": "listener", "Arn": arn}])
    return str(url)


def _received(deployment: Deployment, url: str, recommendation: str) -> list[str]:
    """The kinds of what came about one recommendation since this was last asked."""
    sqs = deployment.aws("sqs")
    messages: list[Any] = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    for message in messages:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    told = [json.loads(message["Body"]) for message in messages]
    return [each["detail-type"] for each in told if each["detail"]["recommendation"] == recommendation]
