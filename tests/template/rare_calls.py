"""What functions are seldom asked for, done once: new tokens, repeated requests, lost entries, rules that end."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from provenloop.domain.injected import fenced
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import RecipeScope
from provenloop.entry.wiring import wiring
from provenloop.services.distil_recipe import Wanted, begin_distillation
from provenloop.services.ports import Reservation
from tests.builders import make_call, make_principal
from tests.finding_model import FACTS

if TYPE_CHECKING:
    import httpx

    from provenloop.entry.local.stack import LocalStack

DAY_MS = 86_400_000
SCHEDULE_MS = 300_000
LINE = {"project": "shop", "category": "deploys", "signature": "s", "detail": "d"}
NOBODY = "a" * 26
#: A request to each function that people and agents ask.
ASKED: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "events", {"events": [{"kind": "observation", "text": "a door"}]}),
    ("POST", "loop/run", {}),
    ("POST", f"loop/recommendations/{NOBODY}/apply", {"because": "agreed"}),
    ("GET", "cards", None),
    ("GET", "recipes", None),
    ("GET", f"jobs/{'0' * 32}", None),
    ("GET", "loop/health", None),
)


def begin_distilling(stack: LocalStack, token: str, *problems: str) -> None:
    """What the next tick distils, in a memory of its own."""
    memory = MemoryId("default", "distilled")
    with stack.client_as(token) as admin:
        done(admin.put(f"/v1/memories/{memory.name}", json={}))
    for number, problem in enumerate(problems, 1):
        call = make_call(
            replace(make_principal(), tenant=memory.tenant), memory=memory, now=stack.now_ms(), number=number
        )
        envelope = {"problem": problem, "final_message": "It rains.", "signals": ["thumbs_up"]}
        current = wiring()
        wanted = Wanted(envelope, RecipeScope(agent="support"))
        begin_distillation(current.store, current.distillations, call, wanted, has_model=True)


def leave_a_hole(stack: LocalStack, token: str) -> None:
    """A writer that took a number of the log, and was never heard of again."""
    memory = MemoryId("default", "interrupted")
    with stack.client_as(token) as admin:
        done(admin.put(f"/v1/memories/{memory.name}", json={}))
    now = stack.now_ms()
    assert wiring().store.reserve(memory, Reservation(1, 0, frozenset({"shared"}), now, now)) is not None


def send_without_http(stack: LocalStack, admin: httpx.Client) -> None:
    """The same to all three that record events: what is new, stated again, replaced, looked up, and an echo alone."""
    done(admin.put("/v1/memories/sent", json={}))
    s3, events = stack.aws.client("s3"), stack.aws.client("events")
    [bus] = [each["Name"] for each in events.list_event_buses()["EventBuses"] if each["Name"] != "default"]
    [bucket] = [each["Name"] for each in s3.list_buckets()["Buckets"] if "inbox" in each["Name"]]
    for turn in range(3):
        fact = {"kind": "fact", "subject": f"door {turn}", "relation": "is", "object": "open"}
        told = done(admin.post("/v1/memories/sent/events", json={"events": [fact]}))
        replaced = {"kind": "supersede", "target": told["events"][0]["address"], "with": {**fact, "object": "shut"}}
        asked = {"kind": "recall_report", "question": "is it open?", "returned": told["events"][0]["address"].split()}
        echo = {"kind": "observation", "text": fenced(str(turn), "rules")}
        for sent in ([{**fact, "confidence": 0.5}], [replaced, asked], [echo]):
            if turn == 0:
                key = {"idempotency-key": str(sent)[:99]}
                done(admin.post("/v1/memories/sent/events", json={"events": sent}, headers=key))
            elif turn == 1:
                batch = json.dumps({"events": sent})
                entry = {"EventBusName": bus, "Source": "shop", "DetailType": "AgentEvents", "Detail": batch}
                assert events.put_events(Entries=[entry])["FailedEntryCount"] == 0
            else:
                lines = "\n".join(json.dumps(each) for each in sent)
                s3.put_object(Bucket=bucket, Key="inbox/shop/sent/file", Body=lines.encode())
            stack.tick()
    report = json.loads(s3.get_object(Bucket=bucket, Key="reports/shop/sent/file.report.json")["Body"].read())
    assert (report["refused"], report["ignored"]) == (0, 1)


def be_rare(stack: LocalStack, admin: httpx.Client) -> None:
    """All of it."""
    _come_as_strangers(stack, admin)
    _ask_twice(admin)
    _find_a_hole(stack, admin)
    _find_with_models(stack, admin)
    _leave_rules_to_the_timer(stack, admin)


def _come_as_strangers(stack: LocalStack, admin: httpx.Client) -> None:
    """A token that nobody has seen yet, to each function."""
    done(admin.put("/v1/memories/strange", json={}))
    for number, (method, rest, body) in enumerate(ASKED):
        wanted = {"label": f"stranger{number}", "kind": "human", "memories": "*", "scopes": ["admin"]}
        secret = done(admin.post("/v1/tokens", json=wanted))["secret"]
        with stack.client_as(secret) as stranger:
            answer = stranger.request(method, f"/v1/memories/strange/{rest}", json=body)
        assert answer.status_code in {200, 404}, answer.text


def _ask_twice(admin: httpx.Client) -> None:
    """What came before: a batch, a pass, and an action of a person that was done by then."""
    memory = "/v1/memories/twice"
    done(admin.put(memory, json={}))
    fact = {"kind": "fact", "subject": "ann", "relation": "likes", "object": "tea"}
    for _ in range(2):
        done(admin.post(f"{memory}/events", json={"events": [fact]}))
        done(admin.post(f"{memory}/events", json={"events": [fact]}, headers={"idempotency-key": "batch"}))
        done(admin.post(f"{memory}/loop/run", json={}, headers={"idempotency-key": "pass"}))
    card = done(admin.post(f"{memory}/lessons", json=LINE))["card"]
    for _ in range(2):
        body = {"because": "agreed", "statement": "look first"}
        done(admin.post(f"{memory}/cards/{card}/arm", json=body, headers={"idempotency-key": "arm"}))


def _find_a_hole(stack: LocalStack, admin: httpx.Client) -> None:
    memory = "/v1/memories/interrupted"
    for text in ("a door", "a gate"):
        done(admin.post(f"{memory}/events", json={"events": [{"kind": "observation", "text": text}]}))
        done(admin.post(f"{memory}/loop/run", json={}))
        done(admin.get(f"{memory}/recall?question=which%20door"))
        stack.set_clock(stack.now_ms() + 60_000)


def _find_with_models(stack: LocalStack, admin: httpx.Client) -> None:
    """A finding of a model that somebody rejects, and a later pass, in which the model is shown why."""
    memory = "/v1/memories/found"
    done(admin.put(memory, json={}))
    done(admin.post(f"{memory}/events", json={"events": FACTS}))
    stack.set_clock(stack.now_ms() + SCHEDULE_MS)
    stack.tick()
    [finding] = done(admin.get(f"{memory}/loop/recommendations"))["recommendations"]
    done(admin.post(f"{memory}/loop/recommendations/{finding['id']}/reject", json={"because": "she moved back"}))
    done(admin.post(f"{memory}/events", json={"events": [{"kind": "observation", "text": "ann is in Oslo"}]}))
    stack.set_clock(stack.now_ms() + SCHEDULE_MS)
    stack.tick()


def _leave_rules_to_the_timer(stack: LocalStack, admin: httpx.Client) -> None:
    """A session that nobody ends, and a rule that is broken more often than it is followed."""
    memory = "/v1/memories/timed"
    done(admin.put(memory, json={}))
    card = done(admin.post(f"{memory}/lessons", json=LINE))["card"]
    done(admin.post(f"{memory}/cards/{card}/arm", json={"because": "agreed", "statement": "look first"}))
    for session in ("s-1", "s-2"):
        done(admin.post(f"{memory}/sessions/{session}/start", json={"project": "shop"}))
        key = {name: LINE[name] for name in ("project", "category", "signature")}
        done(admin.post(f"{memory}/lessons/pass", json={**key, "session": session}))
    done(admin.post(f"{memory}/sessions/s-1/end"))
    for _ in range(5):
        done(admin.post(f"{memory}/lessons", json={**LINE, "session": "s-2"}))
    stack.set_clock(stack.now_ms() + 2 * DAY_MS)
    done(admin.post(f"{memory}/loop/run", json={}))
    assert done(admin.get(f"{memory}/cards/{card}"))["status"] == "demoted"


def done(answer: httpx.Response) -> Any:
    """The answer to a request that succeeds."""
    assert answer.is_success, answer.text
    return answer.json()
