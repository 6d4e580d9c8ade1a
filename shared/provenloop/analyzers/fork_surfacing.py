"""A grain that was replaced twice over, with more than one of the successors still standing.

Possible only for imports and offline writers, who may replace what somebody else has replaced already. The tips are
followed through later replacements inside the cluster. Tips that are spellings of one value are the duplicates'
finding, tips of a relation that holds one value the contradictions': here are the others, so that there is one finding
and not two with opposite proposals. The latest tip is kept and the others point to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provenloop.analyzers.contract import (
    ClusterView,
    Examination,
    Manifest,
    Marks,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.contradiction_sweep import FUNCTIONAL_RELATIONS
from provenloop.analyzers.reading import (
    ClusterKey,
    by_value,
    earliest_first,
    facts_by_cluster,
    next_validity,
    shown_values,
    step,
    value_of,
    was_read_before,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_OPERATIONS, Proposal, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft, Summary, Target


class ForkSurfacing:
    """See the module."""

    manifest = Manifest(
        id="loop.fork_surfacing/1",
        title="Forks",
        line="A fact was replaced twice over, and more than one of its successors stands.",
        tier="T0",
        trust="builtin",
        default_on=True,
        sources=("cluster",),
        kinds=("fact",),
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the facts of one (subject, relation)."""
        del parameters
        if not isinstance(view, ClusterView):
            raise AnalyzerError("fork_surfacing looks at facts of one subject and relation")
        by_address = {grain.address: grain for grain in view.grains if grain.kind == "fact"}
        drafts: list[Draft] = []
        standing: list[Grain] = []
        for key, facts in facts_by_cluster(view.grains).items():
            if key[2] not in FUNCTIONAL_RELATIONS:
                own = {grain.address for grain in facts}
                forks = _forks(by_address, own)
                standing += [by_address[tip] for tips in forks.values() for tip in tips]
                drafts += _drafts(key, forks, by_address, now, marks)
        return Examination(tuple(drafts), next_validity(standing, now))


def _forks(by_address: Mapping[str, Grain], own: set[str]) -> Mapping[str, frozenset[str]]:
    """The tips of each grain that was replaced more than once, those of ``own`` that are current.

    A fork within a fork is told once, by the grain that has all the tips; where the branches of an earlier fork have
    met again and parted once more, by the latest such grain.
    """
    found: dict[str, frozenset[str]] = {}
    for grain in sorted(by_address.values(), key=earliest_first):
        if len(set(_successors(grain))) > 1:
            tips = frozenset(tip for tip in _tips(grain, by_address) if tip in own)
            if len(tips) > 1:
                found[grain.address] = tips
    told: dict[str, frozenset[str]] = {}
    for address, tips in reversed(found.items()):
        is_within = any(tips < other for other in found.values())
        if not is_within and tips not in told.values():
            told[address] = tips
    return told


def _successors(grain: Grain) -> tuple[str, ...]:
    if grain.is_current or grain.superseded_by is None:
        return ()
    return (grain.superseded_by, *grain.forked_into)


def _tips(grain: Grain, by_address: Mapping[str, Grain]) -> Iterator[str]:
    """The current grains that came of one, through however many replacements."""
    seen: set[str] = {grain.address}
    ahead = list(_successors(grain))
    while ahead:
        address = ahead.pop()
        successor = by_address.get(address)
        if successor is None or address in seen:
            continue
        seen.add(address)
        if successor.is_current:
            yield address
        ahead += _successors(successor)


def _drafts(
    key: ClusterKey, forks: Mapping[str, frozenset[str]], by_address: Mapping[str, Grain], now: int, marks: Marks
) -> Iterator[Draft]:
    namespace, subject, relation = key
    for forked, tips in forks.items():
        grains = sorted((by_address[tip] for tip in tips), key=Grain.recency)
        live = [grain for grain in grains if grain.is_live(now)]
        parts = (subject, relation, forked)
        is_settled = was_read_before([by_address[forked], *grains], marks(namespace, parts))
        if len(by_value(live)) > 1 and not is_settled:
            yield _draft(parts, by_address[forked], live)


def _draft(parts: tuple[str, ...], forked: Grain, live: Sequence[Grain]) -> Draft:
    kept = live[-1]
    others = [grain for grain in live if value_of(grain) != value_of(kept)]
    values = by_value(live)
    return Draft(
        parts=parts,
        namespace=kept.namespace,
        severity="medium",
        target=Target("entity", (kept.namespace, TextRef(kept.address, "subject"), TextRef(kept.address, "relation"))),
        summary=Summary(
            "fork.multi_head",
            {
                "subject": TextRef(kept.address, "subject"),
                "relation": TextRef(kept.address, "relation"),
                "values": len(values),
                "keep": TextRef(kept.address, "object"),
                "because": "it is the latest",
                "since": kept.recency()[0],
                **dict(shown_values(values.values())),
            },
        ),
        proposal=Proposal(operations=tuple(step("POINT", grain, kept) for grain in others[-MAX_OPERATIONS:])),
        evidence=(forked.address, *(grain.address for grain in live))[:MAX_EVIDENCE],
        count=len(live),
        confidence=0.8,
    )
