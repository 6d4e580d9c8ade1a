"""Which function carries out which kind of step."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.runner import acting, looking, passing, writing
from tests.parity.runner.drive import Operation

OPERATIONS: Mapping[str, Operation] = {
    "fact": writing.write,
    "tool_call": writing.write,
    "grain": writing.write,
    "supersede": writing.supersede,
    "fork": writing.fork,
    "forget": writing.forget,
    "run": passing.run,
    "config": acting.config,
    "apply": acting.decide,
    "approve": acting.decide,
    "dismiss": acting.decide,
    "rollback": acting.decide,
    "open": acting.open_as,
    "clock": acting.nothing,
    "stats": acting.nothing,
    "list": looking.list_cards,
    "live": looking.live,
    "adopt": looking.adopt,
    "recall": looking.recall,
    "search": looking.recall,
    "latest": looking.recall,
    "cal": looking.cal,
    "outcomes": looking.outcomes,
    "health": looking.health,
    "analyzers": looking.analyzers,
}
