"""What comes from outside: a finding of a model or of an external analyzer, as far as it can be checked by itself.

Nothing of it is trusted: its target is one of few kinds, its texts are short, plain and shown as what they are, and it
cites grains that it was shown. Whether those are still there is checked when it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from provenloop.domain.address import is_address
from provenloop.domain.recommendation import Severity, Target
from provenloop.domain.visible import visible

#: From what share of common evidence on two findings about one target are one.
SAME_EVIDENCE = 0.5
MAX_SUMMARY_CHARS = 200
MAX_GUIDANCE_CHARS = 600
MAX_TARGET_CHARS = 1_000
MAX_KEY_CHARS = 200
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class OutsideFinding:
    """One finding of a model or of an external analyzer.

    ``evidence`` are addresses of grains, at least one, each of which it was shown. ``confidence`` is between 0 and 1.
    ``key`` is how its author tells it from others about the same target; where it is empty, its summary does.
    """

    target: Target
    summary: str
    evidence: tuple[str, ...]
    confidence: float
    severity: Severity = "low"
    guidance: str = ""
    key: str = ""


def read_target(text: object) -> Target | None:
    """The target that a text names: ``entity:<namespace>/<subject>``, ``grain:<address>`` or ``query:<question>``.

    None for whatever else it may be: nothing outside of the memory can be a target of somebody outside.
    """
    if not isinstance(text, str) or len(text) > MAX_TARGET_CHARS:
        return None
    scheme, _, rest = plain_text(text, MAX_TARGET_CHARS).partition(":")
    if scheme == "grain" and is_address(rest):
        return Target("grain", (rest,))
    if scheme == "query" and rest:
        return Target("query", (rest,))
    namespace, _, subject = rest.partition("/")
    return Target("entity", (namespace, subject)) if scheme == "entity" and namespace and subject else None


def in_common(one: Collection[str], other: Collection[str]) -> float:
    """The share of addresses that two findings have in common."""
    both = set(one) | set(other)
    return len(set(one) & set(other)) / len(both) if both else 0.0


def plain_text(value: object, at_most: int) -> str:
    """A text from outside: one line, cut after so many characters, with what hides in it made visible; else empty."""
    if not isinstance(value, str):
        return ""
    cut = value[: 4 * at_most].encode("utf-8", "replace").decode()
    text: str = visible(_BLANKS.sub(" ", cut).strip())
    return text[:at_most].rstrip()
