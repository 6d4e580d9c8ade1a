"""The audit trail as stored: tampering with any item is found and named, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.audit import AuditEntry, ChainHead, head_after, next_entry
from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import AmbiguousPrefixError, NotFoundError, ScopeDeniedError
from provenloop.domain.measured_step import MEASURER
from provenloop.services import audit_trail, findings_read
from provenloop.services.audit_export import export_page
from tests.builders import DAY_MS, Desk, make_calls, make_principal, make_tool_call
from tests.faults import Interleaving
from tests.faults.tables import TABLE
from tests.store_fixture import first_pass, prepared


def decide_both(desk: Desk) -> tuple[str, str]:
    """One finding rejected, the other applied and undone."""
    first_pass(desk)
    rejected, undone = desk.finding("tool_failure"), desk.finding("contradiction_sweep")
    desk.reject(rejected)
    desk.approve(undone)
    desk.apply(undone)
    desk.roll_back(undone)
    return rejected, undone


@pytest.fixture
def decided(store: DynamoStore) -> tuple[Desk, str, str]:
    """A memory with a rejected finding (two entries) and one that was applied and undone (four)."""
    desk, (rejected, undone) = prepared(store, decide_both)
    return desk, rejected, undone


def verified(desk: Desk, subject: str | None = None) -> dict[str, Any]:
    return audit_trail.verify(desk.store, desk.call(), subject=subject)


def exported(desk: Desk, subject: str | None = None) -> list[str]:
    return list(export_page(desk.store, desk.call(), subject=subject).lines)


def entries(desk: Desk, subject: str) -> list[AuditEntry]:
    return list(desk.store.audit_entries(desk.memory, subject))


def key(item_class: str, sort: str) -> dict[str, Any]:
    return {"pk": {"S": f"T#acme#M#demo#{item_class}"}, "sk": {"S": sort}}


def drop(desk: Desk, item_class: str, sort: str) -> None:
    desk.client.delete_item(TableName=TABLE, Key=key(item_class, sort))


def edit(desk: Desk, item_class: str, sort: str, attribute: str, value: dict[str, Any]) -> None:
    desk.client.update_item(
        TableName=TABLE,
        Key=key(item_class, sort),
        UpdateExpression="SET #a = :v",
        ExpressionAttributeNames={"#a": attribute},
        ExpressionAttributeValues={":v": value},
    )


def test_what_the_loop_writes_verifies_as_a_whole_and_by_subject(decided: tuple[Desk, str, str]) -> None:
    desk, rejected, undone = decided
    assert verified(desk) == {"ok": True, "subjects": 2, "entries": 6, "break": None}
    assert verified(desk, rejected[:9]) == {"ok": True, "subjects": 1, "entries": 2, "break": None}
    assert verified(desk, undone)["entries"] == 4


def test_the_export_holds_every_entry_by_subject_and_number_and_can_be_checked_without_us(
    decided: tuple[Desk, str, str],
) -> None:
    desk, rejected, undone = decided
    lines = [json.loads(line) for line in exported(desk)]
    assert [(line["subject"], line["n"]) for line in lines] == sorted(
        [(rejected, 1), (rejected, 2), *((undone, n) for n in (1, 2, 3, 4))]
    )
    for line in lines:
        body = {name: value for name, value in line.items() if name != "id"}
        assert AuditEntry(line["subject"], line["n"], canonical_json(body), 0).id == line["id"]
    only = exported(desk, rejected)
    assert [json.loads(line) for line in only] == [line for line in lines if line["subject"] == rejected]


def test_reasons_are_shown_beside_the_chain_and_never_stand_in_it(decided: tuple[Desk, str, str]) -> None:
    desk, _, undone = decided
    shown = findings_read.show_recommendation(desk.store, desk.call(), undone)["audit"]
    assert [entry["because"] for entry in shown] == [None, "looks right", "do it", "it did harm"]
    assert [entry.get("because_verified") for entry in shown] == [None, True, True, True]
    assert "looks right" not in "".join(exported(desk))


def test_a_reason_that_was_edited_is_not_shown_and_the_chain_still_holds(decided: tuple[Desk, str, str]) -> None:
    desk, _, undone = decided
    note = desk.store.notes(desk.memory, undone)[2]
    desk.plant(replace(note, because="somebody else said so"))
    shown = findings_read.show_recommendation(desk.store, desk.call(), undone)
    assert (shown["audit"][1]["because"], shown["audit"][1]["because_verified"]) == (None, False)
    assert shown["verified"]
    assert verified(desk)["ok"]


def test_a_reason_that_was_erased_leaves_the_chain_verifiable(decided: tuple[Desk, str, str]) -> None:
    desk, _, undone = decided
    drop(desk, "NOTE", f"{undone}#000000000002")
    assert verified(desk)["ok"]
    shown = findings_read.show_recommendation(desk.store, desk.call(), undone)["audit"][1]
    assert "because_verified" not in shown
    assert (shown["because"], shown["because_erased"]) == (None, True)


Tamper = Callable[[Desk, str, str], None]


def _edit_text(desk: Desk, undone: str, _rejected: str) -> None:
    entry = entries(desk, undone)[1]
    edit(desk, "AUDIT", f"{undone}#000000000002", "text", {"S": entry.text.replace('"ann"', '"bob"')})


def _swap(desk: Desk, undone: str, rejected: str) -> None:
    edit(desk, "AUDIT", f"{undone}#000000000002", "text", {"S": entries(desk, rejected)[1].text})


def _move(desk: Desk, undone: str, rejected: str) -> None:
    desk.plant(replace(entries(desk, rejected)[1], subject=undone, n=5))


def _reorder(desk: Desk, undone: str, _rejected: str) -> None:
    second, third = entries(desk, undone)[1:3]
    desk.plant(replace(second, n=3), replace(third, n=2))


def _status(desk: Desk, undone: str, _rejected: str) -> None:
    desk.plant(replace(desk.recommendation(undone), status="applied"))


def _head(desk: Desk, undone: str, _rejected: str) -> None:
    rec = desk.recommendation(undone)
    desk.plant(replace(rec, chain=replace(rec.chain, id="0" * 64)))


def _invent(desk: Desk, undone: str, _rejected: str) -> None:
    desk.plant(replace(entries(desk, undone)[0], subject="zzz"))


def _swap_whole(desk: Desk, undone: str, rejected: str) -> None:
    """Both chains, entry for entry, each in the other's place."""
    ours, theirs = entries(desk, undone), entries(desk, rejected)
    for n, (own, other) in enumerate(zip(ours, theirs, strict=False), 1):
        desk.plant(replace(other, subject=undone, n=n), replace(own, subject=rejected, n=n))


