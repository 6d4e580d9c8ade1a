"""What a model proposes, as it goes from stage to stage."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.domain.outside import OutsideFinding
from provenloop.domain.recommendation import Target
from provenloop.reflection.bundle import Evidence


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """A finding that is not settled yet.

    ``id`` (ours: ``f1``, ``f2`` ...) is how answers name it. ``evidence`` is what it cites of what was shown, at least
    one. ``confidence`` is the one of who judged it, 0 until then: its author's own counts nowhere.
    """

    id: str
    target: Target
    summary: str
    evidence: tuple[Evidence, ...]
    guidance: str = ""
    confidence: float = 0.0

    @property
    def target_text(self) -> str:
        """Its target, as ``read_target`` reads it."""
        return f"{self.target.scheme}:{'/'.join(str(part) for part in self.target.parts)}"

    @property
    def finding(self) -> OutsideFinding:
        """As it leaves the stages. How severe something is, no model says."""
        addresses = tuple(item.address for item in self.evidence)
        return OutsideFinding(
            self.target, self.summary, addresses, self.confidence, severity="low", guidance=self.guidance
        )
