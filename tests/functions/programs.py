"""Programs that stand in for models and external analyzers of a local stack; this file is what they run."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any


def model_that_finds(**draft: Any) -> str:
    """The command of a model that proposes this about all it is shown, bears it out and keeps it."""
    return _command(
        {
            "probe": {"model": "at-hand"},
            "discover": {"recommendations": [{"guidance": "", "confidence": 0.9, **draft}]},
            "ground": {"results": [{"id": "f1", "supported": True, "reason": ""}]},
            "verify": {"results": [{"id": "f1", "keep": True, "confidence": 0.9, "reason": ""}]},
            "enrich": {"notes": []},
        }
    )


def analyzer_that_finds(name: str, **finding: Any) -> str:
    """The command of an external analyzer of this name that finds this in all it is shown."""
    return _command({"probe": {"id": f"{name}/1"}, "analyze": {"findings": [finding]}})


def _command(answers: Mapping[str, Any]) -> str:
    return shlex.join([sys.executable, __file__, json.dumps(answers)])


def _answer(asked: Mapping[str, Any], answers: Mapping[str, Any]) -> Any:
    """What is said to a question; findings cite all that it shows."""
    shown = [each["hash"] for each in asked.get("grains", asked.get("evidence", []))]
    answer = answers[asked["op"]]
    for finding in answer.get("findings", answer.get("recommendations", [])):
        finding["evidence"] = shown
    return answer


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_answer(json.load(sys.stdin), json.loads(sys.argv[1]))))
