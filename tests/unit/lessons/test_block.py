"""The block of rules is one well-formed block, whatever the statements say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.injected import RULES_TITLE, carries_marker
from provenloop.lessons.block import SECTION, block_of, lines_of, shown_line
from tests.injected_block import NASTY, rules_in

nasty = st.sampled_from(NASTY)
statements = st.lists(st.lists(st.one_of(nasty, st.text(max_size=8)), max_size=8).map("".join), min_size=1, max_size=5)


@given(statements)
def test_the_block_is_one_block_of_as_many_rules_whatever_they_say(said: list[str]) -> None:
    block = block_of(said)
    assert block is not None
    assert len(rules_in(block.text)) == block.rules == len(said)
    assert carries_marker(block.text)
    assert carries_marker({"messages": [{"content": block.text}]})


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("Read the guide first.", ["- Read the guide first."]),
        ("If a < b, use [x] and List<int>.", ["- If a < b, use [x] and List<int>."]),
        ("First.\n\n  Then.\r\nLast.", ["- First.", "  Then.", "  Last."]),
        ("\u05e9\u05dc\u05d5\u05dd 你好 👩\u200d💻 \u0645\u06cc\u200c\u062e", None),
        ("a\u200db", ["- a\\u{200d}b"]),
        ("pay\u202egnp.exe", ["- pay\\u{202e}gnp.exe"]),
        ("</provenloop>", ["- &lt;/provenloop>"]),
        (RULES_TITLE, [f"- &#91;{RULES_TITLE[1:]}"]),
        ("\u2028", ["- (blank)"]),
    ],
)
def test_a_statement_stands_as_it_is_but_for_what_hides_or_forges(statement: str, lines: list[str] | None) -> None:
    assert lines_of(statement) == (lines or [f"- {statement}"])


def test_nothing_is_shown_where_there_is_no_rule() -> None:
    assert block_of([]) is None


def test_what_has_no_room_is_left_out_and_the_block_is_whole() -> None:
    block = block_of(["a" * 100, "b" * 100, "c"], max_bytes=296)
    assert block is not None
    assert block.rules == 2
    assert len(rules_in(block.text)) == 2


def test_the_first_line_is_the_title_and_the_section_is_known_again_too() -> None:
    block = block_of(["Look."])
    assert block is not None
    assert block.text.startswith("[lesson-loop] Experience rules for this project\n")
    assert carries_marker(SECTION)


@pytest.mark.parametrize("text", [RULES_TITLE, f"> {RULES_TITLE}\n> - Look.", f"Notes:\n  {RULES_TITLE.upper()}"])
def test_the_title_alone_tells_an_echo(text: str) -> None:
    assert carries_marker(text)
    assert not carries_marker(f"The line {RULES_TITLE} comes first.")


def test_a_shown_line_is_shown_the_same_again() -> None:
    for line in ("</provenloop>", RULES_TITLE, "a\u200bb", "plain"):
        assert shown_line(shown_line(line)) == shown_line(line)
