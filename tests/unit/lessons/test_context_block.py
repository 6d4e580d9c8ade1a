"""The context block is one well-formed block within its budget, whatever its texts say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.injected import carries_marker
from provenloop.lessons.context_block import (
    LESSONS,
    MAX_BUDGET,
    MIN_BUDGET,
    PENDING,
    RULES,
    Told,
    context_block,
    tokens_of,
)
from tests.injected_block import HEADINGS, NASTY, context_in

forged = st.sampled_from((*NASTY, *HEADINGS, *(f"\n{heading}\n" for heading in HEADINGS), "(nothing to tell)"))
texts = st.lists(st.lists(st.one_of(forged, st.text(max_size=8)), max_size=8).map("".join), max_size=4)
told = st.builds(Told, texts, texts, texts)


@given(told, st.one_of(st.integers(MIN_BUDGET, 500), st.just(MAX_BUDGET)))
def test_the_block_is_one_block_within_its_budget_whatever_the_texts_say(said: Told, budget: int) -> None:
    block = context_block(said, budget)
    found = context_in(block.text)
    counts = [len(found.get(heading, ())) for heading in HEADINGS]
    assert counts == [block.rules, block.lessons, block.pending]
    assert tokens_of(block.text) <= budget
    assert len(block.text.encode()) <= 3 * budget
    assert carries_marker(block.text)
    assert carries_marker({"messages": [{"content": block.text}]})
    assert context_block(said, budget) == block


@given(told)
def test_where_there_is_room_everything_is_told_in_its_order(said: Told) -> None:
    block = context_block(said, MAX_BUDGET)
    assert (block.rules, block.lessons, block.pending) == tuple(map(len, said))


@given(told, st.integers(MIN_BUDGET, 500), st.integers(0, 50))
def test_more_budget_never_tells_fewer_rules(said: Told, budget: int, more: int) -> None:
    assert context_block(said, budget + more).rules >= context_block(said, budget).rules


def test_a_block_with_nothing_to_tell_says_so() -> None:
    assert context_block(Told(), MIN_BUDGET).text == '<provenloop what="context">\n(nothing to tell)\n</provenloop>'


def test_each_kind_stands_under_its_heading_rules_first() -> None:
    block = context_block(Told(["Ask first.\nAlways."], ["pay fails with: timeout"], ["abc"]), 2_000)
    assert list(context_in(block.text).items()) == [
        (RULES, [["Ask first.", "Always."]]),
        (LESSONS, [["pay fails with: timeout"]]),
        (PENDING, [["abc"]]),
    ]


def test_what_has_no_room_ends_its_kind_and_the_next_one_takes_what_is_left() -> None:
    said = Told(["a" * 50, "b" * 2_000, "c"], ["lesson"], ["d" * 600, "e"])
    block = context_block(said, 250)
    assert (block.rules, block.lessons, block.pending) == (1, 1, 0)
    assert tokens_of(block.text) <= 250


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_is_left_out_where_nothing_under_it_has_room(heading: str) -> None:
    texts = {name: ["x" * 300] if name == heading else [] for name in HEADINGS}
    assert context_in(context_block(Told(*texts.values()), MIN_BUDGET).text) == {}


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("\u4f60", 1), ("\U0001f600", 2)]
)
def test_a_token_is_taken_for_three_bytes(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens
