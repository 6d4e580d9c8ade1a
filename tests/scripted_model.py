"""A model that says what a test has it say, stage by stage, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import FailureKind, ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from provenloop.services.outside_port import Outside, no_end
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels

USED = Usage(1_000, 100)


@dataclass
class Key:
    """A key that can be changed."""

    value: str = "key-of-tests"

    def current(self) -> str:
        """The key as it is now."""
        return self.value


def items(request: ModelRequest, group: str) -> list[dict[str, Any]]:
    """What of one group a request shows, each with its label as ``id``."""
    blocks = [(*block.label.partition(":"), block.text) for block in request.quoted]
    return [{"id": name, **json.loads(text)} for found, _, name, text in blocks if found == group]


@dataclass
class ScriptedModel:
    """Proposes ``drafts``, or what they make of a request; bears out and keeps all of it unless told otherwise."""

    drafts: Sequence[Mapping[str, Any]] | Callable[[ModelRequest], Sequence[Mapping[str, Any]]] = ()
    supported: bool = True
    keep: bool = True
    confidence: float = 0.9
    failing: dict[str, FailureKind] = field(default_factory=dict)
    seen: list[ModelRequest] = field(default_factory=list)

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """See ``ModelProvider``."""
        del key
        self.seen.append(request)
        if request.op in self.failing:
            return ModelFailure(self.failing[request.op])
        said = getattr(self, f"_{request.op}")(request)
        return ModelAnswer(dict(said), json.dumps(said), USED, "scripted-1")

    def _discover(self, request: ModelRequest) -> Mapping[str, Any]:
        drafts = self.drafts(request) if callable(self.drafts) else self.drafts
        return {"recommendations": [dict(draft) for draft in drafts]}

    def _ground(self, request: ModelRequest) -> Mapping[str, Any]:
        results = [{"id": claim["id"], "supported": self.supported, "reason": ""} for claim in items(request, "claim")]
        return {"results": results}

    def _verify(self, request: ModelRequest) -> Mapping[str, Any]:
        answer = {"keep": self.keep, "confidence": self.confidence, "reason": ""}
        return {"results": [{"id": found["id"], **answer} for found in items(request, "finding")]}

    def _enrich(self, request: ModelRequest) -> Mapping[str, Any]:
        return {"notes": [{"id": found["id"], "guidance": "look at both"} for found in items(request, "finding")]}

    def outside(self, *, key: str = "key-of-tests", left_ms: Callable[[], int] = no_end) -> Outside:
        """A pass's world outside, in which there is this model."""
        there = ReflectionModel(self, Key(key), "scripted-1")
        return Outside(models=ReflectionModels(there, there), left_ms=left_ms)
