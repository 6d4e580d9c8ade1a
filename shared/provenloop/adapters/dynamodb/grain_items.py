"""How a grain is stored: its document, and the counters that stand beside it so that others may move them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.codec import decode, encode
from provenloop.adapters.dynamodb.rows import Row, number_of
from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId

#: What a grain's document leaves out, since it stands beside it or in the key: a grain of 1 KB shall cost few units.
_BESIDE_GRAIN = ("address", "last_stated_at", "place", "expires_at")


def grain_doc(grain: Grain) -> str:
    """A grain's document without what stands beside it."""
    fields = json.loads(encode(replace(grain, head_rev=1, stated=1)))
    return canonical_json({name: value for name, value in fields.items() if name not in _BESIDE_GRAIN})


def grain_of(row: Row, text: str) -> Grain:
    """The grain of a row, whose document is ``text``.

    Raises:
        IntegrityError: the document is none.
    """
    fields = {
        **json.loads(text),
        "address": row.sk,
        "last_stated_at": int(row.last_stated_at),
        "place": number_of(row.place) or 0,
    }
    ttl = number_of(row.ttl)
    grain = decode(Grain, json.dumps(fields))
    return replace(
        grain,
        head_rev=int(row.rev),
        stated=int(row.stated),
        expires_at=None if ttl is None else ttl * 1000,
    )


def seconds(at: int | None) -> int | None:
    """Epoch seconds of epoch milliseconds, rounded up so that nothing expires early."""
    return None if at is None else -(-at // 1000)


def beside_grain(memory: MemoryId, grain: Grain) -> Mapping[str, Any]:
    """The attributes that stand beside a grain's document."""
    return {
        **_among_lessons(memory, grain),
        "stated": grain.stated,
        "last_stated_at": grain.last_stated_at,
        "place": grain.place,
        "ttl": seconds(grain.expires_at),
    }


def _among_lessons(memory: MemoryId, grain: Grain) -> Mapping[str, Any]:
    """Where an applied lesson is found, for as long as it is current."""
    if grain.lesson_of is None or not grain.is_current:
        return {}
    place = keys.applied_order(grain.recorded_at, grain.address)
    return {"time_pk": keys.applied_partition(memory), "time_sk": place}
