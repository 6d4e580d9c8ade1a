"""Tool failures: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.runner.cards import Card
from tests.parity.runner.expected import Answers, card, cards, done, ran, refused


def lesson(tool: str, severity: str, count: int, status: str = "pending") -> Card:
    """The card of a failing tool."""
    return card("tool_failure", severity, f"entity:lessons/{tool}", count, status=status)


#: What ``tool.sig.*`` come to where three spellings of one fault are one fault.
_ONE_OF_THREE: Answers = {3: ran(stored=1), 4: cards(lesson("pay", "medium", 3))}


def _one_fault(tool: str) -> Answers:
    return {3: ran(stored=1), 4: cards(lesson(tool, "medium", 3))}


BETTER: Mapping[str, Answers] = {
    "tool.abs.400of2000.severity": {3: cards(lesson("pay", "medium", 400))},
    "tool.call-id.same": {1: ran(new_grains=1, new_error_events=1, stored=0), 2: cards()},
    "tool.fixed-since": {2: ran(stored=0), 3: cards()},
    "tool.future-dated": {0: refused("PVL-E011"), 1: ran(new_grains=0, stored=0), 2: cards()},
    "tool.name.case.three-each": {2: ran(stored=1), 3: cards(lesson("pay", "high", 6))},
    "tool.name.space": {2: ran(stored=1), 3: cards(lesson("pay", "medium", 4))},
    "tool.ns.split": {2: ran(stored=0), 3: cards()},
    "tool.ns.tie": {2: ran(stored=0), 3: cards()},
    "tool.param.replaced": {3: ran(stored=1), 4: cards(lesson("pay", "medium", 2))},
    "tool.pending.grows": {4: ran(stored=0), 5: cards(lesson("pay", "high", 60))},
    "tool.sig.blank": {1: ran(stored=1), 2: cards(lesson("pay", "high", 5))},
    "tool.sig.cut.shift": _ONE_OF_THREE,
    "tool.sig.email": _one_fault("mail"),
    "tool.sig.empty": {1: ran(stored=1), 2: cards(lesson("pay", "high", 5))},
    "tool.sig.hash": _one_fault("build"),
    "tool.sig.json-vs-text": _ONE_OF_THREE,
    "tool.sig.json.id-first": _ONE_OF_THREE,
    "tool.sig.json.spacing": _ONE_OF_THREE,
    "tool.sig.punctuation": _ONE_OF_THREE,
    "tool.sig.quoted-name": _one_fault("sql"),
    "tool.sig.same-tool.after-apply": {
        2: done("applied"),
        4: ran(stored=1),
        5: cards(lesson("pay", "high", 5, "applied"), lesson("pay", "high", 30)),
    },
    "tool.sig.stacktrace": _one_fault("job"),
    "tool.sig.status-code": {6: ran(stored=2), 7: cards(lesson("http", "medium", 3), lesson("http", "medium", 3))},
    "tool.sig.timestamp.month": _ONE_OF_THREE,
    "tool.sig.url.endpoint": {3: ran(stored=0), 4: cards()},
    "tool.sig.uuid": _ONE_OF_THREE,
    # Without a call id every call is one of its own; the evidence shows that it was one session.
    "tool.thread.burst": {1: ran(new_grains=5, stored=1)},
}
