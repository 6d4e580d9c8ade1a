"""A Merkle root: the published vectors, and no two lists with one root."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.merkle import merkle_root

TEXTS = st.lists(st.text(max_size=4), max_size=9)


def test_roots_are_those_of_rfc_6962() -> None:
    # The tree hash of no entry and of one empty entry, as certificate logs publish them.
    assert merkle_root([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle_root([""]) == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"


def test_inner_nodes_are_built_from_the_left_and_a_lone_one_goes_up() -> None:
    def leaf(text: str) -> bytes:
        return sha256(b"\x00" + text.encode()).digest()

    def node(left: bytes, right: bytes) -> bytes:
        return sha256(b"\x01" + left + right).digest()

    expected = node(node(leaf("a"), leaf("b")), leaf("c"))
    assert merkle_root(["a", "b", "c"]) == expected.hex()


@given(TEXTS, TEXTS)
def test_two_lists_have_one_root_only_if_they_are_equal(one: list[str], other: list[str]) -> None:
    assert (merkle_root(one) == merkle_root(other)) == (one == other)


def test_the_last_of_an_odd_number_does_not_count_twice() -> None:
    assert merkle_root(["a", "b", "c"]) != merkle_root(["a", "b", "c", "c"])
