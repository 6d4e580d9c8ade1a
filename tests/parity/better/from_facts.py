"""What duplicates and contradictions a scenario's own facts amount to, worked out without the code under test."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from tests.parity.better.con import conflict
from tests.parity.better.dup import duplicate
from tests.parity.better.shape import one_pass
from tests.parity.runner.cards import Card
from tests.parity.runner.events import DEFAULT_NAMESPACE
from tests.parity.runner.expected import Answers
from tests.parity.runner.scenarios import Scenario, Step
from tests.parity.runner.timeline import T0_MS, resolved

_FUNCTIONAL = frozenset(
    "assigned_to current_plan deploy_target lives_in owner primary_email region reports_to status tier".split()
)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def findings(scenario: Scenario) -> Answers | None:
    """What the pass stores and the list shows of the two, for a scenario of facts, one pass and one list."""
    return one_pass(scenario, tuple(_cards(scenario)), about="contradiction_sweep duplicate_sweep")


def _cards(scenario: Scenario) -> Iterator[Card]:
    values: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    for step in scenario.steps:
        if step["op"] == "fact" and _is_live(step):
            key = (step.get("ns", DEFAULT_NAMESPACE), _folded(step["subject"]), _relation(step["relation"]))
            held = values.setdefault(key, {}).setdefault(_folded(step["object"]), set())
            held.update(_spellings(step, scenario, held))
    for (namespace, subject, relation), objects in values.items():
        if relation in _FUNCTIONAL and len(objects) > 1:
            yield conflict(f"{namespace.casefold()}/{subject}", len(objects))
        yield from (duplicate(f"{namespace.casefold()}/{subject}") for held in objects.values() if len(held) > 1)


def _spellings(step: Step, scenario: Scenario, held: set[str]) -> set[str]:
    """The grains that a step adds: one a spelling, and one more a time where the scenario wants copies."""
    triple = "\0".join(unicodedata.normalize("NFC", step[part]) for part in ("subject", "relation", "object"))
    if not scenario.twice:
        return {triple}
    return {triple + " " * (len(held) + n) for n in range(step.get("repeat", 1))}


def _is_live(step: Step) -> bool:
    fields = step.get("fields") or {}
    begins, ends = _instant(fields.get("valid_from")), _instant(fields.get("valid_to"))
    return (begins is None or begins <= T0_MS) and (ends is None or ends > T0_MS)


def _instant(value: Any) -> int | None:
    read = resolved(value)
    return read if isinstance(read, int) else None


def _relation(name: str) -> str:
    return re.sub(r"[-\s_]+", "_", _folded(_CAPITAL.sub("_", name)))


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_INVISIBLE.sub("", folded).replace("i\u0307", "i").split())
