"""Text that Provenloop itself puts before an agent, and how it is known again.

Such text stands in a fence: a line ``<provenloop ...>``, the text, a line ``</provenloop>``. What an agent sends back
with such a line in it is an echo: it was never said by anybody, so it is not captured again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NAME = "provenloop"
#: A line that opens or closes a fence, also quoted (``> ``), indented or in capitals.
_FENCE = re.compile(rf"^[ \t>]*</?{NAME}(?=[\s/>]|\Z)", re.IGNORECASE | re.MULTILINE)


def fenced(text: str, what: str) -> str:
    """The text in a fence that says ``what`` it is (a word); lines of the text that look like a fence are disarmed."""
    inner = _FENCE.sub(lambda line: line.group().replace("<", "&lt;"), text)
    return f'<{NAME} what="{what}">\n{inner}\n</{NAME}>'


def carries_marker(value: Any) -> bool:
    """Whether a text, or any text inside a JSON value, has a line of a fence."""
    if isinstance(value, str):
        return "<" in value and _FENCE.search(value) is not None
    if isinstance(value, Mapping):
        return any(carries_marker(key) or carries_marker(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(carries_marker(item) for item in value)
    return False
