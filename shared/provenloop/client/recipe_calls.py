"""Recipes and the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from provenloop.client import forms
from provenloop.client.calls import Calls, T
from provenloop.client.transport import Asked


class RecipeCalls(Calls):
    """Operations of recipes. ``key`` is an Idempotency-Key of the caller's own; else each call has a new one.

    ``model_key`` is a key of the caller's own to ask models with, for that one request.
    """

    def match(
        self,
        request: str,
        scope: Mapping[str, Any],
        *,
        key: str | None = None,
        model_key: str | None = None,
        **rest: Unpack[forms.MatchRequestRest],
    ) -> forms.MatchReply:
        """Ask whether a stored answer serves a request."""
        body = {"request": request, "scope": scope, **rest}
        return self._asked(forms.MatchReply, "/recipes/match", body, (key, model_key))

    def commit(self, hit_token: str, *, key: str | None = None) -> forms.CommitReply:
        """Say that a hit was delivered, within an hour."""
        return self._write(forms.CommitReply, self.path_in_memory("/recipes/commit"), {"hit_token": hit_token}, key)

    def feedback(self, *, key: str | None = None, **fields: Unpack[forms.FeedbackRequest]) -> forms.FeedbackReply:
        """Say what became of a hit, within 30 days."""
        return self._write(forms.FeedbackReply, self.path_in_memory("/recipes/feedback"), {**fields}, key)

    def distil(
        self,
        envelope: Mapping[str, Any],
        scope: Mapping[str, Any],
        *,
        wait_s: float = 0.0,
        key: str | None = None,
        model_key: str | None = None,
        **rest: Unpack[forms.DistilRequestRest],
    ) -> forms.DistilReply:
        """Have a model make a recipe of a run that went well; what is queued is waited for up to ``wait_s`` seconds."""
        body = {"envelope": envelope, "scope": scope, **rest}
        begun = self._asked(forms.DistilReply, "/recipes/distil", body, (key, model_key))
        return self._until(
            lambda: self.distillation(begun["job"]), lambda reply: reply["status"] != "running", wait_s, begun
        )

    def distillation(self, job: str) -> forms.DistilReply:
        """How far a distillation is."""
        return self._read(forms.DistilReply, self.path_in_memory("/recipes/distil/{job}", job=job))

    def recipes(self, **query: Unpack[forms.RecipesQuery]) -> forms.RecipesReply:
        """Recipes by status; those that are quarantined wait for a person."""
        return self._read(forms.RecipesReply, self.path_in_memory("/recipes"), query)

    def recipe(self, recipe: str) -> forms.RecipeReply:
        """One recipe with what became of its hits."""
        return self._read(forms.RecipeReply, self.path_in_memory("/recipes/{id}", id=recipe))

    def recipes_health(self) -> forms.RecipesHealthReply:
        """The settings of recipes in force, which rungs work, and what is wrong."""
        return self._read(forms.RecipesHealthReply, self.path_in_memory("/recipes/health"))

    def restore_recipe(self, recipe: str, because: str, *, key: str | None = None) -> forms.RecipeDecisionReply:
        """Serve a recipe again; people only."""
        path = self.path_in_memory("/recipes/{id}/restore", id=recipe)
        return self._write(forms.RecipeDecisionReply, path, {"because": because}, key)

    def retire_recipe(self, recipe: str, because: str, *, key: str | None = None) -> forms.RecipeDecisionReply:
        """Serve a recipe no more; people only."""
        path = self.path_in_memory("/recipes/{id}/retire", id=recipe)
        return self._write(forms.RecipeDecisionReply, path, {"because": because}, key)

    def forget_recipe(self, recipe: str, because: str, *, key: str | None = None) -> forms.ForgottenRecipeReply:
        """Forget a recipe for good; what it cost stays."""
        path = self.path_in_memory("/recipes/{id}/forget", id=recipe)
        return self._write(forms.ForgottenRecipeReply, path, {"because": because}, key)

    def ledger(
        self,
        *,
        since: str | int | None = None,
        until: str | int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> forms.LedgerReply:
        """What each call of a model cost, and each run that was saved, from ``since`` up to before ``until``."""
        query = {"from": since, "to": until, "limit": limit, "cursor": cursor}
        return self._read(forms.LedgerReply, self.path_in_memory("/ledger"), query)

    def ledger_summary(
        self, *, since: str | int | None = None, until: str | int | None = None, cursor: str | None = None
    ) -> forms.LedgerSummaryReply:
        """Cost by component, the runs saved, and the cost of each."""
        query = {"from": since, "to": until, "cursor": cursor}
        return self._read(forms.LedgerSummaryReply, self.path_in_memory("/ledger/summary"), query)

    def _asked(self, form: type[T], path: str, body: Mapping[str, Any], keys: tuple[str | None, str | None]) -> T:
        del form
        key, model_key = keys
        headers = {} if model_key is None else {"x-model-key": model_key}
        asked = Asked("POST", self.path_in_memory(path), body=body, key=key, headers=headers)
        answer: T = self._sent(asked)[0]
        return answer
