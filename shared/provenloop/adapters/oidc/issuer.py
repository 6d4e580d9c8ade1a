"""JWTs of one issuer for one audience, verified.

Invariants: which algorithm verifies a JWT is said by the issuer's key and never by the JWT, so that neither ``none``
nor a shared secret can stand in for a signature; keys are found by name only, never in or by an address of the JWT. No
library looks at a clock: the instants among the claims are judged by whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt

from provenloop.adapters.oidc.documents import Reader, read_document
from provenloop.adapters.oidc.signing_keys import SigningKeys
from provenloop.domain.errors import UnauthenticatedError

#: Kinds of JWT that say who is asking; a logout token, say, is signed by the same keys.
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_UNJUDGED = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "require": ["iss", "aud", "sub", "exp"]}


class OidcIssuer:
    """Verifies the JWTs of one issuer.

    Args:
        issuer: its address, as it stands in its JWTs.
        audience: what must stand in them as audience.
        read: gives the JSON object at an address.
    """

    def __init__(self, issuer: str, audience: str, read: Reader = read_document) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = SigningKeys(issuer, read)

    def claims(self, token: str, now: int) -> Mapping[str, Any]:
        """What a JWT says, once it is known to be the issuer's and meant for us. ``now`` is epoch ms.

        Raises:
            UnauthenticatedError: it is not.
            IssuerUnavailableError: the issuer's keys cannot be had.
        """
        try:
            key = self._keys.key(_key_name(jwt.get_unverified_header(token)), now)
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                issuer=self._issuer,
                audience=self._audience,
                options=_UNJUDGED,  # type: ignore[arg-type]
            )
        except (jwt.exceptions.PyJWTError, RecursionError):
            raise _not_valid() from None
        return claims


def _key_name(header: Mapping[str, Any]) -> str:
    kid, kind = header.get("kid"), header.get("typ", "jwt")
    if not isinstance(kid, str) or not isinstance(kind, str) or kind.lower() not in _TYPES or "crit" in header:
        raise _not_valid()
    return kid


def _not_valid() -> UnauthenticatedError:
    return UnauthenticatedError("this token is not valid")
