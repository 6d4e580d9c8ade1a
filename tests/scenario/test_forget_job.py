"""Forgetting what is too much for one request: a job erases it in stretches, and no crash loses or repeats anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from provenloop.adapters.dynamodb.rows import unpack
from provenloop.domain.errors import IdempotencyMismatchError, LoopError, NotFoundError, ScopeDeniedError
from provenloop.domain.events import Event
from provenloop.domain.job import Job
from provenloop.domain.names import MemoryId
from provenloop.services import forget_job, forget_plan, jobs, recall
from provenloop.services.forget import would_forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.ports import Remove
from provenloop.services.record_use import Telemetry
from provenloop.services.run_job import Occasion, run_job
from tests.builders import Desk, make_fact, make_goal, make_principal, make_skill, make_tool_call
from tests.faults import Crash, Fault, FaultLayer, Kind
from tests.store_fixture import prepared

NAME = "Quetzalcoatl"
MORE, SOME = 60, 9
"""Facts of the prepared subjects, each more than one request forgets."""


@dataclass
class Sent:
    """Stands where the job queue stands."""

    messages: list[tuple[MemoryId, str, int]] = field(default_factory=list)

    def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
        self.messages.append((memory, job_id, delay_s))


def begin(
    desk: Desk, sent: Sent, *, subject: str = NAME, key: str | None = None, because: str = f"{NAME} asked for it",
    body: object = None,
) -> dict[str, Any]:  # fmt: skip
    wanted = Wanted(None, "shared", subject)
    is_done, answer = jobs.forget_or_begin(desk.store, sent, desk.call(key=key, body=body), wanted, because)
    assert not is_done
    return dict(answer)


def deliver(desk: Desk, sent: Sent, spent: Callable[[], bool] = lambda: False) -> str:
    """The next message's outcome; a message that fails stays."""
    memory, job_id, _ = sent.messages[0]
    call = desk.call()
    outcome = run_job(desk.store, sent, memory, job_id, Occasion(call.request_id, call.now, call.entropy, spent))
    del sent.messages[0]
    return outcome


def shown(desk: Desk, job: str) -> dict[str, Any]:
    return jobs.show_job(desk.store, desk.call(), job)


def assert_gone(desk: Desk, *words: str) -> None:
    stored = "\n".join(
        f"{name}={unpack(value) if name == 'doc' else value!r}"
        for item in desk.snapshot().values()
        for name, value in item.items()
    ).casefold()
    assert [word for word in (NAME, *words) if word.casefold() in stored] == []


def tell_much(desk: Desk) -> None:
    """A subject of many facts, and everything else that speaks of it: other kinds, questions."""
    tell(desk, MORE)


def tell_some(desk: Desk) -> None:
    """The same of fewer facts."""
    tell(desk, SOME)


def tell(desk: Desk, number_of_facts: int) -> None:
    facts: list[Event] = [
        make_fact(f"opal {number}", subject=NAME, relation=f"r{number}") for number in range(number_of_facts)
    ]
    desk.record(*facts)
    desk.record(make_skill(NAME, proficiency=0.1), make_goal(NAME.lower()), make_tool_call("c1", tool=NAME))
    desk.record(make_skill(NAME, proficiency=0.2), make_fact("Berlin", subject="mia"))
    for question in (f"where is {NAME}?", "opal 7 or not", "where is mia?"):
        query = recall.Wanted("shared", None, None, question)
        recall.recall(desk.store, desk.call(), query, Telemetry("full"))
    desk.run()


@pytest.fixture
def much(store: Any) -> Desk:
    return prepared(store, tell_much)[0]


