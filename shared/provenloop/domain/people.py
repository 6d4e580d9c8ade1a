"""People whom an OIDC issuer vouches for: from the claims of a verified JWT to a principal.

The table of claims is an operator's, and its first row that fits decides: which tenant, which memories, which scopes.
Whoever fits no row may do nothing. What a JWT says of itself beside the claims that the table names has no effect.

Invariants: a person is known by issuer and subject, whatever their label; the label is what the audit trail shows, it
begins with ``oidc:``, and no token can be labelled so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import InternalError, LoopError, UnauthenticatedError
from provenloop.domain.memory_glob import require_glob
from provenloop.domain.names import require_name
from provenloop.domain.principal import Principal, Scope, parse_scopes

SKEW_MS = 60_000
MAX_SUBJECT_CHARS = 255
MAX_LABEL_CHARS = 64
MAX_ROWS = 100
LABEL_PREFIX = "oidc:"
_NEEDED = frozenset({"claim", "value", "tenant", "memories", "scopes"})
_KNOWN = _NEEDED | {"label"}
#: Beyond this many seconds an instant is no instant.
_LAST_SECOND = 10**11


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """Whoever's ``claim`` is ``value``, or a list that holds it, is that. ``label`` names the claim that is shown.

    Both are names of claims as :func:`claim_named` reads them.
    """

    claim: str
    value: str
    tenant: str
    memories: str
    scopes: frozenset[Scope]
    label: str = "sub"


def read_table(text: str) -> tuple[ClaimRow, ...]:
    """The table an operator wrote, as a JSON list of objects.

    Raises:
        InternalError: it is not one; the message says where.
    """
    try:
        rows = json.loads(text)
    except ValueError:
        raise _fault("not JSON") from None
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_ROWS:
        raise _fault(f"not a list of 1 to {MAX_ROWS} rows")
    return tuple(_row(number, row) for number, row in enumerate(rows, 1))


def _row(number: int, row: Any) -> ClaimRow:
    if not isinstance(row, dict) or not _NEEDED <= row.keys() <= _KNOWN:
        raise _fault(f"row {number} has not the members {', '.join(sorted(_NEEDED))}, and label if wanted")
    texts = {name: value for name, value in row.items() if name != "scopes"}
    if not all(isinstance(value, str) and value for value in texts.values()):
        raise _fault(f"row {number}: all but scopes must be texts")
    if not isinstance(row["scopes"], list):
        raise _fault(f"row {number}: scopes must be a list")
    try:
        require_name(row["tenant"], field="tenant")
        require_glob(row["memories"], field="memories")
        return ClaimRow(**{**texts, "scopes": parse_scopes(map(str, row["scopes"]))})
    except LoopError as error:
        raise _fault(f"row {number}, {error.field}: {error.message}") from error


def _fault(reason: str) -> InternalError:
    return InternalError(f"the table of OIDC claims: {reason}")


def person_of(claims: Mapping[str, Any], table: Sequence[ClaimRow], now: int) -> Principal:
    """The principal of a JWT whose signature, issuer and audience were verified. ``now`` is epoch ms.

    Raises:
        UnauthenticatedError: it is not valid now, it names nobody, or nobody of the table.
    """
    ends_at = _require_current(claims, now)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARS:
        raise _not_valid()
    row = next((row for row in table if _fits(claim_named(claims, row.claim), row.value)), None)
    if row is None:
        raise _not_valid()
    known_as = sha256(canonical_json([claims.get("iss"), subject]).encode()).hexdigest()[:32]
    person = f"{LABEL_PREFIX}{known_as}"
    return Principal(
        id=person,
        label=_label(claim_named(claims, row.label)) or person,
        kind="human",
        tenant=row.tenant,
        memories=row.memories,
        scopes=row.scopes,
        token_id=person,
        lineage=(person,),
        expires_at=ends_at,
    )


def claim_named(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of that name, or where there is none the one that its dots lead to; None where nothing is there.

    ``realm_access.roles`` is the claim ``roles`` inside ``realm_access``. A name that holds dots itself, as URLs do, is
    met first, on each level the longest one: whoever adds a claim inside another cannot stand in for one of that name.
    """
    if name in claims:
        return claims[name]
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        inner = claims.get(".".join(parts[:size]))
        found = claim_named(inner, ".".join(parts[size:])) if isinstance(inner, dict) else None
        if found is not None:
            return found
    return None


def _require_current(claims: Mapping[str, Any], now: int) -> int:
    """When the JWT ends (epoch ms), clocks that differ by ``SKEW_MS`` allowed for."""
    ends, begins, made = (_instant(claims, name) for name in ("exp", "nbf", "iat"))
    if ends is None or ends + SKEW_MS <= now:
        raise _not_valid()
    if any(at is not None and at - SKEW_MS > now for at in (begins, made)):
        raise _not_valid()
    return ends + SKEW_MS


def _instant(claims: Mapping[str, Any], name: str) -> int | None:
    """A claim that counts seconds, in milliseconds; None where it is not there."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LAST_SECOND:
        raise _not_valid()
    return int(value * 1000)


def _fits(claim: object, value: str) -> bool:
    return claim == value if isinstance(claim, str) else isinstance(claim, list) and value in claim


def _label(claim: object) -> str | None:
    """A claim as a label; None where it cannot be shown on one line."""
    if not isinstance(claim, str) or not claim.isprintable() or claim != claim.strip() or not claim:
        return None
    label = f"{LABEL_PREFIX}{claim}"
    return label if len(label) <= MAX_LABEL_CHARS else None


def _not_valid() -> UnauthenticatedError:
    return UnauthenticatedError("this token is not valid")
