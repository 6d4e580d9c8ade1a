"""Relations that hold one value, holding several at once.

Looks at live values only: superseded and forgotten ones, and those outside their validity, do not contradict. Values
that differ only in spelling, or as JSON only in the order of keys and in blanks, are one value. The proposal keeps the
latest value and points the others at it; the confidence, support and dates of every value are shown, so that a person
can decide otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
from provenloop.analyzers.reading import (
    ClusterKey,
    by_value,
    facts_by_cluster,
    next_validity,
    shown_values,
    step,
    was_read_before,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_OPERATIONS, Proposal, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Argument, Draft, Metric, Summary, Target
from provenloop.domain.text import normalise_relation

FUNCTIONAL_RELATIONS = (
    "assigned_to", "current_plan", "deploy_target", "lives_in", "owner", "primary_email", "region", "reports_to",
    "status", "tier",
)  # fmt: skip


class ContradictionSweep:
    """See the module."""

    manifest = Manifest(
        id="loop.contradiction_sweep/1",
        title="Contradictions",
        line="A relation that holds one value holds several at once.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("cluster",),
        kinds=("fact",),
        parameters=(
            Parameter("extra_relations", "str", "", None, 2000, "further relations of one value, comma separated"),
            Parameter("many_valued", "str", "", None, 2000, "relations that hold several on purpose, comma separated"),
        ),
        metric="contradiction_recurrence",
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one (subject, relation). Prefixes of addresses may collide, so the fields are grouped here."""
        if not isinstance(view, ClusterView):
            raise AnalyzerError("contradiction_sweep looks at facts of one subject and relation")
        wanted = functional_relations(parameters)
        groups = {key: facts for key, facts in facts_by_cluster(view.grains).items() if key[2] in wanted}
        drafts = [
            draft for key, facts in groups.items() for draft in _contradiction(view.group, key, facts, now, marks)
        ]
        return Examination(tuple(drafts), next_validity((grain for facts in groups.values() for grain in facts), now))


def functional_relations(parameters: Parameters) -> frozenset[str]:
    """The folded relations that hold one value, seeded and added, but for those that hold several on purpose."""
    wanted, many = _named(parameters, "extra_relations"), _named(parameters, "many_valued")
    return (frozenset(FUNCTIONAL_RELATIONS) | wanted) - many


def _named(parameters: Parameters, name: str) -> frozenset[str]:
    names = str(parameters.get(name, "")).split(",")
    return frozenset(normalise_relation(each) for each in names if each.strip())


def _contradiction(group: str, key: ClusterKey, facts: Sequence[Grain], now: int, marks: Marks) -> Iterator[Draft]:
    live = sorted((grain for grain in facts if grain.is_live(now)), key=Grain.recency)
    values = by_value(live)
    namespace, subject, relation = key
    if len(values) < 2 or was_read_before(facts, marks(namespace, (subject, relation))):
        return
    winner, losers = live[-1], live[:-1]
    yield Draft(
        parts=(subject, relation),
        namespace=namespace,
        severity="medium",
        target=Target("entity", (namespace, TextRef(winner.address, "subject"))),
        summary=Summary("contradiction.functional", _arguments(winner, values)),
        proposal=Proposal(operations=tuple(step("POINT", loser, winner) for loser in losers[-MAX_OPERATIONS:])),
        evidence=tuple(grain.address for grain in live)[-MAX_EVIDENCE:],
        count=len(values),
        confidence=0.8,
        metric=Metric(
            name="contradiction_recurrence",
            baseline_errors=0,
            baseline_calls=len(live),
            window_days=0,
            subject_key=group,
        ),
    )


def _arguments(winner: Grain, values: Mapping[str, Sequence[Grain]]) -> dict[str, Argument]:
    return {
        "subject": TextRef(winner.address, "subject"),
        "relation": TextRef(winner.address, "relation"),
        "values": len(values),
        "keep": TextRef(winner.address, "object"),
        **dict(shown_values(values.values())),
    }