def _insert(desk: Desk, undone: str, _rejected: str) -> None:
    """An entry between two others, those behind it moved up by one."""
    chain = entries(desk, undone)
    desk.plant(*(replace(entry, n=entry.n + 1) for entry in chain[1:]), replace(chain[0], n=2))


def _append(desk: Desk, undone: str, _rejected: str) -> None:
    """A step that is linked as it should be, from a status that is final."""
    last = entries(desk, undone)[-1]
    by = {"label": "eve", "kind": "human", "id": "p-eve", "token": ""}
    head = ChainHead(last.n, last.id)
    desk.plant(next_entry(head, subject=undone, before="rolled_back", after="applied", by=by, at=last.at))


def _renumber(desk: Desk, undone: str, _rejected: str) -> None:
    """The first dropped, and all others moved down into its place."""
    chain = entries(desk, undone)
    desk.plant(*(replace(entry, n=entry.n - 1) for entry in chain[1:]))
    drop(desk, "AUDIT", f"{undone}#000000000004")


def _drop_all(desk: Desk, undone: str, _rejected: str) -> None:
    for n in (1, 2, 3, 4):
        drop(desk, "AUDIT", f"{undone}#00000000000{n}")


TAMPERED: dict[str, tuple[Tamper, int, str]] = {
    "text edited": (_edit_text, 3, "the link to the previous entry does not hold"),
    "text unreadable": (
        lambda desk, undone, _: edit(desk, "AUDIT", f"{undone}#000000000002", "text", {"S": "[]"}),
        2,
        "the text is not that of an entry",
    ),
    "type edited": (
        lambda desk, undone, _: edit(desk, "AUDIT", f"{undone}#000000000002", "doc", {"B": b"{"}),
        2,
        "the text has another time",
    ),
    "first dropped": (lambda desk, undone, _: drop(desk, "AUDIT", f"{undone}#000000000001"), 1, "an entry is missing"),
    "middle dropped": (lambda desk, undone, _: drop(desk, "AUDIT", f"{undone}#000000000003"), 3, "an entry is missing"),
    "last dropped": (lambda desk, undone, _: drop(desk, "AUDIT", f"{undone}#000000000004"), 4, "the chain's head"),
    "swapped with another subject's": (_swap, 2, "the text has another number|belongs to another subject"),
    "another subject's appended": (_move, 5, "the text has another number"),
    "reordered": (_reorder, 2, "the text has another number"),
    "status edited": (_status, 4, "the status is applied, the chain says rolled_back"),
    "head edited": (_head, 5, "the chain's head names another last entry"),
    "a step appended that nothing leads to": (_append, 5, "the lifecycle has no such step"),
    "one put in between": (_insert, 2, "the text has another number"),
    "first dropped and the rest moved down": (_renumber, 1, "the text has another number"),
    "all dropped": (
        _drop_all,
        1,
        "the chain's head names another last entry",
    ),
    "recommendation dropped": (lambda desk, undone, _: drop(desk, "LOOP", f"REC#{undone}"), 5, "the chain's head"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_tampering_is_found_and_named(decided: tuple[Desk, str, str], how: str) -> None:
    desk, rejected, undone = decided
    tamper, n, reason = TAMPERED[how]
    tamper(desk, undone, rejected)
    answer = verified(desk)
    assert not answer["ok"]
    assert (answer["break"]["subject"], answer["break"]["n"]) == (undone, n)
    assert any(part in answer["break"]["reason"] for part in reason.split("|"))
    if how != "recommendation dropped":
        assert verified(desk, undone)["break"] == answer["break"]
        assert not findings_read.show_recommendation(desk.store, desk.call(), undone)["verified"]
    assert verified(desk, rejected)["ok"]
    assert len(exported(desk)) >= (2 if how == "all dropped" else 5)


def measure_both(desk: Desk) -> str:
    """A lesson is applied and measured for a day and for a week: held, and then not."""
    first_pass(desk)
    lesson = desk.finding("tool_failure")
    desk.approve(lesson)
    desk.apply(lesson)
    began = desk.now
    desk.record(make_tool_call("ok"))
    desk.run(at=began + 2 * DAY_MS)
    desk.record(*make_calls(3, name="again"))
    desk.run(at=began + 8 * DAY_MS)
    return lesson


@pytest.fixture
def measured(store: DynamoStore) -> tuple[Desk, str]:
    """A memory with a lesson whose chain ends in two entries (4 and 5) of what it was measured to have come to."""
    return prepared(store, measure_both)


def _forge(desk: Desk, lesson: str, **effects: Any) -> None:
    """The last entry as somebody would have liked it, with right links, in the recommendation's head as well."""
    *before, last = entries(desk, lesson)
    body = json.loads(last.text)
    head = ChainHead(before[-1].n, before[-1].id)
    forged = next_entry(
        head, subject=lesson, before=body["from"], after=body["to"], by=body["by"], at=last.at,
        effects={**body["effects"], **effects},
    )  # fmt: skip
    edit(desk, "AUDIT", f"{lesson}#{last.n:012}", "text", {"S": forged.text})
    desk.plant(replace(desk.recommendation(lesson), chain=head_after(forged)))


def _edit_verdict(desk: Desk, lesson: str) -> None:
    text = entries(desk, lesson)[4].text.replace('"regressed"', '"held"')
    edit(desk, "AUDIT", f"{lesson}#000000000005", "text", {"S": text})


TAMPERED_MEASUREMENTS: dict[str, tuple[Callable[[Desk, str], None], int, str]] = {
    "verdict edited": (_edit_verdict, 6, "the chain's head names another last entry"),
    "the first dropped": (lambda desk, lesson: drop(desk, "AUDIT", f"{lesson}#000000000004"), 4, "an entry is missing"),
    "the last dropped": (lambda desk, lesson: drop(desk, "AUDIT", f"{lesson}#000000000005"), 5, "the chain's head"),
    "status edited": (
        lambda desk, lesson: desk.plant(replace(desk.recommendation(lesson), status="rolled_back")),
        5,
        "the status is rolled_back, the chain says applied",
    ),
    "a horizon told twice": (lambda desk, lesson: _forge(desk, lesson, horizon_ms=DAY_MS), 5, "no measurement comes"),
    "a word put in": (lambda desk, lesson: _forge(desk, lesson, text="trust me"), 5, "no measurement comes to this"),
}


@pytest.mark.parametrize("how", TAMPERED_MEASUREMENTS)
def test_tampering_with_what_was_measured_is_found_and_named(measured: tuple[Desk, str], how: str) -> None:
    desk, lesson = measured
    tamper, n, reason = TAMPERED_MEASUREMENTS[how]
    assert verified(desk, lesson) == {"ok": True, "subjects": 1, "entries": 5, "break": None}
    tamper(desk, lesson)
    found = verified(desk)["break"]
    assert (found["subject"], found["n"]) == (lesson, n)
    assert reason in found["reason"]
    assert not findings_read.show_recommendation(desk.store, desk.call(), lesson)["verified"]


def test_what_was_measured_is_exported_with_its_numbers(measured: tuple[Desk, str]) -> None:
    desk, lesson = measured
    told = [json.loads(line) for line in exported(desk, lesson)][3:]
    assert [(line["from"], line["to"], line["by"]["label"]) for line in told] == [("applied", "applied", MEASURER)] * 2
    numbers = [(line["effects"]["horizon_ms"] // DAY_MS, line["effects"]["verdict"], line["effects"]["errors"],
                line["effects"]["calls"]) for line in told]  # fmt: skip
    assert numbers == [(1, "held", 0, 1), (7, "regressed", 3, 4)]


def test_two_chains_that_were_exchanged_are_both_broken(decided: tuple[Desk, str, str]) -> None:
    desk, rejected, undone = decided
    _swap_whole(desk, undone, rejected)
    for subject in (rejected, undone):
        found = verified(desk, subject)["break"]
        assert (found["subject"], found["n"]) == (subject, 1)
        assert found["reason"] == "the entry belongs to another subject"


def test_a_chain_that_was_invented_is_found(decided: tuple[Desk, str, str]) -> None:
    desk, rejected, undone = decided
    _invent(desk, undone, rejected)
    assert verified(desk)["break"]["subject"] == "zzz"


@pytest.mark.parametrize("at_call", [2, 3, 4])
def test_a_decision_while_the_trail_is_read_is_no_break(found: Desk, at_call: int) -> None:
    rec_id = found.finding("contradiction_sweep")
    answers: list[dict[str, Any]] = []
    both = Interleaving(found.client, schedule=[0] * at_call + [1] * 9)
    both.actor("auditor", lambda: answers.append(verified(found)))
    both.actor("reviewer", lambda: found.approve(rec_id))
    try:
        both.run()
    finally:
        both.remove()
    assert [answer["break"] for answer in answers] == [None]


def test_a_subject_is_an_id_or_a_unique_prefix_and_an_unknown_one_is_not_found(decided: tuple[Desk, str, str]) -> None:
    desk, rejected, _ = decided
    desk.plant(replace(desk.recommendation(rejected), id=rejected[:25] + ("a" if rejected[25] != "a" else "b")))
    for work in (verified, exported):
        with pytest.raises(NotFoundError) as caught:
            work(desk, "no-such-thing")
        assert caught.value.field == "subject"
        with pytest.raises(AmbiguousPrefixError, match="2 recommendations"):
            work(desk, rejected[:25])


def test_only_a_reader_may_see_the_trail(found: Desk) -> None:
    call = found.call(by=make_principal("bob", "write", "review", "apply"))
    for work in (audit_trail.verify, export_page):
        with pytest.raises(ScopeDeniedError):
            work(found.store, call)
