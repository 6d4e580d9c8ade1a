"""Lines of a file read in blocks: the same whatever the blocks, and from wherever reading goes on."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.services import file_lines
from provenloop.services.file_lines import MAX_LINE_BYTES, Line, batches, lines_from
from provenloop.services.inbox_port import Block

TEXTS = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"", b"0123456789", b"\n\n"]), max_size=30).map(b"".join)
SHORT = 6


class Blocks:
    """A file in blocks of one size; counts the bytes that were asked for."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size, self.read = data, size, 0

    def __call__(self, offset: int) -> Block:
        part = self.data[offset : offset + self.size]
        self.read += len(part)
        return Block(part, offset + len(part) >= len(self.data))


@given(data=TEXTS, size=st.integers(1, 12))
def test_every_line_is_read_once_in_order_with_its_number_and_where_it_ends(data: bytes, size: int) -> None:
    lines = list(lines_from(Blocks(data, size), 0, 0))

    whole = data.removesuffix(b"\n") if data.endswith(b"\n") else data
    assert [line.data for line in lines] == (whole.split(b"\n") if data else [])
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert [line.end for line in lines] == [
        min(sum(len(each.data or b"") + 1 for each in lines[:count]), len(data)) for count in range(1, len(lines) + 1)
    ]


@given(data=TEXTS, size=st.integers(1, 12), limit=st.just(SHORT))
def test_a_line_over_the_limit_is_known_by_its_place_and_kept_by_nobody(data: bytes, size: int, limit: int) -> None:
    with patch.object(file_lines, "MAX_LINE_BYTES", limit):
        lines = list(lines_from(Blocks(data, size), 0, 0))

    whole = list(lines_from(Blocks(data, size), 0, 0))
    assert [(line.number, line.end) for line in lines] == [(line.number, line.end) for line in whole]
    assert [line.data for line in lines] == [each.data if len(each.data or b"") <= limit else None for each in whole]


@given(data=TEXTS, size=st.integers(1, 12), limit=st.sampled_from([SHORT, MAX_LINE_BYTES]))
def test_read_on_from_any_line_it_goes_on_with_the_next(data: bytes, size: int, limit: int) -> None:
    with patch.object(file_lines, "MAX_LINE_BYTES", limit):
        lines = list(lines_from(Blocks(data, size), 0, 0))
        for count, line in enumerate(lines, 1):
            assert list(lines_from(Blocks(data, size), line.end, line.number)) == lines[count:]


def test_a_line_without_end_is_passed_over_and_each_byte_asked_for_once() -> None:
    blocks = Blocks(b"x" * 5_000_000 + b"\nlast", 1 << 20)

    assert list(lines_from(blocks, 0, 0)) == [Line(1, None, 5_000_001), Line(2, b"last", 5_000_005)]
    assert blocks.read == 5_000_005


@given(sizes=st.lists(st.integers(0, 8), max_size=30))
def test_lines_fall_together_by_number_and_size_and_none_is_left_out(sizes: list[int]) -> None:
    lines = [Line(number, b"x" * size, 0) for number, size in enumerate(sizes, 1)]
    with patch.object(file_lines, "MAX_LINE_BYTES", 12), patch.object(file_lines, "MAX_EVENTS", 4):
        made = list(batches(lines))

    assert [line for batch in made for line in batch] == lines
    for batch in made:
        assert 1 <= len(batch) <= 4
        assert len(batch) == 1 or sum(len(line.data or b"") for line in batch) <= 12
    for batch, following in pairwise(made):
        assert len(batch) == 4 or sum(len(line.data or b"") for line in [*batch, following[0]]) > 12


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\n"])
def test_nothing_comes_after_the_end(data: bytes) -> None:
    assert list(lines_from(Blocks(data, 4), len(data), 7)) == []
