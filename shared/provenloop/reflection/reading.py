"""What is made of answers, of whatever shape: nothing in them raises, and only what is plainly said counts.

An answer without the list it was to hold is unreadable: None. Unknown fields are not looked at, what has the wrong type
is left out, and an id that is told twice, differently, is told not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from provenloop.domain.outside import MAX_GUIDANCE_CHARS, MAX_SUMMARY_CHARS, plain_text, read_target
from provenloop.domain.quoting import MARGIN
from provenloop.domain.recommendation import Target
from provenloop.reflection.bundle import Bundle, Evidence
from provenloop.reflection.draft import ModelDraft
from provenloop.reflection.stages import DISCOVER, ENRICH, GROUND, MAX_DRAFTS, VERIFY, Stage

#: Below this no finding of a model is shown to anybody, whatever a limit says.
LEAST_CONFIDENCE = 0.75

_T = TypeVar("_T")
_Drafts = Sequence[ModelDraft]


def read_drafts(value: object, shown: Bundle) -> _Drafts | None:
    """The first 8 usable drafts of DISCOVER that say nothing known, named f1, f2 and so on.

    Args:
        shown: what the model was shown, and may cite; with what is known.
    """
    given = _items(value, DISCOVER)
    if given is None:
        return None
    fresh = (draft for draft in _drafts(given, shown) if not _is_known(draft, shown))
    found = islice(_distinct(fresh), MAX_DRAFTS)
    return tuple(replace(draft, id=f"f{number}") for number, draft in enumerate(found, start=1))


def _drafts(given: Sequence[Mapping[str, Any]], shown: Bundle) -> Iterator[ModelDraft]:
    by_label, targets = shown.by_label, _shown_grains(shown)
    for item in given:
        target = read_target(item.get("target"))
        summary = plain_text(item.get("summary"), MAX_SUMMARY_CHARS + MARGIN)
        evidence = _cited(item.get("evidence"), by_label)
        if target is not None and _is_allowed(target, targets) and summary and evidence:
            guidance = plain_text(item.get("guidance"), MAX_GUIDANCE_CHARS)
            yield ModelDraft("", target, summary, evidence, guidance)


def _is_known(draft: ModelDraft, shown: Bundle) -> bool:
    return any(known.covers(draft.target_text, draft.cited) for known in shown.known)


def _distinct(drafts: Iterator[ModelDraft]) -> Iterator[ModelDraft]:
    seen = set[tuple[Target, str]]()
    for draft in drafts:
        said = (draft.target, draft.finding.summary)
        if said not in seen:
            seen.add(said)
            yield draft


def _shown_grains(shown: Bundle) -> set[str]:
    """The grains that a model may name: it cannot know the address of another."""
    named = (*(item.target for item in shown.evidence), *(brief.target for brief in shown.briefs))
    return {f"grain:{item.address}" for item in shown.evidence} | set(named)


def _is_allowed(target: Target, shown: set[str]) -> bool:
    return target.scheme != "grain" or f"grain:{target.parts[0]}" in shown


def _cited(value: Any, by_label: Mapping[str, Evidence]) -> tuple[Evidence, ...]:
    given = value if isinstance(value, list) else ()
    labels = [label.removeprefix("evidence:") for label in given if isinstance(label, str)]
    return tuple(by_label[label] for label in dict.fromkeys(labels) if label in by_label)


def supported(value: object, claims: _Drafts) -> _Drafts | None:
    """The claims that GROUND says are supported."""
    said = _said(value, GROUND, "claim", lambda item: item.get("supported") is True)
    return None if said is None else tuple(draft for draft in claims if said.get(draft.id))


def kept(value: object, findings: _Drafts, min_confidence: float) -> _Drafts | None:
    """The findings that VERIFY keeps, with a confidence that reaches ``min_confidence`` and 0.75."""
    least = max(LEAST_CONFIDENCE, min_confidence)
    said = _said(value, VERIFY, "finding", _confidence_of_kept)
    if said is None:
        return None
    judged = (replace(draft, confidence=said.get(draft.id) or 0.0) for draft in findings)
    return tuple(draft for draft in judged if draft.confidence >= least)


def _confidence_of_kept(item: Mapping[str, Any]) -> float | None:
    """Between 0 and 1; None where it is not kept, or nobody knows how surely."""
    told = item.get("confidence")
    if item.get("keep") is not True or isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(min(max(told, 0), 1)) if abs(told) < math.inf else None


def guided(value: object, findings: _Drafts) -> _Drafts | None:
    """The findings, those without guidance with what ENRICH says about them."""
    notes = _said(value, ENRICH, "finding", lambda item: plain_text(item.get("guidance"), MAX_GUIDANCE_CHARS))
    if notes is None:
        return None
    return tuple(replace(draft, guidance=draft.guidance or notes.get(draft.id) or "") for draft in findings)


def _said(
    value: object, stage: Stage, group: str, read: Callable[[Mapping[str, Any]], _T]
) -> dict[str, _T | None] | None:
    """What is said of each id; None for an id of which two things are said."""
    given = _items(value, stage)
    if given is None:
        return None
    said: dict[str, _T | None] = {}
    for item in given:
        name, told = item.get("id"), read(item)
        if isinstance(name, str):
            name = name.removeprefix(f"{group}:")
            said[name] = told if said.get(name, told) == told else None
    return said


def _items(value: object, stage: Stage) -> Sequence[Mapping[str, Any]] | None:
    given = value.get(stage.answers) if isinstance(value, Mapping) else None
    return [item for item in given if isinstance(item, Mapping)] if isinstance(given, list) else None
