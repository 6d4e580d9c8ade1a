"""The form under which two requests are one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.recipes.normalise import normalise, signature
from tests.unit.recipes.odd_texts import ODD_TEXTS

#: Letters, marks, signs and blanks that fold, compose or are trimmed.
AWKWARD = st.text(
    st.sampled_from("aAßİıſΣς ﬁée\u0301\u0345\u0327ﾊﾞ１!！?？.。,…\"'«»「」(（[]）)#%*-\u200b\u00a0\u3000\n5")
)


@given(st.text() | AWKWARD)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text() | AWKWARD)
def test_case_blanks_and_outer_punctuation_make_no_difference(text: str) -> None:
    spelled = f"  reset {text} now"
    assert normalise(spelled) == normalise(f"\u00bf{spelled.replace(' ', '  ')}\u3000?？。.")


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_an_odd_text_has_one_normal_form_found_in_time(name: str) -> None:
    begun = time.perf_counter()
    normal = normalise(ODD_TEXTS[name])
    assert time.perf_counter() - begun < 2
    assert normalise(normal) == normal
    assert bool(normal) == bool(ODD_TEXTS[name].strip())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("How do I reset my password?", "how do i reset my password"),
        ("  How   do\tI reset\nmy password !!! ", "how do i reset my password"),
        ("“How do I reset my password?”", "how do i reset my password"),
        ("如何重置密码？", "如何重置密码"),
        ("「東京の天気」。", "東京の天気"),
        ("STRASSE", "straße"),
        ("Caf\u00e9", "cafe\u0301"),
        ("¿Cómo cancelo?", "cómo cancelo"),
        ("re\u200bset", "reset"),
        ("كيف؟", "كيف"),
        ("(reset)", "reset"),
    ],
)
def test_spellings_of_one_request_have_one_form(text: str, same: str) -> None:
    assert normalise(text) == normalise(same)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("what is 5!", "what is 5"),
        ("10²", "102"),
        ("f(x) + (y)", "f(x) + y"),
        ("is it 50%", "is it 50"),
        ("/help", "help"),
        ("#general", "general"),
        ("-5", "5"),
        (".net", "net"),
        ("*", "**"),
        ("?", "!"),
        ("(a) and (b)", "a) and (b"),
        ("Zażółć", "Zazolc"),
        ("c++", "c"),
    ],
)
def test_signs_that_mean_something_stay(text: str, other: str) -> None:
    assert normalise(text) != normalise(other)


def test_a_signature_is_of_the_request_in_its_scope() -> None:
    assert signature("Reset it!", "s1") == signature(" reset IT ", "s1")
    assert signature("Reset it!", "s1") != signature("Reset it!", "s2")
