"""Relations that hold one value, holding several at once.

Looks at live values only: superseded and forgotten ones, and those outside their validity, do not contradict. Values
that differ only in spelling are one value. The proposal keeps the latest value and points the others at it; the
confidence, support and dates of every value are shown, so that a person can decide otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provenloop.analyzers.contract import (
    AppliedMark,
    ClusterView,
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.proposal import MAX_OPERATIONS, Operation, Proposal, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Argument, Draft, Metric, Summary, Target
from provenloop.domain.text import normalise, normalise_relation

FUNCTIONAL_RELATIONS = (
    "assigned_to", "current_plan", "deploy_target", "lives_in", "owner", "primary_email", "region", "reports_to",
    "status", "tier",
)  # fmt: skip
SHOWN_VALUES = 8


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
        ),
        metric="contradiction_recurrence",
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one (subject, relation). Prefixes of addresses may collide, so the fields are grouped here."""
        if not isinstance(view, ClusterView):
            raise AnalyzerError("contradiction_sweep looks at facts of one subject and relation")
        wanted = functional_relations(parameters)
        facts = [grain for grain in view.grains if grain.kind == "fact"]
        groups: dict[tuple[str, str, str], list[Grain]] = {}
        for grain in facts:
            relation = normalise_relation(text_of(grain, "relation"))
            if relation in wanted:
                key = (grain.namespace, normalise(text_of(grain, "subject")), relation)
                groups.setdefault(key, []).append(grain)
        drafts = [draft for key in sorted(groups) for draft in _contradiction(view.group, key, groups[key], now, marks)]
        return Examination(tuple(drafts), _next_instant(groups, now))


def functional_relations(parameters: Parameters) -> frozenset[str]:
    """The folded relations that hold one value, seeded and added."""
    extra = str(parameters.get("extra_relations", "")).split(",")
    return frozenset(FUNCTIONAL_RELATIONS) | {normalise_relation(name) for name in extra if name.strip()}


def _contradiction(
    group: str, key: tuple[str, str, str], facts: Sequence[Grain], now: int, marks: Marks
) -> Iterator[Draft]:
    live = sorted((grain for grain in facts if grain.is_live(now)), key=Grain.recency)
    values: dict[str, list[Grain]] = {}
    for grain in live:
        values.setdefault(normalise(text_of(grain, "object")), []).append(grain)
    namespace, subject, relation = key
    if len(values) < 2 or _is_older_than_apply(facts, marks(namespace, (subject, relation))):
        return
    winner, losers = live[-1], live[:-1]
    yield Draft(
        parts=(subject, relation),
        namespace=namespace,
        severity="medium",
        target=Target("entity", (namespace, TextRef(winner.address, "subject"))),
        summary=Summary("contradiction.functional", _arguments(winner, values)),
        proposal=Proposal(operations=tuple(_point(loser, winner) for loser in losers[-MAX_OPERATIONS:])),
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


def _is_older_than_apply(facts: Sequence[Grain], mark: AppliedMark | None) -> bool:
    """Whether the facts were read before an apply that resolved them.

    What an apply points away carries its number, so where that is seen, whatever is live at once now is so since then:
    a new value, one whose time has come, or one of those that had no room in the proposal.
    """
    return mark is not None and all(grain.seq < mark.seq for grain in facts)


def _arguments(winner: Grain, values: Mapping[str, Sequence[Grain]]) -> dict[str, Argument]:
    """Subject, relation, and of each value (latest last): its text, confidence, how often stated, since when."""
    args: dict[str, Argument] = {
        "subject": TextRef(winner.address, "subject"),
        "relation": TextRef(winner.address, "relation"),
        "values": len(values),
        "keep": TextRef(winner.address, "object"),
    }
    shown = sorted(values.values(), key=lambda grains: grains[-1].recency())[-SHOWN_VALUES:]
    for place, grains in enumerate(shown, start=1):
        latest = grains[-1]
        args[f"value_{place}"] = TextRef(latest.address, "object")
        args[f"confidence_{place}"] = float(latest.body.get("confidence", 1.0))
        args[f"stated_{place}"] = sum(grain.stated for grain in grains)
        args[f"since_{place}"] = latest.recency()[0]
    return args


def _point(loser: Grain, winner: Grain) -> Operation:
    return Operation(
        "POINT",
        target=loser.address,
        into=winner.address,
        expects={loser.address: loser.head_rev, winner.address: winner.head_rev},
    )


def _next_instant(groups: Mapping[tuple[str, str, str], Sequence[Grain]], now: int) -> int | None:
    """The next begin or end of validity among the current values."""
    instants = (
        at
        for facts in groups.values()
        for grain in facts
        if grain.is_current
        for at in (grain.valid_from, grain.valid_to)
        if at is not None
    )
    return min((at for at in instants if at > now), default=None)
