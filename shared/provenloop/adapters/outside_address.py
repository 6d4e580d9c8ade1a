"""Addresses that may be spoken to: of HTTPS, or of plain HTTP on this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from provenloop.domain.errors import InternalError
from provenloop.domain.this_machine import THIS_MACHINE


def checked_address(address: str, whose: str) -> str:
    """An address that keys may be sent to; ``whose`` it is, is said where it is not.

    Raises:
        InternalError: it is neither of HTTPS nor on this machine.
    """
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in THIS_MACHINE):
        raise InternalError(f"the address of {whose} must be one of https")
    return address
