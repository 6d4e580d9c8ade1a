"""What everybody is told of the stages that ask models. They are no analyzer of groups: a pass asks them once, after
the others, about the memory as a whole.
"""

from __future__ import annotations

from provenloop.analyzers.contract import Manifest, Parameter

LLM = Manifest(
    id="loop.llm/1",
    title="Findings of models",
    line="A model found what no program can see, and others checked it.",
    tier="T2",
    trust="llm",
    default_on=True,
    sources=(),
    needs=("model",),
    parameters=(
        Parameter("min_confidence", "float", 0.75, 0.75, 1, "how sure the judging model is, at least"),
        Parameter("max_tokens", "int", 120_000, 40_000, 400_000, "tokens of one pass, prompts and answers, at most"),
        Parameter("max_cost_usd", "float", 1.0, 0.01, 10, "US dollars of one pass, at most"),
    ),
)
