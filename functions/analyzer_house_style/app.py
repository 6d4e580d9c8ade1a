"""A sample of an external analyzer: holds what a memory says against the rules of a house.

1. The relation of a fact is lower snake_case: ``lives_in``, not ``livesIn`` or ``Lives in``.
2. An observation has at most 500 characters; a longer one is rather several, or facts.

It uses nothing but Python, as a Lambda function or as a command: ``python functions/analyzer_house_style/app.py``.
shared/EXTERNAL-ANALYZERS.md describes the protocol; copy this file to begin with rules of your own.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ID = "ext.house_style/1"
VERSION = 1
MAX_FINDINGS = 200
MAX_EVIDENCE = 64
MAX_OBSERVATION_CHARS = 500
#: A longer name is rather a sentence, and is not repeated.
MAX_NAME_CHARS = 40
_SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """The answer to one question; raises ValueError for one of another protocol."""
    if event.get("loop_analyzer") != VERSION or event.get("op") not in ("probe", "analyze"):
        raise ValueError("this is no question of protocol 1")
    if event["op"] == "probe":
        return {"id": ID, "title": "House style", "description": "Relations in snake_case, observations of one thought"}
    found = [*_odd_relations(event["grains"]), *_long_observations(event["grains"])]
    return {"findings": found[:MAX_FINDINGS]}


def _odd_relations(grains: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One finding for each subject and relation, whatever its values."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for grain in grains:
        fields = grain["fields"]
        relation = fields.get("relation")
        if grain["grain_type"] == "fact" and isinstance(relation, str) and not _SNAKE_CASE.match(relation):
            groups.setdefault((grain["namespace"], str(fields.get("subject")), relation), []).append(grain["hash"])
    for (namespace, subject, relation), hashes in groups.items():
        better = snake_case(relation)
        yield {
            "target": f"entity:{namespace}/{subject}",
            "summary": "A relation of it is not lower snake_case",
            "severity": "low",
            "evidence": hashes[:MAX_EVIDENCE],
            "guidance": f"State it as {better!r}." if _is_name(better) else "Name it with a-z, 0-9 and _.",
            "confidence": 1.0,
            "key": f"relation {relation}",
        }


def _is_name(text: str) -> bool:
    return len(text) <= MAX_NAME_CHARS and _SNAKE_CASE.match(text) is not None


def snake_case(text: str) -> str:
    """How the house would write a name, as far as its letters allow."""
    return _BETWEEN.sub("_", _HUMP.sub("_", text).lower()).strip("_")


def _long_observations(grains: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for grain in grains:
        text = grain["fields"].get("text")
        if grain["grain_type"] == "observation" and isinstance(text, str) and len(text) > MAX_OBSERVATION_CHARS:
            yield {
                "target": f"grain:{grain['hash']}",
                "summary": f"An observation has over {MAX_OBSERVATION_CHARS} characters",
                "severity": "info",
                "evidence": [grain["hash"]],
                "guidance": "State its thoughts one by one, or as facts.",
                "confidence": 1.0,
                "key": "length",
            }


if __name__ == "__main__":
    json.dump(lambda_handler(json.load(sys.stdin), None), sys.stdout)
