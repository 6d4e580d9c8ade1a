"""The calls that functions really make are allowed by the roles that the template gives them.

The system runs on its local stack, where nothing is refused; every DynamoDB call is noted with the function that made
it and judged afterwards as IAM would judge it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import boto3
import pytest

from provenloop.adapters.dynamodb import table
from provenloop.adapters.event_bus import EventBridgeBus
from provenloop.adapters.step_functions import StepFunctionsReviews
from provenloop.entry.local.stack import LocalStack
from provenloop.recipes.distillation import SCHEMA_VERSION
from tests.faults.hooks import ClientHooks
from tests.finding_model import is_of_a_pass, play
from tests.model_server import model_server, says
from tests.scenario.sixty_second_proof import ERROR, RELATION, SUBJECT, TOOL, sixty_second_proof
from tests.template.leading_keys import leading_keys, transaction_parts
from tests.template.rare_calls import be_rare, begin_distilling, leave_a_hole, send_without_http
from tests.template.reading import FUNCTIONS, ROOT, TEMPLATE
from tests.template.rights import CHANGES, READS, allows
from tests.template.test_rights import EXPECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.faults.hooks import Exchange

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ADMIN = "token-of-the-administrator"
NOW_MS = 1_800_000_000_000
SLOT_MS = 5 * 60_000
DAY_MS = 86_400_000
POLICY = {
    "telemetry": "full",
    "auto_apply_enabled": True,
    "auto_apply": [{"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}],
}
MODEL_KEY = "arn:aws:secretsmanager:us-east-1:123456789012:secret:model-key"
TAUGHT = {
    "schema_version": SCHEMA_VERSION,
    "category": "delays",
    "problem": "a delay",
    "positive_response": "Because of the rain.",
    "principles": [],
    "confidence": 0.9,
    "safety_concern": False,
}
FOLDERS = {TEMPLATE.ref(function.logical_id): folder for folder, function in FUNCTIONS.items()}


#: What is not done here, and when it is.
SELDOM: dict[tuple[str, str, str], str] = {
    ("analyze", "LESSON", "GetItem"): "a card is read anew, for others moved it",
    ("analyze", "LOOP", "ConditionCheckItem"): "what came late changes the figures of an outcome, but not its verdict",
    ("apply", "GRAIN", "GetItem"): "an undo gives back a version that was restated since",
    ("distil", "RECIPE", "BatchGetItem"): "another process wrote the vectors",
    ("loop_api", "LOG", "BatchGetItem"): "a question meets an entry that came late, before a pass does",
    **{
        (folder, "HEAD", "GetItem"): "a memory has nearly as many namespaces as it may have"
        for folder in ("ingest", "inbound", "inbox")
    },
}


class Authorised(NamedTuple):
    """One thing that AWS would authorise by itself."""

    folder: str
    action: str
    keys: tuple[str, ...]
    index_name: str | None


class Recorder(ClientHooks):
    """Notes what a client is asked for, and by which function."""

    def __init__(self, client: object) -> None:
        self.found: set[Authorised] = set()
        super().__init__(client)

    def before_call(self, exchange: Exchange) -> None:
        """Note one call; a transaction as its members, as it is authorised."""
        folder = FOLDERS[os.environ["AWS_LAMBDA_FUNCTION_NAME"]]  # noqa: TID251 - set by the local stack, as by Lambda
        parts = list(transaction_parts(exchange.params)) or [(exchange.operation, exchange.params)]
        for action, params in parts:
            keys = tuple(leading_keys(params))
            self.found.add(Authorised(folder, action, keys, params.get("IndexName")))


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[frozenset[Authorised]]:
    """Everything the functions asked of the table while the whole system was used once."""
    policy = tmp_path_factory.mktemp("host") / "policy.json"
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    with (
        model_server() as models,
        LocalStack(
            ROOT,
            dev_token=ADMIN,
            now_ms=NOW_MS,
            policy_file=policy,
            parameters={
                "ModelUrl": models.url,
                "ModelKeySecretArn": MODEL_KEY,
                "Model": "claude-opus-5-5",
                "InboundSources": json.dumps([{"name": "shop", "tenant": "default", "memories": "sent"}]),
                "BusSource1": "shop",
            },
        ) as stack,
    ):
        # The first request makes the client that the functions share.
        stack.client_as(ADMIN).get("/v1/memories").raise_for_status()
        models.plays(lambda body: play(body) if is_of_a_pass(body) else says(TAUGHT))
        boto3.client("secretsmanager", region_name="us-east-1").create_secret(Name="model-key", SecretString="sk-ant-k")
        begin_distilling(stack, ADMIN, "Why is it late?", "Where is the parcel?")
        leave_a_hole(stack, ADMIN)
        with Recorder(table.connection().client) as recorder:
            _use_everything(stack)
        yield frozenset(recorder.found)


def test_every_call_is_allowed_by_the_role_of_the_function_that_makes_it(calls: frozenset[Authorised]) -> None:
    refused = [call for call in calls if not allows(call.folder, call.action, call.keys, index=call.index_name)]

    assert refused == []


def test_every_call_names_the_partitions_it_wants(calls: frozenset[Authorised]) -> None:
    # Without a leading key the condition on leading keys would hold for any partition.
    assert [call for call in calls if not call.keys] == []


def test_every_function_was_seen_at_work(calls: frozenset[Authorised]) -> None:
    assert {call.folder for call in calls} == set(FUNCTIONS)
    assert {call.index_name for call in calls} == {None, "queue", "due", "bytime"}
    assert {call.action for call in calls} >= READS | CHANGES


def test_every_right_on_the_table_was_used(calls: frozenset[Authorised]) -> None:
    seen = {
        (call.folder, _class_of(key), call.action) for call in calls if call.index_name is None for key in call.keys
    }
    granted = {
        (folder, name, action)
        for folder, rights in EXPECTED.items()
        for name, actions in rights.items()
        for action in actions
    }

    assert granted - seen == SELDOM.keys()


def _class_of(key: str) -> str:
    """The item class of a partition key, as ``test_rights`` names it."""
    return key.split("#", maxsplit=1)[0] if key.startswith("TOKEN#") else key.rsplit("#", 1)[-1]


def _use_everything(stack: LocalStack) -> None:
    """The proof, and what it leaves out: the schedule, other decisions, a minted token, every read."""
    with stack.client_as(ADMIN) as admin:
        sixty_second_proof(admin)
        _be_scheduled(stack, admin)
        _use_tools(stack)
        send_without_http(stack, admin)
        wanted = {"label": "runner", "kind": "agent", "memories": "*", "scopes": ["read", "write"]}
        minted = _ok(admin.post("/v1/tokens", json=wanted))
        _decide(admin, "demo", "approve-and-apply", "rollback")
        with patch.object(EventBridgeBus, "send", lambda _bus, _events: frozenset()):
            _decide(admin, "scheduled", "snooze", "wake", "approve", "reject")
        _forget(admin)
        _forget_much(stack, admin)
        _review(stack, admin)
        _look_everywhere(admin, stack)
        _use_recipes(admin)
        _learn(admin)
        _measure(admin, stack)
        be_rare(stack, admin)
        _erase(stack, admin)
        assert stack.tick().failed == []  # and anchors
    with stack.client_as(minted["secret"]) as runner:
        _work(runner)
    with stack.client_as(ADMIN) as admin:
        _hand_out(stack, admin)


def _use_tools(stack: LocalStack) -> None:
    """A tool of MCP, asked for with a token that somebody minted."""
    with stack.client_as(ADMIN) as admin:
        wanted = {"label": "tool user", "kind": "agent", "memories": "*", "scopes": ["read"]}
        minted = _ok(admin.post("/v1/tokens", json=wanted))
    with stack.client_as(minted["secret"]) as agent:
        params = {"name": "recall", "arguments": {"memory": "distilled", "question": "what is packed"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert _ok(agent.post("/mcp", json=asked))["result"]["isError"] is False


def _use_recipes(admin: httpx.Client) -> None:
    """A recipe that was distilled, asked for, delivered, judged, decided on and forgotten."""
    memory, scope = "/v1/memories/distilled", {"agent": "support"}
    recipes = f"{memory}/recipes"
    tokens = []
    for asked in ("Why is it late?", "why's it late", "Why is it early?"):
        found = _ok(admin.post(f"{recipes}/match", json={"request": asked, "scope": scope}))
        tokens += [found["hit_token"]] if found["hit"] else []
    _ok(admin.post(f"{recipes}/commit", json={"hit_token": tokens[0]}))
    tokens.append(_ok(admin.post(f"{recipes}/match", json={"request": "why is it late", "scope": scope}))["hit_token"])
    for token in tokens[-2:]:
        _ok(admin.post(f"{recipes}/feedback", json={"hit_token": token, "verdict": "regressed", "because": "no"}))
    envelope = {"problem": "Why is it wet?", "final_message": "It rains.", "signals": ["thumbs_up"]}
    for waits in (True, False):
        body = {"envelope": {**envelope, "trace": str(waits)}, "scope": scope, "wait": waits}
        job = _ok(admin.post(f"{recipes}/distil", json=body))
        _ok(admin.get(f"{recipes}/distil/{job['job']}"))
    [stopped] = _ok(admin.get(f"{recipes}?status=quarantined"))["recipes"]
    path = f"{recipes}/{stopped['id']}"
    _ok(admin.get(path))
    for place, action in enumerate(("restore", "retire", "restore", "forget")):
        headers = {"idempotency-key": f"recipe-{place}"}
        for _ in range(1 if action == "forget" else 2):
            _ok(admin.post(f"{path}/{action}", json={"because": "so"}, headers=headers))
    for read in (f"{recipes}/health", f"{memory}/ledger", f"{memory}/ledger/summary", f"{memory}/loop/outcomes"):
        _ok(admin.get(read))
    admin.get(f"{memory}/export").raise_for_status()
    wanted = {"namespace": "shared", "subject": "rain", "because": "asked to"}
    assert _ok(admin.post(f"{memory}/forget", json=wanted))["recipes"] > 0


def _review(stack: LocalStack, admin: httpx.Client) -> None:
    """A review that somebody asks for, with what its workflow does when nobody was told, and when nobody decided."""
    memory = "/v1/memories/reviewed"
    _ok(admin.put(memory, json={}))
    for tool in ("pack", "ship"):
        calls = [
            {"kind": "tool_call", "tool": tool, "call_id": f"{tool}{n}", "is_error": True, "result": ERROR}
            for n in range(6)
        ]
        _ok(admin.post(f"{memory}/events", json={"events": calls}))
    _ok(admin.post(f"{memory}/loop/run"))
    first, second = _ok(admin.get(f"{memory}/loop/recommendations"))["recommendations"]
    ticket: dict[str, str] = {}
    for each, because in ((first, {"because": "agreed", "then_apply": True}), (second, None)):
        path = f"{memory}/loop/recommendations/{each['id']}"
        ticket = {
            "tenant": "default",
            "memory": "reviewed",
            "recommendation": each["id"],
            "execution": _ok(admin.post(f"{path}/request-review"))["execution"],
        }
        opened = {"task": "open", "ticket": ticket, "token": "a token that nobody waits for"}
        assert not stack.invoke("ApprovalFunction", opened).failed
        if because is None:
            expire = {"task": "expire", "ticket": ticket, "waited_for": "decision"}
            assert not stack.invoke("ApprovalFunction", expire).failed
            continue
        with patch.object(StepFunctionsReviews, "tell", lambda *_args, **_more: False):
            _ok(admin.post(f"{path}/approve", json=because))
        assert not stack.invoke("ApplyFunction", {"task": "apply", "ticket": ticket}).failed
    stack.set_clock(stack.now_ms() + SLOT_MS)
    proposed = {"detail-type": "RecommendationProposed", "detail": {**ticket, "severity": "high", "n": 1}}
    assert not stack.invoke("ApprovalFunction", proposed).failed


def _be_scheduled(stack: LocalStack, admin: httpx.Client) -> None:
    """A memory that nobody asks for a pass over gets one."""
    _ok(admin.put("/v1/memories/scheduled", json={}))
    calls = [
        {"kind": "tool_call", "tool": TOOL, "call_id": f"s{n}", "is_error": True, "result": ERROR} for n in range(6)
    ]
    _ok(admin.post("/v1/memories/scheduled/events", json={"events": calls}))
    stack.set_clock(NOW_MS + 2 * SLOT_MS)
    stack.tick()


def _decide(admin: httpx.Client, memory: str, *actions: str) -> None:
    """Some decisions, one after the other, on the memory's one pending recommendation; each sent twice."""
    queue = f"/v1/memories/{memory}/loop/recommendations"
    (pending,) = _ok(admin.get(queue))["recommendations"]
    for action in actions:
        for _ in range(2):
            headers = {"idempotency-key": f"{memory}-{action}"}
            body = {"because": "agreed", **({"until": NOW_MS + DAY_MS} if action == "snooze" else {})}
            _ok(admin.post(f"{queue}/{pending['id']}/{action}", json=body, headers=headers))


