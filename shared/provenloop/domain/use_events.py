"""What agents with a retriever of their own report: what they recalled, and how full a context became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from provenloop.domain.grain import GrainDraft
from provenloop.domain.questions import question_of

BudgetUnit = Literal["tokens", "grains"]


@dataclass(frozen=True, slots=True)
class RecallReport:
    """One recall: the question, or the subject and relation looked up, and the addresses of the grains returned."""

    kind: ClassVar[str] = "recall_report"

    namespace: str
    question: str | None = None
    subject: str | None = None
    relation: str | None = None
    returned: tuple[str, ...] = ()
    run_id: str | None = None

    @property
    def is_miss(self) -> bool:
        """Whether nothing was returned."""
        return not self.returned

    def draft(self) -> GrainDraft | None:
        """The question to count; a look-up that found something is none."""
        is_asked = self.question is not None or (self.is_miss and (self.subject, self.relation) != (None, None))
        return question_of(self.namespace, self.question, self.subject, self.relation) if is_asked else None


@dataclass(frozen=True, slots=True)
class AssemblyReport:
    """One assembled context: how much room there was, how much was used, how many candidates were dropped."""

    kind: ClassVar[str] = "assembly_report"

    namespace: str
    budget: int
    used: int
    dropped: int
    unit: BudgetUnit = "tokens"


Report = RecallReport | AssemblyReport
