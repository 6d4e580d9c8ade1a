"""The Python client against the whole local stack, over HTTP on this machine."""

from __future__ import annotations

import gc
import inspect
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from provenloop.client import Options, Provenloop, ProvenloopError, forms, outbox
from provenloop.entry.client_forms import written
from provenloop.entry.models.events import MAX_EVENTS
from provenloop.entry.operations import OPERATIONS, NoMethod, Operation
from tests.faulty_service import Fault, FaultyServer, faulty_service
from tests.functions.api import CALLS, VALUES, Api
from tests.functions.requests import ADMIN, NOW, ROOT

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

DAY_MS = 86_400_000
BROKEN = Fault(status=0)
GONE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def listening() -> Iterator[FaultyServer]:
    """A port with nothing behind it that answers what is planned."""
    with faulty_service(None) as server:
        yield server


class Slept(list[float]):
    """Seconds that were waited, on a clock that only waiting moves."""

    def options(self, **more: Any) -> Options:
        return Options(sleep=self.append, clock=lambda: sum(self), send_after_s=3600, **more)


@pytest.fixture
def slept() -> Slept:
    return Slept()


@pytest.fixture
def client(service: FaultyServer, slept: Slept) -> Iterator[Provenloop]:
    with Provenloop(service.url, ADMIN, "support", options=slept.options()) as known:
        yield known


def refused(call: Any, *args: Any, **how: Any) -> ProvenloopError:
    """What a call raises."""
    with pytest.raises(ProvenloopError) as found:
        call(*args, **how)
    return found.value


def methods() -> list[Operation]:
    return [each for each in OPERATIONS if isinstance(each.client, str)]


def test_a_day_of_the_client_is_found_decided_applied_and_undone(client: Provenloop, api: Api) -> None:
    for call in CALLS:
        client.add(call)  # type: ignore[arg-type]
    client.add_fact("checkout", "deploy_target", "eu")
    client.add_fact("checkout", "deploy_target", "us", namespace="shared")
    client.observe("deployed twice")
    client.record_tool_call("shell", is_error=False, call_id="c-1")
    assert client.waiting == 11
    client.flush()
    assert (client.waiting, client.loop_run()["outcome"]) == (0, "ran")
    [first, second] = list(client.every_recommendation(limit=1))
    shown = client.recommendation(first["id"])
    client.approve(first["id"], "seen", proposal_digest=shown["proposal_digest"])
    client.apply(first["id"][:6], "now")
    client.rollback(first["id"], because="not so")
    client.dismiss(second["id"], "as wanted")
    assert client.recommendation(first["id"])["status"] == "rolled_back"
    assert client.verify_audit()["ok"]
    assert [entry["subject"] for entry in client.audit()] == [
        json.loads(line)["subject"] for line in api.call("export_audit").text.splitlines()
    ]
    assert client.recall(subject="checkout")["results"] != []


@pytest.mark.parametrize("operation", methods(), ids=lambda operation: operation.name)
def test_a_method_sends_every_field_of_its_operation_to_its_route(
    operation: Operation, listening: FaultyServer
) -> None:
    listening.seen.clear()
    listening.faults.append(Fault(status=200, body="{}"))
    with Provenloop(listening.url, ADMIN, "support") as known:
        method = getattr(known, str(operation.client))
        answer = method(**dict.fromkeys(parameters_of(method) - {"wait_s"}, "x"))
        if isinstance(answer, Iterator):
            list(answer)
    [seen] = listening.seen
    assert seen.method == operation.method
    pattern = re.sub(r"\\\{[a-z]+(?:\\\+)?\\\}", "[^/]+", re.escape(operation.path))
    assert re.fullmatch(pattern, seen.path)
    assert set(re.findall(r"(\w+)=", seen.query)) == fields_of(operation.query)
    assert set(json.loads(seen.body or "{}")) == fields_of(operation.body)
    assert (seen.key is None) == (operation.method == "GET")
    assert seen.headers.get("x-model-key") == ("x" if operation.takes_model_key else None)


def parameters_of(method: Any) -> set[str]:
    """Every name that a method takes."""
    names: set[str] = set()
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            [form] = get_args(get_type_hints(method, include_extras=True)[name])
            names |= set(form.__annotations__)
        else:
            names.add(name)
    return names


