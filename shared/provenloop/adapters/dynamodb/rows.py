"""The shape of an item: one pynamodb model for the one table, and the packing of documents.

Most of an item is ``doc``: the entity's canonical JSON, deflated when it is over 512 bytes. Numbers inside it keep
their exact text (DynamoDB trims zeros of number attributes). Attributes of their own have only: keys, what conditions
compare (``rev``), what is counted with ADD, and what an index needs.
"""

from __future__ import annotations

import zlib
from typing import Any

from pynamodb.attributes import BinaryAttribute, ListAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection
from pynamodb.models import Model

DEFLATE_OVER_BYTES = 512
ROW_VERSION = 1
_ZLIB_HEADER = 0x78


def number_of(value: object) -> int | None:
    """A number attribute that may be missing (pynamodb types them as always there)."""
    return value if isinstance(value, int) else None


class QueueIndex(GlobalSecondaryIndex["Row"]):  # type: ignore[no-untyped-call]
    """Recommendations by status, in queue order."""

    class Meta:
        """pynamodb's settings of the index."""

        index_name = "queue"
        projection = IncludeProjection(["row"])

    queue_pk = UnicodeAttribute(hash_key=True)
    queue_sk = UnicodeAttribute(range_key=True)


class DueIndex(GlobalSecondaryIndex["Row"]):  # type: ignore[no-untyped-call]
    """Memories by the time they want a pass."""

    class Meta:
        """pynamodb's settings of the index."""

        index_name = "due"
        projection = KeysOnlyProjection()

    wake = UnicodeAttribute(hash_key=True)
    wake_at = NumberAttribute(range_key=True)


class ByTimeIndex(GlobalSecondaryIndex["Row"]):  # type: ignore[no-untyped-call]
    """Events that wait to be published, by instant; and all memories, by tenant."""

    class Meta:
        """pynamodb's settings of the index."""

        index_name = "bytime"
        projection = KeysOnlyProjection()

    time_pk = UnicodeAttribute(hash_key=True)
    time_sk = UnicodeAttribute(range_key=True)


class Row(Model):
    """One item. ``type`` names the entity it holds, ``version`` the shape it was written in."""

    class Meta:
        """pynamodb's settings; the composition root sets ``table_name`` and ``region``."""

        table_name = "provenloop"
        region: str | None = None

    queue = QueueIndex()
    due = DueIndex()
    bytime = ByTimeIndex()

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    type = UnicodeAttribute(attr_name="t")
    version = NumberAttribute(attr_name="v", default=ROW_VERSION)
    rev = NumberAttribute(null=True)
    doc = BinaryAttribute(legacy_encoding=False, null=True)
    text = UnicodeAttribute(null=True)
    ttl = NumberAttribute(null=True)

    stated = NumberAttribute(null=True, attr_name="n")
    last_stated_at = NumberAttribute(null=True, attr_name="at")
    place = NumberAttribute(null=True)

    seq = NumberAttribute(null=True)
    grains = NumberAttribute(null=True)
    errors = NumberAttribute(null=True)
    namespaces = UnicodeSetAttribute(null=True)
    secret = BinaryAttribute(legacy_encoding=False, null=True)
    created_at = NumberAttribute(null=True)
    reserved_at = NumberAttribute(null=True)
    claim_until = NumberAttribute(null=True)
    wake = UnicodeAttribute(null=True)
    wake_at = NumberAttribute(null=True)

    queue_pk = UnicodeAttribute(null=True)
    queue_sk = UnicodeAttribute(null=True)
    row = UnicodeAttribute(null=True)

    time_pk = UnicodeAttribute(null=True)
    time_sk = UnicodeAttribute(null=True)

    #: What a vector index of the store's own needs: the vector, and the scope that a search stays in.
    vector = ListAttribute[Any](null=True, of=NumberAttribute)
    vector_pk = UnicodeAttribute(null=True)

    lessons = NumberAttribute(null=True)
    lesson_bytes = NumberAttribute(null=True)
    reports = NumberAttribute(null=True)
    violations = NumberAttribute(null=True)
    suppressed = NumberAttribute(null=True)
    samples = NumberAttribute(null=True)
    since_rejection = NumberAttribute(null=True)
    last_at = NumberAttribute(null=True)
    clean_at = NumberAttribute(null=True)
    suggestion = UnicodeAttribute(null=True)
    suggested_by = UnicodeAttribute(null=True)


def is_expired(row: Row, now: int) -> bool:
    """Whether an item's time is over; DynamoDB may keep it readable for days."""
    ttl = number_of(row.ttl)
    return ttl is not None and ttl * 1000 <= now


def pack(text: str) -> bytes:
    """A JSON document as stored: as it is, or deflated where that pays."""
    raw = text.encode()
    return raw if len(raw) <= DEFLATE_OVER_BYTES else zlib.compress(raw, 9)


def unpack(data: bytes) -> str:
    """The JSON document that :func:`pack` stored; JSON never begins with zlib's first byte."""
    return (zlib.decompress(data) if data[:1] == bytes([_ZLIB_HEADER]) else data).decode()
