"""Recall: what is found by subject, relation, instant and question, and what never is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.domain.address import Addresses
from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError
from provenloop.domain.events import Event, SupersedeEvent
from provenloop.domain.questions import question_of
from provenloop.domain.records import TERM_ROW_GRAINS
from provenloop.services import term_index
from provenloop.services.recall import MAX_DEEP_TERMS, Wanted, recall, would_find
from provenloop.services.record_use import Telemetry, question_grain
from provenloop.services.term_index import drop_texts, index_texts, term_key
from tests.builders import DAY_MS, MEMORY, NOW, Desk, make_fact, make_observation, make_principal, make_tool_call
from tests.examples import examples
from tests.store_fixture import fresh_store

SILENT = Telemetry("off")
REFUNDS: tuple[Event, ...] = (
    make_fact("refund policy for islands is ten days", subject="shop", relation="rule"),
    make_fact("refund policy is three days", subject="shop", relation="note"),
    make_fact("the policy of the sky is blue", subject="weather", relation="note"),
    make_observation("an island ferry was late"),
)


def texts(desk: Desk, telemetry: Telemetry = SILENT, **wanted: Any) -> list[str]:
    """Objects or texts of what is recalled, in order."""
    query = Wanted(**{"namespace": "shared", **wanted})
    answer = recall(desk.store, desk.call(), query, telemetry)
    return [str(row.get("object") or row.get("text") or row.get("body")) for row in answer["results"]]


def both(desk: Desk, **wanted: Any) -> list[str]:
    """What is recalled before a pass has seen anything, and must be the same afterwards."""
    before = texts(desk, **wanted)
    desk.run()
    assert texts(desk, **wanted) == before
    return before


def test_a_subject_is_recalled_in_any_spelling_latest_first(desk: Desk) -> None:
    desk.record(make_fact("Berlin", subject="Straße 1"), make_fact("tall", subject="STRASSE 1", relation="is"))
    desk.record(make_fact("old", subject="strasse 1", relation="age"), make_fact("x", subject="Strasse 12"))
    assert both(desk, subject="strasse 1") == ["old", "tall", "Berlin"]
    assert both(desk, subject="STRASSE 1", relation="livesIn") == ["Berlin"]


def test_a_relation_alone_is_recalled_across_subjects_of_its_namespace(desk: Desk) -> None:
    desk.record(
        make_fact("Berlin"), make_fact("Oslo", subject="kim", relation="livesIn"), make_fact("x", relation="is")
    )
    desk.record(make_fact("Rome", namespace="other"))
    assert both(desk, relation="lives-in") == ["Oslo", "Berlin"]
    assert texts(desk, namespace="other", relation="lives_in") == ["Rome"]


def test_a_question_is_answered_best_first_and_a_single_common_word_is_no_answer(desk: Desk) -> None:
    desk.record(*REFUNDS)
    for question in ("refund policy for islands", "What IS the refund-policy for islands?", "islands: refund policy"):
        assert both(desk, question=question) == [
            "refund policy for islands is ten days", "refund policy is three days"
        ]  # fmt: skip
    assert texts(desk, question="which policy applies to parrots") == []
    assert texts(desk, question="ferries") == ["an island ferry was late"]


def test_what_was_just_said_is_found_before_any_pass(desk: Desk) -> None:
    desk.record(*REFUNDS)
    desk.run()
    desk.record(make_observation("the lighthouse keeper resigned"))
    assert texts(desk, question="lighthouse keeper") == ["the lighthouse keeper resigned"]


def test_a_composed_question_finds_a_decomposed_text(desk: Desk) -> None:
    desk.record(make_observation(normalize("NFD", "das Café Zürich öffnet früh")))
    assert len(both(desk, question=normalize("NFC", "Café Zürich"))) == 1
    assert len(texts(desk, question="ＣＡＦÉ zürich")) == 1


def test_pairs_of_characters_are_looked_for_inside_runs_only(desk: Desk) -> None:
    desk.record(make_observation("退款政策 七天"), make_observation("东 京"))
    assert both(desk, question="退款政策") == ["退款政策 七天"]
    assert texts(desk, question="东京") == []


def test_superseded_and_expired_grains_are_recalled_of_their_time_only(desk: Desk) -> None:
    [berlin] = desk.record(make_fact("Berlin lighthouse"))["events"]
    said_at = desk.now
    desk.record(SupersedeEvent(berlin["address"], make_fact("Oslo lighthouse")))
    moved_at = desk.now
    desk.record(make_fact("Rome lighthouse", valid_from=NOW + DAY_MS, valid_to=NOW + 2 * DAY_MS))
    asked_for: tuple[dict[str, Any], ...] = ({"subject": "sam"}, {"relation": "lives_in"}, {"question": "lighthouse"})
    for wanted in asked_for:
        assert both(desk, **wanted) == ["Oslo lighthouse"]
        assert texts(desk, as_of=said_at, **wanted) == ["Berlin lighthouse"]
        assert texts(desk, as_of=moved_at, **wanted) == ["Oslo lighthouse"]
        assert texts(desk, as_of=said_at - 1, **wanted) == []
    desk.now = NOW + DAY_MS
    assert sorted(texts(desk, question="lighthouse")) == ["Oslo lighthouse", "Rome lighthouse"]
    desk.now = NOW + 2 * DAY_MS
    assert texts(desk, question="lighthouse") == ["Oslo lighthouse"]


def test_of_a_fact_stated_again_with_other_fields_the_past_shows_the_earlier_fields(desk: Desk) -> None:
    desk.record(make_fact("Berlin", confidence=0.3))
    first_at = desk.now
    desk.record(make_fact("Berlin", confidence=0.9))
    answer = recall(desk.store, desk.call(), Wanted("shared", "sam", as_of=first_at), SILENT)
    assert [row["confidence"] for row in answer["results"]] == [0.3]
    answer = recall(desk.store, desk.call(), Wanted("shared", "sam"), SILENT)
    assert [row["confidence"] for row in answer["results"]] == [0.9]


def test_a_fact_said_again_after_it_was_superseded_was_away_in_between(desk: Desk) -> None:
    [berlin] = desk.record(make_fact("Berlin"))["events"]
    at_first = desk.now
    desk.record(SupersedeEvent(berlin["address"], make_fact("Oslo")))
    between = desk.now
    desk.record(make_fact("Berlin"))
    assert texts(desk, subject="sam", as_of=at_first) == ["Berlin"]
    assert texts(desk, subject="sam", as_of=between) == ["Oslo"]
    assert sorted(texts(desk, subject="sam", as_of=desk.now)) == ["Berlin", "Oslo"]


def test_tool_calls_and_questions_are_never_recalled(desk: Desk) -> None:
    desk.record(make_tool_call("c1", result="lighthouse", tool="lighthouse"))
    loud = Telemetry("aggregate")
    for _ in range(3):
        assert texts(desk, loud, question="lighthouse") == []
        assert texts(desk, loud, subject="lighthouse") == []
        desk.run()


def test_one_namespace_is_recalled_and_no_other(desk: Desk) -> None:
    desk.record(make_observation("lighthouse one"), make_observation("lighthouse two", namespace="other"))
    assert both(desk, question="lighthouse") == ["lighthouse one"]
    assert both(desk, namespace="other", question="lighthouse") == ["lighthouse two"]


def test_nothing_is_recalled_twice_and_no_more_than_asked_for(desk: Desk) -> None:
    desk.record(*(make_observation(f"lighthouse number {n}") for n in range(30)))
    desk.run()
    desk.record(make_observation("lighthouse number 7"), make_observation("lighthouse number 99"))
    found = texts(desk, question="lighthouse number", limit=100)
    assert len(found) == len(set(found)) == 31
    assert texts(desk, question="lighthouse number", limit=4) == found[:4]
    assert len(texts(desk, question="lighthouse number")) == 10


def test_what_nobody_may_ask_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInputError) as refused:
        texts(desk)
    assert refused.value.field == "question"
    with pytest.raises(NotFoundError):
        texts(desk, namespace="nowhere", subject="sam")
    with pytest.raises(NotFoundError):
        recall(desk.store, replace(desk.call(), memory=MEMORY._replace(name="gone")), Wanted("shared", "sam"), SILENT)
    writer = make_principal("bot", "write")
    with pytest.raises(ScopeDeniedError):
        recall(desk.store, desk.call(by=writer), Wanted("shared", "sam"), SILENT)


def test_a_question_costs_few_round_trips_however_many_texts_there_are(desk: Desk) -> None:
    for batch in range(4):
        desk.record(*(make_observation(f"lighthouse note {batch} {n}") for n in range(40)))
    desk.run()
    with desk.counted() as calls:
        assert len(texts(desk, Telemetry("aggregate"), question="where is lighthouse note 3 7")) == 10
    # Three of them look into the earlier texts of the rarest terms.
    assert calls.count("Query") + calls.count("BatchGetItem") <= 7 + MAX_DEEP_TERMS
    assert calls.count("UpdateItem") == calls.count("TransactWriteItems") == 1


def test_indexing_again_changes_nothing_and_a_dropped_text_leaves_no_row(desk: Desk) -> None:
    desk.record(*REFUNDS)
    desk.run()
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    addresses = Addresses(heads.log.key)
    indexed = desk.snapshot()
    changes = [change for entry in desk.store.log_entries(MEMORY, 0, 99) for change in entry.changes]
    index_texts(desk.store, MEMORY, addresses, changes, desk.now)
    assert desk.snapshot() == indexed
    drop_texts(desk.store, MEMORY, addresses, list(desk.grains().values()), desk.now)
    assert not [key for key in desk.snapshot() if "W#" in str(key)]
    assert texts(desk, question="refund policy") == []


def test_a_stored_question_is_asked_again_without_being_counted(desk: Desk) -> None:
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    question = question_grain(question_of("shared", "refund policy for islands"), "a" * 64, seq=1, by="t", now=NOW)
    assert not would_find(desk.store, MEMORY, heads, question, desk.now)
    desk.record(*REFUNDS)
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    before = desk.snapshot()
    assert would_find(desk.store, MEMORY, heads, question, desk.now)
    assert not would_find(desk.store, MEMORY, heads, replace(question, body={}, state="forgotten"), desk.now)
    assert desk.snapshot() == before


WORDS = ("refund", "policy", "islands", "ferry", "late", "lighthouse")
NOTES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=8)


def _recalled(notes: Sequence[str], batches: int, question: str) -> list[tuple[str, float]]:
    """Texts and scores, where the notes come in so many batches with a pass after each but the last."""
    with fresh_store() as store:
        desk = Desk(store).open()
        size = -(-len(notes) // batches)
        for start in range(0, len(notes), size):
            if start:
                desk.run()
            desk.record(*(make_observation(note) for note in notes[start : start + size]))
        answer = recall(store, desk.call(), Wanted("shared", question=question, limit=100), SILENT)
    return [(row["text"], row["score"]) for row in answer["results"]]


@settings(max_examples=examples(8))
@given(
    NOTES.flatmap(lambda notes: st.tuples(st.just(notes), st.permutations(notes))),
    st.integers(1, 3),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
)
def test_the_ranking_depends_on_what_is_held_and_not_on_when_it_came_or_was_indexed(
    orders: tuple[list[str], list[str]], batches: int, question: str
) -> None:
    first = _recalled(orders[0], 1, question)
    assert _recalled(orders[1], batches, question) == first
    assert len({text for text, _ in first}) == len(first)


def test_grains_name_themselves_as_everywhere_else(desk: Desk) -> None:
    desk.record(*REFUNDS)
    [row] = recall(desk.store, desk.call(), Wanted("shared", question="ferries"), SILENT)["results"]
    [ferry] = [grain for grain in desk.grains().values() if "ferry" in str(grain.body)]
    assert (row["address"], row["kind"], row["live"]) == (ferry.address, "observation", True)
    assert row["score"] > 0


def test_a_term_of_many_texts_stays_a_small_row_and_loses_none_of_them(desk: Desk) -> None:
    for batch in range(3):
        desk.record(*(make_observation(f"lighthouse keeper {batch}x{n}") for n in range(70)))
        desk.run()
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    key = term_key(Addresses(heads.log.key), "shared", "lighthouse")
    row = desk.store.term_rows(MEMORY, [key])[key]
    assert len(row.addresses) <= TERM_ROW_GRAINS
    segments = desk.store.term_segments(MEMORY, key, 99)
    assert [segment.n for segment in segments] == list(range(row.segments, 0, -1))
    held = [*row.addresses, *(address for segment in segments for address in segment.addresses)]
    assert len(held) == len(set(held)) == row.count == 210
    assert texts(desk, question="lighthouse 0x3") == ["lighthouse keeper 0x3"]


@pytest.mark.parametrize("rows_a_step", [1, 20])
def test_texts_among_the_earlier_ones_of_a_term_can_all_be_dropped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, rows_a_step: int
) -> None:
    desk.record(*(make_observation(f"lighthouse {n}") for n in range(90)))
    desk.record(*(make_observation(f"lighthouse {n}") for n in range(90, 140)))
    desk.run()
    monkeypatch.setattr(term_index, "_ROWS_A_STEP", rows_a_step)
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    addresses = Addresses(heads.log.key)
    drop_texts(desk.store, MEMORY, addresses, list(desk.grains().values()), desk.now)
    assert not [key for key in desk.snapshot() if "W#" in str(key) and key[1].count("#") > 1]
    assert texts(desk, question="lighthouse 3") == []