def fields_of(model: Any) -> set[str]:
    return set() if model is None else {field.alias or name for name, field in model.model_fields.items()}


def test_every_operation_is_a_method_or_says_why_it_is_none() -> None:
    named = [str(each.client) for each in methods()]
    assert len(set(named)) == len(named)
    assert all(len(each.client.because) > 20 for each in OPERATIONS if isinstance(each.client, NoMethod))
    assert outbox.MAX_EVENTS == MAX_EVENTS


def test_the_forms_are_those_of_the_models() -> None:
    assert Path(forms.__file__).read_text(encoding="utf-8") == written(), "make client-forms"


@pytest.mark.parametrize(
    ("call", "status", "code", "field"),
    [
        (lambda client: client.recommendations(severity="urgent"), 400, "PVL-E011", "severity"),
        (lambda client: client.recommendations(status="open-ish"), 400, "PVL-E011", "status"),
        (lambda client: client.approve("nobody", "seen"), 404, "PVL-E040", "id"),
        (lambda client: client.act_on_card("nobody", "explode", "so"), 400, "PVL-E011", "action"),
        (lambda client: client.record_events([{"kind": "fact"}]), 400, "PVL-E011", "events[0].subject"),
    ],
)
def test_a_refusal_has_the_status_code_and_field_of_the_service(
    client: Provenloop, call: Any, status: int, code: str, field: str
) -> None:
    error = refused(call, client)
    assert (error.status, error.code, error.field) == (status, code, field)
    assert error.problem()["detail"] == error.detail
    assert code in str(error)


def test_a_wrong_token_is_told_and_no_message_shows_it(service: FaultyServer) -> None:
    with Provenloop(service.url, "s3cret-of-mine", "support") as known:
        error = refused(known.loop_health)
        assert (error.status, error.code) == (401, "PVL-E025")
        assert "s3cret" not in f"{error!r} {error} {vars(known)!r} {known.transport!r}"


@pytest.mark.parametrize("fault", [Fault(), Fault(429), Fault(502, "<html>"), BROKEN, Fault(status=0, after=True)])
def test_what_passes_is_sent_again_with_the_same_key_and_has_its_effect_once(
    client: Provenloop, service: FaultyServer, slept: Slept, fault: Fault
) -> None:
    service.faults += [fault, fault]
    reply = client.record_events([{"kind": "tool_call", "tool": "t", "is_error": True}])
    sent = [(seen.key, seen.body) for seen in service.seen]
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert slept == [0.2, 0.4]
    assert reply["events"][0]["status"] == ("duplicate" if fault.after else "stored")
    assert client.loop_run()["new_error_events"] == 1


def test_a_service_that_says_when_to_come_again_is_left_alone_until_then(
    client: Provenloop, service: FaultyServer, slept: Slept
) -> None:
    dates = Fault(429, headers={"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT"})
    service.faults += [Fault(429, headers={"retry-after": "7"}), Fault(503, headers={"retry-after": "86400"}), dates]
    client.loop_health()
    assert slept == [7.0, 60.0, 0.8]


def test_after_so_many_attempts_the_last_answer_is_told(client: Provenloop, service: FaultyServer) -> None:
    service.faults += [Fault()] * 4
    error = refused(client.loop_health)
    assert (error.status, error.code, len(service.seen)) == (503, "PVL-E001", 4)


def test_what_cannot_succeed_is_sent_once(client: Provenloop, service: FaultyServer, slept: Slept) -> None:
    refused(client.approve, "nobody", "seen")
    assert (len(service.seen), slept) == (1, [])


@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault(200, "<html>hello</html>"), 200), (Fault(404, '{"message":"Not Found"}'), 404), (Fault(302, ""), 302)],
)
def test_what_answers_and_is_not_the_service_is_told_apart(
    client: Provenloop, service: FaultyServer, fault: Fault, status: int
) -> None:
    service.faults.append(fault)
    error = refused(client.loop_health)
    assert (error.status, error.code) == (status, "not_the_service")


