"""Stored credentials."""

from __future__ import annotations

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.adapters.dynamodb.writes import transact
from provenloop.domain.errors import IntegrityError
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Label, Token
from provenloop.services.ports import Put, WriteRefusedError


class DynamoTokens:
    """Implements ``services.ports.TokenStore``."""

    def __init__(self, table_name: str, region: str | None = None, *, pause: table.Pause) -> None:
        table.bind(table_name, region)
        self._pause = pause

    def token(self, digest: str) -> Token | None:
        """See ``TokenStore``."""
        row = table.get(keys.token(digest))
        if row is None:
            return None
        entity = entity_of(row)
        if not isinstance(entity, Token):
            raise IntegrityError("a stored item is not the Token its key says")
        return entity

    def put_token(self, token: Token, now: int) -> bool:
        """See ``TokenStore``."""
        try:
            transact(MemoryId(token.tenant, ""), [Put(token), Put(Label(token.label, token.id))], now, self._pause)
        except WriteRefusedError:
            return False
        return True
