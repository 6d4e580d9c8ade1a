"""A small memory as models are shown it, models on this machine, and answers of each stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.domain.errors import InternalError
from provenloop.reflection.bundle import Brief, Bundle, Decided, Evidence, Limits
from provenloop.services.ask_stage import Keys
from provenloop.services.model_port import ModelProvider
from provenloop.services.reflect import Reflected, reflect
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.builders import NOW
from tests.model_server import ModelServer, Play, says

KEYS = Keys("sk-main", "sk-ground")
MAIN, GROUND = "claude-sonnet-5-5", "claude-haiku-4-5-20251001"
ADDRESSES = tuple(f"{number:064x}" for number in range(1, 65))
#: What this memory does not hold.
FOREIGN = "f" * 64


def evidence(number: int, text: str, target: str = "entity:shared/ann") -> Evidence:
    return Evidence(f"e{number}", ADDRESSES[number - 1], "fact", target, text)


BUNDLE = Bundle(
    briefs=(Brief("loop.staleness/1", "one fact is past its validity", f"grain:{ADDRESSES[2]}", "low"),),
    evidence=(
        evidence(1, "ann works_in Berlin office, five days a week"),
        evidence(2, "ann home_address Lisbon"),
        evidence(3, "ann lunch likes soup", f"grain:{ADDRESSES[2]}"),
    ),
    approved=(Decided("bob has two managers", "true, fixed"),),
    rejected=(Decided("ann likes soup and bread", "both are fine"),),
)


@dataclass
class Key:
    """A key that nobody reads: those of a pass come with what it asks."""

    def current(self) -> str:
        raise InternalError("no")


@dataclass
class Clock:
    """How much time a pass has left; ``steps`` go by each time somebody looks."""

    left: int = 100_000
    steps: list[int] = field(default_factory=list)

    def __call__(self) -> int:
        if self.steps:
            self.left -= self.steps.pop(0)
        return self.left


def models(provider: ModelProvider, main: str = MAIN, ground: str = GROUND) -> ReflectionModels:
    return ReflectionModels(ReflectionModel(provider, Key(), main), ReflectionModel(provider, Key(), ground))


def reflected(provider: ModelProvider, bundle: Bundle = BUNDLE, limits: Limits | None = None, **more: Any) -> Reflected:
    left_ms, asked_models = more.pop("left_ms", Clock()), more.pop("models", models(provider))
    return reflect(bundle, asked_models, KEYS, limits or Limits(), left_ms=left_ms, row_id="pass-1", now=NOW, **more)


def asked(server: ModelServer, *plays: Play | Callable[[Mapping[str, Any]], Play], **more: Any) -> Reflected:
    """Reflect on the small memory with a provider that answers so."""
    server.seen.clear()
    server.keys = None
    server.plays(*plays)
    return reflected(AnthropicModel(server.url), **more)


def draft(**changed: Any) -> dict[str, Any]:
    """A draft as DISCOVER answers it; ``...`` leaves a field out."""
    usual = {
        "summary": "ann cannot be in Berlin daily and live in Lisbon",
        "target": "entity:shared/ann",
        "guidance": "",
        "evidence": ["e1", "e2"],
        "confidence": 0.4,
    }
    return {name: value for name, value in {**usual, **changed}.items() if value is not ...}


def discovers(*drafts: Any, **more: Any) -> Play:
    return says({"recommendations": list(drafts or (draft(),))}, **more)


def grounds(*ids: str, **more: Any) -> Play:
    return says({"results": [{"id": name, "reason": "", "supported": True} for name in ids or ("f1",)]}, **more)


def verifies(confidences: Mapping[str, Any] | None = None, **more: Any) -> Play:
    told = {"f1": 0.9} if confidences is None else confidences
    results = [{"id": name, "reason": "", "keep": True, "confidence": sure} for name, sure in told.items()]
    return says({"results": results}, **more)


def enriches(notes: Mapping[str, str] | None = None, **more: Any) -> Play:
    told = {"f1": "ask ann"} if notes is None else notes
    return says({"notes": [{"id": name, "guidance": text} for name, text in told.items()]}, **more)


def summaries(found: Reflected) -> Sequence[str]:
    return [finding.summary for finding in found.findings]
