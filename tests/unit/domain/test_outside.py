"""Targets and texts that come from outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.outside import MAX_TARGET_CHARS, plain_text, read_target
from provenloop.domain.recommendation import Target

ADDRESS = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("entity:shared/ann", Target("entity", ("shared", "ann"))),
        ("entity:shared/a/b: c", Target("entity", ("shared", "a/b: c"))),
        (f"grain:{ADDRESS}", Target("grain", (ADDRESS,))),
        ("query:where is the key?", Target("query", ("where is the key?",))),
        (" entity:shared/ann\n", Target("entity", ("shared", "ann"))),
    ],
)
def test_targets_inside_of_the_memory_are_read(text: str, target: Target) -> None:
    assert read_target(text) == target


@pytest.mark.parametrize(
    "text",
    ["", "nowhere", "host:cron", "doc:prompt.md", "template:x", "entity:", "entity:ann", "entity:/ann",
     "entity:shared/", "grain:", "grain:0123", "query:", "ENTITY:shared/ann", "x" * (MAX_TARGET_CHARS + 1), None, 3,
     ["entity:shared/ann"]],
)  # fmt: skip
def test_whatever_else_is_named_is_no_target(text: object) -> None:
    assert read_target(text) is None


@given(st.text(), st.integers(1, 50))
def test_a_text_from_outside_is_one_short_line(text: str, at_most: int) -> None:
    line = plain_text(text, at_most)
    assert len(line) <= at_most
    assert line == line.strip()
    assert line.isprintable() or not any(char in line for char in "\n\r\t\x00\u202e")
    line.encode()


@given(st.one_of(st.none(), st.integers(), st.lists(st.text())))
def test_what_is_no_text_is_an_empty_one(value: object) -> None:
    assert plain_text(value, 10) == ""
