"""Stored credentials."""

from __future__ import annotations

from collections.abc import Sequence

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.writes import transact
from provenloop.domain.errors import IntegrityError
from provenloop.domain.names import tenant_itself
from provenloop.domain.records import Token, TokenId
from provenloop.services.ports import Write


class DynamoTokens:
    """Implements ``services.token_port.TokenStore``."""

    def __init__(self, table_name: str, region: str | None = None, *, pause: table.Pause) -> None:
        table.bind(table_name, region)
        self._pause = pause

    def token(self, digest: str) -> Token | None:
        """See ``TokenStore``."""
        row = table.get(keys.token(digest))
        return None if row is None else _token(row)

    def token_of_id(self, tenant: str, token_id: str) -> Token | None:
        """See ``TokenStore``."""
        pk, sk = keys.token_id(tenant, token_id)
        # A query, for the right to read a tenant's registry is one to query it.
        found = [_token_id(row) for row in table.query(pk, Row.sk == sk)]
        return self.token(found[0].digest) if found else None

    def tokens(self, tenant: str, *, after: str = "", limit: int | None = None) -> Sequence[Token]:
        """See ``TokenStore``."""
        pk, first = keys.token_id(tenant, after)
        rows = table.query(
            pk, Row.sk.between(first + keys.FIRST_AFTER, keys.token_id(tenant, keys.LAST).sk), limit=limit
        )
        digests = [_token_id(row).digest for row in rows]
        stored = table.get_many((keys.token(digest) for digest in digests), self._pause)
        known = {token.digest: token for token in map(_token, stored)}
        return tuple(known[digest] for digest in digests if digest in known)

    def transact(self, tenant: str, writes: Sequence[Write], now: int) -> None:
        """See ``TokenStore``."""
        transact(tenant_itself(tenant), writes, now, self._pause)


def _token(row: Row) -> Token:
    entity = entity_of(row)
    if not isinstance(entity, Token):
        raise IntegrityError("a stored item is not the Token its key says")
    return entity


def _token_id(row: Row) -> TokenId:
    entity = entity_of(row)
    if not isinstance(entity, TokenId):
        raise IntegrityError("a stored item is not the TokenId its key says")
    return entity
