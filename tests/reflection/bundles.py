"""A memory of the corpus as what a model is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.events import StatedEvent
from provenloop.domain.grain import Grain
from provenloop.domain.prepare import prepare
from provenloop.reflection.bundle import Brief, Bundle, Evidence, Known
from provenloop.services.gather_evidence import evidence_text, fact_of, target_of
from tests.builders import KEY
from tests.precision.bench.steps import sent_by
from tests.precision.bench.times import NOW, instant
from tests.reflection.corpus import Labelled, Memory


@dataclass(frozen=True)
class Shown:
    """What is shown of a memory, and which grain of the corpus has which address."""

    memory: Memory
    bundle: Bundle
    addresses: Mapping[str, str]

    def target_of(self, draft: Labelled) -> str:
        """The target of a draft as the evidence names it."""
        return _named(draft.target, self.addresses)

    def cited_by(self, draft: Labelled) -> frozenset[str]:
        """The addresses that a draft needs."""
        return frozenset(self.addresses[label] for label in draft.cites)

    def text_of(self, label: str) -> str:
        """The text of a grain as it is shown."""
        return next(item.text for item in self.bundle.evidence if item.address == self.addresses[label])


def shown(memory: Memory) -> Shown:
    """What is shown of it: every grain, and what built-in analyzers find."""
    grains = {step["as"]: _grain(memory, step) for step in memory.grains}
    addresses = {label: grain.address for label, grain in grains.items()}
    evidence = (
        Evidence(f"e{number}", grain.address, grain.kind, target_of(grain), evidence_text(grain), fact_of(grain))
        for number, grain in enumerate(grains.values(), start=1)
    )
    briefs = (
        Brief(f"loop.{found.analyzer}", found.says, _named(found.target, addresses), found.severity)
        for found in memory.found
    )
    known = (
        Known(_named(found.target, addresses), frozenset(addresses[label] for label in found.cites))
        for found in memory.found
    )
    return Shown(memory, Bundle(tuple(briefs), tuple(evidence), known=tuple(known)), addresses)


def _grain(memory: Memory, step: Mapping[str, Any]) -> Grain:
    """The first grain that a step makes."""
    [event, *_] = sent_by(step, step["as"], {})
    assert isinstance(event, StatedEvent)
    draft, at = prepare(event, NOW).draft, instant(step["at"])
    address = Addresses(KEY).address(draft, ("bench", memory.name, step["as"]))
    return Grain(address, draft.kind, draft.namespace, draft.body, at, at, seq=1, by="ann")


def _named(target: str, addresses: Mapping[str, str]) -> str:
    scheme, _, rest = target.partition(":")
    return f"grain:{addresses[rest]}" if scheme == "grain" else target
