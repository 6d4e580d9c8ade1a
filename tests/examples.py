"""How many examples a costly property is tried with, so that every profile of hypothesis has its say."""

from __future__ import annotations

from hypothesis import settings


def examples(few: int) -> int:
    """``few`` in the profiles ``dev`` and ``ci``; in one that has more examples, as many times more."""
    return max(few, few * settings().max_examples // settings.get_profile("dev").max_examples)
