"""Text that Provenloop itself puts before an agent, and how it is known again.

Such text stands in a fence: a line ``<provenloop ...>``, the text, a line ``</provenloop>``. Rules have a line of their
own above it. What an agent sends back with such a line in it is an echo: it was never said by anybody, so it is not
captured again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

NAME = "provenloop"
#: The first line of the rules that are put before an agent.
RULES_TITLE = "[lesson-loop] Experience rules for this project"
#: A line that opens or closes a fence or announces rules, also quoted (``> ``), indented or in capitals.
_FENCE = re.compile(rf"^[ \t>]*(?:</?{NAME}(?=[\s/>]|\Z)|{re.escape(RULES_TITLE)})", re.IGNORECASE | re.MULTILINE)
#: What such a line begins with, in any width, and the letters that follow; and what takes its place.
_OPENER = re.compile("[<\uff1c\ufe64\\[\uff3b\ufe47]")
_WORDS: Mapping[str, tuple[str, str]] = {"<": (NAME, "&lt;"), "[": ("lessonloop", "&#91;")}
#: How far to look behind an opener: blanks and hidden characters may stand between the letters.
_LOOKED_AT = 64


def fenced(text: str, what: str) -> str:
    """The text in a fence that says ``what`` it is (a word); what in the text may pass for a fence is disarmed."""
    return f'<{NAME} what="{what}">\n{disarmed(text)}\n</{NAME}>'


def disarmed(text: str) -> str:
    """The text with an escape for whatever begins something that may pass for a fence, however it is disguised."""
    return _OPENER.sub(_disarmed, text)


def _disarmed(opener: re.Match[str]) -> str:
    word, escape = _WORDS[unicodedata.normalize("NFKC", opener.group())]
    behind = opener.string[opener.end() : opener.end() + _LOOKED_AT]
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", behind).casefold()))
    return escape if letters.startswith(word) else opener.group()


def carries_marker(value: Any) -> bool:
    """Whether a text, or any text inside a JSON value, has a line of a fence."""
    if isinstance(value, str):
        return ("<" in value or "[" in value) and _FENCE.search(value) is not None
    if isinstance(value, Mapping):
        return any(carries_marker(key) or carries_marker(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(carries_marker(item) for item in value)
    return False
