"""Scopes: every part counts, none is filled in."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import RecipeScope
from provenloop.recipes.scope import PARTS, parse_scope, require_scope_of, scope_key

MEMORY = MemoryId("acme", "demo")
_PART = st.none() | st.sampled_from(["a", "b", "a,b", '"', "a b"])
_SCOPES = st.builds(RecipeScope, agent=_PART, intent=_PART, state_hash=_PART, user=_PART)


@given(_SCOPES, _SCOPES)
def test_two_scopes_have_one_key_only_if_they_are_one(left: RecipeScope, right: RecipeScope) -> None:
    assert (scope_key(MEMORY, left) == scope_key(MEMORY, right)) == (left == right)


def test_the_same_scope_of_another_memory_or_tenant_has_another_key() -> None:
    scope = RecipeScope("helpdesk")
    memories = [MEMORY, MemoryId("acme", "other"), MemoryId("globex", "demo")]
    assert len({scope_key(memory, scope) for memory in memories}) == 3


def test_a_scope_is_read_as_declared() -> None:
    given_parts = {"agent": "helpdesk", "user": "ann", "intent": None}
    assert parse_scope(given_parts) == RecipeScope(agent="helpdesk", user="ann")


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        (None, "scope"),
        ({}, "scope"),
        ({"intent": "refund"}, "scope"),
        ({"user": "ann"}, "scope"),
        ({"agent": ""}, "scope.agent"),
        ({"agent": "  "}, "scope.agent"),
        ({"agent": 7}, "scope.agent"),
        ({"agent": "a" * 257}, "scope.agent"),
        ({"agent": "a\nb"}, "scope.agent"),
        ({"agent": "a", "tenant": "globex"}, "scope.tenant"),
        ({"agent": "a", "memory": "other"}, "scope.memory"),
    ],
)
def test_a_scope_that_says_too_little_or_something_else_is_refused(declared: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_scope(declared)
    assert refused.value.field == field


def test_an_answer_needs_its_agent_and_a_procedure_its_state() -> None:
    require_scope_of("answer", RecipeScope(agent="helpdesk"))
    require_scope_of("procedure", RecipeScope(state_hash="5f"))
    with pytest.raises(InvalidInputError, match="agent"):
        require_scope_of("answer", RecipeScope(state_hash="5f"))
    with pytest.raises(InvalidInputError, match="state"):
        require_scope_of("procedure", RecipeScope(agent="helpdesk"))


def test_the_parts_are_those_of_the_design() -> None:
    assert PARTS == ("agent", "intent", "state_hash", "user")
    assert len({scope_key(MEMORY, RecipeScope(**{part: "x"})) for part in PARTS}) == len(list(itertools.chain(PARTS)))
