"""A skill that is practised and does not get better.

Looks at the latest live revision of a skill: practised at least ``min_practice`` times, with a proficiency of at most
``max_proficiency``, both inclusive. A skill that rises is no stall: its proficiency is at least 0.05 above that of
three revisions before (of the first one, where there are fewer). A skill without a proficiency was never measured,
which says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from provenloop.analyzers.contract import (
    ClusterView,
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.reading import next_validity, number_in
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.proposal import Proposal, TextRef
from provenloop.domain.recommendation import Argument, Draft, Summary, Target

RISE = 0.05
RISE_REVISIONS = 3
#: Differences of decimals come out a little off (0.4 - 0.35 is under 0.05).
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Chain:
    """The revisions of one skill, oldest first, up to the latest live one; only those that were measured count."""

    latest: Grain
    proficiencies: tuple[float, ...]

    @property
    def is_rising(self) -> bool:
        """Whether the last revision is well above what came before."""
        before = self.proficiencies[max(0, len(self.proficiencies) - 1 - RISE_REVISIONS)]
        return self.proficiencies[-1] - before >= RISE - _TOLERANCE


class SkillStall:
    """See the module."""

    manifest = Manifest(
        id="loop.skill_stall/1",
        title="Stalled skills",
        line="A skill is practised and does not get better.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("cluster",),
        kinds=("skill",),
        parameters=(
            Parameter("min_practice", "int", 5, 1, 100_000, "times it was practised, at least"),
            Parameter("max_proficiency", "float", 0.4, 0, 1, "proficiency, at most"),
        ),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the revisions of one skill. Names that fold to one share a cluster and are skills of their own."""
        del marks
        if not isinstance(view, ClusterView):
            raise AnalyzerError("skill_stall looks at the revisions of skills")
        skills: dict[tuple[str, str], list[Grain]] = {}
        for grain in view.grains:
            if grain.kind == "skill" and text_of(grain, "name"):
                skills.setdefault((grain.namespace, text_of(grain, "name")), []).append(grain)
        drafts = [draft for key in sorted(skills) for draft in _stall(skills[key], parameters, now)]
        return Examination(tuple(drafts), next_validity((grain for all_ in skills.values() for grain in all_), now))


def _stall(revisions: Sequence[Grain], parameters: Parameters, now: int) -> Iterator[Draft]:
    ordered = sorted(revisions, key=_place)
    live = [grain for grain in ordered if grain.is_live(now)]
    proficiency = number_in(live[-1], "proficiency") if live else None
    if proficiency is None:
        return
    latest = live[-1]
    before = (number_in(grain, "proficiency") for grain in ordered[: ordered.index(latest) + 1])
    chain = Chain(latest, tuple(value for value in before if value is not None))
    practice = number_in(latest, "practice_count") or 0
    is_practised = practice >= int(parameters["min_practice"])
    if is_practised and proficiency <= float(parameters["max_proficiency"]) and not chain.is_rising:
        yield _draft(latest, proficiency, int(practice))


def _place(grain: Grain) -> tuple[float, int, str]:
    revision = number_in(grain, "revision")
    return (1.0 if revision is None else revision, grain.recorded_at, grain.address)


def _draft(latest: Grain, proficiency: float, practice: int) -> Draft:
    name = TextRef(latest.address, "name")
    figures: dict[str, Argument] = {"skill": name, "proficiency": round(proficiency, 2), "practice_count": practice}
    return Draft(
        parts=(text_of(latest, "name"),),
        namespace=latest.namespace,
        severity="medium",
        target=Target("entity", ("skills", name)),
        summary=Summary("skill.stall", figures),
        proposal=Proposal(advice=figures),
        evidence=(latest.address,),
        count=practice,
        confidence=0.8,
    )
