"""Models and external analyzers: what is to be answered instead of what the recordings say."""

from __future__ import annotations

from collections.abc import Mapping

from tests.parity.runner.expected import Answers, Wanted, ran, refused

_FINDER, _SIZES = "ext.parity_finder", "ext.size_check"
#: Nobody is called so: a label has no blanks around it, and one that only looks like another is taken.
_NOBODY = refused("PVL-E011")


def _skipped(analyzer: str, reason: str) -> Wanted:
    """The pass stands, and tells why the analyzer gave nothing."""
    return Wanted(figures={"outcome": "ran", "stored": 0, "external_run": []}, skips={analyzer: reason})


def _refused(code: str) -> Wanted:
    """The decision is refused, and can still be made otherwise."""
    return Wanted(refused=(code,), status="pending")


BETTER: Mapping[str, Answers] = {
    "ext.crash": {1: _skipped(_FINDER, "failed")},
    "ext.dies": {1: _skipped(_SIZES, "failed")},
    "ext.garbage": {1: _skipped(_FINDER, "garbage")},
    "ext.mumbles": {1: _skipped(_SIZES, "garbage")},
    # Applying approves as well, and who approves is looked at first.
    "ext.self": {1: ran(stored=1), 3: _refused("PVL-E021")},
    "llm.blank-name": {4: _refused("PVL-E011"), 5: _NOBODY},
    "llm.self.blank": {4: _refused("PVL-E011"), 5: _NOBODY},
}
