"""A distillation: what one finished run may teach, on its way from the request to a recipe or to a reason why not.

Invariants: a step and its rows of the ledger are one transaction, so nothing is counted twice; once it is ``asked``
nobody asks again for the same try, so nothing is paid twice; when it is over its texts are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from provenloop.domain.ledger import About, LedgerRow, SkipReason, free_row, skipped
from provenloop.domain.recipe import RecipeKind, RecipeScope

#: ``waiting`` for its turn, ``asked`` a model, ``answered`` by it; over when ``done`` or ``skipped``.
DistillationStatus = Literal["waiting", "asked", "answered", "done", "skipped"]


@dataclass(frozen=True, slots=True)
class Distillation:
    """One distillation. Times are epoch ms.

    ``by`` is who asked for it, as audit entries name people. ``claim`` names the delivery that asks the model,
    ``answer`` is what the model said, until it is over. ``reason`` says why nothing was learnt, ``failure`` which kind
    of failure that was. ``own_key``: only the request it came with can ask, for it brought the key.
    """

    id: str
    by: Mapping[str, str]
    created_at: int
    changed_at: int
    scope: RecipeScope
    kind: RecipeKind
    status: DistillationStatus = "waiting"
    tries: int = 1
    own_key: bool = False
    claim: str = ""
    answer: str = ""
    model: str = ""
    recipe_id: str = ""
    reason: SkipReason | None = None
    failure: str = ""
    session: str = ""
    log_fields: Mapping[str, str] = field(default_factory=dict)
    rev: int = 1

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do."""
        return self.status in ("done", "skipped")

    @property
    def may_begin_again(self) -> bool:
        """Whether asking for the same again tries again: the model failed, which says nothing of the run."""
        return self.reason == "opus_error"

    @property
    def about(self) -> About:
        """What its rows of the ledger are about."""
        return About(self.session, self.recipe_id, self.log_fields)

    def row_id(self, step: str) -> str:
        """The id of the ledger's row of one step of its present try."""
        return f"{self.id}.{self.tries}.{step}"


@dataclass(frozen=True, slots=True)
class EnvelopeText:
    """The redacted envelope of a distillation that is not over: canonical JSON."""

    job: str
    text: str


def claimed(job: Distillation, at: int, claim: str) -> Distillation:
    """The distillation as somebody is about to ask for it."""
    return replace(job, status="asked", claim=claim, changed_at=at, rev=job.rev + 1)


def answered(job: Distillation, at: int, text: str, model: str) -> Distillation:
    """With the raw answer."""
    return replace(job, status="answered", answer=text, model=model, changed_at=at, rev=job.rev + 1)


def learnt(job: Distillation, at: int, recipe_id: str) -> Distillation:
    """Over: it has become a recipe."""
    return replace(job, status="done", answer="", recipe_id=recipe_id, changed_at=at, rev=job.rev + 1)


def not_learnt(job: Distillation, at: int, reason: SkipReason, failure: str = "") -> Distillation:
    """Over: nothing was learnt."""
    after = replace(job, status="skipped", answer="", reason=reason, failure=failure)
    return replace(after, changed_at=at, rev=job.rev + 1)


def begun_again(job: Distillation, at: int, *, own_key: bool) -> Distillation:
    """On its way once more, as another try."""
    after = replace(job, status="waiting", claim="", reason=None, failure="", own_key=own_key, tries=job.tries + 1)
    return replace(after, changed_at=at, rev=job.rev + 1)


def row_of_skip(job: Distillation, at: int, reason: SkipReason, failure: str = "") -> LedgerRow:
    """The row that says why its present try taught nothing."""
    return free_row(job.row_id("skipped"), at, skipped(reason), job.about, kind=failure)
