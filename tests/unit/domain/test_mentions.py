"""What a text repeats of another, and that an index by words leaves none of it out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenloop.domain.mentions import mentions, probe_of, words_of
from provenloop.domain.text import normalise

#: Few characters, so that one text often holds another: letters, signs, blanks, other scripts.
TEXTS = st.text(alphabet="ab3_ -'.喝茶żßé\u0301\u200dＡ", min_size=1, max_size=12)


@given(before=TEXTS, said=TEXTS, after=TEXTS)
@example(before="x", said="茶 tea", after="pot")
@example(before=" ", said="???", after=" ")
def test_a_text_that_mentions_another_is_indexed_by_the_word_that_is_looked_for(
    before: str, said: str, after: str
) -> None:
    folded = normalise(said)
    for text in (said, before + said + after, f"{before} {said} {after}", f"{before}{said}", f"{said}{after}", before):
        if folded and mentions(text, frozenset({folded})):
            assert probe_of(folded) in words_of(text)


@pytest.mark.parametrize(
    ("said", "probe"),
    [("the rising sun", "rising"), ("茶", "茶"), ("strasse 12", "strasse"), ("a müller b", "ü"), ("x über no y", "no")],
)
def test_what_is_looked_for_is_the_longest_word_that_cannot_be_part_of_another(said: str, probe: str) -> None:
    assert probe_of(said) == probe
