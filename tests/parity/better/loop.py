"""Gates, repeated findings, decisions, rights, policy: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.better.con import conflict
from tests.parity.better.dup import duplicate
from tests.parity.better.stale import expired_fact
from tests.parity.better.tool import lesson
from tests.parity.runner.expected import Answers, Wanted, cards, cards_about, done, live, ran, refused, skipped

_DENIED = Wanted(refused=("PVL-E022", "PVL-E026"))
_NO_DURATION = refused("PVL-E011")
_ANN = "shared/ann"


def _denied(status: str) -> Wanted:
    return Wanted(refused=_DENIED.refused, status=status)


GATES: Mapping[str, Answers] = {
    "gate.clock-back": {3: ran(new_grains=1), 4: skipped()},
    "gate.own-writes": {3: skipped(new_grains=0), 4: skipped(new_grains=0)},
    "gate.same-instant": {2: ran(new_grains=1)},
    "gate.stale.bad": {1: _NO_DURATION, 2: _NO_DURATION, 3: _NO_DURATION, 4: _NO_DURATION},
    "gate.types": {3: ran(new_grains=10)},
}

AGAIN: Mapping[str, Answers] = {
    "again.applied.more": {
        4: ran(stored=1),
        5: cards(lesson("pay", "high", 5, "applied"), lesson("pay", "high", 200)),
    },
    # Nothing is there yet that would make the refusal last; what lies cold is named anew each week.
    "again.dismissed.five": {
        19: cards_about("contradiction_sweep", *(conflict(_ANN, status="rejected") for _ in range(5)), conflict(_ANN))
    },
    "again.dismissed.other-relation": {
        6: ran(stored=1),
        7: cards(conflict(_ANN, status="rejected"), conflict(_ANN)),
    },
    "again.dismissed.other-signature": {
        4: ran(stored=1),
        5: cards(lesson("pay", "medium", 3, "rejected"), lesson("pay", "high", 30)),
    },
    "again.dismissed.worse": {
        5: ran(stored=1),
        6: cards(lesson("pay", "medium", 3, "rejected"), lesson("pay", "high", 503)),
    },
    "again.full-sweep": {4: ran(stored=0)},
    "again.full-sweep.window": {1: ran(stored=1), 2: cards(lesson("pay", "high", 5))},
    "again.gone": {3: ran(stored=0), 4: cards(lesson("pay", "high", 5, "expired"))},
    "again.severity-grown": {4: ran(stored=0), 5: cards(lesson("pay", "high", 33))},
}

DECISIONS: Mapping[str, Answers] = {
    "life.approve.apply": {
        4: done("applied"),
        5: refused("PVL-E020"),
        6: done("rolled_back"),
        7: cards(lesson("pay", "high", 5, "rolled_back")),
    },
    "life.approve.scopes": {4: done("applied")},
    "life.filter.default": {5: ran(stored=1), 6: cards(conflict(_ANN)), 7: refused("PVL-E011"), 8: refused("PVL-E011")},
    "life.rollback.forgotten": {5: done("rolled_back"), 6: cards(lesson("pay", "high", 5, "rolled_back"))},
    "auth.no-loop-read.config": {
        4: _DENIED,
        7: ran(stored=1),
        8: cards(lesson("pay", "high", 5), lesson("ship", "high", 5)),
    },
    "auth.reader.apply": {4: _denied("pending"), 5: cards(lesson("pay", "high", 5))},
    "auth.reader.apply.destructive": {4: _denied("pending"), 5: cards(expired_fact("g1"))},
    "auth.reader.approve": {4: _denied("pending"), 5: cards(lesson("pay", "high", 5))},
    "auth.reader.dismiss": {4: _denied("pending"), 5: cards(lesson("pay", "high", 5))},
    "auth.reader.rollback": {5: _denied("applied"), 6: cards(lesson("pay", "high", 5, "applied")), 7: live("declined")},
    "auth.reader.run": {3: _DENIED, 4: cards()},
}

POLICY: Mapping[str, Answers] = {
    "auto.already-pending": {3: ran(auto_applied=1), 4: cards(duplicate(_ANN, "applied"))},
    "auto.confidence": {2: ran(auto_applied=0), 3: cards(duplicate(_ANN))},
    # Equal texts are one observation, stated twice.
    "auto.crash.half-applied": {
        4: ran(auto_applied=1),
        5: cards(duplicate(_ANN, "applied")),
        6: live("tea"),
        7: Wanted(figures={"grains_since_run": 0}),
        8: ran(stored=0),
        9: cards(duplicate(_ANN, "applied")),
        10: refused("PVL-E020"),
        11: live("tea"),
    },
    "auto.grant.rollback": {3: done("rolled_back"), 4: live("tea", "tea "), 5: cards(duplicate(_ANN, "rolled_back"))},
    "auto.ns-case": {2: ran(stored=0), 3: cards(), 4: live("tea")},
    "auto.valid-to.canonical": {2: ran(auto_applied=0), 3: cards(duplicate(_ANN))},
    "policy.bad-json": {3: refused("PVL-E011")},
    "policy.deny.unknown": {1: refused("PVL-E011"), 2: cards()},
}

#: Of outcomes, (metric, horizon in days, verdict).
_TOOL, _CONFLICT, _DUPLICATE = "tool_error_recurrence", "contradiction_recurrence", "duplicate_recurrence"


def _verdicts(metric: str, **by_day: str) -> Wanted:
    return Wanted(verdicts=tuple(sorted((metric, int(day[1:]), verdict) for day, verdict in by_day.items())))


_UNKNOWN = "inconclusive"
OUTCOMES: Mapping[str, Answers] = {
    "out.con.held": {
        7: _verdicts(_CONFLICT, d1=_UNKNOWN, d7=_UNKNOWN, d30=_UNKNOWN),
        8: Wanted(
            cards=(conflict(_ANN, status="applied"),),
            about=frozenset({"contradiction_sweep", "duplicate_sweep", "outcome_review"}),
        ),
    },
    "out.con.superseded-properly": {
        4: live("silver"),
        7: _verdicts(_CONFLICT, d1="held"),
        8: live("bronze"),
        9: cards(conflict(_ANN, status="applied")),
    },
    "out.dup.none": {4: _verdicts(_DUPLICATE, d1=_UNKNOWN, d7=_UNKNOWN, d30=_UNKNOWN)},
    "out.stale.none": {},
    "out.tool.better": {6: _verdicts(_TOOL, d1="held"), 7: cards(lesson("pay", "high", 5, "applied"))},
    "out.tool.case": {5: _verdicts(_TOOL, d1="regressed")},
    "out.tool.late-run": {
        5: _verdicts(_TOOL, d1=_UNKNOWN, d7=_UNKNOWN, d30=_UNKNOWN),
        6: Wanted(cards=(lesson("pay", "high", 5, "applied"),), about=frozenset({"tool_failure", "outcome_review"})),
    },
    "out.tool.other-ns": {5: _verdicts(_TOOL, d1=_UNKNOWN)},
    "out.tool.same-instant": {5: _verdicts(_TOOL, d1=_UNKNOWN)},
    "out.revert.apply": {
        8: ran(stored=0),
        9: Wanted(how_many=2),
    },
    "out.revert.by-hand": {5: done("rolled_back"), 6: refused("PVL-E020"), 7: Wanted(how_many=2)},
}

BETTER: Mapping[str, Answers] = {**GATES, **AGAIN, **DECISIONS, **POLICY, **OUTCOMES}
