"""Forget: no attribute of any item holds the content any more, and everything that rested on it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.rows import unpack
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.errors import (
    ConflictError,
    IdempotencyMismatchError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    TargetChangedError,
    TooLargeError,
    UnavailableError,
)
from provenloop.domain.events import Event, SupersedeEvent, SupersedingEvent
from provenloop.domain.principal import Principal
from provenloop.services import audit_trail, findings_read, grain_read, history, recall, telemetry_read
from provenloop.services.audit_export import export_page
from provenloop.services.forget import forget
from provenloop.services.forget_plan import MAX_GRAINS, Wanted
from provenloop.services.record_use import Telemetry
from tests.builders import (
    Desk,
    addresses,
    grain_of,
    make_call,
    make_calls,
    make_fact,
    make_free_event,
    make_goal,
    make_observation,
    make_principal,
    make_skill,
    make_tool_call,
)
from tests.faults import Fault, FaultLayer, Kind
from tests.faults.tables import TABLE
from tests.scenario.world import quietly
from tests.store_fixture import prepared

SECRET = "Quetzalcoatl Straße 7"
"""What is to be forgotten; folded it is another text."""
WORD = "Quetzalcoatl"
TOKYO = make_fact("Tokyo")


def forgotten(
    desk: Desk,
    address: str | None = None,
    *,
    subject: str | None = None,
    key: str | None = None,
    by: Principal | None = None,
    because: str = "the person asked for it",
    body: object = None,
) -> dict[str, Any]:
    namespace = "shared" if subject is not None else None
    return forget(desk.store, desk.call(key=key, by=by, body=body), Wanted(address, namespace, subject), because)


def everything_stored(desk: Desk) -> str:
    """Every attribute of every item, documents unpacked, as one text; and the same folded."""
    text = "\n".join(_attributes(desk))
    return f"{text}\n{text.casefold()}"


def _attributes(desk: Desk) -> Iterator[str]:
    for item in desk.snapshot().values():
        for name, value in item.items():
            yield f"{name}={unpack(value) if name == 'doc' else value!r}"


def assert_gone(desk: Desk, word: str = WORD) -> None:
    stored = everything_stored(desk)
    assert word not in stored
    assert word.casefold() not in stored


# each kind


KINDS: dict[str, tuple[Event, ...]] = {
    "fact": (
        make_fact(SECRET, confidence=0.4, source=WORD, tags=(WORD,)),
        make_fact(SECRET, confidence=0.9, source=WORD.upper()),
    ),
    "observation": (
        make_observation(f"{SECRET} is the key"),
        make_observation(f"{SECRET} is the key", source=WORD),
    ),
    "tool_call": (make_tool_call("c1", error={"message": f"no {SECRET}"}, input={"of": SECRET}),),
    "skill": (make_skill(SECRET, proficiency=0.1), make_skill(SECRET, proficiency=0.2)),
    "goal": (
        make_goal(SECRET, description=f"go to {SECRET}"),
        make_goal(SECRET, description=f"see {SECRET}", state="done"),
    ),
    "event": (make_free_event({"messages": [{"role": "user", "content": SECRET}]}, "e1"),),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_nothing_of_a_forgotten_grain_is_left_in_the_table(desk: Desk, kind: str) -> None:
    [address] = {grain_of(desk, event).address for event in KINDS[kind]}
    before = desk.grains()[address]
    answer = forgotten(desk, address)
    assert (answer["forgotten"], answer["addresses"], answer["versions"]) == (1, [address], len(KINDS[kind]) - 1)
    assert_gone(desk)
    stone = desk.grains()[address]
    assert (stone.state, stone.body, stone.redacted) == ("forgotten", {}, {})
    assert (stone.head_rev, stone.recorded_at, stone.generation) == (before.head_rev + 1, before.recorded_at, 1)
    desk.verify()


OTHERS: dict[str, tuple[SupersedingEvent, SupersedingEvent]] = {
    "fact": (TOKYO, make_fact("Oslo")),
    "observation": (make_observation("a"), make_observation("b")),
    "skill": (make_skill("a"), make_skill("b")),
    "goal": (make_goal("a"), make_goal("b")),
    "event": (make_free_event("a"), make_free_event("b")),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_nothing_is_left_of_one_that_was_superseded_forked_and_came_back(desk: Desk, kind: str) -> None:
    [event, *_] = KINDS[kind]
    [address] = addresses(desk.record(event))
    for other in OTHERS[kind]:
        desk.record(SupersedeEvent(address, other, allow_fork=True))
    desk.record(event)
    answer = forgotten(desk, address)
    assert answer["versions"] == (2 if kind == "event" else 3)
    assert_gone(desk)
    told = history.grain_history(desk.store, desk.call(), address)
    assert {version["state"] for version in told["versions"]} == {"forgotten"}


@each_kind
def test_what_is_forgotten_is_shown_as_such_and_a_second_time_nothing_is_left_to_do(desk: Desk, kind: str) -> None:
    address = grain_of(desk, KINDS[kind][0]).address
    first = forgotten(desk, address)
    shown = grain_read.show_grain(desk.store, desk.call(), address, Telemetry("off"))
    assert (shown["state"], shown["live"], set(shown) & {"object", "text", "result", "name", "body"}) == (
        "forgotten", False, set(),
    )  # fmt: skip
    before = desk.snapshot()
    again = forgotten(desk, address)
    assert again == {**first, "forgotten": 0, "addresses": [], "versions": 0, "seq": None, "audit": None}
    assert desk.snapshot() == before


@pytest.mark.parametrize("kind", ["fact", "observation", "skill", "goal"])
def test_what_is_stated_again_begins_anew_over_its_tombstone(desk: Desk, kind: str) -> None:
    event = KINDS[kind][0]
    address = grain_of(desk, event).address
    forgotten(desk, address)
    stone = desk.grains()[address]
    assert desk.statuses(event) == ["revived"]
    back = desk.grains()[address]
    assert (back.state, back.generation, back.head_rev) == ("current", 2, 3)
    assert desk.store.history(desk.memory, address) == (stone,)
    assert forgotten(desk, address)["forgotten"] == 1
    assert_gone(desk)
    desk.verify()


@pytest.mark.parametrize("kind", ["tool_call", "event"])
def test_an_occurrence_that_is_sent_again_stays_forgotten(desk: Desk, kind: str) -> None:
    [event] = KINDS[kind]
    address = grain_of(desk, event).address
    forgotten(desk, address)
    before = desk.grains()
    [answer] = desk.record(event)["events"]
    assert (answer["status"], "differs" in answer) == ("duplicate", False)
    assert desk.grains() == before


def test_the_request_that_said_it_does_not_bring_it_back(desk: Desk) -> None:
    [address] = addresses(desk.record(make_fact(SECRET), key="k"))
    forgotten(desk, address)
    assert desk.record(make_fact(SECRET), key="k")["events"][0]["status"] == "duplicate"
    assert_gone(desk)


# a subject


def test_all_that_is_held_about_a_subject_goes_in_whatever_spelling(desk: Desk) -> None:
    desk.record(
        make_fact("Berlin", subject=WORD),
        make_fact("night", subject=WORD.upper(), relation="likes"),
        make_skill(WORD),
        make_goal(WORD.lower()),
        make_tool_call("c1", tool=WORD),
        make_fact("Berlin", subject=WORD, namespace="team"),
        make_fact(f"knows {WORD}", subject="mia"),
    )
    answer = forgotten(desk, subject=WORD)
    assert (answer["forgotten"], len(answer["addresses"])) == (5, 5)
    left = [grain for grain in desk.grains().values() if grain.state != "forgotten"]
    assert sorted((grain.namespace, str(grain.body["subject"])) for grain in left) == [
        ("shared", "mia"),
        ("team", WORD),
    ]
    assert forgotten(desk, subject=WORD)["forgotten"] == 0
    desk.verify()


def test_over_fifty_grains_are_refused_and_nothing_is_forgotten(desk: Desk) -> None:
    desk.record(*(make_fact(f"v{number}") for number in range(MAX_GRAINS + 1)))
    before = desk.snapshot()
    with pytest.raises(TooLargeError, match="51 grains") as caught:
        forgotten(desk, subject="sam")
    assert caught.value.field == "subject"
    assert desk.snapshot() == before
    forgotten(desk, next(iter(desk.grains())))
    assert forgotten(desk, subject="sam")["forgotten"] == MAX_GRAINS


def many_versions(desk: Desk) -> None:
    """One goal that was told in 120 versions."""
    for number in range(120):
        desk.record(make_goal(SECRET, progress=number / 120))


def test_more_versions_than_a_transaction_holds_go_in_several(store: DynamoStore) -> None:
    desk, _ = prepared(store, many_versions)
    [address] = desk.grains()
    assert forgotten(desk, address)["versions"] == 119
    assert_gone(desk)


def test_what_an_interrupted_request_left_is_erased_when_it_is_sent_again(store: DynamoStore) -> None:
    desk, _ = prepared(store, many_versions)
    [address] = desk.grains()
    with FaultLayer(desk.client) as layer:
        layer.arm(Fault(Kind.THROTTLE, 2, operation="TransactWriteItems", times=None))
        with pytest.raises(UnavailableError):
            forgotten(desk, address, key="k")
    assert desk.grains()[address].state == "forgotten"
    assert WORD in everything_stored(desk)
    answer = forgotten(desk, address, key="k")
    assert answer["forgotten"] == 1
    assert_gone(desk)
    desk.verify()


# what rested on it


def test_a_finding_whose_evidence_is_forgotten_shows_none_of_it_and_cannot_be_applied(desk: Desk) -> None:
    desk.record(make_fact(SECRET), TOKYO, *make_calls(5, error=f"no {SECRET}"))
    desk.run()
    lesson, conflict = desk.finding("tool_failure"), desk.finding("contradiction_sweep")
    assert WORD in str(desk.queue())
    for rec in (lesson, conflict):
        desk.approve(rec, f"about {SECRET.upper()}, right")
    for address, grain in desk.grains().items():
        if grain.body.get("object") != "Tokyo":
            forgotten(desk, address)
    assert_gone(desk)
    for rec in (lesson, conflict):
        assert WORD.casefold() not in str(findings_read.show_recommendation(desk.store, desk.call(), rec)).casefold()
        with pytest.raises(TargetChangedError):
            desk.apply(rec)
    assert WORD not in str([*desk.queue("approved"), *export_page(desk.store, desk.call()).lines])
    desk.run()
    assert desk.recommendation(conflict).status == "expired"
    assert_gone(desk)
    desk.verify()


def test_after_an_apply_and_its_undo_everything_can_be_forgotten(desk: Desk) -> None:
    desk.record(make_fact(SECRET), TOKYO, *make_calls(5, error=f"no {SECRET}"))
    desk.run()
    for family in ("tool_failure", "contradiction_sweep"):
        rec = desk.finding(family)
        desk.approve_and_apply(rec, f"since {SECRET}", key=f"a-{family}")
        desk.roll_back(rec, f"not {SECRET}", key=f"r-{family}")
    reasons = sum(forgotten(desk, address, key=address)["reasons"] for address in desk.grains())
    assert reasons == 6
    assert_gone(desk)
    desk.run(full_sweep=True)
    assert_gone(desk)
    desk.verify()


def test_a_lesson_that_repeats_a_forgotten_error_is_named_and_can_be_forgotten_too(desk: Desk) -> None:
    calls = addresses(
        desk.record(*make_calls(5, error=f"no {SECRET}"), *make_calls(1, name="other", error="timed out"))
    )
    desk.run()
    [lesson] = desk.approve_and_apply(desk.finding("tool_failure"))["created"]
    assert [forgotten(desk, address)["lessons"] for address in calls] == [[lesson]] * 5 + [[]]
    assert WORD.casefold() in everything_stored(desk)
    forgotten(desk, lesson)
    assert_gone(desk)


def test_an_undo_counts_what_was_forgotten_meanwhile_as_undone(desk: Desk) -> None:
    desk.record(make_fact(SECRET), TOKYO, *make_calls(5, error=f"no {SECRET}"))
    desk.run()
    lesson, conflict = desk.finding("tool_failure"), desk.finding("contradiction_sweep")
    [made] = desk.approve_and_apply(lesson)["created"]
    [pointed] = desk.approve_and_apply(conflict)["changed"]
    for address in (made, pointed):
        forgotten(desk, address)
    for rec, address in ((lesson, made), (conflict, pointed)):
        assert desk.roll_back(rec)["already_undone"] == [address]
        assert desk.grains()[address].state == "forgotten"


def test_a_pass_after_it_resolves_the_conflict_and_counts_nothing_new(found: Desk) -> None:
    conflict = found.finding("contradiction_sweep")
    forgotten(found, found.facts()["Berlin"].address)
    answer = found.run(min_new=1)
    assert answer["skip_reason"] == "gate"
    found.run()
    assert found.recommendation(conflict).status == "expired"


def test_a_failed_call_that_is_forgotten_stays_counted(found: Desk) -> None:
    [lesson] = found.queue(analyzer="loop.tool_failure")
    [call, *_] = [grain for grain in found.grains().values() if grain.kind == "tool_call"]
    forgotten(found, call.address)
    found.run()
    assert found.queue(analyzer="loop.tool_failure")[0]["count"] == lesson["count"]


# questions and the index of terms


def asked(desk: Desk, question: str | None = None, **more: Any) -> None:
    query = recall.Wanted(**{"namespace": "shared", "question": question, **more})
    recall.recall(desk.store, desk.call(), query, Telemetry("full"))


@pytest.mark.parametrize("is_counted", [True, False])
def test_questions_that_repeat_it_go_and_others_stay(desk: Desk, is_counted: bool) -> None:
    [address] = addresses(desk.record(make_observation(WORD)))
    for question in (f"where is {WORD.lower()}?", f"Is {WORD.upper()} at home", "where is everybody?"):
        asked(desk, question)
    if is_counted:
        desk.run()
    assert forgotten(desk, address)["questions"] == 2
    assert_gone(desk)
    desk.run()
    assert_gone(desk)
    left = [grain.body for grain in desk.grains().values() if grain.kind == "question" and grain.is_current]
    assert left == [{"text": "where is everybody?"}]
    asked(desk, "where is everybody?")
    asked(desk, "nothing else")
    assert WORD not in str(telemetry_read.show_telemetry(desk.store, desk.call(), "full"))


def test_look_ups_of_a_forgotten_subject_go_with_it(desk: Desk) -> None:
    desk.record(make_fact("Berlin", subject=WORD))
    asked(desk, subject=WORD, relation="plan")
    asked(desk, subject="mia", relation="plan")
    answer = forgotten(desk, subject=WORD.lower())
    assert (answer["forgotten"], answer["questions"]) == (1, 1)
    assert_gone(desk)


def test_more_questions_than_a_transaction_holds_go_in_several(desk: Desk) -> None:
    [address] = addresses(desk.record(make_observation(WORD)))
    for number in range(95):
        asked(desk, f"{WORD} {number}")
    desk.run()
    assert forgotten(desk, address)["questions"] == 95
    assert_gone(desk)
    desk.verify()


def test_what_is_forgotten_is_not_recalled_and_leaves_the_index(desk: Desk) -> None:
    one, two = addresses(desk.record(make_observation(f"{WORD} sleeps"), make_observation(f"{WORD} wakes")))
    desk.run()
    rows = [row for row in _attributes(desk) if row.startswith("doc=") and '"term"' in row and one in row]
    assert len(rows) == 2
    forgotten(desk, one)
    rows = [row for row in _attributes(desk) if row.startswith("doc=") and '"term"' in row]
    assert all(one not in row for row in rows)
    assert any(two in row for row in rows)


# reasons


@pytest.mark.parametrize(
    ("because", "is_erased"),
    [
        (f"{WORD} said so", True),
        (f"as {WORD.upper()}'s file says", True),
        (f"as {WORD}s say", False),
        ("the others agree", False),
    ],
)
def test_a_reason_that_repeats_the_text_goes_and_its_chain_holds(found: Desk, because: str, is_erased: bool) -> None:
    [address] = addresses(found.record(make_observation(WORD)))
    rec = found.finding("tool_failure")
    found.reject(rec, because)
    assert forgotten(found, address)["reasons"] == is_erased
    assert bool(found.store.notes(found.memory, rec)) != is_erased
    told = findings_read.show_recommendation(found.store, found.call(), rec)["audit"][-1]
    assert (told["because"], told.get("because_erased", False)) == (None if is_erased else because, is_erased)
    found.verify()


# audit, refusals, repeats


def test_the_audit_entry_names_addresses_and_its_chain_goes_on(desk: Desk) -> None:
    address = grain_of(desk, make_fact(SECRET)).address
    first = forgotten(desk, address, because="asked by letter")
    desk.record(make_fact(SECRET))
    forgotten(desk, address)
    chain = f"grain:{address}"
    entries = tuple(desk.store.audit_entries(desk.memory, chain))
    assert [entry.n for entry in entries] == [1, 2]
    assert entries[0].id == first["audit"]
    [line, _] = export_page(desk.store, desk.call(), subject=chain).lines
    assert address in line
    assert desk.store.notes(desk.memory, chain)[1].because == "asked by letter"
    assert audit_trail.verify(desk.store, desk.call(), subject=chain) == {
        "ok": True, "subjects": 1, "entries": 2, "break": None,
    }  # fmt: skip
    [log] = desk.store.log_entries_at(desk.memory, [first["seq"]]).values()
    assert [(change.op, change.address, log.grains) for change in log.changes] == [("forget", address, 0)]


def test_an_entry_that_is_taken_from_such_a_chain_is_missed(desk: Desk) -> None:
    address = grain_of(desk, make_fact(SECRET)).address
    forgotten(desk, address)
    key = next(key for key in desk.snapshot() if key[0] == keys.partition(desk.memory, "AUDIT"))
    desk.client.delete_item(TableName=TABLE, Key={"pk": {"S": key[0]}, "sk": {"S": key[1]}})
    broken = audit_trail.verify(desk.store, desk.call())["break"]
    assert broken["subject"] == f"grain:{address}"


def test_a_request_sent_again_with_its_key_is_answered_as_the_first_time(desk: Desk) -> None:
    address = grain_of(desk, make_fact(SECRET)).address
    first = forgotten(desk, address, key="k")
    assert forgotten(desk, address, key="k") == first
    desk.record(make_fact(SECRET))
    before = desk.grains()
    assert forgotten(desk, address, key="k") == first
    assert desk.grains() == before
    with pytest.raises(IdempotencyMismatchError):
        forgotten(desk, address, key="k", body="another")
    assert desk.grains() == before


READER = make_principal("bob", "read", "write", "review", "apply")
REFUSALS: list[tuple[dict[str, Any], type[LoopError], str | None]] = [
    ({"subject": "sam", "by": READER}, ScopeDeniedError, None),
    ({"subject": "sam", "by": make_principal("bob", memories="team-*")}, ScopeDeniedError, None),
    ({"subject": "sam", "because": " "}, InvalidInputError, "because"),
    ({"subject": "nobody"}, NotFoundError, "subject"),
    ({"address": "f" * 64}, NotFoundError, "address"),
    ({"address": "f" * 63}, InvalidInputError, "address"),
    ({"address": "f" * 64, "subject": "sam"}, InvalidInputError, "address"),
    ({}, InvalidInputError, "namespace"),
]


@pytest.mark.parametrize(("asked", "error", "field"), REFUSALS)
def test_what_cannot_be_forgotten_is_refused_and_nothing_changes(
    desk: Desk, asked: dict[str, Any], error: type[LoopError], field: str | None
) -> None:
    desk.record(make_fact(SECRET))
    before = desk.snapshot()
    with pytest.raises(error) as caught:
        forgotten(desk, **asked)
    assert caught.value.field == field
    assert desk.snapshot() == before


def test_a_memory_or_namespace_that_is_not_there_is_not_found(desk: Desk) -> None:
    desk.record(make_fact(SECRET))
    with pytest.raises(NotFoundError) as caught:
        forget(desk.store, desk.call(), Wanted(namespace="nowhere", subject="sam"), "x")
    assert caught.value.field == "namespace"
    elsewhere = make_call(memory=desk.memory._replace(name="missing"))
    for wanted in (Wanted("f" * 64), Wanted(namespace="shared", subject="sam")):
        with pytest.raises(NotFoundError) as caught:
            forget(desk.store, elsewhere, wanted, "x")
        assert caught.value.field == "memory"


# faults and rivals


@pytest.mark.parametrize(
    "kind", [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY, Kind.LOST_REQUEST, Kind.CONFLICT]
)
@pytest.mark.parametrize("number", range(1, 10))
def test_whatever_fails_on_the_way_the_same_request_again_ends_in_one_tombstone(
    desk: Desk, kind: Kind, number: int
) -> None:
    [address] = {grain_of(desk, make_skill(SECRET, proficiency=figure)).address for figure in (0.1, 0.2)}
    with FaultLayer(desk.client) as layer:
        layer.survives(quietly(lambda: forgotten(desk, address, key="k")), Fault(kind, number))
    assert forgotten(desk, address, key="k")["forgotten"] == 1
    assert len(tuple(desk.store.audit_entries(desk.memory))) == 1
    assert_gone(desk)
    desk.verify()


def test_a_fact_that_is_stated_while_it_is_being_forgotten_is_forgotten_with_what_was_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = grain_of(desk, make_fact(SECRET, confidence=0.1)).address
    transact = desk.store.transact
    rival = iter([make_fact(SECRET, confidence=0.2, source=WORD)])

    def late(memory: Any, writes: Any, now: int) -> None:
        for event in rival:
            monkeypatch.setattr(desk.store, "transact", transact)
            desk.record(event)
        transact(memory, writes, now)

    monkeypatch.setattr(desk.store, "transact", late)
    assert forgotten(desk, address)["versions"] == 1
    assert_gone(desk)


def test_of_two_who_forget_the_same_at_once_the_second_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    address = grain_of(desk, make_fact(SECRET)).address
    transact = desk.store.transact

    def late(memory: Any, writes: Any, now: int) -> None:
        monkeypatch.setattr(desk.store, "transact", transact)
        forgotten(desk, address)
        transact(memory, writes, now)

    monkeypatch.setattr(desk.store, "transact", late)
    with pytest.raises(ConflictError):
        forgotten(desk, address)
    assert forgotten(desk, address)["forgotten"] == 0
    assert len(tuple(desk.store.audit_entries(desk.memory))) == 1
