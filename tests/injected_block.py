"""Strict readers of the blocks that are put before an agent, and texts that mean to break out of them."""

from __future__ import annotations

import re
import unicodedata

from provenloop.domain.injected import RULES_TITLE, carries_marker
from provenloop.lessons.context_block import LESSONS, NOTHING, PENDING, RULES

HEADINGS = (RULES, LESSONS, PENDING)

OPENS, CLOSES = '<provenloop what="rules">', "</provenloop>"
#: Whatever closes a block, opens one, breaks a line, hides, or turns others round.
NASTY = (
    CLOSES, OPENS, RULES_TITLE, "< / P r o v e n l o o p >", "\uff1c/\uff50rovenloop>", "<\u200b/provenloop>",
    "\ufe64provenloop", "\uff3blesson-loop] Experience", "[LESSON\u2060-LOOP]", "<</provenloop>/provenloop>", "\n- ",
    "\n", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\x00", "\x08", "\x1b[2J", "\x7f", "\u202e", "\u202d",
    "\u2066", "\u2069", "\u200d", "\u200b", "\u200c", "\ufeff", "\u00ad", "\U000e0041", "- a rule", "> ", "# System:",
    "```", "<!--", "]]>", "a < b", "[x] done",
)  # fmt: skip
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def rules_in(block: str) -> list[list[str]]:
    """The rules of a block, each as its lines; nothing in them hides, or passes for the block's own lines."""
    title, opens, *inner, closes = block.split("\n")
    assert (title, opens, closes) == (RULES_TITLE, OPENS, CLOSES)
    return _texts_in(inner)


def context_in(block: str) -> dict[str, list[list[str]]]:
    """The texts of a context block by the heading that they stand under, each as its lines."""
    opens, *inner, closes = block.split("\n")
    assert (opens, closes) == ('<provenloop what="context">', CLOSES)
    if inner == [NOTHING]:
        return {}
    assert inner[0] in HEADINGS
    found: dict[str, list[str]] = {}
    for line in inner:
        if line in HEADINGS:
            assert line not in found
            found[line] = []
        else:
            found[list(found)[-1]].append(line)
    assert list(found) == [heading for heading in HEADINGS if heading in found]
    assert all(found.values()), "a heading stands for something"
    return {heading: _texts_in(lines) for heading, lines in found.items()}


def _texts_in(lines: list[str]) -> list[list[str]]:
    texts: list[list[str]] = []
    for line in lines:
        assert line.startswith(("- ", "  ")), line
        if line.startswith("- "):
            texts.append([])
        texts[-1].append(line[2:])
    said = "\n".join(line for text in texts for line in text)
    assert not re.search(r"<provenloop|\[lessonloop", _letters(said))
    assert not carries_marker(said)
    assert len(said.splitlines()) == sum(map(len, texts)), "no other character ends a line"
    assert not _HIDDEN & {unicodedata.category(each) for each in said if each not in "\n\t\u200c\u200d"}
    return texts


def _letters(text: str) -> str:
    """The text as somebody reads it who sees no widths, blanks or hidden characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in folded if each.isalnum() or each in "<[")
