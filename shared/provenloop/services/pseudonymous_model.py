"""Models that see placeholders where texts say who somebody is, and whose answers say it again.

Only quoted texts are changed, never what is ours: instructions, schemas, labels. One mapping serves all that is asked
together, so that the questions of a pass agree; it lives no longer, and is never shared between memories.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from provenloop.domain.policy import Policy
from provenloop.domain.pseudonyms import Pseudonyms
from provenloop.domain.quoting import Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelProvider, ModelRequest
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels

#: A text with its limits.
_Part = tuple[str, tuple[tuple[str, int], ...]]
#: An answer that is longer once it is restored repeats itself, and is none.
MAX_RESTORED_CHARS = 1_000_000


class PseudonymousModel:
    """Implements ``services.model_port.ModelProvider``.

    Args:
        provider: where models are asked.
        names: the placeholders, shared by all models that are asked together.
    """

    def __init__(self, provider: ModelProvider, names: Pseudonyms) -> None:
        self._provider = provider
        self._names = names
        self._replaced: dict[_Part, str] = {}

    def shown(self, quoted: Sequence[Quoted]) -> tuple[Quoted, ...]:
        """What is sent of quoted texts. Asked about some of them only, the next time, nothing is read anew."""
        parts = [_part_of(each) for each in quoted]
        if not self._replaced.keys() >= set(parts):
            self._names.learn(each.text for each in quoted)
            replaced = (self._names.replace(each.text, each.limits) for each in quoted)
            self._replaced = dict(zip(parts, replaced, strict=True))
        return tuple(Quoted(each.label, self._replaced[part]) for each, part in zip(quoted, parts, strict=True))

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """See ``ModelProvider``."""
        outcome = self._provider.ask(replace(request, quoted=self.shown(request.quoted)), key)
        return self._restored(outcome) if isinstance(outcome, ModelAnswer) else outcome

    def _restored(self, answer: ModelAnswer) -> ModelOutcome:
        value = self._names.restore_value(answer.value)
        # Made anew: what is restored may hold characters that JSON escapes.
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > MAX_RESTORED_CHARS:
            return ModelFailure("parse", answer.usage, answer.model)
        return replace(answer, value=value, text=text)


def _part_of(quoted: Quoted) -> _Part:
    return quoted.text, tuple(quoted.limits.items())


class ModelUnderPolicy:
    """Asks as the host policy says when the first question is put; until then nobody needs to read it.

    While nobody knows which names the policy lists it asks nobody, as where there is no key.

    Implements ``services.model_port.ModelProvider``, for the questions of one request.

    Attributes:
        provider: where models are asked.
    """

    def __init__(self, provider: ModelProvider, policy: Callable[[], Policy]) -> None:
        self.provider = provider
        self._policy = policy
        self._chosen: ModelProvider | None = None

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """See ``ModelProvider``."""
        if self._chosen is None:
            rule = self._policy().pseudonymize
            if not rule.is_known:
                return ModelFailure("auth")
            self._chosen = PseudonymousModel(self.provider, Pseudonyms(rule.names)) if rule.enabled else self.provider
        return self._chosen.ask(request, key)


def pseudonymous(models: ReflectionModels, policy: Policy, people: Iterable[str]) -> ReflectionModels:
    """The models of one pass under the host policy.

    Args:
        people: texts that are known to name somebody, beside those that the policy lists.
    """
    rule = policy.pseudonymize
    if not rule.enabled:
        return models
    names = Pseudonyms((*rule.names, *people))
    return ReflectionModels(_masked(models.main, names), _masked(models.ground, names))


def _masked(model: ReflectionModel, names: Pseudonyms) -> ReflectionModel:
    provider = PseudonymousModel(model.provider, names)
    return replace(model, provider=provider, shown=provider.shown)