def _forget(admin: httpx.Client) -> None:
    """A skill that changed, and then was to be forgotten; and what else goes by that name."""
    memory = "/v1/memories/demo"
    skill = {"kind": "skill", "name": "agreed", "proficiency": 0.1}
    _ok(admin.post(f"{memory}/events", json={"events": [skill]}))
    _ok(admin.get(f"{memory}/recall?question=agreed"))
    _ok(admin.get(f"{memory}/recall?question=nobody%20agreed"))
    _ok(admin.post(f"{memory}/loop/run"))
    _ok(admin.get(f"{memory}/recall?subject=agreed"))
    [stored] = _ok(admin.post(f"{memory}/events", json={"events": [{**skill, "proficiency": 0.2}]}))["events"]
    for wanted in ({"address": stored["address"]}, {"namespace": "shared", "subject": "agreed"}):
        _ok(
            admin.post(
                f"{memory}/forget", json={**wanted, "because": "asked to"}, headers={"idempotency-key": str(wanted)}
            )
        )


def _forget_much(stack: LocalStack, admin: httpx.Client) -> None:
    """More than one request forgets, with what goes with it."""
    memory = "/v1/memories/much"
    _ok(admin.put(memory, json={}))
    facts = [{"kind": "fact", "subject": "mo", "relation": f"r{n}", "object": f"o{n}"} for n in range(51)]
    skills = [{"kind": "skill", "name": "mo", "proficiency": step} for step in (0.1, 0.2)]
    for events in (facts, skills[:1], skills[1:]):
        _ok(admin.post(f"{memory}/events", json={"events": events}))
    _ok(admin.get(f"{memory}/recall?subject=mo"))
    _ok(admin.get(f"{memory}/recall?question=who%20is%20mo"))
    _ok(admin.post(f"{memory}/loop/run"))
    _ok(admin.post(f"{memory}/loop/config", json={"passes_enabled": False, "because": "mo asked for it"}))
    wanted = {"namespace": "shared", "subject": "mo"}
    _ok(admin.post(f"{memory}/forget", json={**wanted, "dry_run": True}))
    job = _ok(admin.post(f"{memory}/forget", json={**wanted, "because": "asked to"}))["job"]
    stack.set_clock(stack.now_ms() + SLOT_MS)
    stack.tick()
    assert _ok(admin.get(f"{memory}/jobs/{job}"))["status"] == "done"


