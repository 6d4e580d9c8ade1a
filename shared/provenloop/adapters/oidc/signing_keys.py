"""The keys that an issuer signs with, kept for a while.

Keys are read again after 10 minutes, and at once where a JWT names one that is not known (the issuer has changed keys),
but for that no more than once a minute: made-up names shall not make us call the issuer. While the issuer does not
answer, known keys serve on until they are an hour old, and it is asked again every 10 seconds at most.

Only public keys for RS256 (2048 bits or more) and ES256 (P-256) count; others in the set are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from provenloop.adapters.oidc.documents import Reader, no_answer
from provenloop.domain.errors import IssuerUnavailableError, UnauthenticatedError

FRESH_MS = 600_000
KEPT_MS = 3_600_000
UNKNOWN_MS = 60_000
FAILED_MS = 10_000
MAX_KEYS = 100
MAX_KID_CHARS = 256
MIN_RSA_BITS = 2048
_DISCOVERY = "/.well-known/openid-configuration"
#: Algorithm by type of key, and the members that make up its public half.
_FORMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "RSA": ("RS256", ("kty", "n", "e")),
    "EC": ("ES256", ("kty", "crv", "x", "y")),
}


@dataclass
class SigningKeys:
    """The keys of one issuer. ``read`` gives the JSON object at an address."""

    issuer: str
    read: Reader
    _keys: Mapping[str, PyJWK] = field(default_factory=dict)
    _read_at: int | None = None
    _failed_at: int | None = None

    def key(self, kid: str, now: int) -> PyJWK:
        """The key of that name. ``now`` is epoch ms.

        Raises:
            UnauthenticatedError: the issuer has no such key.
            IssuerUnavailableError: the issuer did not answer, and nothing that is known of it helps.
        """
        if self._is_due(kid, now):
            self._refresh(now)
        known = self._keys.get(kid) if _within(self._read_at, now, KEPT_MS) else None
        if known is not None:
            return known
        if self._failed_at is not None:
            raise no_answer()
        raise UnauthenticatedError("this token is not valid")

    def _is_due(self, kid: str, now: int) -> bool:
        if _within(self._failed_at, now, FAILED_MS):
            return False
        return not _within(self._read_at, now, FRESH_MS if kid in self._keys else UNKNOWN_MS)

    def _refresh(self, now: int) -> None:
        try:
            self._keys = dict(_usable(self._published()))
            self._read_at, self._failed_at = now, None
        except IssuerUnavailableError:
            self._failed_at = now

    def _published(self) -> list[Any]:
        discovered = self.read(self.issuer.rstrip("/") + _DISCOVERY)
        address = discovered.get("jwks_uri")
        if discovered.get("issuer") != self.issuer or not isinstance(address, str):
            raise no_answer()
        keys = self.read(address).get("keys")
        if not isinstance(keys, list):
            raise no_answer()
        return keys[:MAX_KEYS]


def _within(since: int | None, now: int, span: int) -> bool:
    """Whether less than a span has gone by; a clock that was stepped back makes nothing younger."""
    return since is not None and 0 <= now - since < span


def _usable(published: list[Any]) -> Iterator[tuple[str, PyJWK]]:
    for entry in published:
        key = _read_key(entry) if isinstance(entry, dict) else None
        if key is not None:
            yield entry["kid"], key


def _read_key(entry: Mapping[str, Any]) -> PyJWK | None:
    kid, kty = entry.get("kid"), entry.get("kty")
    if not isinstance(kid, str) or not 0 < len(kid) <= MAX_KID_CHARS or not isinstance(kty, str) or kty not in _FORMS:
        return None
    algorithm, members = _FORMS[kty]
    if entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    if kty == "EC" and entry.get("crv") != "P-256":
        return None
    try:
        key = PyJWK({name: entry[name] for name in members}, algorithm)
    except (PyJWTError, KeyError, TypeError, ValueError):
        return None
    return key if kty == "EC" or key.key.key_size >= MIN_RSA_BITS else None
