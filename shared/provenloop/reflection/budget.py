"""What a pass may still use of models, in tokens and in money.

Before a call, the most that it can use must fit into what is left: no token is shorter than a byte, and no answer is
longer than what is asked for. After it, what the provider says was used is taken off. It is not believed below a small
share of what went there and came back, for then more would be used than is allowed; and a provider that says more than
can be is asked no more in this pass.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import TypeVar

from provenloop.domain.model_cost import Usage, cost_nano_usd
from provenloop.domain.quoting import Quoted
from provenloop.reflection.stages import Stage

#: What providers put around a prompt of ours, in tokens.
_FRAME_TOKENS = 512
#: More bytes than this a token does not hold, on average over a text.
_BYTES_PER_TOKEN = 16

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that one call of ``model`` can use. ``cost_nano_usd`` is None where the model's price is unknown."""

    model: str
    prompt_tokens: int
    answer_tokens: int
    cost_nano_usd: int | None

    @property
    def tokens(self) -> int:
        """Prompt and answer."""
        return self.prompt_tokens + self.answer_tokens


def bound_of(stage: Stage, quoted: Sequence[Quoted], model: str) -> Bound:
    """The most that asking this can use."""
    texts = (stage.instructions, json.dumps(stage.schema), *(part.block for part in quoted))
    prompt = sum(_bytes(text) for text in texts) + _FRAME_TOKENS
    return Bound(model, prompt, stage.max_tokens, _highest_cost(prompt, stage.max_tokens, model))


def _highest_cost(prompt: int, answer: int, model: str) -> int | None:
    """With the prompt at what is dearer, reading it or keeping it for the next call."""
    read = cost_nano_usd(Usage(input_tokens=prompt, output_tokens=answer), model)
    kept = cost_nano_usd(Usage(cache_write_tokens=prompt, output_tokens=answer), model)
    return None if read is None or kept is None else max(read, kept)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left. A call of a model whose price is unknown needs tokens, and that no money is overspent."""

    tokens: int
    cost_nano_usd: int

    @property
    def half(self) -> Budget:
        """What a stage is to make do with that others have to follow."""
        return Budget(self.tokens // 2, self.cost_nano_usd // 2)

    def holds(self, bound: Bound) -> bool:
        """Whether a call can be made."""
        return bound.tokens <= self.tokens and (bound.cost_nano_usd or 0) <= self.cost_nano_usd

    def after(self, bound: Bound, told: Usage | None, answer: str, model: str | None) -> Budget:
        """What is left after a call.

        Args:
            told: what the provider says was used; None where it does not say.
            answer: the text that came back.
            model: the one that answered, as the provider says.
        """
        used = told or Usage()
        tokens, cost = used.prompt_tokens + used.output_tokens, _cost(used, bound.model, model)
        if tokens > bound.tokens or (bound.cost_nano_usd is not None and cost > bound.cost_nano_usd):
            return Budget(0, 0)
        if not _is_believable(used, bound, answer):
            tokens, cost = bound.tokens, max(cost, bound.cost_nano_usd or 0)
        return Budget(self.tokens - tokens, self.cost_nano_usd - cost)


def _cost(used: Usage, *models: str | None) -> int:
    """By whichever of the models is dearer: a cheaper one that is said to have answered saves nothing."""
    return max(cost_nano_usd(used, model) or 0 for model in models if model is not None)


def _is_believable(used: Usage, bound: Bound, answer: str) -> bool:
    is_enough = used.prompt_tokens * _BYTES_PER_TOKEN >= bound.prompt_tokens
    return is_enough and used.output_tokens * _BYTES_PER_TOKEN >= _bytes(answer) and min(astuple(used)) >= 0


def first_that_fits(choices: Sequence[_T], bound: Callable[[_T], Bound], budget: Budget) -> _T:
    """The first of some choices, each of which uses less than the one before, that can be asked about; the last one
    where none can.

    The bound of ``choices[0]`` is asked for before any other: what the others hold is a part of it.
    """
    if budget.holds(bound(choices[0])):
        return choices[0]
    first = bisect_left(choices, 1, lo=1, hi=len(choices) - 1, key=lambda choice: budget.holds(bound(choice)))
    return choices[min(first, len(choices) - 1)]
