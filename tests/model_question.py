"""The question that the contract tests of models' adapters put."""

from __future__ import annotations

from typing import Any

from provenloop.domain.quoting import RULE, Quoted
from provenloop.services.model_port import ModelRequest

INSTRUCTIONS = f"Say a word. {RULE}"
SAID = "good morning"
#: How ``SAID`` stands in a prompt.
BLOCK = f'<data label="request">\n"{SAID}"\n</data>'
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


def question(model: str, **more: Any) -> ModelRequest:
    """A question about ``SAID``, with 64 tokens and 5 s for the answer unless another is given."""
    usual: dict[str, Any] = {
        "model": model,
        "instructions": INSTRUCTIONS,
        "quoted": (Quoted("request", SAID),),
        "schema": SCHEMA,
        "max_tokens": 64,
        "timeout_ms": 5_000,
    }
    return ModelRequest(**{**usual, **more})
