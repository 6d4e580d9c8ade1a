"""Both indexes of vectors keep one contract: what was put is found, inside its scope and space only, nearest first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pytest
from botocore.stub import Stubber

from provenloop.adapters.dynamodb import packed_vectors, packing, table, writes
from provenloop.adapters.dynamodb.items import row_of
from provenloop.adapters.dynamodb.native_vectors import NativeVectorIndex
from provenloop.adapters.dynamodb.packed_vectors import AT_ONCE, ROW_BYTES, PackedVectorIndex
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.units import item_size
from provenloop.domain.errors import InternalError, UnavailableError
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe_vectors import VectorRow
from provenloop.services.ports import WriteRefusedError
from provenloop.services.recipe_ports import VectorIndex
from tests.builders import MEMORY, NOW, CallCounter
from tests.contract.dynamodb.search_vectors import SearchVectors
from tests.faults.tables import TABLE

SCOPE, OTHER_SCOPE = "a" * 32, "b" * 32
SPACE, OTHER_SPACE = "00000001", "00000002"
GATHER = 6
OTHER_MEMORY, OTHER_TENANT = MemoryId("acme", "other"), MemoryId("globex", "demo")


def _unit(angle: float) -> list[float]:
    """A vector of eight dimensions, at that angle (degrees) to the first."""
    return [math.cos(math.radians(angle)), math.sin(math.radians(angle)), *[0.0] * 6]


def _name(number: int) -> str:
    return f"{number:032x}"


def packed_index() -> PackedVectorIndex:
    """One that merges early, for transactions take long here."""
    return PackedVectorIndex(pause=lambda _attempt: None, gather=GATHER)


def _scattered(number: int) -> list[float]:
    """256 numbers in no order."""
    return [byte - 127.5 for part in range(8) for byte in sha256(f"{number} {part}".encode()).digest()]


class Shelf:
    """An index, and the transactions that its users make."""

    def __init__(self, store: DynamoStore, index: VectorIndex) -> None:
        self.store, self.index = store, index

    def put(
        self,
        vectors: Mapping[str, Sequence[float]],
        *,
        memory: MemoryId = MEMORY,
        scope: str = SCOPE,
        space: str = SPACE,
    ) -> None:
        self.store.transact(memory, self.index.putting(memory, scope, space, vectors), NOW)
        self.index.tidy(memory, scope, space, NOW)

    def remove(self, name: str, *spaces: str) -> None:
        writes = self.index.removing(MEMORY, SCOPE, spaces or (SPACE,), name)
        if writes:
            self.store.transact(MEMORY, writes, NOW)

    def near(
        self, angle: float, k: int = 5, *, memory: MemoryId = MEMORY, scope: str = SCOPE, space: str = SPACE
    ) -> list[str]:
        found = self.index.query(memory, scope, space, _unit(angle), k)
        assert [near.similarity for near in found] == sorted((near.similarity for near in found), reverse=True)
        return [near.name for near in found]


@pytest.fixture(params=["packed", "native"])
def shelf(request: pytest.FixtureRequest, store: DynamoStore) -> Iterator[Shelf]:
    if request.param == "packed":
        yield Shelf(store, packed_index())
        return
    with SearchVectors(table.connection().client):
        yield Shelf(store, NativeVectorIndex(TABLE, "vectors"))


def test_the_nearest_are_found_first_with_their_cosine(shelf: Shelf) -> None:
    shelf.put({_name(1): _unit(0), _name(2): _unit(60)})
    shelf.put({_name(3): _unit(30)})

    assert shelf.near(5) == [_name(1), _name(3), _name(2)]
    assert shelf.near(58, k=2) == [_name(2), _name(3)]
    [near] = shelf.index.query(MEMORY, SCOPE, SPACE, _unit(30), 1)
    assert near.name == _name(3)
    assert near.similarity == pytest.approx(1, abs=0.005)


def test_length_makes_no_difference_and_opposites_are_far(shelf: Shelf) -> None:
    shelf.put({_name(1): [8 * part for part in _unit(0)], _name(2): [-part for part in _unit(0)]})
    found = shelf.index.query(MEMORY, SCOPE, SPACE, _unit(0), 5)
    assert [near.similarity for near in found] == pytest.approx([1, -1], abs=0.005)


def test_nothing_is_found_in_another_scope_space_memory_or_tenant(shelf: Shelf) -> None:
    places: list[dict[str, Any]] = [
        {},
        {"scope": OTHER_SCOPE},
        {"space": OTHER_SPACE},
        {"memory": OTHER_MEMORY},
        {"memory": OTHER_TENANT},
    ]
    for number, place in enumerate(places):
        assert shelf.near(0, **place) == []
        shelf.put({_name(number): _unit(0)}, **place)
    for number, place in enumerate(places):
        assert shelf.near(0, **place) == [_name(number)]


def test_what_is_removed_is_found_no_more_and_leaves_no_trace(shelf: Shelf) -> None:
    shelf.put({_name(1): _unit(0), _name(2): _unit(10)})
    shelf.put({_name(1): _unit(0)}, space=OTHER_SPACE)
    assert shelf.near(0) == [_name(1), _name(2)]

    shelf.remove(_name(1), SPACE, OTHER_SPACE)

    assert shelf.near(0) == [_name(2)]
    assert shelf.near(0, space=OTHER_SPACE) == []
    assert [row for row in table.query("T#acme#M#demo#RECIPE") if _name(1) in str(row.serialize())] == []
    shelf.remove(_name(1), SPACE, OTHER_SPACE)
    shelf.put({_name(1): _unit(0)})
    assert shelf.near(0) == [_name(1), _name(2)]


def test_a_vector_is_put_once(shelf: Shelf) -> None:
    writes = shelf.index.putting(MEMORY, SCOPE, SPACE, {_name(1): _unit(0)})
    shelf.store.transact(MEMORY, writes, NOW)
    with pytest.raises(WriteRefusedError):
        shelf.store.transact(MEMORY, writes, NOW)
    assert shelf.near(0) == [_name(1)]


def test_many_puts_and_removals_leave_what_they_should(shelf: Shelf) -> None:
    for start in range(0, 160, 10):
        shelf.put({_name(number): _unit(number / 2) for number in range(start, start + 10)})
    gone = range(100, 140, 7)
    for number in gone:
        shelf.remove(_name(number))

    left = [number for number in range(160) if number not in gone]
    assert shelf.near(0, k=500) == [_name(number) for number in left]
    assert shelf.near(50.1, k=1) == [_name(101)]


@pytest.mark.parametrize("vectors", [{}, {_name(n): _unit(n) for n in range(AT_ONCE + 1)}, {_name(1): [0.0] * 8}])
def test_too_many_vectors_or_one_without_a_direction_are_refused(shelf: Shelf, vectors: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match=r"at once|direction"):
        shelf.index.putting(MEMORY, SCOPE, SPACE, vectors)


def test_no_candidates_are_no_error(shelf: Shelf) -> None:
    assert shelf.index.query(MEMORY, SCOPE, SPACE, [0.0] * 8, 5) == ()
    shelf.put({_name(1): _unit(0)})
    assert shelf.index.query(MEMORY, SCOPE, SPACE, _unit(0), 0) == ()


class TestPacked:
    """What the packed index does beside the contract."""

    @pytest.fixture
    def packed(self, store: DynamoStore) -> Shelf:
        return Shelf(store, packed_index())

    def test_asking_again_reads_one_item_and_a_put_elsewhere_is_seen(self, packed: Shelf) -> None:
        packed.put({_name(number): _unit(number) for number in range(40)})
        packed.near(0)
        with CallCounter(table.connection().client) as calls:
            assert packed.near(0, k=1) == [_name(0)]
        assert calls.names == ["GetItem"]

        elsewhere = Shelf(packed.store, packed_index())
        elsewhere.put({_name(90): _unit(90)})
        with CallCounter(table.connection().client) as calls:
            assert packed.near(90, k=1) == [_name(90)]
        assert calls.names == ["GetItem", "BatchGetItem"]
        elsewhere.remove(_name(90))
        assert packed.near(90, k=1) == [_name(39)]

    def test_small_rows_are_merged_before_they_are_many(self, packed: Shelf) -> None:
        for number in range(3 * GATHER):
            packed.put({_name(number): _unit(number)})
        rows = [row.sk for row in table.query("T#acme#M#demo#RECIPE") if "#R#" in row.sk]
        assert len(rows) < GATHER
        assert packed.near(0, k=500) == [_name(number) for number in range(3 * GATHER)]

    def test_a_merge_that_loses_a_race_changes_nothing(self, packed: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
        def late(*arguments: Any) -> None:
            if raced:
                rival = raced.pop()
                rival.remove(_name(3))
            writes.transact(*arguments)

        raced = [Shelf(packed.store, packed_index())]
        monkeypatch.setattr(packed_vectors, "transact", late)
        for number in range(GATHER):
            packed.put({_name(number): _unit(number)})
        assert raced == []
        assert packed.near(0, k=100) == [_name(number) for number in range(GATHER) if number != 3]

    def test_two_who_put_at_once_do_not_lose_a_vector(self, packed: Shelf) -> None:
        first = packed.index.putting(MEMORY, SCOPE, SPACE, {_name(1): _unit(0)})
        second = packed.index.putting(MEMORY, SCOPE, SPACE, {_name(2): _unit(1)})
        packed.store.transact(MEMORY, second, NOW)
        with pytest.raises(WriteRefusedError):
            packed.store.transact(MEMORY, first, NOW)
        packed.put({_name(1): _unit(0)})
        assert packed.near(0) == [_name(1), _name(2)]

    def test_full_rows_stay_under_the_limit_of_an_item(self, packed: Shelf) -> None:
        for start in range(0, 15 * AT_ONCE, AT_ONCE):
            packed.put({_name(number): _scattered(number) for number in range(start, start + AT_ONCE)})
        packed.put({_name(10_000): _scattered(7)})
        found = packed.index.query(MEMORY, SCOPE, SPACE, _scattered(7), 2)
        assert [near.name for near in found] == [_name(7), _name(10_000)]

        full = ROW_BYTES // 260
        names = [_name(number) for number in range(full)]
        row = VectorRow(SCOPE, SPACE, 1, names=tuple(names), packed=packing.packed(map(_scattered, range(full))))
        assert 200_000 < item_size(row_of(MEMORY, row).serialize()) < 300_000


class TestNative:
    """What the native index does beside the contract."""

    def test_a_search_names_the_scope_and_asks_for_keys_only(self, store: DynamoStore) -> None:
        index = NativeVectorIndex(TABLE, "vectors")
        with SearchVectors(table.connection().client) as fake:
            Shelf(store, index).put({_name(1): _unit(0)})
            index.query(MEMORY, SCOPE, SPACE, _unit(0), 3)
        [asked] = fake.searches
        assert asked == {
            "TableName": TABLE,
            "IndexName": "vectors",
            "SearchVector": [{"N": "1"}, *[{"N": "0"}] * 7],
            "SearchConditionExpression": "vector_pk = :scope",
            "ExpressionAttributeValues": {":scope": {"S": f"T#acme#M#demo#{SCOPE}#{SPACE}"}},
            "ProjectionExpression": "sk",
            "TopK": 3,
        }

    @pytest.mark.parametrize(
        ("code", "error"),
        [("ThrottlingException", UnavailableError), ("InternalServerError", UnavailableError),
         ("ResourceNotFoundException", InternalError)],
    )  # fmt: skip
    def test_an_error_of_the_store_is_one_of_ours(self, store: DynamoStore, code: str, error: type[Exception]) -> None:
        client = table.connection().client
        with Stubber(client) as stubber:
            stubber.add_client_error("search_vectors", code)
            with pytest.raises(error):
                NativeVectorIndex(TABLE, "vectors").query(MEMORY, SCOPE, SPACE, _unit(0), 3)
        assert store is not None
