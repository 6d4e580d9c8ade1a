"""A grain whose validity has ended: it is proposed for removal.

Strictly after: at ``valid_to`` plus the grace itself nothing fires. The age is counted in whole days since
``valid_to``: 90 days and 23 hours are 90 days, low; 91 are medium. Looks at current grains of every kind that may have
an end of validity; what was superseded or forgotten is nobody's concern any more.
"""

from __future__ import annotations

from provenloop.analyzers.contract import (
    Examination,
    GrainView,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.reading import step, was_read_before
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, GrainKind, text_of
from provenloop.domain.instants import DAY_MS, format_instant
from provenloop.domain.proposal import Proposal, Text, TextRef
from provenloop.domain.recommendation import Draft, Severity, Summary, Target

MEDIUM_AFTER_DAYS = 90
_ADDRESS_SHOWN = 12
#: The field that names a grain to a reader, per kind; a kind that has none is named by its address.
_NAMED_BY: dict[GrainKind, str] = {"fact": "subject", "skill": "name", "goal": "name", "tool_call": "tool"}


class Staleness:
    """See the module."""

    manifest = Manifest(
        id="loop.staleness/1",
        title="Stale grains",
        line="The validity of a grain has ended.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("grain",),
        kinds=("fact", "tool_call", "observation", "skill", "goal", "event"),
        parameters=(Parameter("grace_days", "int", 0, 0, 3650, "days after the end of validity"),),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one grain."""
        if not isinstance(view, GrainView):
            raise AnalyzerError("staleness looks at single grains")
        grain = view.grain
        if grain is None or not grain.is_current or grain.valid_to is None:
            return Examination()
        ended, grace_ms = grain.valid_to, int(parameters["grace_days"]) * DAY_MS
        if now <= ended + grace_ms:
            return Examination((), ended + grace_ms + 1)
        graver_at = ended + (MEDIUM_AFTER_DAYS + 1) * DAY_MS
        due = graver_at if now < graver_at else None
        if was_read_before([grain], marks(grain.namespace, (grain.address,))):
            return Examination((), due)
        return Examination((_draft(grain, ended, "low" if now < graver_at else "medium"),), due)


def _draft(grain: Grain, ended: int, severity: Severity) -> Draft:
    return Draft(
        parts=(grain.address,),
        namespace=grain.namespace,
        severity=severity,
        target=Target("grain", (grain.address,)),
        summary=Summary(
            "staleness.expired", {"label": label_of(grain), "kind": grain.kind, "ended": format_instant(ended)}
        ),
        proposal=Proposal(operations=(step("FORGET", grain),)),
        evidence=(grain.address,),
        count=1,
        confidence=0.8,
    )


def label_of(grain: Grain) -> Text:
    """What a reader calls a grain: its subject, name or tool, else the first characters of its address."""
    field = _NAMED_BY.get(grain.kind, "")
    return TextRef(grain.address, field) if text_of(grain, field) else grain.address[:_ADDRESS_SHOWN]
