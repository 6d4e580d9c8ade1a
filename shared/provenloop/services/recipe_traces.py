"""What is said of recipes, or of a subject, outside of recipes: by distillations and by rows of the ledger.

One walk over each, however many recipes it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.ledger import LedgerRow, without_text
from provenloop.domain.mentions import texts_in
from provenloop.domain.recipe import Recipe
from provenloop.recipes.distillation import Envelope, envelope_of
from provenloop.recipes.normalise import signature
from provenloop.recipes.scope import scope_key
from provenloop.services.call import Call
from provenloop.services.ports import Erase, Remove, Store, Write


@dataclass(frozen=True, slots=True)
class WholeRecipe:
    """A recipe, and what it said before, the oldest first."""

    recipe: Recipe
    before: tuple[Recipe, ...] = ()


def whole_recipe(store: Store, call: Call, recipe: Recipe) -> WholeRecipe:
    """The recipe with what it said before; one read, and none where it never said anything else."""
    if recipe.revision == 1:
        return WholeRecipe(recipe)
    return WholeRecipe(recipe, tuple(store.recipe_versions(call.memory, recipe.scope_key, recipe.signature)))


@dataclass(frozen=True, slots=True)
class Traces:
    """Distillations that go, and rows of the ledger as they are without what they say."""

    jobs: tuple[Distillation, ...] = ()
    rows: tuple[LedgerRow, ...] = ()

    @property
    def writes(self) -> list[Write]:
        """What erases them. The rows come first: some are found by their distillations only."""
        return [*map(Erase, self.rows), *(Remove(one) for job in self.jobs for one in (EnvelopeText(job.id, ""), job))]


def traces_of(
    store: Store, call: Call, recipes: Sequence[WholeRecipe], names: Callable[[str], bool] | None = None
) -> Traces:
    """What was learnt as one of these recipes, is on its way to one, or is about one.

    Args:
        names: whether a text names a subject; then also what does.
    """
    search = _Search(store, call, recipes, names)
    walked = store.walk(call.memory, "distillations", "", call.now)
    jobs = tuple(job for _, job in walked if isinstance(job, Distillation) and search.finds_job(job))
    by_id = {job.id for job in jobs}
    rows = (row for _, row in store.walk(call.memory, "ledger", "", call.now) if isinstance(row, LedgerRow))
    return Traces(jobs, tuple(without_text(row) for row in rows if search.finds_row(row, by_id)))


class _Search:
    def __init__(
        self, store: Store, call: Call, recipes: Sequence[WholeRecipe], names: Callable[[str], bool] | None
    ) -> None:
        self._store, self._call, self._names = store, call, names
        self._places = {(each.recipe.scope_key, each.recipe.signature) for each in recipes}
        self._ids = {each.recipe.id for each in recipes}
        self._runs = {one.provenance.run for each in recipes for one in (each.recipe, *each.before)}

    def finds_job(self, job: Distillation) -> bool:
        """Whether a distillation goes; the envelope is read only of one that is not over."""
        if job.id in self._runs or job.recipe_id in self._ids or self._any(_texts_of(job)):
            return True
        key = scope_key(self._call.memory, job.scope)
        if job.is_over or (self._names is None and all(scope != key for scope, _ in self._places)):
            return False
        stored = self._store.envelope(self._call.memory, job.id)
        envelope = None if stored is None else envelope_of(stored.text)
        return envelope is not None and self._is_of(envelope, key)

    def finds_row(self, row: LedgerRow, jobs: set[str]) -> bool:
        """Whether a row says more than what was paid, of a recipe, of one of the distillations, or of the subject."""
        if row == without_text(row):
            return False
        is_theirs = row.recipe_id in self._ids or row.id.partition(".")[0] in jobs
        return is_theirs or self._any([row.session, *row.log_fields.values()])

    def _is_of(self, envelope: Envelope, key: str) -> bool:
        return (key, signature(envelope.problem, key)) in self._places or self._any(texts_in(envelope.as_json()))

    def _any(self, texts: Iterator[str] | Sequence[str]) -> bool:
        return self._names is not None and any(map(self._names, texts))


def _texts_of(job: Distillation) -> Iterator[str]:
    yield from (job.session, job.scope.user or "", *job.log_fields.values())
    # In the answer as it came, escapes would hide where a word begins.
    try:
        yield from texts_in(parse_strict(job.answer.encode()))
    except StrictJsonError:
        yield job.answer