@pytest.fixture
def some(store: Any, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A smaller subject, and limits to match, so that it still takes several stretches."""
    monkeypatch.setattr(forget_job, "GRAINS_A_STRETCH", 4)
    monkeypatch.setattr(forget_plan, "MAX_GRAINS", 5)
    return prepared(store, tell_some)[0]


COUNTS = {"grains": MORE + 3, "questions": 2, "versions": 1}
COUNTS_OF_SOME = {**COUNTS, "grains": SOME + 3}


def test_over_fifty_grains_are_forgotten_by_a_job_and_nothing_of_them_is_left(much: Desk) -> None:
    sent = Sent()
    answer = begin(much, sent)
    assert (answer["status"], answer["counts"], answer["kind"]) == ("running", {}, "forget")
    assert sent.messages == [(much.memory, answer["job"], jobs.FIRST_DELAY_S)]
    assert deliver(much, sent) == "done"
    done = shown(much, answer["job"])
    assert (done["status"], done["counts"], done["by"], done["error"]) == ("done", COUNTS, "ann", None)
    assert sent.messages == []
    left = [grain for grain in much.grains().values() if grain.state != "forgotten" and grain.kind == "fact"]
    assert [grain.body["subject"] for grain in left] == ["mia"]
    much.verify()


def test_only_the_reasons_of_the_chain_itself_still_say_why(some: Desk) -> None:
    sent = Sent()
    begin(some, sent, because="asked by letter")
    deliver(some, sent)
    assert_gone(some, "opal")
    [chain] = [end.subject for end in some.store.chain_ends(some.memory) if end.subject.startswith("entity:")]
    entries = list(some.store.audit_entries(some.memory, chain))
    notes = some.store.notes(some.memory, chain)
    assert {note.because for note in notes.values()} == {"asked by letter"}
    assert len(notes) == len(entries) > 1


def test_a_job_whose_time_is_spent_sends_itself_on_and_goes_on_from_there(some: Desk) -> None:
    sent = Sent()
    job = begin(some, sent, because="asked")["job"]
    counted = []
    for _ in range(20):
        once = iter([False, True])
        outcome = deliver(some, sent, lambda once=once: next(once))  # type: ignore[misc]
        counted.append(shown(some, job)["counts"].get("grains", 0))
        if outcome == "done":
            break
        assert sent.messages == [(some.memory, job, 0)]
    assert counted == sorted(counted)
    assert 4 in counted
    assert shown(some, job)["counts"] == COUNTS_OF_SOME
    assert_gone(some, "opal")


def test_the_same_request_is_the_same_job_before_and_after_it_is_done(some: Desk) -> None:
    sent = Sent()
    first = begin(some, sent, key="k")
    again = begin(some, sent, key="k")
    assert again == first
    assert len(sent.messages) == 1
    deliver(some, sent)
    assert begin(some, sent, key="k") == shown(some, first["job"])
    with pytest.raises(IdempotencyMismatchError):
        begin(some, sent, key="k", body="another")


def test_a_message_that_comes_again_does_nothing_more(some: Desk) -> None:
    sent = Sent()
    begin(some, sent, because="asked")
    sent.messages *= 2
    assert deliver(some, sent) == "done"
    before = some.snapshot()
    assert deliver(some, sent) == "over"
    assert some.snapshot() == before


def test_a_message_without_a_job_is_refused(desk: Desk) -> None:
    sent = Sent([(desk.memory, "0" * 32, 0)])
    with pytest.raises(NotFoundError):
        deliver(desk, sent)


def make_fail(desk: Desk, sent: Sent, job: str) -> None:
    """The job forgets some grains, then loses what it was asked for and gives up."""
    once = iter([False, True])
    deliver(desk, sent, lambda: next(once))
    [stored] = [desk.store.job(desk.memory, job)]
    assert isinstance(stored, Job)
    call = desk.call()
    notes = desk.store.notes(desk.memory, stored.notes).values()
    desk.store.transact(desk.memory, [*map(Remove, notes)], call.now)
    assert deliver(desk, sent) == "failed"


def test_a_job_that_has_lost_what_it_needs_fails_and_says_so(some: Desk) -> None:
    sent = Sent()
    job = begin(some, sent)["job"]
    make_fail(some, sent, job)
    assert (shown(some, job)["status"], shown(some, job)["error"]) == ("failed", "PVL-E060")


@pytest.mark.parametrize("key", ["k", None])
def test_a_job_that_gave_up_goes_on_when_the_same_is_asked_for_again(some: Desk, key: str | None) -> None:
    sent = Sent()
    job = begin(some, sent, key=key, because="asked")["job"]
    make_fail(some, sent, job)
    done_before = shown(some, job)["counts"]["grains"]
    assert sent.messages == []
    some.record(make_fact("opal 1", subject=NAME, relation="said since"))
    again = begin(some, sent, key=key, because="asked")
    assert (again["job"], again["status"], again["error"], again["counts"]["grains"]) == (
        job, "running", None, done_before,
    )  # fmt: skip
    assert [message[1] for message in sent.messages] == [job]
    assert deliver(some, sent) == "done"
    done = shown(some, job)
    assert (done["counts"]["grains"], done["error"]) == (COUNTS_OF_SOME["grains"] + 1, None)
    assert_gone(some, "opal")
    some.verify()


@pytest.mark.parametrize("key", ["k", None])
def test_a_job_whose_message_was_lost_is_sent_again_once_it_has_stood_still(some: Desk, key: str | None) -> None:
    sent = Sent()
    job = begin(some, sent, key=key, because="asked")["job"]
    sent.messages.clear()
    assert begin(some, sent, key=key, because="asked")["job"] == job
    assert sent.messages == []
    some.now += jobs.STANDS_STILL_MS + 1
    assert begin(some, sent, key=key, because="asked")["job"] == job
    assert sent.messages == [(some.memory, job, 0)]
    assert deliver(some, sent) == "done"
    assert_gone(some, "opal")


def test_without_a_key_the_same_words_are_a_new_job_once_the_first_is_done(some: Desk) -> None:
    sent = Sent()
    first = begin(some, sent, because="asked")["job"]
    deliver(some, sent)
    some.record(*(make_fact(f"opal {number}", subject=NAME, relation=f"s{number}") for number in range(SOME)))
    second = begin(some, sent, because="asked")["job"]
    assert second != first
    assert deliver(some, sent) == "done"
    assert shown(some, first)["status"] == "done"


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY])
def test_a_crash_while_a_job_is_taken_up_again_leaves_it_to_the_next_request(some: Desk, kind: Kind) -> None:
    sent = Sent()
    job = begin(some, sent, key="k", because="asked")["job"]
    make_fail(some, sent, job)
    with FaultLayer(some.client) as layer, layer.faults(Fault(kind, 1, operation="TransactWriteItems")):
        try:
            begin(some, sent, key="k", because="asked")
        except (Crash, LoopError):
            layer.restart()
    begin(some, sent, key="k", because="asked")
    while sent.messages:
        deliver(some, sent)
    assert shown(some, job)["status"] == "done"
    assert_gone(some, "opal")


def test_two_who_take_a_job_up_at_once_begin_it_again_once(some: Desk) -> None:
    sent = Sent()
    job = begin(some, sent, key="k", because="asked")["job"]
    make_fail(some, sent, job)
    rivals = iter(("another",))

    class Rivalled(Sent):
        def send(self, memory: MemoryId, job_id: str, delay_s: int) -> None:
            sent.send(memory, job_id, delay_s)
            for _ in rivals:
                begin(some, sent, key="k", because="asked")

    assert begin(some, Rivalled(), key="k", because="asked")["status"] == "running"
    assert sorted(deliver(some, sent) for _ in range(len(sent.messages))) == ["done", "over"]
    assert shown(some, job)["counts"]["grains"] == COUNTS_OF_SOME["grains"]


CRASHES = [(kind, nth) for kind in (Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY) for nth in range(1, 8)]


@pytest.mark.parametrize(("kind", "nth"), CRASHES)
def test_a_crash_at_any_write_of_a_job_loses_and_repeats_nothing(some: Desk, kind: Kind, nth: int) -> None:
    sent = Sent()
    job = begin(some, sent, because="asked")["job"]
    with FaultLayer(some.client) as layer, layer.faults(Fault(kind, nth, operation="TransactWriteItems")):
        try:
            deliver(some, sent)
        except (Crash, LoopError):
            layer.restart()
    for _ in range(3):
        if sent.messages:
            deliver(some, sent)
    done = shown(some, job)
    assert (done["status"], done["counts"]) == ("done", COUNTS_OF_SOME)
    assert_gone(some, "opal")
    some.verify()


@pytest.mark.parametrize("kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER])
def test_a_crash_while_a_job_is_stored_leaves_one_job_or_none(some: Desk, kind: Kind) -> None:
    sent = Sent()
    with FaultLayer(some.client) as layer:
        layer.survives(lambda: begin(some, sent, key="k"), Fault(kind, 1, operation="TransactWriteItems"))
    job = begin(some, sent, key="k")["job"]
    assert {message[1] for message in sent.messages} == {job}
    deliver(some, sent)
    assert shown(some, job)["status"] == "done"


def test_what_is_said_of_the_subject_while_the_job_runs_is_new(some: Desk) -> None:
    sent = Sent()
    begin(some, sent, because="asked")
    once = iter([False, True])
    deliver(some, sent, lambda: next(once))
    some.record(make_fact("opal 1", subject=NAME, relation="said since"))
    while sent.messages:
        deliver(some, sent)
    live = [grain for grain in some.grains().values() if grain.body.get("subject") == NAME and grain.is_current]
    assert len(live) <= 1
    some.verify()


# dry runs


def test_a_dry_run_tells_what_would_go_and_writes_nothing(much: Desk) -> None:
    before = much.snapshot()
    told = would_forget(much.store, much.call(), Wanted(None, "shared", NAME))
    assert much.snapshot() == before
    assert told["dry_run"] is True
    assert (told["forgotten"], len(told["addresses"]), told["questions"], told["versions"]) == (63, 63, 2, 1)
    assert (told["seq"], told["audit"]) == (None, None)


@pytest.mark.parametrize("scopes", [("read",), ("write",), ("review", "apply")])
def test_only_an_admin_looks_ahead_or_at_jobs(some: Desk, scopes: Any) -> None:
    call = some.call(by=make_principal("bob", *scopes))
    with pytest.raises(ScopeDeniedError):
        would_forget(some.store, call, Wanted(None, "shared", NAME))
    with pytest.raises(ScopeDeniedError):
        jobs.show_job(some.store, call, "0" * 32)
    with pytest.raises(ScopeDeniedError):
        jobs.forget_or_begin(some.store, Sent(), call, Wanted(None, "shared", NAME), "x")
