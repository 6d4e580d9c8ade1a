"""What is made of an external analyzer's answers. Reading one never raises, whatever it is.

A finding counts only when its target is inside of the memory, it says something, and it cites a grain that its author
was sent. All else about it is brought into bounds; fields that are unknown are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.outside import (
    MAX_GUIDANCE_CHARS,
    MAX_KEY_CHARS,
    MAX_SUMMARY_CHARS,
    OutsideFinding,
    plain_text,
    read_target,
)
from provenloop.domain.recommendation import MAX_EVIDENCE, SEVERITIES, Severity, Target

MAX_FINDINGS = 200
MAX_ID_CHARS = 64
MAX_TITLE_CHARS = 80
MAX_DESCRIPTION_CHARS = 200
UNSURE = 0.5


@dataclass(frozen=True, slots=True)
class Probed:
    """Who an analyzer says it is; ``id`` is None where it does not say, other texts are empty."""

    id: str | None = None
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The findings of an answer that count, and how many others were dropped for what reason.

    Reasons: ``form`` (no object), ``target``, ``summary``, ``evidence``, ``too_many``.
    """

    findings: tuple[OutsideFinding, ...]
    dropped: Mapping[str, int]


def read_probe(answer: bytes) -> Probed | None:
    """Who an analyzer says it is; None where the answer is no JSON object, or its id no text."""
    told = _object(answer)
    if told is None:
        return None
    named = told.get("id")
    if named is not None and not (isinstance(named, str) and 0 < len(named) <= MAX_ID_CHARS):
        return None
    return Probed(
        named,
        plain_text(told.get("title"), MAX_TITLE_CHARS),
        plain_text(told.get("description"), MAX_DESCRIPTION_CHARS),
    )


def read_findings(answer: bytes, sent: Collection[str]) -> ReadAnswer | None:
    """The findings of an answer; None where it is no JSON object with a list of them.

    Args:
        sent: the addresses that the analyzer was shown.
    """
    told = _object(answer)
    findings = told.get("findings") if told is not None else None
    if not isinstance(findings, list):
        return None
    kept: list[OutsideFinding] = []
    dropped: Counter[str] = Counter()
    for value in findings:
        finding = _finding(value, sent)
        if isinstance(finding, str):
            dropped[finding] += 1
        elif len(kept) == MAX_FINDINGS:
            dropped["too_many"] += 1
        else:
            kept.append(finding)
    return ReadAnswer(tuple(kept), dict(dropped))


def _object(answer: bytes) -> dict[str, Any] | None:
    try:
        value = parse_strict(answer)
    except StrictJsonError:
        return None
    return value if isinstance(value, dict) else None


def _finding(value: object, sent: Collection[str]) -> OutsideFinding | str:
    """A finding, or the reason why it does not count."""
    if not isinstance(value, dict):
        return "form"
    target = read_target(value.get("target"))
    if target is None or _is_unseen(target, sent):
        return "target"
    summary = plain_text(value.get("summary"), MAX_SUMMARY_CHARS)
    if not summary:
        return "summary"
    evidence = _evidence(value.get("evidence"), sent)
    if not evidence:
        return "evidence"
    return OutsideFinding(
        target=target,
        summary=summary,
        evidence=evidence,
        confidence=_confidence(value.get("confidence")),
        severity=_severity(value.get("severity")),
        guidance=plain_text(value.get("guidance"), MAX_GUIDANCE_CHARS),
        key=plain_text(value.get("key"), MAX_KEY_CHARS),
    )


def _is_unseen(target: Target, sent: Collection[str]) -> bool:
    return target.scheme == "grain" and target.parts[0] not in sent


def _evidence(value: object, sent: Collection[str]) -> tuple[str, ...]:
    """What was sent of what is cited, each once."""
    cited = value if isinstance(value, list) else []
    known = dict.fromkeys(each for each in cited if isinstance(each, str) and each in sent)
    return tuple(known)[:MAX_EVIDENCE]


def _confidence(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else UNSURE  # type: ignore[arg-type, operator]


def _severity(value: object) -> Severity:
    return next((known for known in SEVERITIES if known == value), "low")
