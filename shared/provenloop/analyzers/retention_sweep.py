"""Grains older than a stated policy allows, proposed for removal in batches, oldest first.

Without a policy (``max_age_days`` 0) nothing is ever old, and a grain of unknown time is not either. A batch is one
finding, named by its first grain: once it is applied, what is left is the next one. How many follow is stated.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenloop.analyzers.contract import (
    AgedView,
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.reading import earliest_first, step, was_read_before
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, GrainKind
from provenloop.domain.instants import DAY_MS, format_instant
from provenloop.domain.proposal import MAX_OPERATIONS, Proposal
from provenloop.domain.recommendation import MAX_EVIDENCE, Argument, Draft, Summary, Target

EVERY_KIND = ""
KINDS: tuple[GrainKind, ...] = ("fact", "tool_call", "observation", "skill", "goal", "event")


class RetentionSweep:
    """See the module."""

    manifest = Manifest(
        id="loop.retention_sweep/1",
        title="Retention",
        line="Grains are older than the retention policy allows.",
        tier="T0",
        trust="builtin",
        default_on=False,
        sources=("aged",),
        kinds=KINDS,
        parameters=(
            Parameter("max_age_days", "int", 0, 0, 36_500, "days a grain is kept; 0 keeps all"),
            Parameter(
                "grain_type", "str", EVERY_KIND, None, 32, "the kind to look at; none named, all", (EVERY_KIND, *KINDS)
            ),
            Parameter("max_grains", "int", 500, 1, 5000, "grains in one batch, at most; never more than 80"),
        ),
    )

    def age_ms(self, parameters: Parameters) -> int | None:
        """From what age a grain is overdue: a millisecond past the limit; None where everything is kept."""
        days = int(parameters["max_age_days"])
        return days * DAY_MS + 1 if days > 0 else None

    def belongs(self, grain: Grain, recalls: int, parameters: Parameters, now: int) -> bool:
        """Whether a grain of that age is one to let go, recalled or not."""
        del recalls
        age_ms = self.age_ms(parameters)
        return age_ms is not None and grain.kind in _kinds(parameters) and _is_overdue(grain, now - age_ms + 1)

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the aged grains of one namespace."""
        if not isinstance(view, AgedView):
            raise AnalyzerError("retention_sweep looks at the aged grains of a namespace")
        days = int(parameters["max_age_days"])
        if days <= 0:
            return Examination()
        kinds = _kinds(parameters)
        cutoff = now - days * DAY_MS
        wanted = (grain for grain in view.oldest if grain.kind in kinds and grain.namespace == view.namespace)
        overdue = sorted((grain for grain in wanted if _is_overdue(grain, cutoff)), key=earliest_first)
        count = view.count - (len(view.oldest) - len(overdue))
        batch = overdue[: min(int(parameters["max_grains"]), MAX_OPERATIONS)]
        if not batch or was_read_before(batch, marks(view.namespace, (batch[0].address,))):
            return Examination()
        return Examination((_draft(view.namespace, batch, count, days),))


def _kinds(parameters: Parameters) -> tuple[str, ...]:
    chosen = str(parameters["grain_type"])
    return KINDS if chosen == EVERY_KIND else (chosen,)


def _is_overdue(grain: Grain, cutoff: int) -> bool:
    return grain.is_current and 0 < grain.recorded_at < cutoff


def _draft(namespace: str, batch: Sequence[Grain], count: int, days: int) -> Draft:
    args: dict[str, Argument] = {
        "namespace": namespace,
        "named": len(batch),
        "rest": count - len(batch),
        "max_age_days": days,
        "oldest": format_instant(batch[0].recorded_at),
        "not_cited": max(0, len(batch) - MAX_EVIDENCE),
    }
    return Draft(
        parts=(batch[0].address,),
        namespace=namespace,
        severity="low",
        target=Target("host", ("retention", namespace)),
        summary=Summary("retention.overdue", args),
        proposal=Proposal(operations=tuple(step("FORGET", grain) for grain in batch)),
        evidence=tuple(grain.address for grain in batch)[:MAX_EVIDENCE],
        count=count,
        confidence=0.8,
    )
