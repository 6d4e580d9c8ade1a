"""Facts that nobody recalls.

The engine hands over the facts of one namespace that are live, older than ``min_age_days`` and recalled at most
``max_recalls`` times inside the window that telemetry keeps. Lessons are left out: they are measured otherwise. One
piece of advice per namespace and ISO week names the oldest of them and counts the rest.
"""

from __future__ import annotations

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
from provenloop.analyzers.reading import earliest_first
from provenloop.analyzers.tool_failure import LESSON_RELATION
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.instants import DAY_MS, iso_week, next_week_start_ms
from provenloop.domain.proposal import Proposal, TextRef
from provenloop.domain.recommendation import Argument, Draft, Summary, Target
from provenloop.domain.text import normalise_relation

MAX_NAMED = 50


class ColdGrains:
    """See the module."""

    manifest = Manifest(
        id="loop.cold_grains/1",
        title="Cold facts",
        line="Facts of some age that nobody recalls.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("aged",),
        kinds=("fact",),
        parameters=(
            Parameter("min_age_days", "int", 30, 0, 3650, "days since they were recorded, at least"),
            Parameter("max_recalls", "int", 0, 0, 1_000_000, "recalls inside the window, at most"),
        ),
        needs=("telemetry",),
    )

    def age_ms(self, parameters: Parameters) -> int:
        """From what age a fact may be cold."""
        return int(parameters["min_age_days"]) * DAY_MS

    def belongs(self, grain: Grain, recalls: int, parameters: Parameters, now: int) -> bool:
        """Whether a fact of that age is cold."""
        return recalls <= int(parameters["max_recalls"]) and _is_cold(grain, now - self.age_ms(parameters), now)

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the cold facts of one namespace. A new week names them anew."""
        del marks
        if not isinstance(view, AgedView):
            raise AnalyzerError("cold_grains looks at the aged facts of a namespace")
        young_from = now - int(parameters["min_age_days"]) * DAY_MS
        own = (grain for grain in view.oldest if grain.namespace == view.namespace)
        cold = sorted((grain for grain in own if _is_cold(grain, young_from, now)), key=earliest_first)
        count = view.count - (len(view.oldest) - len(cold))
        drafts = (_draft(view.namespace, cold, count, iso_week(now)),) if cold else ()
        return Examination(drafts, next_week_start_ms(now))


def _is_cold(grain: Grain, young_from: int, now: int) -> bool:
    """The engine's conditions once more, as far as the grain itself shows them; an unknown time is no age."""
    is_lesson = normalise_relation(text_of(grain, "relation")) == LESSON_RELATION
    return grain.kind == "fact" and grain.is_live(now) and not is_lesson and 0 < grain.recorded_at <= young_from


def _draft(namespace: str, cold: list[Grain], count: int, week: str) -> Draft:
    named = cold[:MAX_NAMED]
    figures: dict[str, Argument] = {
        "week": week,
        "count": count,
        "named": len(named),
        "rest": count - len(named),
        "oldest": TextRef(named[0].address, "subject"),
    }
    return Draft(
        parts=(week,),
        namespace=namespace,
        severity="low",
        target=Target("entity", ("cold", namespace)),
        summary=Summary("cold.grain", figures),
        proposal=Proposal(advice=figures),
        evidence=tuple(grain.address for grain in named),
        count=count,
        confidence=0.8,
    )
