"""The documents that an issuer publishes, read over HTTPS; plain HTTP from this machine only, for tests.

Invariants: no redirect is followed, no answer of more than 256 KB is read, nothing is waited for longer than 3 s.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import urllib3

from provenloop.adapters.outside_address import checked_address
from provenloop.domain.errors import IssuerUnavailableError

MAX_BYTES = 262_144
_OK = 200
_TIMEOUT = urllib3.Timeout(connect=2, read=3)

#: Gives the JSON object at an address.
Reader = Callable[[str], dict[str, Any]]


def read_document(address: str) -> dict[str, Any]:
    """The JSON object at an address.

    Raises:
        InternalError: the address is not one of HTTPS.
        IssuerUnavailableError: nothing, or something else, is there.
    """
    checked_address(address, "an OIDC issuer and of its keys")
    try:
        answer = _pool().request("GET", address, redirect=False, retries=False, preload_content=False)
        try:
            body = answer.read(MAX_BYTES + 1)
        finally:
            answer.close()
    except urllib3.exceptions.HTTPError:
        raise no_answer() from None
    if answer.status != _OK or len(body) > MAX_BYTES:
        raise no_answer()
    return _object(body)


def no_answer() -> IssuerUnavailableError:
    """What is answered where the issuer's keys cannot be had."""
    return IssuerUnavailableError("the OIDC issuer cannot be reached; try again")


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise no_answer() from None
    if not isinstance(document, dict):
        raise no_answer()
    return document


@cache
def _pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(num_pools=2, maxsize=1, timeout=_TIMEOUT)
