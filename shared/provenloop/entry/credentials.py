"""Who is calling: from an Authorization header to a principal.

Invariants: a principal comes from a verified secret only, and so does its tenant; secrets are kept nowhere, the cache
knows their SHA-256. A verified principal may be reused for 60 s, but never for an operation that decides or
administers (``fresh``): those read the credential again, so that revoking a token stops decisions at once.

The bootstrap token is a secret of the deployment, not a stored token. As it is, it acts in the tenant ``default``;
with ``@<tenant>`` behind it, in that one.

A JWT is a person's, where an OIDC issuer is configured. It is never taken for any other token.
"""

from __future__ import annotations

import hmac
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from provenloop.domain.errors import InvalidInputError, UnauthenticatedError
from provenloop.domain.names import require_name
from provenloop.domain.principal import Principal
from provenloop.services.token_port import TokenReader
from provenloop.services.tokens import SECRET_PREFIX, principal_of, principal_of_credential

CACHE_MS = 60_000
CACHE_ENTRIES = 1_000
DEFAULT_TENANT = "default"
BOOTSTRAP = "bootstrap"

_BEARER = re.compile(r"bearer +([\x21-\x7e]{1,8192})\Z", re.IGNORECASE)

_JWT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\Z")

#: Gives the person that a JWT stands for at an instant (epoch ms), or raises.
People = Callable[[str, int], Principal]


@dataclass(frozen=True, slots=True)
class _Known:
    principal: Principal
    verified_at: int

    def holds(self, now: int) -> bool:
        """Whether it may still be reused. A clock that was stepped back (a local stack) makes nothing younger."""
        return 0 <= now - self.verified_at < CACHE_MS and not self.principal.is_expired(now)


class Credentials:
    """Verifies bearer tokens.

    Args:
        tokens: where minted tokens are.
        bootstrap_secret: gives the bootstrap token, reading it anew at each call.
        people: verifies the JWTs of people; None where there is no issuer.
    """

    def __init__(self, tokens: TokenReader, bootstrap_secret: Callable[[], str], people: People | None = None) -> None:
        self._tokens = tokens
        self._people = people
        self._bootstrap_secret = bootstrap_secret
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    def principal(self, authorization: str | None, now: int, *, fresh: bool) -> Principal:
        """The principal of an Authorization header.

        Args:
            authorization: the header's value, None where there is none.
            now: epoch ms.
            fresh: verify again, whatever was verified before.

        Raises:
            UnauthenticatedError: no bearer token, or one that is not valid.
            UnavailableError: the credential could not be read.
        """
        match = _BEARER.match(authorization or "")
        if match is None:
            raise UnauthenticatedError("a bearer token is needed")
        presented = match.group(1)
        digest = sha256(presented.encode()).digest()
        known = self._known.get(digest)
        if known is not None and not fresh and known.holds(now):
            self._known.move_to_end(digest)
            return known.principal
        self._known.pop(digest, None)
        principal = self._verified(presented, now)
        self._remember(digest, _Known(principal, now))
        return principal

    def live(self, credential: str, tenant: str, now: int) -> Principal:
        """Whoever once did something with a credential, as of now.

        Raises:
            UnauthenticatedError: it is no longer valid, or is none that can be found again.
        """
        if credential == BOOTSTRAP:
            return bootstrap_principal(tenant)
        return principal_of_credential(self._tokens, credential, now)

    def _verified(self, presented: str, now: int) -> Principal:
        if self._people is not None and _JWT.match(presented):
            return self._people(presented, now)
        if presented.startswith(SECRET_PREFIX):
            try:
                return principal_of(self._tokens, presented, now)
            except UnauthenticatedError:
                # A local stack may choose a bootstrap token that looks like a minted one.
                pass
        return self._bootstrap(presented)

    def _bootstrap(self, presented: str) -> Principal:
        secret = self._bootstrap_secret()
        if _same(presented, secret):
            return bootstrap_principal(DEFAULT_TENANT)
        part, _, tenant = presented.rpartition("@")
        if _same(part, secret):
            return bootstrap_principal(_tenant_of(tenant))
        raise UnauthenticatedError("this token is not valid")

    def _remember(self, digest: bytes, known: _Known) -> None:
        self._known[digest] = known
        if len(self._known) > CACHE_ENTRIES:
            self._known.popitem(last=False)


def bootstrap_principal(tenant: str) -> Principal:
    """Whoever holds the deployment's bootstrap token."""
    return Principal(
        id=BOOTSTRAP,
        label=BOOTSTRAP,
        kind="human",
        tenant=tenant,
        memories="*",
        scopes=frozenset({"admin"}),
        token_id=BOOTSTRAP,
        lineage=(BOOTSTRAP,),
        credential=BOOTSTRAP,
    )


def _same(presented: str, secret: str) -> bool:
    """Equal, told in constant time; an empty secret equals nothing."""
    if not secret or not presented:
        return False
    return hmac.compare_digest(sha256(presented.encode()).digest(), sha256(secret.encode()).digest())


def _tenant_of(name: str) -> str:
    try:
        return require_name(name, field="authorization")
    except InvalidInputError:
        raise UnauthenticatedError("this token is not valid") from None
