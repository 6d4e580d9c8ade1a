"""Addresses: pinned by golden vectors, exact where identity is exact, folded where spellings of one thing meet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.address import Addresses, cluster_of, is_address, relation_of
from provenloop.domain.grain import GrainDraft
from provenloop.domain.prepare import prepare
from provenloop.domain.text import normalise, normalise_relation
from tests.builders import KEY, NOW, make_observation, make_tool_call

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("address_vectors.json").read_text(encoding="utf-8"))
ADDRESSES = Addresses(KEY)


def draft(
    namespace: str = "shared", topic: str = "sam", relation: str = "lives_in", value: str = "Berlin", kind: Any = "fact"
) -> GrainDraft:
    return GrainDraft(kind, namespace, topic, relation, (topic, relation, value), {})


def address(*parts: str, **more: str) -> str:
    return ADDRESSES.address(draft(*parts, **more))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["what"])
def test_stored_addresses_stay_what_they_are(vector: dict[str, Any]) -> None:
    given_draft = GrainDraft(**{**vector["draft"], "identity": vector["draft"]["identity"], "body": {}})

    made = Addresses(bytes.fromhex(vector["key"])).address(given_draft, tuple(vector["occurrence"]))

    assert made == vector["address"]


def test_the_vectors_are_all_different_but_for_the_spellings_of_one_fact() -> None:
    made = [vector["address"] for vector in VECTORS]
    assert len(set(made)) == len(made)
    assert len(made) >= 12


def test_an_address_is_64_lower_case_hex_digits() -> None:
    made = address()
    assert is_address(made)
    assert not is_address(made.upper())
    assert not is_address(made[:-1])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("a", "b/c"), ("a/b", "c")),
        (("a", "b#c"), ("a#b", "c")),
        (("a", 'b","c'), ('a","b', "c")),
        (("a\u001fb", "c"), ("a", "b\u001fc")),
        (("a", ""), ("", "a")),
    ],
)
def test_separators_inside_names_cannot_make_two_entities_one(left: tuple[str, str], right: tuple[str, str]) -> None:
    assert ADDRESSES.entity_prefix("fact", *left) != ADDRESSES.entity_prefix("fact", *right)
    assert address(*left) != address(*right)


def test_spellings_of_a_subject_share_the_entity_and_stay_two_facts() -> None:
    spellings = ["Straße", "STRASSE", "strasse", " straße ", "ｓｔｒａｓｓｅ"]
    assert len({address(topic=spelling)[:8] for spelling in spellings}) == 1
    assert len({address(topic=spelling) for spelling in spellings}) == len(spellings)


def test_letters_that_differ_to_a_reader_stay_two_entities() -> None:
    assert address(topic="Żubr")[:8] != address(topic="Zubr")[:8]


@pytest.mark.parametrize("spelling", ["livesIn", "lives-in", "Lives In", "LIVES_IN", "lives__in"])
def test_spellings_of_a_relation_share_the_cluster(spelling: str) -> None:
    assert cluster_of(address(relation=spelling)) == cluster_of(address(relation="lives_in"))
    assert relation_of(address(relation=spelling)) == ADDRESSES.relation_part("lives_in")


def test_namespaces_are_exact() -> None:
    assert address(namespace="Team")[:8] != address(namespace="team")[:8]


def test_kinds_are_apart() -> None:
    assert address(kind="fact")[:8] != address(kind="observation")[:8]


def test_canonically_equal_texts_are_one_fact() -> None:
    assert address(value="Zürich") == address(value="Zu\u0308rich")


def test_another_key_gives_other_addresses_everywhere() -> None:
    other = Addresses(bytes(32)).address(draft())
    assert other[:8] != address()[:8]
    assert other[16:] != address()[16:]


def test_a_draft_without_identity_takes_that_of_its_occurrence() -> None:
    call = prepare(make_tool_call(), NOW).draft
    assert call.identity is None
    first = ADDRESSES.address(call, ("demo", "p-ann", "request-1", "0"))
    assert first != ADDRESSES.address(call, ("demo", "p-ann", "request-1", "1"))
    assert first == ADDRESSES.address(call, ("demo", "p-ann", "request-1", "0"))
    assert first[:16] == ADDRESSES.address(prepare(make_tool_call("c1"), NOW).draft)[:16]


def test_a_call_id_belongs_to_its_tool_and_namespace() -> None:
    def of(**more: str) -> str:
        return ADDRESSES.address(prepare(make_tool_call("c1", **more), NOW).draft)

    assert len({of(), of(tool="other"), of(namespace="other")}) == 3
    assert of(tool="Refund ") == of(tool="refund")


def test_an_observation_is_its_text() -> None:
    def of(text: str, **more: str) -> str:
        return ADDRESSES.address(prepare(make_observation(text, **more), NOW).draft)

    assert of("open") == of("open", source="door")
    assert of("open") != of("Open")


NAMES = st.text(min_size=1, max_size=12)


@given(NAMES, NAMES, NAMES, NAMES, NAMES, NAMES)
def test_two_facts_share_a_prefix_exactly_when_their_folded_names_agree(
    namespace: str, subject: str, relation: str, namespace_2: str, subject_2: str, relation_2: str
) -> None:
    first, second = address(namespace, subject, relation), address(namespace_2, subject_2, relation_2)
    same_entity = (namespace, normalise(subject)) == (namespace_2, normalise(subject_2))
    same_relation = normalise_relation(relation) == normalise_relation(relation_2)
    assert (first[:8] == second[:8]) == same_entity
    assert (first[8:16] == second[8:16]) == same_relation
