"""Forgetting a recipe: its texts, vectors, feedback and reasons go, and what the ledger and distillations say of it.

What it cost stays, and so do its audit entries, which name digests only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.errors import BusyError
from provenloop.domain.ledger import LedgerRow, without_text
from provenloop.domain.recipe import Recipe, RecipeVersion, recipe_subject
from provenloop.recipes.distillation import envelope_of
from provenloop.recipes.normalise import signature
from provenloop.recipes.scope import scope_key
from provenloop.services.call import Call
from provenloop.services.decision import require_because
from provenloop.services.ports import Entity, Erase, Put, Remove, Write
from provenloop.services.recipe_shelf import MAX_ROUNDS, Shelf, audited_step, committed, find_recipe
from provenloop.services.replay import answered_before, replay_of

FORGOTTEN = "forgotten"
#: Leaves room for the recipe, its vectors and its audit entry in one transaction.
_ERASED_AT_ONCE = 80
_ROWS_AT_ONCE = 500


def forget_recipe(shelf: Shelf, call: Call, recipe_id: str, because: str) -> dict[str, object]:
    """Erase a recipe: what it says and said, its vectors, what was said of it, and what was about it elsewhere.

    Its audit entries stay, which name digests only, and rows of the ledger with what was paid.

    Returns:
        ``{forgotten: 1, versions, reasons, ledger, distillations, audit}``.

    Raises:
        ScopeDeniedError, InvalidInputError, NotFoundError, IdempotencyMismatchError: nothing was written.
        BusyError: others keep changing it.
    """
    call.require("admin")
    reason = require_because(because)
    route = f"recipes/{recipe_id}/forget"
    reply: dict[str, object] | None = None
    with answered_before(shelf.store, call, route) as earlier:
        reply = _forgotten_in_the_end(shelf, call, recipe_id, reason, route)
    return reply or earlier.reply or {}


def _forgotten_in_the_end(shelf: Shelf, call: Call, recipe_id: str, because: str, route: str) -> dict[str, object]:
    for _ in range(MAX_ROUNDS):
        reply = _forgotten(shelf, call, find_recipe(shelf.store, call, recipe_id), because, route)
        if reply is not None:
            return reply
    raise BusyError("others keep changing this recipe; try again")


def _forgotten(shelf: Shelf, call: Call, recipe: Recipe, because: str, route: str) -> dict[str, object] | None:
    """What was erased with the recipe; None where it was changed meanwhile."""
    # While the recipe is there, what is left of all this is found again; so it goes first.
    versions = shelf.store.recipe_versions(call.memory, recipe.scope_key, recipe.signature)
    jobs = _distillations(shelf, call, recipe, versions)
    scrubbed = [*_ledger_of(shelf, call, recipe, {job.id for job in jobs})]
    erase_in_stretches(shelf, call, [*map(Erase, scrubbed)])
    erase_in_stretches(shelf, call, [Remove(each) for job in jobs for each in (EnvelopeText(job.id, ""), job)])
    notes = [*shelf.store.notes(call.memory, recipe_subject(recipe)).values()]
    said = shelf.store.hit_feedbacks(call.memory, recipe.scope_key, recipe.signature)
    beside = _what_goes_with_it(shelf, call, [*map(RecipeVersion, versions), *notes, *said])
    audit = audited_step(shelf.store, call, recipe, FORGOTTEN, because, status=FORGOTTEN)
    reply = {
        "forgotten": 1,
        "versions": len(versions),
        "reasons": len(notes),
        "ledger": len(scrubbed),
        "distillations": len(jobs),
        "audit": audit.entry.id,
    }
    replay = replay_of(call, route, reply)
    vectors = shelf.index.removing(call.memory, recipe.scope_key, recipe.spaces, recipe.signature)
    writes = [Remove(recipe, expected=recipe.rev), *beside, *vectors, *audit.writes, *([Put(replay)] if replay else [])]
    return reply if committed(shelf.store, call, writes, 0) else None


def _what_goes_with_it(shelf: Shelf, call: Call, gone: Sequence[Entity]) -> list[Write]:
    """What there is room for in the recipe's transaction. The rest goes ahead: a crash in between leaves less, never
    more.
    """
    beside: list[Write] = [Remove(entity) for entity in gone]
    erase_in_stretches(shelf, call, beside[_ERASED_AT_ONCE:])
    return beside[:_ERASED_AT_ONCE]


def erase_in_stretches(shelf: Shelf, call: Call, writes: Sequence[Write]) -> None:
    """Carry erasures out, many at once; where something moved in between, doing it again finds it."""
    for start in range(0, len(writes), _ERASED_AT_ONCE):
        committed(shelf.store, call, writes[start : start + _ERASED_AT_ONCE], 0)


def _distillations(shelf: Shelf, call: Call, recipe: Recipe, versions: Sequence[Recipe]) -> list[Distillation]:
    """Those that the recipe was learnt by, and those on their way to it."""
    runs = {each.provenance.run for each in (recipe, *versions)}
    found: list[Distillation] = []
    for _, job in shelf.store.walk(call.memory, "distillations", "", call.now):
        if isinstance(job, Distillation) and (job.id in runs or _leads_to(shelf, call, job, recipe)):
            found.append(job)
    return found


def _leads_to(shelf: Shelf, call: Call, job: Distillation, recipe: Recipe) -> bool:
    if job.recipe_id == recipe.id:
        return True
    if job.is_over or scope_key(call.memory, job.scope) != recipe.scope_key:
        return False
    envelope = shelf.store.envelope(call.memory, job.id)
    return envelope is not None and signature(envelope_of(envelope.text).problem, recipe.scope_key) == recipe.signature


def _ledger_of(shelf: Shelf, call: Call, recipe: Recipe, jobs: set[str]) -> Iterator[LedgerRow]:
    """Rows about the recipe or its distillations that say more than what was paid, without what they say."""
    after: tuple[int, str] | None = None
    while True:
        rows = shelf.store.ledger(call.memory, 0, call.now + 1, after=after, limit=_ROWS_AT_ONCE)
        for row in rows:
            if (row.recipe_id == recipe.id or row.id.partition(".")[0] in jobs) and row != without_text(row):
                yield without_text(row)
        if len(rows) < _ROWS_AT_ONCE:
            return
        after = rows[-1].at, rows[-1].id
