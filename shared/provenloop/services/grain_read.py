"""Reading grains: one by its address, all about one subject.

What agents and services read is counted as use of memory. A person who looks, say at the evidence of a finding, uses
nothing: else looking at a cold fact would warm it, and looking at a change would show that it held. Who recalls is
counted, whoever that is.
"""

from __future__ import annotations

from typing import Any

from provenloop.domain.address import Addresses, is_address
from provenloop.domain.errors import InvalidInputError, NotFoundError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.instants import format_instant
from provenloop.domain.questions import question_of
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.memories import require_heads, require_namespace
from provenloop.services.ports import Store
from provenloop.services.record_use import Telemetry, Use, record_use

#: Fields of a body that would hide what is said of every grain.
_SHOWN_AS = {"state": "goal_state"}


def show_grain(store: Store, call: Call, address: str, telemetry: Telemetry) -> dict[str, Any]:
    """One grain; a read of it is counted, unless a person looks.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError.
    """
    call.require("read")
    grain = require_grain(store, call, address)
    _count(store, call, Use(grain.namespace, (grain,)), telemetry)
    return shown(grain, call.now)


def _count(store: Store, call: Call, use: Use, telemetry: Telemetry) -> None:
    if call.principal.kind != "human":
        record_use(store, call, use, telemetry)


def require_grain(store: Store, call: Call, address: str) -> Grain:
    """The grain at an address.

    Raises:
        InvalidInputError, NotFoundError.
    """
    if not is_address(address):
        raise InvalidInputError("an address is 64 hex digits", field="address")
    grain = store.grains(call.memory, [address], call.now).get(address)
    if grain is None:
        require_heads(store, call.memory)
        raise NotFoundError("no grain has that address", field="address")
    return grain


def show_entity(store: Store, call: Call, namespace: str, subject: str, telemetry: Telemetry) -> dict[str, Any]:
    """All facts about one subject of a namespace, in whatever spelling, latest last; reads of live ones are counted,
    unless a person looks.

    Returns:
        ``{namespace, subject, facts: [...]}``; superseded facts are among them, marked by their state.

    Raises:
        ScopeDeniedError, NotFoundError: no such memory or namespace.
    """
    call.require("read")
    heads = require_heads(store, call.memory)
    require_namespace(heads, namespace)
    prefix = Addresses(heads.log.key).entity_prefix("fact", namespace, subject)
    found = [
        grain
        for grain in store.grains_by_prefix(call.memory, prefix, call.now)
        if grain.kind == "fact"
        and grain.namespace == namespace
        and normalise(text_of(grain, "subject")) == normalise(subject)
    ]
    live = [grain for grain in found if grain.is_live(call.now)]
    missed = None if live else question_of(namespace, subject=subject)
    _count(store, call, Use(namespace, live, missed), telemetry)
    facts = [shown(grain, call.now) for grain in sorted(found, key=Grain.recency)]
    return {"namespace": namespace, "subject": subject, "facts": facts}


def shown(grain: Grain, now: int) -> dict[str, Any]:
    """A grain as callers see it; times are RFC 3339."""
    times = {
        name: None if at is None else format_instant(at)
        for name, at in (
            ("occurred_at", grain.occurred_at),
            ("recorded_at", grain.recorded_at),
            ("last_stated_at", grain.last_stated_at),
            ("valid_from", grain.valid_from),
            ("valid_to", grain.valid_to),
        )
    }
    return {
        "address": grain.address,
        "kind": grain.kind,
        "namespace": grain.namespace,
        "state": grain.state,
        "live": grain.is_live(now),
        "superseded_by": grain.superseded_by,
        "forked_into": list(grain.forked_into),
        "head_rev": grain.head_rev,
        "generation": grain.generation,
        "stated": grain.stated,
        "seq": grain.seq,
        **times,
        **{_SHOWN_AS.get(name, name): value for name, value in grain.body.items()},
    }
