"""Globs over memory names: which cover which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.memory_glob import MAX_CHARS, MAX_FLOATING, covers, matches, require_glob

COVERED = [
    ("*", "support-1"),
    ("*", "?*"),
    ("?*", "*"),
    ("**", "*?"),
    ("support-*", "support-1"),
    ("support-*", "support-*-eu"),
    ("support-*", "support-?"),
    ("*-eu", "support-eu"),
    ("a*b*c", "aXbXc".replace("X", "-")),
    ("*a*", "*ba?"),
    ("?*a", "b*a"),
    ("*?a", "?*a"),
    ("a?c", "abc"),
    # No name is longer than 64 characters, so nothing is left for the star.
    ("?" * MAX_CHARS, "a" * MAX_CHARS),
    ("*" + "a" * 63, "?" + "a" * 63),
]
NOT_COVERED = [
    ("support-*", "*"),
    ("support-*", "support*"),
    ("support-*", "supportx*"),
    ("support-1", "support-?"),
    ("?", "*"),
    ("??*", "*"),
    ("*a", "*"),
    ("*ab*", "*a*b*"),
    ("*a?", "*a*"),
    ("*abcdefghijklmnopqrstuvwxyz0123456789._-", "?*"),
    ("a*a", "a*"),
    ("a*a", "a"),
]


@pytest.mark.parametrize(("outer", "inner"), COVERED)
def test_a_glob_covers_one_that_matches_no_other_names(outer: str, inner: str) -> None:
    assert covers(outer, inner)


@pytest.mark.parametrize(("outer", "inner"), NOT_COVERED)
def test_a_glob_does_not_cover_one_that_matches_other_names_too(outer: str, inner: str) -> None:
    assert not covers(outer, inner)


GLOBS = st.text("ab*?", min_size=1, max_size=6)


def names(length: int) -> list[str]:
    """All names over two letters that globs name and one that they do not, up to a length."""
    shorter = [""]
    found: list[str] = []
    for _ in range(length):
        shorter = [name + letter for name in shorter for letter in "abc"]
        found += shorter
    return found


#: The shortest name that tells two globs of six characters apart is not longer: each has at most six places, and a
#: star repeated once shows everything that repeating it shows.
NAMES = names(7)


@given(GLOBS, GLOBS)
def test_covering_is_what_trying_all_short_names_says(outer: str, inner: str) -> None:
    assert covers(outer, inner) == all(matches(outer, name) for name in NAMES if matches(inner, name))


@given(st.text("ab*?", min_size=1, max_size=12), st.data())
def test_filling_in_a_wildcard_is_always_covered(outer: str, data: st.DataObject) -> None:
    narrower = [data.draw(st.sampled_from({"*": ["*", "?", "a", "a*"], "?": ["?", "b"]}.get(c, [c]))) for c in outer]
    assert covers(outer, "".join(narrower))


@given(GLOBS, GLOBS, GLOBS)
def test_what_covers_the_coverer_covers_too(a: str, b: str, c: str) -> None:
    if covers(a, b) and covers(b, c):
        assert covers(a, c)


@pytest.mark.parametrize("glob", ["*", "a?b*", "?" * MAX_CHARS, "a" * MAX_CHARS, "*" + "?" * MAX_FLOATING])
def test_a_glob_is_what_it_was_written_as(glob: str) -> None:
    assert require_glob(glob, field="memories") == glob


@pytest.mark.parametrize("glob", ["", "A", "a b", "[a]", "a#", "a\n", "a" * 65, "a*?" + "?" * MAX_FLOATING])
def test_what_is_no_glob_is_refused(glob: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        require_glob(glob, field="memories")
    assert caught.value.field == "memories"
