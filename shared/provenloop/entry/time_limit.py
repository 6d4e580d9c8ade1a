"""Work that has to come to an end in time: done by a thread, which is left alone once its time is over.

A call to AWS cannot be broken off. Who waits for it goes on without it; its result is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

T = TypeVar("T")

#: So many pieces of work may hang at once before further ones wait for them, and are over time as well.
_THREADS = 8


def within(work: Callable[[], T], at_most_ms: int) -> T:
    """What the work gives.

    Raises:
        TimeoutError: it is not done after so many milliseconds.
    """
    return _threads().submit(copy_context().run, work).result(at_most_ms / 1000)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="within")