def _learn(admin: httpx.Client) -> None:
    """What guards report, everything that people do with cards, a forgotten lesson, and cards that become one."""
    memory, line = "/v1/memories/taught", {"project": "shop", "category": "deploys", "signature": "s", "detail": "d"}
    _ok(admin.put(memory, json={}))
    _ok(admin.post(f"{memory}/loop/config", json={"lessons": {"promote_threshold": 2, "max_lessons_bytes": 1 << 20}}))
    told = _ok(admin.post(f"{memory}/lessons", json={**line, "statement": "wait"}))
    for _ in range(2):
        _ok(admin.post(f"{memory}/lessons", json=line, headers={"idempotency-key": "two"}))
    for n, action in enumerate(("arm", "edit", "demote", "revive", "reject", "revive", "archive", "revive", "arm")):
        body = {"because": "agreed", "statement": "look first"}
        _ok(admin.post(f"{memory}/cards/{told['card'][:20]}/{action}", json=body, headers={"idempotency-key": f"{n}"}))
    _ok(admin.post(f"{memory}/lessons", json={**line, "category": "releases"}))
    _ok(admin.post(f"{memory}/loop/config", json={"lesson_folds": {"deploys": "shipping", "releases": "shipping"}}))
    assert len(_ok(admin.post(f"{memory}/cards/migrate", json={"because": "one lesson"}))["merged"]) == 2
    assert _ok(admin.post(f"{memory}/lessons", json=line))["violation_of"]
    key = {"project": "shop", "category": "deploys", "signature": "s"}
    for session in ("s-1", "s-2"):
        assert _ok(admin.post(f"{memory}/sessions/{session}/start", json={"project": "shop"}))["rules"]
        assert _ok(admin.post(f"{memory}/lessons/pass", json={**key, "session": session}))["pass_of"]
    assert len(_ok(admin.get(f"{memory}/context?session=s-1"))["rules"]) == 1
    assert _ok(admin.post(f"{memory}/sessions/s-1/end"))["suppressed"] == 1
    for _ in range(8):
        _ok(admin.post(f"{memory}/lessons", json={**line, "session": "s-2"}))
    # What is said is no list of cards, but it is paid for.
    assert admin.post(f"{memory}/lessons/digest", json={"session": "s-2"}).status_code == 503
    for read in ("cards", "cards?project=shop&status=armed", f"cards/{told['card']}", f"cards/{told['card']}/replay",
                 "lessons", "lessons?project=shop", "lessons/stats", "audit/verify"):  # fmt: skip
        _ok(admin.get(f"{memory}/{read}"))
    _ok(admin.post(f"{memory}/forget", json={"address": told["lesson"], "because": "asked to"}))
    assert admin.get(f"{memory}/export").is_success
    _ok(admin.post("/v1/memories/much/lessons", json=line))


