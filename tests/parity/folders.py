"""Small folders of scenarios, made for one test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Raw = dict[str, Any]
FAILURE: Raw = {"op": "tool_call", "name": "pay", "result": "declined", "is_error": True}
RUN: Raw = {"op": "run"}
LIST: Raw = {"op": "list"}
#: What is recorded of three failures of three calls, by a pass and a list behind them.
THREE_FAILURES: Sequence[Raw] = ({**FAILURE, "repeat": 3}, RUN, LIST)
LESSON: Raw = {
    "analyzer": "loop.tool_failure",
    "severity": "medium",
    "status": "pending",
    "destructive": False,
    "target": "entity:lessons/pay",
    "args": {"count": 3},
}


def ran(step: int, stored: int, **figures: Any) -> Raw:
    """A recorded pass."""
    return {"step": step, "op": "run", "outcome": "ran", "stored": stored, "auto_applied": 0, **figures}


def listed(step: int, *cards: Raw) -> Raw:
    """A recorded list."""
    return {"step": step, "op": "list", "recommendations": list(cards)}


def pass_of_three(stored: int = 1) -> Raw:
    """The recorded pass over three failures."""
    return ran(1, stored, new_grains=3, new_error_events=3, proposed=stored)


def write(folder: Path, name: str, steps: Sequence[Raw], *results: Raw) -> None:
    """Add one scenario with its recording to a folder."""
    for part, content in (("scenarios", {"name": name, "steps": list(steps)}), ("expected", {"results": results})):
        (folder / part).mkdir(exist_ok=True)
        (folder / part / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def verdicts(folder: Path, differ: Mapping[str, Sequence[str]], match: Sequence[str] = ()) -> None:
    """Write down which scenarios are to differ, and by which oddities."""
    content = {"differ": dict(differ), "match": list(match)}
    (folder / "verdicts.json").write_text(json.dumps(content), encoding="utf-8")
