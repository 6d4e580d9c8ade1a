"""An external analyzer for the scenarios: a shoe size that is no number is a finding.

The argument says how it behaves: finds, dies, mumbles, or astray (what it finds is about nothing).
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main(mode: str, asked: dict[str, Any]) -> int:
    """Answer one question on the standard output; the exit status."""
    if asked["op"] == "probe":
        answer: dict[str, Any] = {"id": "size.check/1", "title": "Shoe sizes"}
    elif mode == "dies":
        return 7
    elif mode == "mumbles":
        sys.stdout.write("nine and a half")
        return 0
    else:
        answer = {"findings": [finding(mode, grain) for grain in asked["grains"] if is_odd(grain["fields"])]}
    sys.stdout.write(json.dumps(answer))
    return 0


def is_odd(fields: dict[str, Any]) -> bool:
    """Whether a fact gives a shoe size that is no number."""
    return fields.get("relation") == "shoe_size" and not str(fields["object"]).isdecimal()


def finding(mode: str, grain: dict[str, Any]) -> dict[str, Any]:
    """What it says of such a fact."""
    owner = f"entity:{grain['namespace']}/{grain['fields']['subject']}"
    return {
        "target": "somewhere" if mode == "astray" else owner,
        "summary": "a shoe size is a number",
        "guidance": "ask for the number",
        "severity": "medium",
        "evidence": [grain["hash"]],
        "confidence": 0.6,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.load(sys.stdin)))
