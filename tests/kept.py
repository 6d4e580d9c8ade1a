"""What a process still holds of a text, such as a key that was to be forgotten."""

from __future__ import annotations

import gc


def kept(text: str) -> list[str]:
    """Types of the objects alive that hold a text."""
    gc.collect()
    data = text.encode()
    return [
        type(thing).__name__
        for thing in gc.get_objects()
        for part in gc.get_referents(thing)
        if (isinstance(part, str) and text in part) or (isinstance(part, bytes) and data in part)
    ]