def _erase(stack: LocalStack, admin: httpx.Client) -> None:
    """Memories that were used, as a whole; and a last look, after those who may still have been writing."""
    assert admin.get("/v1/memories/demo/export").is_success
    with patch.object(EventBridgeBus, "send", lambda _bus, _events: frozenset()):
        card = _ok(admin.get("/v1/memories/twice/cards"))["cards"][0]["id"]
        _ok(admin.post(f"/v1/memories/twice/cards/{card}/edit", json={"because": "agreed", "statement": "look"}))
        for memory in ("much", "twice", "distilled"):
            job = _ok(admin.request("DELETE", f"/v1/memories/{memory}", json={"because": "the contract ended"}))["job"]
            for _ in range(2):
                stack.set_clock(stack.now_ms() + 4 * SLOT_MS)
                stack.tick()
            assert _ok(admin.get(f"/v1/memories/{memory}/jobs/{job}"))["status"] == "done"


def _measure(admin: httpx.Client, stack: LocalStack) -> None:
    """A lesson that does not hold for a day and is reverted, one that holds, and all that is watched for a month."""
    memory = "/v1/memories/measured"
    _ok(admin.put(memory, json={}))
    for tool in ("pay", "ship"):
        calls = [
            {"kind": "tool_call", "tool": tool, "call_id": f"{tool}{n}", "is_error": True, "result": ERROR}
            for n in range(6)
        ]
        _ok(admin.post(f"{memory}/events", json={"events": calls}))
    _ok(admin.post(f"{memory}/loop/run"))
    queue = f"{memory}/loop/recommendations"
    for pending in _ok(admin.get(queue))["recommendations"]:
        _ok(admin.post(f"{queue}/{pending['id']}/approve-and-apply", json={"because": "agreed"}))
    again = [
        {"kind": "tool_call", "tool": tool, "call_id": f"{tool}-{n}", "is_error": tool == "pay", "result": ERROR}
        for tool in ("pay", "ship")
        for n in range(12)
    ]
    stack.set_clock(stack.now_ms() + SLOT_MS)
    _ok(admin.post(f"{memory}/events", json={"events": again}))
    stack.set_clock(stack.now_ms() + 2 * DAY_MS)
    assert _ok(admin.post(f"{memory}/loop/run"))["measured"] == 2
    [revert] = _ok(admin.get(f"{queue}?analyzer=loop.outcome_review"))["recommendations"]
    _ok(admin.post(f"{queue}/{revert['id']}/approve-and-apply", json={"because": "agreed"}))
    [applied] = _ok(admin.get(f"{queue}?status=applied&analyzer=loop.tool_failure"))["recommendations"]
    assert len(_ok(admin.get(f"{memory}/context?project=shop"))["lessons"]) == 1
    offered = {"because": "agreed", "project": "shop", "statement": "look first"}
    _ok(admin.post(f"{queue}/{applied['id']}/offer-card", json=offered))
    stack.set_clock(stack.now_ms() + 31 * DAY_MS)
    assert _ok(admin.post(f"{memory}/loop/run"))["measured"] == 2


