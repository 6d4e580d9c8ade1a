"""A model that finds one thing where it is there to be found, and stands by it; in other memories it finds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests import model_forms
from tests.model_server import Play, says

#: What a memory holds where there is something to find.
FACTS: list[dict[str, Any]] = [
    {"kind": "fact", "subject": "ann", "relation": "works_from", "object": "Oslo"},
    {"kind": "observation", "text": "ann left the office in Oslo for good"},
]
_DRAFT = {
    "summary": "ann works from an office that she left",
    "target": "entity:shared/ann",
    "guidance": "ask ann",
    "evidence": ["e1", "e2"],
    "confidence": 0.9,
}


def answer(op: str, *, finds: bool = True) -> dict[str, Any]:
    """What it says in a stage."""
    return {
        "discover": {"recommendations": [_DRAFT] if finds else []},
        "ground": {"results": [{"id": "f1", "supported": True, "reason": "it says so"}]},
        "verify": {"results": [{"id": "f1", "keep": True, "confidence": 0.9, "reason": "it follows"}]},
    }[op]


def play(body: Mapping[str, Any]) -> Play:
    """What it answers to a request, in the form of any provider."""
    blocks = model_forms.blocks(body)
    claims = any('label="claim:' in block for block in blocks)
    findings = any('label="finding:' in block for block in blocks)
    finds = any("left the office in Oslo" in block for block in blocks)
    return says(answer("ground" if claims else "verify" if findings else "discover", finds=finds))


def is_of_a_pass(body: Mapping[str, Any]) -> bool:
    """Whether a request is one of a pass."""
    groups = ("evidence", "claim", "finding")
    return any(f'label="{group}:' in block for block in model_forms.blocks(body) for group in groups)
