"""Text as a reviewer is to see it: characters that show nothing, or turn the order of others round, stand as escapes.

Letters of any direction, direction marks, flags made of tags and variants of ideographs stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_HIDDEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,16}\U000e007f)"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)


def visible(value: Any) -> Any:
    """A JSON value in whose texts (and keys) each hidden character is an escape that names its code point."""
    if isinstance(value, str):
        return _HIDDEN.sub(_escaped, value)
    if isinstance(value, Mapping):
        return {visible(name): visible(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible(item) for item in value]
    return value


def _escaped(found: re.Match[str]) -> str:
    return found.group() if found["flag"] else f"\\u{{{ord(found.group()):x}}}"
