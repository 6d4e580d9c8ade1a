"""Reading recipes: pages of them, one with its audit trail, what became of their hits, and how the ladder stands."""

from __future__ import annotations

import re
from typing import Any

from provenloop.domain.chain_check import verify_chain
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.errors import IntegrityError, InvalidInputError, LoopError
from provenloop.domain.recipe import STATUSES, recipe_subject, split_id
from provenloop.domain.visible import visible
from provenloop.services.audit_trail import entry_told
from provenloop.services.call import Call
from provenloop.services.ledger_summary import LedgerSpan, row_told
from provenloop.services.memories import require_heads
from provenloop.services.model_port import ModelAccess
from provenloop.services.ports import Store
from provenloop.services.recipe_decisions import ACTIONS_OF
from provenloop.services.recipe_settings import InstalledSettings
from provenloop.services.recipe_shelf import find_recipe
from provenloop.services.recipe_told import every_recipe, recipe_told
from provenloop.services.semantic_rung import SemanticRung

MAX_LIMIT = 100
ALL = "all"
#: Recipes looked at for one page, where few have the wanted status.
_LOOKED_AT = 500
_PLACE = re.compile(r"([0-9]{1,15})-([\x21-\x7e]{1,128})")


def list_recipes(
    store: Store, call: Call, *, status: str = ALL, limit: int = MAX_LIMIT, cursor: str | None = None
) -> dict[str, Any]:
    """One page of recipes by id, without their audit trails; those that are quarantined wait for a person.

    Returns:
        ``{recipes: [...], cursor}``; the cursor is None on the last page. A page may be short, or empty, and go on.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
    """
    call.require("read")
    if status != ALL and status not in STATUSES:
        raise InvalidInputError(f"unknown status; one of {', '.join(STATUSES)}, {ALL}", field="status")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"1 to {MAX_LIMIT}", field="limit")
    if cursor is not None and split_id(cursor) is None:
        raise InvalidInputError("not a cursor of this list", field="cursor")
    require_heads(store, call.memory)
    shown: list[dict[str, Any]] = []
    looked_at, place = 0, cursor or ""
    for recipe in every_recipe(store, call, place):
        if len(shown) == limit or looked_at == _LOOKED_AT:
            return {"recipes": shown, "cursor": place}
        looked_at, place = looked_at + 1, recipe.id
        if status in (ALL, recipe.status):
            shown.append(recipe_told(recipe, call.now))
    return {"recipes": shown, "cursor": None}


def show_recipe(store: Store, call: Call, recipe_id: str) -> dict[str, Any]:
    """One recipe with what it said before, its audit trail, and what a person may do with it.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    recipe = find_recipe(store, call, recipe_id)
    chain = recipe_subject(recipe)
    entries = tuple(store.audit_entries(call.memory, chain))
    notes, end = store.notes(call.memory, chain), store.chain_end(call.memory, chain)
    broken = verify_chain(chain, entries, head=end.head if end else None, status=end.status if end else "")
    versions = store.recipe_versions(call.memory, recipe.scope_key, recipe.signature)
    return {
        **recipe_told(recipe, call.now),
        "versions": [{"revision": each.revision, "response": visible(each.response)} for each in versions],
        "audit": [entry_told(entry, notes.get(entry.n)) for entry in entries],
        "verified": broken is None,
        "next": list(ACTIONS_OF[recipe.status]),
    }


def list_ledger(
    store: Store, call: Call, span: LedgerSpan, *, limit: int = MAX_LIMIT, cursor: str | None = None
) -> dict[str, Any]:
    """One page of the ledger's rows, the oldest first.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
    """
    call.require("read")
    if span.until < span.since:
        raise InvalidInputError("a span does not end before it begins", field="to")
    require_heads(store, call.memory)
    rows = store.ledger(call.memory, span.since, span.until, after=_place_of(cursor), limit=limit + 1)
    page = rows[:limit]
    following = cursor_at(f"{page[-1].at}-{page[-1].id}") if len(rows) > limit else None
    return {"rows": [row_told(row) for row in page], "cursor": following}


def _place_of(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    at, row_id = place_of(cursor, _PLACE, "a ledger").groups()
    return int(at), row_id


def recipes_health(
    store: Store, call: Call, installed: InstalledSettings, rung: SemanticRung, models: ModelAccess
) -> dict[str, Any]:
    """How the ladder stands in a memory: the settings in force, what is wrong with any, and which rungs work.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    faults = [f"environment: {fault}" for fault in installed.faults]
    embedder = rung.embedder
    told: dict[str, Any] = {"settings": None, "band": None}
    try:
        settings = installed.of(store, call.memory)
        told["settings"] = {name: getattr(settings, name) for name in settings.__slots__}
        if embedder is not None:
            band = settings.band(embedder.tag)
            told["band"] = {"threshold": band.threshold, "floor": band.floor, "margin": band.margin}
    except IntegrityError as error:
        faults.append(error.message)
    fault = _embedder_fault(rung)
    if fault is not None:
        faults.append(f"embedder: {fault}")
    has_model = False
    try:
        has_model = bool(models.key())
    except LoopError as error:
        faults.append(f"composer: {error.message}")
    return {
        **told,
        "embedder": None if embedder is None else {"tag": embedder.tag, "version": embedder.version},
        "semantic": fault is None,
        "composer": has_model,
        "faults": faults,
    }


def _embedder_fault(rung: SemanticRung) -> str | None:
    try:
        return rung.fault()
    except LoopError as error:
        return error.message