def test_no_redirect_is_followed_with_a_token(client: Provenloop, service: FaultyServer) -> None:
    service.faults.append(Fault(307, headers={"location": f"{service.url}/elsewhere"}))
    refused(client.loop_health)
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    ("url", "token", "field"),
    [
        ("http://provenloop.example", "t", "url"),
        ("ftp://127.0.0.1", "t", "url"),
        ("provenloop.example", "t", "url"),
        ("https://", "t", "url"),
        ("https://here:port", "t", "url"),
        ("https://provenloop.example", "two words", "token"),
        ("https://provenloop.example", "line\nfeed", "token"),
        ("https://provenloop.example", "", "token"),
    ],
)
def test_an_address_or_a_token_that_is_none_is_refused_before_anything_is_sent(
    url: str, token: str, field: str
) -> None:
    error = refused(Provenloop, url, token, "support")
    assert (error.code, error.field, error.status) == ("misused", field, None)


def test_without_a_memory_only_what_needs_none_can_be_asked(service: FaultyServer) -> None:
    with Provenloop(service.url, None) as known:
        assert known.health()["status"] == "ok"
        assert refused(known.loop_health).field == "memory"
        assert refused(known.add_fact, "a", "b", "c").field == "memory"


def test_a_part_of_a_path_stays_one_part_whatever_it_holds(client: Provenloop) -> None:
    client.add_fact("a/b?c=#d%2F", "is", "odd")
    client.flush()
    assert len(client.entity("shared", "a/b?c=#d%2F")["facts"]) == 1
    assert refused(client.recommendation, "../../x").status == 404
    assert refused(client.recommendation, "..").code == "misused"


def test_a_pass_without_time_left_is_gone_on_with_while_there_is_time_to_wait(
    client: Provenloop, service: FaultyServer, slept: Slept
) -> None:
    def more(**fields: Any) -> Fault:
        return Fault(202, json.dumps({"run": "r", "more": True, "skip_reason": None, **fields}))

    service.faults += [more(), more(more=False, skip_reason="busy")]
    assert client.loop_run(wait_s=60, min_new=0)["outcome"] == "ran"
    assert [json.loads(seen.body) for seen in service.seen] == [{"min_new": 0}, {}, {}]
    assert slept == [0.5, 1.0]
    service.faults += [more()] * 9
    assert client.loop_run(wait_s=3)["more"] is True
    assert sum(slept) == 1.5 + 3.0
    assert client.loop_run()["more"] is True


def test_exports_are_read_page_after_page(client: Provenloop, service: FaultyServer) -> None:
    service.faults += [Fault(200, '{"n": 1}\n{"n": 2}\n', {"provenloop-cursor": "on"}), Fault(200, '{"n": 3}\n')]
    assert [line["n"] for line in client.audit(subject="a")] == [1, 2, 3]
    assert [seen.query for seen in service.seen] == ["subject=a", "subject=a&cursor=on"]


def test_events_leave_in_batches_of_what_a_request_may_hold_and_in_order(
    client: Provenloop, service: FaultyServer
) -> None:
    for number in range(2):
        client.observe(f"{number}" * 60_000)
    for number in range(200):
        client.observe(f"note {number}")
    for number in range(10):
        client.record_tool_call(f"t{number}", is_error=False, result="x" * 300_000)
    client.flush()
    batches = [seen.json()["events"] for seen in service.seen]
    assert [len(batch) for batch in batches[:3]] == [90, 90, 22 + 3]
    assert all(len(seen.body) < 1_048_576 for seen in service.seen)
    assert [event["text"] for batch in batches for event in batch if event.get("text", "").startswith("note")] == [
        f"note {number}" for number in range(200)
    ]
    assert len({seen.key for seen in service.seen}) == len(service.seen)