def _look_everywhere(admin: httpx.Client, stack: LocalStack) -> None:
    """Something for every analyzer, and all of them switched on; then another setting, and time to grow old."""
    memory = "/v1/memories/wide"
    _ok(admin.put(memory, json={}))
    past, said = NOW_MS - 100 * DAY_MS, "the parcel for the north gate was left at the door of the depot this morning"
    events = [
        {"kind": "fact", "subject": "promo", "relation": "code", "object": "X", "valid_to": past},
        *({"kind": "fact", "subject": "ann", "relation": "likes", "object": spelt} for spelt in ("tea", "Tea")),
        {"kind": "observation", "text": said},
        {"kind": "observation", "text": f"{said} again"},
        {"kind": "skill", "name": "typing", "proficiency": 0.2, "practice_count": 9},
        {"kind": "goal", "name": "ship", "progress": 0.0},
        {"kind": "assembly_report", "budget": 100, "used": 100, "dropped": 1, "unit": "tokens"},
        *({"kind": "recall_report", "question": "who holds the key?", "returned": []} for _ in range(3)),
    ]
    _ok(admin.post(f"{memory}/events", json={"events": events}))
    for analyzer, parameters in (("goal_stagnation", {"min_age_days": 1}), ("retention_sweep", {"max_age_days": 30})):
        wanted = {"analyzer": f"loop.{analyzer}", "enabled": True, "parameters": parameters, "because": "tried out"}
        _ok(admin.post(f"{memory}/loop/config", json=wanted))
    assert _ok(admin.post(f"{memory}/loop/run", json={}))["auto_applied"] == 1
    stack.set_clock(stack.now_ms() + 40 * DAY_MS)
    ran = _ok(admin.post(f"{memory}/loop/run", json={"full_sweep": True}))
    assert {skip["id"] for skip in ran["analyzers_skipped"]} <= {"loop.llm/1"}
    _ok(admin.get(f"{memory}/loop/analyzers"))
    pending = _ok(admin.get(f"{memory}/loop/recommendations?analyzer=loop.skill_stall"))["recommendations"]
    listed = {"ids": [row["id"] for row in pending], "action": "acknowledge", "because": "trained it"}
    decided = _ok(admin.post(f"{memory}/loop/recommendations/batch-review", json=listed))["decided"]
    assert decided == len(pending) > 0


