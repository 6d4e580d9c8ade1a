"""Numbers of the log for lessons: each also counts a line and its bytes, given back where nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from provenloop.domain.commit import LogHead
from provenloop.domain.names import DEFAULT_NAMESPACE
from provenloop.lessons.settings import LessonSettings
from provenloop.services.call import Call
from provenloop.services.log_number import NOT_WRITTEN, given_back_if_refused, next_slot
from provenloop.services.memories import unknown_memory
from provenloop.services.ports import Reservation, Store


def reserve_for_lesson(store: Store, call: Call, size: int, settings: LessonSettings) -> LogHead:
    """A number for a line of ``size`` bytes.

    Raises:
        NotFoundError: no such memory.
        TooLargeError: all lines together would be over ``max_lessons_bytes``; nothing was counted.
    """
    wanted = Reservation(
        grains=1,
        errors=0,
        namespaces=frozenset({DEFAULT_NAMESPACE}),
        at=call.now,
        wake_at=next_slot(call.now),
        lesson_bytes=size,
        lesson_room=settings.max_lessons_bytes,
    )
    head = store.reserve(call.memory, wanted)
    if head is None:
        raise unknown_memory()
    return head


@contextmanager
def lesson_given_back_if_refused(store: Store, call: Call, seq: int, size: int) -> Iterator[None]:
    """Gives the number and the bytes back when the commit inside is refused."""
    try:
        with given_back_if_refused(store, call, seq):
            yield
    except NOT_WRITTEN:
        store.give_back_lesson(call.memory, size)
        raise
