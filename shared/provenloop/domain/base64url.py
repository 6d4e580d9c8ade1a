"""Base64 as it stands in URLs and headers: no padding, ``-`` and ``_`` for the two odd letters."""

from __future__ import annotations

import base64
import binascii


def encoded(data: bytes) -> str:
    """The text of bytes."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    """The bytes of a text.

    Raises:
        ValueError: it is no such text.
    """
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError from error
