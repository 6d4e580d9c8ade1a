"""What a model proposes, as it goes from stage to stage."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.domain.outside import MAX_SUMMARY_CHARS, OutsideFinding, plain_text
from provenloop.domain.recommendation import Target
from provenloop.reflection.bundle import Evidence


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """A finding that is not settled yet.

    ``summary`` may be longer than a finding's: what of it is shown to later stages is cut there.
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
    def cited(self) -> tuple[str, ...]:
        """The addresses of its evidence."""
        return tuple(item.address for item in self.evidence)

    @property
    def finding(self) -> OutsideFinding:
        """As it leaves the stages. How severe something is, no model says."""
        summary = plain_text(self.summary, MAX_SUMMARY_CHARS)
        return OutsideFinding(self.target, summary, self.cited, self.confidence, severity="low", guidance=self.guidance)
