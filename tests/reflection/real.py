"""The corpus put to a real model: what it finds, told apart by the labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenloop.services.reflect_port import ReflectionModels
from tests.reflection.bundles import shown
from tests.reflection.corpus import Memory, memories
from tests.reflection.measures import quality, used
from tests.reflection.run import Fate, Outcome, reflected_on, told_apart


def reflect_on(models: ReflectionModels, some: Sequence[Memory] | None = None) -> Iterator[Outcome]:
    """What comes of each memory, one after the other."""
    for memory in memories() if some is None else some:
        given = shown(memory)
        reflected = reflected_on(given, models)
        out, unknown = told_apart(given, reflected.findings)
        fates = [Fate(draft, out=draft in out) for draft in memory.drafts]
        yield Outcome(memory, reflected, fates, {}, unknown)


def told(outcome: Outcome) -> Iterator[str]:
    """One memory in lines: what came out, what of it is unlabelled and so for a person to judge, what is missing."""
    stopped = f" ({outcome.reflected.stopped})" if outcome.reflected.stopped else ""
    yield f"{outcome.memory.name}{stopped}"
    for fate in outcome.fates:
        if fate.out:
            why = "right" if fate.draft.is_right else f"wrong, {fate.draft.trick or fate.draft.label}"
            yield f"  {why}: {fate.draft.says}"
        elif fate.draft.is_right:
            yield f"  missing: {fate.draft.says}"
    yield from (f"  unlabelled: {finding.summary}" for finding in outcome.unknown)


def summed(outcomes: Sequence[Outcome]) -> str:
    """All of them in one line; what is unlabelled counts as wrong."""
    one, each = quality(outcomes), used(outcomes)
    failed = sum(":" in (outcome.reflected.stopped or "") for outcome in outcomes)
    return (
        f"{one.right} right, {one.wrong} wrong ({sum(len(outcome.unknown) for outcome in outcomes)} unlabelled); "
        f"precision {one.precision:.3f}, recall {one.recall:.3f}, effective reliability {one.reliability:+.3f}; "
        f"{each['calls']} calls, {each['prompt_tokens']:,} + {each['answer_tokens']:,} tokens and "
        f"${each['nano_usd'] / 1e9:.4f} a memory; {failed} memories failed"
    )
