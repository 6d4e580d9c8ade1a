"""A model for the scenarios: whoever has a diet and a favourite dish is worth a look.

The argument says how it behaves: sure, unsure, denies (what it proposed has no ground), stray (its target is the host),
or dies.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

KIT = "entity:shared/kit"


def main(mode: str, asked: dict[str, Any]) -> int:
    """Answer one stage on the standard output; the exit status."""
    if mode == "dies" and asked["op"] != "probe":
        return 7
    sys.stdout.write(json.dumps(answer(mode, asked)))
    return 0


def answer(mode: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What it says in a stage."""
    if asked["op"] == "discover":
        return {"recommendations": list(drafts(mode, asked.get("evidence", [])))}
    if asked["op"] == "ground":
        return {"results": [{"id": claim["id"], "supported": mode != "denies"} for claim in asked["claims"]]}
    if asked["op"] == "verify":
        confidence = 0.7 if mode == "unsure" else 0.8
        return {"results": [{"id": each["id"], "keep": True, "confidence": confidence} for each in asked["findings"]]}
    return {"notes": []} if asked["op"] == "enrich" else {"model": "cook"}


def drafts(mode: str, evidence: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """What it makes of the evidence."""
    cited = [each["hash"] for each in evidence if "diet" in each["text"] or "favourite_dish" in each["text"]]
    if len(cited) > 1:
        yield {
            "summary": "the favourite dish is not in the diet",
            "target": "host:kitchen" if mode == "stray" else KIT,
            "guidance": "ask which of them holds",
            "evidence": cited,
            "confidence": 0.2,
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.load(sys.stdin)))
