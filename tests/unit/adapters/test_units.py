"""Sizes and capacity units, by the rules and examples AWS publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.dynamodb.units import (
    IndexSpec,
    entry_size,
    index_write_units,
    item_size,
    number_size,
    query_units,
    read_units,
    value_size,
    write_units,
)

if TYPE_CHECKING:
    from decimal import Decimal

KB = 1024


def test_an_item_is_as_large_as_its_names_and_values() -> None:
    # AWS's example of an item: two attributes, 23 bytes.
    assert item_size({"shirt-color": {"S": "R"}, "shirt-size": {"S": "M"}}) == 23


def test_text_counts_in_utf8_in_names_as_well() -> None:
    assert item_size({"é": {"S": "aé€😀"}}) == 2 + 1 + 2 + 3 + 4
    assert value_size({"S": "\ud800"}) == 3


@pytest.mark.parametrize(
    ("number", "size"),
    [
        ("0", 1),
        ("0.00", 1),
        ("5", 2),
        ("27", 2),
        ("273", 3),
        ("-273", 3),
        ("2700", 2),
        ("0.0027", 2),
        ("2.70", 2),
        ("1002", 3),
        ("27E+30", 2),
        ("1" * 38, 20),
        ("1764547200000", 5),
        ("1764547234567", 8),
    ],
)
def test_a_number_takes_a_byte_for_two_significant_digits_and_one_more(number: str, size: int) -> None:
    assert number_size(number) == size


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6), st.integers(0, 20))
def test_zeros_at_either_end_of_a_number_count_nothing(number: Decimal, zeros: int) -> None:
    text = format(number, "f")
    padded = text.replace("-", "-" + "0" * zeros) if number.is_signed() else "0" * zeros + text
    assert number_size(padded + "0" * zeros) == number_size(text)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"NULL": True}, 1),
        ({"BOOL": False}, 1),
        ({"B": b"\x00\x01\x02"}, 3),
        ({"SS": ["ab", "c"]}, 3),
        ({"NS": ["27", "273"]}, 5),
        ({"BS": [b"ab", b""]}, 2),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"N": "5"}]}, 3 + (2 + 1) + (2 + 1)),
        ({"M": {"k": {"S": "ab"}, "nil": {"NULL": True}}}, 3 + (1 + 2 + 1) + (3 + 1 + 1)),
        ({"L": [{"M": {"k": {"L": []}}}]}, 3 + 1 + (3 + (1 + 3 + 1))),
    ],
)
def test_values_of_every_type(value: dict[str, object], size: int) -> None:
    assert value_size(value) == size


def test_a_read_of_8_kb_by_kind() -> None:
    assert read_units(8 * KB, consistent=True) == 2
    assert read_units(8 * KB) == 1
    assert read_units(8 * KB, transactional=True) == 4


def test_reads_round_up_to_4_kb() -> None:
    assert read_units(3500, consistent=True) == read_units(4 * KB, consistent=True) == 1
    assert read_units(10 * KB, consistent=True) == 3
    assert read_units(0, consistent=True) == 1
    assert read_units(0) == 0.5
    assert read_units(0, transactional=True) == 2


def test_items_of_a_batch_are_rounded_one_by_one() -> None:
    assert sum(read_units(size, consistent=True) for size in (1536, 6656)) == 3  # 4 KB + 8 KB
    assert sum(write_units(size) for size in (500, 3584)) == 5  # 1 KB + 4 KB


def test_items_of_a_query_are_rounded_together() -> None:
    assert query_units([int(40.8 * KB)], consistent=True) == 11  # 44 KB
    assert query_units([64] * 1500, consistent=True) == 24  # 96 KB
    assert query_units([2000] * 8) == 2  # eight entries of an index, eventually consistent


def test_writes_round_up_to_1_kb_and_double_in_a_transaction() -> None:
    assert write_units(512) == 1
    assert write_units(2 * KB) == 2
    assert write_units(2 * KB + 1) == 3
    assert write_units(2 * KB, transactional=True) == 4
    assert 3 * write_units(500, transactional=True) == 6
    assert write_units(0) == 1


def test_a_refused_condition_costs_the_larger_of_the_stored_and_the_new_item() -> None:
    assert write_units(max(300 * KB, 310 * KB)) == 310


def test_an_index_entry_carries_keys_and_what_is_projected_and_is_sparse() -> None:
    sizes = {"pk": 10, "sk": 20, "wake": 30, "wake_at": 40, "doc": 50}
    assert entry_size(sizes, IndexSpec("due", ("wake", "wake_at"))) == 100
    assert entry_size(sizes, IndexSpec("due", ("wake", "wake_at"), ("doc", "row"))) == 150
    assert entry_size(sizes, IndexSpec("due", ("wake", "wake_at"), None)) == 150
    assert entry_size(sizes, IndexSpec("queue", ("queue_pk", "queue_sk"))) == 0


@pytest.mark.parametrize(
    ("before", "after", "change", "units"),
    [
        (0, 0, {"moved": False, "changed": True}, 0),  # not in the index
        (0, 1500, {"moved": True, "changed": True}, 2),  # comes
        (1500, 0, {"moved": True, "changed": True}, 2),  # goes
        (1500, 900, {"moved": True, "changed": True}, 3),  # its key changes: one goes, one comes
        (900, 1500, {"moved": False, "changed": True}, 2),  # what it carries changes
        (900, 900, {"moved": False, "changed": False}, 0),  # nothing it carries changes
    ],
)
def test_an_index_is_written_when_its_entry_changes(
    before: int, after: int, change: dict[str, bool], units: int
) -> None:
    assert index_write_units(before, after, **change) == units
