"""The audit chain: every way of tampering is found, and the first break is the one that is named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from provenloop.domain.audit import (
    AuditEntry,
    ChainHead,
    Note,
    author_of,
    commit_to_note,
    engine_author,
    head_after,
    next_entry,
    verify_note,
)
from provenloop.domain.canonical import canonical_json
from provenloop.domain.chain_check import Break, verify_chain
from tests.builders import ADMIN, NOW

ENGINE = engine_author("engine:loop.tool_failure/1")
STEPS = (("", "pending"), ("pending", "approved"), ("approved", "applied"), ("applied", "rolled_back"))


def chain_of(subject: str, steps: Sequence[tuple[str, str]] = STEPS) -> list[AuditEntry]:
    head = ChainHead()
    entries = []
    for n, (before, after) in enumerate(steps):
        by = author_of(ADMIN) if n else ENGINE
        note = note_of(subject, n + 1) if n else None
        entry = next_entry(
            head, subject=subject, before=before, after=after, by=by, at=NOW + n, note=note, effects={"revision": 1}
        )
        entries.append(entry)
        head = head_after(entry)
    return entries


def note_of(subject: str, n: int) -> Note:
    return Note(subject, n, sha256(f"{subject} {n}".encode()).hexdigest()[:32], f"reason {n}")


CHAIN = chain_of("rec-a")
OTHER = chain_of("rec-b")
HEAD = head_after(CHAIN[-1])


def verified(
    entries: Sequence[AuditEntry], *, head: ChainHead | None = HEAD, status: str | None = "rolled_back"
) -> Break | None:
    return verify_chain("rec-a", entries, head=head, status=status)


def edited(entry: AuditEntry, **fields: Any) -> AuditEntry:
    return replace(entry, text=canonical_json({**json.loads(entry.text), **fields}))


def test_an_untouched_chain_holds() -> None:
    assert verified(CHAIN) is None


def test_the_text_of_an_entry_is_exactly_this() -> None:
    note = Note("rec-a", 2, "00" * 16, "looks right")
    entry = next_entry(
        ChainHead(1, "ab" * 32),
        subject="rec-a",
        before="pending",
        after="approved",
        by=author_of(ADMIN),
        at=NOW,
        note=note,
        effects={"proposal": "cd", "revision": 1},
    )
    assert entry.text == (
        '{"at":"2027-01-15T08:00:00.000Z",'
        '"because":"923d767f29860993e1a494bd585452a302c03f6cdfa9810c60eba3c841ff9f59",'
        '"by":{"id":"p-ann","kind":"human","label":"ann","token":"tok-ann"},'
        '"effects":{"proposal":"cd","revision":1},"from":"pending","n":2,'
        f'"previous":"{"ab" * 32}","subject":"rec-a","to":"approved"}}'
    )
    assert entry.id == sha256(entry.text.encode()).hexdigest()


@pytest.mark.parametrize("place", range(len(CHAIN)))
@pytest.mark.parametrize(
    "fields",
    [
        {"to": "rejected"},
        {"from": "snoozed"},
        {"n": 9},
        {"subject": "rec-b"},
        {"previous": "00" * 32},
        {"at": "2027-01-16T08:00:00.000Z"},
        {"because": None, "by": {"label": "bob"}},
        {"effects": {}},
        {"more": 1},
    ],
    ids="-".join,
)
def test_an_edited_text_is_found(place: int, fields: dict[str, Any]) -> None:
    entries = [*CHAIN]
    entries[place] = edited(CHAIN[place], **fields)
    assert entries != CHAIN
    assert verified(entries) is not None


@pytest.mark.parametrize("text", ["", "not json", "[]", "7", "null", '"text"', "{}", '{"n":1}'])
@pytest.mark.parametrize("place", range(len(CHAIN)))
def test_a_text_that_is_no_entry_is_a_break_at_its_place(text: str, place: int) -> None:
    entries = [*CHAIN]
    entries[place] = replace(CHAIN[place], text=text)
    found = verified(entries)
    assert found is not None
    assert (found.subject, found.n) == ("rec-a", place + 1)


def test_a_respelled_text_that_means_the_same_is_found() -> None:
    respelled = replace(CHAIN[-1], text=json.dumps(json.loads(CHAIN[-1].text), indent=1))
    assert verified([*CHAIN[:-1], respelled]) is not None


@pytest.mark.parametrize(("place", "n"), [(0, 1), (1, 2), (2, 3)])
def test_a_missing_entry_is_named_by_its_number(place: int, n: int) -> None:
    left = [entry for index, entry in enumerate(CHAIN) if index != place]
    assert verified(left) == Break("rec-a", n, "an entry is missing or out of order")


def test_a_missing_last_entry_is_told_by_the_head() -> None:
    assert verified(CHAIN[:-1]) == Break("rec-a", 4, "the chain's head names another last entry")


def test_a_chain_that_is_gone_is_told_by_the_head() -> None:
    assert verified([]) == Break("rec-a", 1, "the chain's head names another last entry")


def test_a_doubled_entry_is_found() -> None:
    assert verified([*CHAIN, CHAIN[-1]]) == Break("rec-a", 5, "an entry is missing or out of order")


def test_entries_out_of_order_are_found() -> None:
    assert verified([CHAIN[1], CHAIN[0], *CHAIN[2:]]) == Break("rec-a", 1, "an entry is missing or out of order")


def test_an_entry_of_another_subject_is_found() -> None:
    swapped = [CHAIN[0], OTHER[1], *CHAIN[2:]]
    assert verified(swapped) == Break("rec-a", 2, "the entry belongs to another subject")
    relabelled = [CHAIN[0], replace(OTHER[1], subject="rec-a"), *CHAIN[2:]]
    assert verified(relabelled) == Break("rec-a", 2, "the entry belongs to another subject")


def test_a_status_that_the_chain_does_not_tell_is_found() -> None:
    assert verified(CHAIN, status="applied") == Break("rec-a", 4, "the status is applied, the chain says rolled_back")
    assert verified([], head=None, status="pending") == Break(
        "rec-a", 0, "the status is pending, the chain says nothing"
    )


@pytest.mark.parametrize("head", [ChainHead(), ChainHead(4, "00" * 32), ChainHead(3, HEAD.id), head_after(OTHER[-1])])
def test_a_head_that_names_another_last_entry_is_found(head: ChainHead) -> None:
    assert verified(CHAIN, head=head) == Break("rec-a", 5, "the chain's head names another last entry")


def test_a_time_beside_the_text_that_differs_is_found() -> None:
    assert verified([replace(CHAIN[0], at=NOW + 1), *CHAIN[1:]]) == Break("rec-a", 1, "the text has another time")


def test_a_rewritten_end_with_right_links_is_told_by_the_head_alone() -> None:
    forged = next_entry(head_after(CHAIN[2]), subject="rec-a", before="applied", after="rolled_back", by=ENGINE, at=NOW)
    assert verify_chain("rec-a", [*CHAIN[:3], forged]) is None
    assert verified([*CHAIN[:3], forged]) is not None


def test_a_note_is_held_to_the_entry_that_commits_to_it() -> None:
    note = note_of("rec-a", 2)
    assert verify_note(CHAIN[1], note)
    assert not verify_note(CHAIN[1], replace(note, because="reason 2 "))
    assert not verify_note(CHAIN[1], replace(note, salt="00" * 16))
    assert not verify_note(CHAIN[2], note)
    assert not verify_note(CHAIN[0], note)


def test_the_same_reason_with_another_salt_commits_to_something_else() -> None:
    note = note_of("rec-a", 2)
    assert commit_to_note(note) != commit_to_note(replace(note, salt="11" * 16))


@pytest.mark.parametrize("salt", ["not hex", ""])
def test_a_note_that_was_edited_into_nonsense_is_just_not_the_right_one(salt: str) -> None:
    assert not verify_note(CHAIN[1], replace(note_of("rec-a", 2), salt=salt))


def test_a_chain_without_its_notes_still_holds() -> None:
    assert verified(CHAIN) is None
    assert "reason" not in CHAIN[1].text


JSON_VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5)


@given(
    place=st.integers(0, len(CHAIN) - 1),
    name=st.sampled_from(["subject", "n", "from", "to", "by", "at", "because", "effects", "previous", "new"]),
    value=JSON_VALUES,
)
def test_any_single_change_of_any_field_is_found(place: int, name: str, value: Any) -> None:
    entries = [*CHAIN]
    entries[place] = edited(CHAIN[place], **{name: value})
    assume(entries[place] != CHAIN[place])
    assert verified(entries) is not None


@given(place=st.integers(0, len(CHAIN) - 1), at=st.integers(0, 400), char=st.characters(codec="utf-8"))
def test_any_single_character_changed_in_any_text_is_found(place: int, at: int, char: str) -> None:
    text = CHAIN[place].text
    at %= len(text)
    assume(text[at] != char)
    entries = [*CHAIN]
    entries[place] = replace(CHAIN[place], text=text[:at] + char + text[at + 1 :])
    assert verified(entries) is not None


@given(st.permutations(range(len(CHAIN))), st.integers(0, len(CHAIN)))
def test_no_reordered_or_shortened_chain_holds(order: list[int], kept: int) -> None:
    entries = [CHAIN[place] for place in order][:kept]
    assert (verified(entries) is None) == (entries == CHAIN)
