"""A strict reader of the block of rules that is put before an agent, and texts that mean to break out of it."""

from __future__ import annotations

import re
import unicodedata

from provenloop.domain.injected import RULES_TITLE, carries_marker

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
    rules: list[list[str]] = []
    for line in inner:
        assert line.startswith(("- ", "  ")), line
        if line.startswith("- "):
            rules.append([])
        rules[-1].append(line[2:])
    said = "\n".join(line for rule in rules for line in rule)
    assert not re.search(r"<provenloop|\[lessonloop", _letters(said))
    assert not carries_marker(said)
    assert len(said.splitlines()) == sum(map(len, rules)), "no other character ends a line"
    assert not _HIDDEN & {unicodedata.category(each) for each in said if each not in "\n\t\u200c\u200d"}
    return rules


def _letters(text: str) -> str:
    """The text as somebody reads it who sees no widths, blanks or hidden characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in folded if each.isalnum() or each in "<[")
