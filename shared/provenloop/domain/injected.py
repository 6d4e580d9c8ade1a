"""Text that Provenloop itself puts before an agent, and how it is known again.

Such text stands in a fence: a line ``<provenloop ...>``, the text, a line ``</provenloop>``. Rules have a line of their
own above it. What an agent sends back with such a line in it is an echo: it was never said by anybody, so it is not
captured again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

NAME = "provenloop"
#: The first line of the rules that are put before an agent.
RULES_TITLE = "[lesson-loop] Experience rules for this project"
#: A line that opens or closes a fence or announces rules, also quoted (``> ``), indented or in capitals.
_FENCE = re.compile(rf"^[ \t>]*(?:</?{NAME}(?=[\s/>]|\Z)|{re.escape(RULES_TITLE)})", re.IGNORECASE | re.MULTILINE)
#: What such a line begins with, in any width; the letters that follow it then, and what takes its place.
_OPENERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys("<\uff1c\ufe64", (NAME, "&lt;")),
    **dict.fromkeys("[\uff3b\ufe47", ("lessonloop", "&#91;")),
}
_LONGEST_WORD = max(len(word) for word, _ in _OPENERS.values())
_LETTERS_KEPT = 4096


def fenced(text: str, what: str) -> str:
    """The text in a fence that says ``what`` it is (a word); what in the text may pass for a fence is disarmed."""
    return f'<{NAME} what="{what}">\n{disarmed(text)}\n</{NAME}>'


def disarmed(text: str) -> str:
    """The text with an escape for whatever begins something that may pass for a fence, however it is disguised: blanks
    and hidden characters, as many as there are, may stand between the letters. Takes time in proportion to the text.
    """
    if not any(opener in text for opener in _OPENERS):
        return text
    shown: list[str] = []
    behind = ""
    for letter in reversed(text):
        opener = _OPENERS.get(letter)
        shown.append(opener[1] if opener is not None and behind.startswith(opener[0]) else letter)
        behind = (_letters_of(letter) + behind)[:_LONGEST_WORD]
    return "".join(reversed(shown))


@lru_cache(_LETTERS_KEPT)
def _letters_of(character: str) -> str:
    """The letters and digits that a character is read as, whatever its width and case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", character).casefold()))


def carries_marker(value: Any) -> bool:
    """Whether a text, or any text inside a JSON value, has a line of a fence."""
    if isinstance(value, str):
        return ("<" in value or "[" in value) and _FENCE.search(value) is not None
    if isinstance(value, Mapping):
        return any(carries_marker(key) or carries_marker(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(carries_marker(item) for item in value)
    return False
