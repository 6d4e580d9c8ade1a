"""Lines of a file, read block by block: memory is bounded by a block and the longest line that may be, not by the file.

Lines end with a line feed; a carriage return before it is a blank at the end of JSON. The last line may lack one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from provenloop.services.inbox_port import Block
from provenloop.services.ingest import MAX_EVENTS

#: The most that a line may hold, as a whole request may.
MAX_LINE_BYTES = 1_048_576

_FEED = b"\n"


class Line(NamedTuple):
    """A line: its number from 1, its bytes without the line feed, and the offset of the byte after it.

    ``data`` is None where it is longer than a line may be.
    """

    number: int
    data: bytes | None
    end: int


def lines_from(read: Callable[[int], Block], offset: int, number: int) -> Iterator[Line]:
    """The lines of a file from one on.

    Args:
        read: gives a block of the file that begins at an offset.
        offset: where the first of these lines begins.
        number: how many lines come before it.
    """
    kept, is_too_long, is_last = b"", False, False
    start = offset
    while not is_last:
        data, is_last = read(offset)
        offset += len(data)
        *whole, rest = (kept + data).split(_FEED)
        for each in whole:
            number, start = number + 1, start + len(each) + 1
            yield _line(number, each, start, is_too_long=is_too_long)
            is_too_long = False
        is_too_long = is_too_long or len(rest) > MAX_LINE_BYTES
        if is_too_long:
            # Its end is looked for, and nothing of it is kept.
            kept, start = b"", start + len(rest)
        else:
            kept = rest
    if kept or is_too_long:
        yield _line(number + 1, kept, start + len(kept), is_too_long=is_too_long)


def _line(number: int, data: bytes, end: int, *, is_too_long: bool) -> Line:
    return Line(number, None if is_too_long or len(data) > MAX_LINE_BYTES else data, end)


def batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines as they are recorded together: by their number and size alone, so that they fall together again."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        bytes_of_line = len(line.data or b"")
        if batch and (len(batch) == MAX_EVENTS or size + bytes_of_line > MAX_LINE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += bytes_of_line
    if batch:
        yield batch
