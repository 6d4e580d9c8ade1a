"""Facts that are spellings of one fact, and observations that say nearly the same.

Exact: two or more live facts whose namespace is the same and whose subject, relation and object each are spellings of
one text. Near: observations of one namespace whose words are nearly the same and that differ in nothing a look-alike
guard watches; every pair of a group qualifies, not a chain. The earliest is kept and the others are merged into it;
what it gains, and in what the others differ from it, is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provenloop.analyzers.contract import (
    ClusterView,
    Examination,
    Manifest,
    Marks,
    NearView,
    Parameter,
    Parameters,
    View,
    no_marks,
)
from provenloop.analyzers.reading import (
    CUT_DIGEST,
    SHOWN_VALUES,
    by_value,
    earliest_first,
    facts_by_cluster,
    next_validity,
    step,
    was_read_before,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.merging import merged
from provenloop.domain.near_duplicates import Item, groups
from provenloop.domain.proposal import MAX_MERGES, Proposal, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Argument, Draft, Metric, Summary, Target


class DuplicateSweep:
    """See the module."""

    manifest = Manifest(
        id="loop.duplicate_sweep/1",
        title="Duplicates",
        line="Several facts are one fact in other spellings, or several observations say nearly the same.",
        tier="T1",
        trust="builtin",
        default_on=True,
        sources=("cluster", "near"),
        kinds=("fact",),
        parameters=(
            Parameter("jaccard", "float", 0.9, 0.5, 1.0, "common words of two observations, of all their words"),
        ),
        auto_apply="structural",
        metric="duplicate_recurrence",
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at the facts of one (subject, relation), or at one observation and those like it."""
        if isinstance(view, ClusterView):
            return _exact(view, now, marks)
        if isinstance(view, NearView):
            return _near(view, float(parameters["jaccard"]), now, marks)
        raise AnalyzerError("duplicate_sweep looks at facts of one subject and relation, or at observations")


def _exact(view: ClusterView, now: int, marks: Marks) -> Examination:
    drafts: list[Draft] = []
    repeated: list[Grain] = []
    for (namespace, subject, relation), facts in facts_by_cluster(view.grains).items():
        for value, copies in sorted(by_value(facts).items()):
            parts = (subject, relation, value)
            if not was_read_before(copies, marks(namespace, parts)):
                drafts += _spellings(view.group, parts, [grain for grain in copies if grain.is_live(now)])
            repeated += copies if sum(grain.is_current for grain in copies) > 1 else ()
    return Examination(tuple(drafts), next_validity(repeated, now))


def _spellings(group: str, parts: tuple[str, ...], live: Sequence[Grain]) -> Iterator[Draft]:
    if len(live) < 2:
        return
    kept, *others = sorted(live, key=earliest_first)
    yield Draft(
        parts=parts,
        namespace=kept.namespace,
        severity="low",
        target=Target("entity", (kept.namespace, TextRef(kept.address, "subject"))),
        summary=Summary(
            "duplicate.exact",
            {
                "subject": TextRef(kept.address, "subject"),
                "relation": TextRef(kept.address, "relation"),
                "object": TextRef(kept.address, "object"),
                "count": len(live),
                **_gain(kept, others),
                **dict(_shown((kept, *others), ("subject", "relation", "object"))),
            },
        ),
        proposal=_merge(kept, others),
        evidence=_cited(kept, others),
        count=len(live),
        confidence=0.8,
        metric=Metric(
            name="duplicate_recurrence",
            baseline_errors=len(others),
            baseline_calls=len(live),
            window_days=0,
            subject_key=group,
        ),
    )


def _near(view: NearView, threshold: float, now: int, marks: Marks) -> Examination:
    """One finding where the observation is the earliest of a group."""
    texts = {grain.address: grain for grain in view.texts if grain.is_live(now) and _is_comparable(grain)}
    due = next_validity(view.texts, now)
    own = texts.get(view.group)
    if own is None or was_read_before(texts.values(), marks(own.namespace, (own.address,))):
        return Examination((), due)
    items = [_item(grain) for grain in texts.values() if grain.namespace == own.namespace]
    found = [(seed, *members) for seed, members in groups(items, threshold).groups if seed.address == own.address]
    drafts = [_alike(view, [texts[item.address] for item in group], threshold) for group in found]
    return Examination(tuple(drafts), due)


def _is_comparable(grain: Grain) -> bool:
    """Whether an observation's whole text is there; of one that was stored cut, nobody can tell what the rest says."""
    return bool(text_of(grain, "text")) and CUT_DIGEST not in grain.body


def _item(grain: Grain) -> Item:
    return Item(f"{grain.recorded_at:020}", grain.address, text_of(grain, "text"))


def _alike(view: NearView, group: Sequence[Grain], threshold: float) -> Draft:
    seed, *others = group
    args: dict[str, Argument] = {
        "text": TextRef(seed.address, "text"),
        "count": len(group),
        "threshold": threshold,
        "not_compared": view.skipped,
        **_gain(seed, others),
        **dict(_shown(group, ("text",))),
    }
    return Draft(
        parts=(seed.address,),
        namespace=seed.namespace,
        severity="info",
        target=Target("grain", (seed.address,)),
        summary=Summary("duplicate.near", args),
        proposal=_merge(seed, others),
        evidence=_cited(seed, others),
        count=len(group),
        confidence=0.8,
    )


def _merge(kept: Grain, others: Sequence[Grain]) -> Proposal:
    """One transaction has room for so many; those that are left are found again once these are merged."""
    return Proposal(operations=tuple(step("MERGE", grain, kept) for grain in others[:MAX_MERGES]))


def _cited(kept: Grain, others: Sequence[Grain]) -> tuple[str, ...]:
    return tuple(grain.address for grain in (kept, *others))[:MAX_EVIDENCE]


def _gain(kept: Grain, others: Sequence[Grain]) -> Mapping[str, Argument]:
    """What merging does to the kept grain: names of fields that it gains, and of those in which it stays as it is."""
    outcome = merged(kept, others[:MAX_MERGES])
    return {
        "stated": kept.stated + outcome.stated,
        "taken": ", ".join(outcome.taken),
        "differing": ", ".join(outcome.differing),
    }


def _shown(grains: Sequence[Grain], fields: Sequence[str]) -> Iterator[tuple[str, Argument]]:
    """The texts of the first few, the kept one first."""
    for place, grain in enumerate(grains[:SHOWN_VALUES], start=1):
        for field in fields:
            yield f"{field}_{place}", TextRef(grain.address, field)
