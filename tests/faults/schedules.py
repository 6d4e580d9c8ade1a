"""Schedules for ``Interleaving`` drawn by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st


def schedules(actors: int, steps: int = 40) -> st.SearchStrategy[list[int]]:
    """Lists of choices; they shrink towards the empty list, which is plain round robin."""
    return st.lists(st.integers(0, max(actors - 1, 0)), max_size=steps)