def test_a_full_batch_is_sent_in_the_background_without_being_asked(service: FaultyServer) -> None:
    arrived = threading.Event()

    class Told(list[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            arrived.set()

    service.seen = Told()
    with Provenloop(service.url, ADMIN, "support", options=Options(send_after_s=3600)) as known:
        for number in range(90):
            known.observe(f"note {number}")
        assert arrived.wait(10)


def test_an_event_that_is_refused_costs_no_other_and_is_told(client: Provenloop, service: FaultyServer) -> None:
    client.observe("good")
    client.add({"kind": "fact", "subject": "", "relation": "r", "object": "o"})
    client.observe("better")
    client.add({"kind": "novel"})  # type: ignore[arg-type]
    error = refused(client.flush)
    assert (error.status, error.code) == (400, "PVL-E011")
    assert sorted(str(event["kind"]) for event in error.unsent) == ["fact", "novel"]
    assert client.waiting == 0
    assert client.loop_health()["seq"] == 1
    assert [event["text"] for event in service.seen[-2].json()["events"]] == ["good", "better"]
    client.flush()


def test_what_cannot_reach_the_service_waits_and_goes_with_its_key_later(
    client: Provenloop, service: FaultyServer
) -> None:
    service.faults += [Fault(status=0, after=True)] * 4
    client.record_tool_call("t", is_error=True)
    error = refused(client.flush)
    assert (error.code, error.unsent, client.waiting) == ("unreachable", (), 1)
    client.record_tool_call("t", is_error=True)
    client.flush()
    assert client.waiting == 0
    assert len({seen.key for seen in service.seen}) == 2
    assert client.loop_run()["new_error_events"] == 2


def test_closing_tells_what_was_not_sent() -> None:
    known = Provenloop(GONE, "t", "support", options=Slept().options(attempts=2))
    known.observe("lost")
    error = refused(known.close)
    assert [event["text"] for event in error.unsent] == ["lost"]
    assert "1 events were not sent" in str(error)
    assert refused(known.observe, "late").code == "misused"
    known.close()


def test_a_callback_is_told_instead_where_there_is_one(service: FaultyServer) -> None:
    told: list[tuple[int, str]] = []
    options = Slept().options(on_unsent=lambda events, error: told.append((len(events), error.code)))
    with Provenloop(service.url, "wrong-token", "support", options=options) as known:
        known.observe("a")
        known.observe("b")
    assert told == [(2, "PVL-E025")]


def test_an_error_on_its_way_is_not_hidden_by_events_that_were_not_sent() -> None:
    def fail() -> None:
        with Provenloop(GONE, "t", "support", options=Slept().options()) as known:
            known.observe("lost")
            raise KeyError("mine")

    with pytest.raises(KeyError) as found:
        fail()
    assert "1 events were not sent" in found.value.__notes__[0]


def test_more_than_may_wait_is_refused_and_not_dropped(service: FaultyServer) -> None:
    with Provenloop(service.url, ADMIN, "support", options=Slept().options(max_waiting=2)) as known:
        known.observe("a")
        known.observe("b")
        assert refused(known.observe, "c").code == "too_many_waiting"
        assert known.waiting == 2


@pytest.mark.parametrize("value", [float("nan"), {1}, b"bytes"])
def test_what_is_no_json_is_refused_where_it_is_added(client: Provenloop, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        client.record_tool_call("t", is_error=False, result=value)
    assert client.waiting == 0


def test_a_client_that_is_let_go_sends_what_it_has(service: FaultyServer) -> None:
    known = Provenloop(service.url, ADMIN, "support", options=Slept().options())
    known.observe("last words")
    del known
    gc.collect()
    assert [event["text"] for event in service.seen[-1].json()["events"]] == ["last words"]


def test_a_program_that_ends_without_closing_says_what_was_not_sent() -> None:
    program = f"""
from provenloop.client import Provenloop
known = Provenloop({GONE!r}, "t", "support")
known.observe("lost")
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert "1 events were not sent" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_what_the_client_loads_is_nothing_of_the_service() -> None:
    program = "import sys, provenloop.client; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(ran.stdout.split())
    assert not {"boto3", "pydantic", "aws_lambda_powertools", "provenloop.domain", "provenloop.entry"} & loaded


def test_instants_are_taken_as_texts_and_numbers(client: Provenloop, api: Api) -> None:
    [first, *_] = api.find()
    until = client.snooze(first["id"], "later", NOW + DAY_MS)["snoozed_until"]
    assert client.wake(first["id"], "sooner")["status"] == "pending"
    assert client.snooze(first["id"], "later", until)["snoozed_until"] == until
    assert len(VALUES) == 2
