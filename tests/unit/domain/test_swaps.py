"""One telling word in the place of another makes two texts; another form, spelling or name of a word does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.look_alikes import read, swapped
from provenloop.domain.near_duplicates import qualifies, similarity

LONG = (
    "the customer asked us to bring the parcel to the side door because the front lift has been broken since spring and"
)
THRESHOLD = 0.9


def is_swapped(left: str, right: str) -> bool:
    return swapped(read(left), read(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("next to the bakery", "next to the pharmacy"),
        ("to wrap it", "to weigh it"),
        ("paid by paypal", "paid by pаypal"),  # the second a is Cyrillic
        ("in the dinner tent", "in the diner tent"),
        ("read the contract", "read the contrast"),
        ("mit dem Löffel", "mit dem Spaten"),
        ("у пекарни", "у аптеки"),
    ],
)
def test_another_telling_word_makes_another_text(left: str, right: str) -> None:
    assert is_swapped(left, right)
    assert is_swapped(right, left)
    assert similarity(f"{LONG} {left}", f"{LONG} {right}") >= THRESHOLD
    assert not qualifies(f"{LONG} {left}", f"{LONG} {right}", THRESHOLD)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("paint the gate", "paints the gates"),
        ("the colour of it", "the color of it"),
        ("organise it", "organize it"),
        ("the licence of it", "the license of it"),
        ("travelling there", "traveling there"),
        ("send an e-mail", "send an email"),
        ("from the prod machine", "from the production machine"),
        ("three of them", "3 of them"),
        ("it is for them", "it is to them"),
        ("it is wide", "it is really wide"),
    ],
)
def test_another_form_spelling_or_name_of_a_word_is_no_other_word(left: str, right: str) -> None:
    assert not is_swapped(left, right)
    assert not is_swapped(right, left)


words = st.lists(st.sampled_from("door doors gate colour color wrap weigh e mail email 3 three".split()), max_size=6)


@given(words, words)
def test_it_is_the_same_either_way_round(left: list[str], right: list[str]) -> None:
    assert is_swapped(" ".join(left), " ".join(right)) == is_swapped(" ".join(right), " ".join(left))


@given(words, words)
def test_words_added_to_one_text_swap_nothing(left: list[str], more: list[str]) -> None:
    assert not is_swapped(" ".join(left), " ".join([*left, *more]))