def _hand_out(stack: LocalStack, admin: httpx.Client) -> None:
    """A token that mints another one, sent twice; both are listed and revoked."""
    wanted = {"label": "lead", "kind": "human", "memories": "*", "scopes": ["admin"]}
    minted = _ok(admin.post("/v1/tokens", json=wanted))
    with stack.client_as(minted["secret"]) as lead:
        for _ in range(2):
            _ok(lead.post("/v1/tokens", json={**wanted, "label": "next"}, headers={"idempotency-key": "next"}))
    assert {"runner", "lead", "next"} <= {each["label"] for each in _ok(admin.get("/v1/tokens"))["tokens"]}
    assert len(_ok(admin.delete(f"/v1/tokens/{minted['id']}"))["descendants"]) == 1


def _work(runner: httpx.Client) -> None:
    """An agent's day: look, replace what is wrong, have it examined."""
    memory = "/v1/memories/demo"
    fact = _ok(runner.get(f"{memory}/entities/shared/{SUBJECT}"))["facts"][0]
    new = {"kind": "fact", "subject": SUBJECT, "relation": RELATION, "object": "Porto"}
    _ok(
        runner.post(
            f"{memory}/events", json={"events": [{"kind": "supersede", "target": fact["address"], "with": new}]}
        )
    )
    run = _ok(runner.post(f"{memory}/loop/run", json={"full_sweep": True}))["run"]
    for asked in ("question=anything", "relation=status", "subject=nobody"):
        _ok(runner.get(f"{memory}/recall?{asked}"))
    for rest in (
        "loop/health",
        "loop/outcomes",
        "loop/telemetry",
        "loop/policy",
        "loop/analyzers",
        f"loop/runs/{run}",
        f"grains/{fact['address']}",
        "audit/verify",
        f"history?address={fact['address']}",
    ):
        _ok(runner.get(f"{memory}/{rest}"))
    assert runner.get(f"{memory}/audit").is_success


def _ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()
