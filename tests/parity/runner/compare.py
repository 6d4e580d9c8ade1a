"""Holds what was said against what was wanted, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.parity.runner.cards import Card, tally
from tests.parity.runner.drive import Said
from tests.parity.runner.expected import Answers, Wanted


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing in which a step differs."""

    step: int
    got: str
    wanted: str


def mismatches(wanted: Answers, said: Mapping[int, Said]) -> tuple[Mismatch, ...]:
    """Everything in which the answers differ from what was wanted.

    Args:
        wanted: by step; a step that is missing must not be refused.
        said: by step.
    """
    steps = sorted({*wanted, *said})
    return tuple(found for step in steps for found in _step(step, wanted.get(step, Wanted()), said.get(step, {}), said))


def _step(step: int, wanted: Wanted, said: Said, everything: Mapping[int, Said]) -> Iterator[Mismatch]:
    error = said.get("error")
    if wanted.refused:
        if error is None or not ("*" in wanted.refused or error in wanted.refused):
            yield Mismatch(step, _told(error, said), f"refused with {' or '.join(wanted.refused)}")
        yield from _equal(step, "status", said.get("status"), wanted.status)
        return
    if error is not None:
        yield Mismatch(step, f"refused with {error}", _hoped(wanted))
        return
    yield from _figures(step, wanted, said)
    yield from _cards(step, wanted, said)
    yield from _live(step, wanted, said, everything)
    yield from _equal(step, "status", said.get("status"), wanted.status)
    yield from _equal(step, "outcomes", _tuples(said.get("outcomes")), wanted.verdicts)
    yield from _equal(step, "analyzers", _tuples(said.get("analyzers")), wanted.roster)
    if wanted.some is not None:
        yield from _equal(step, "found anything", said.get("results", 0) > 0, wanted.some)


def _figures(step: int, wanted: Wanted, said: Said) -> Iterator[Mismatch]:
    figures = said.get("health", said)
    for name, value in wanted.figures.items():
        yield from _equal(step, name, figures.get(name), value)
    for name, reason in wanted.skips.items():
        yield from _equal(step, f"skip of {name}", said.get("analyzers_skipped", {}).get(name), reason)


def _cards(step: int, wanted: Wanted, said: Said) -> Iterator[Mismatch]:
    shown = [one for one in said.get("cards", ()) if not wanted.about or one.analyzer in wanted.about]
    yield from _equal(step, "cards", len(shown), wanted.how_many)
    if wanted.cards is None:
        return
    want = tally(wanted.cards)
    ours = tally(_as_stated(shown, want))
    for one in sorted((want - ours).elements(), key=str):
        yield Mismatch(step, "no such card", str(one))
    for one in sorted((ours - want).elements(), key=str):
        yield Mismatch(step, str(one), "no such card")


def _as_stated(ours: Iterable[Card], want: Counter[Card]) -> Iterator[Card]:
    """Our cards; one that fits a looser statement (no count, no advice, any target) takes its form."""
    for one in ours:
        yield next((stated for stated in want if _fits(one, stated)), one)


def _fits(one: Card, stated: Card) -> bool:
    is_target = one.target == stated.target
    if stated.target.endswith("*"):
        is_target = one.target.startswith(stated.target[:-1])
    is_told = stated.count in (None, one.count) and stated.advice in (None, one.advice)
    return is_target and is_told and _without_details(one) == _without_details(stated)


def _without_details(one: Card) -> Card:
    return replace(one, target="", count=None, advice=None)


def _live(step: int, wanted: Wanted, said: Said, everything: Mapping[int, Said]) -> Iterator[Mismatch]:
    found = said.get("live", [])
    if wanted.same_as is not None:
        yield from _equal(step, "live", found, everything.get(wanted.same_as, {}).get("live"))
    texts = tuple(sorted(fact if isinstance(fact, str) else fact["object"] for fact in found))
    yield from _equal(step, "live", texts, wanted.live)
    if wanted.values is not None:
        yield from _equal(step, "live values", sorted({text.rstrip() for text in texts}), sorted(wanted.values))
    for name, value in wanted.kept.items():
        yield from _equal(step, f"live {name}", [fact.get(name) for fact in found], [value])


def _equal(step: int, name: str, got: Any, wanted: Any) -> Iterator[Mismatch]:
    if wanted is not None and got != wanted:
        yield Mismatch(step, f"{name}={got}", f"{name}={wanted}")


def _tuples(rows: Any) -> tuple[tuple[Any, ...], ...] | None:
    return None if rows is None else tuple(tuple(row) for row in rows)


def _told(error: str | None, said: Said) -> str:
    return f"refused with {error}" if error else f"done {said.get('status') or ''}".strip()


def _hoped(wanted: Wanted) -> str:
    return f"status={wanted.status}" if wanted.status else "done"
