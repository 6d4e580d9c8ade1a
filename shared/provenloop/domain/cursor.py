"""Cursors: where a page of a list ended, as callers hand it back. What they hold is nobody's business but ours."""

from __future__ import annotations

import re

from provenloop.domain.base64url import decoded, encoded
from provenloop.domain.errors import InvalidInputError


def cursor_at(place: str) -> str:
    """The cursor of a place in a list."""
    return encoded(place.encode())


def place_of(cursor: str, form: re.Pattern[str], what: str = "this list") -> re.Match[str]:
    """The place that a cursor names, as the whole of ``form`` matches it.

    Raises:
        InvalidInputError: it names none. What decodes to anything else was never given out; some of it would be refused
            as a key.
    """
    try:
        found = form.fullmatch(decoded(cursor).decode())
    except ValueError:
        found = None
    if found is None:
        raise InvalidInputError(f"not a cursor of {what}", field="cursor")
    return found
