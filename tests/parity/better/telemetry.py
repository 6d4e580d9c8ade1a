"""What telemetry feeds (cold grains, gaps, budget): what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.better.tool import lesson
from tests.parity.runner.expected import Answers, card, cards, ran

_QUESTION = "refund policy for islands"
_COLD = card("cold_grains", "low", "entity:cold_grains")
_NONE: Answers = {2: ran(stored=0), 3: cards()}


_GAP = card("coverage_gap", "medium", f"query:{_QUESTION}")
_ANY_GAP = card("coverage_gap", "medium", "query:*")

BETTER: Mapping[str, Answers] = {
    "cold.latest": _NONE,
    "cold.lesson": {5: cards(lesson("pay", "high", 5, "applied"))},
    "cold.read-long-ago": {2: ran(stored=1), 3: cards(_COLD)},
    "cold.thirty": {1: ran(stored=1)},
    # 23 empty answers are no tenfold rise over the three that were refused.
    "gap.dismissed": {},
    "gap.filled": _NONE,
    "gap.latest": {1: ran(stored=1), 2: cards(_ANY_GAP)},
    "gap.ns": {2: ran(stored=2), 3: cards(_GAP, _GAP)},
    "gap.old": {1: ran(stored=0), 2: cards()},
    "gap.structural": {1: ran(stored=1), 2: cards(_ANY_GAP)},
    "gap.subject": {2: ran(stored=2), 3: cards(_GAP, _GAP)},
    "gap.three": {},
    "gap.wording": {3: ran(stored=1), 4: cards(_ANY_GAP)},
    "budget.20": {},
    "budget.old": _NONE,
    # 40 of 79 are half of what was assembled in the last 30 days.
    "budget.recovered": {},
}
