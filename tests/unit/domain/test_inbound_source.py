"""Sources of events without HTTP: what an operator may write, and who they are then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.errors import InternalError, ScopeDeniedError
from provenloop.domain.inbound_source import MAX_SOURCES, read_sources, source_named
from provenloop.domain.principal import is_reserved

ROW = {"name": "shop.orders", "tenant": "acme", "memories": "orders-*"}


def read(*rows: Any) -> Any:
    return read_sources(json.dumps(rows))


def test_a_source_may_write_into_its_memories_and_do_nothing_else() -> None:
    principal = read(ROW)["shop.orders"].principal

    assert (principal.tenant, principal.memories, principal.kind) == ("acme", "orders-*", "service")
    assert principal.scopes == {"write"}
    assert principal.may_use("orders-eu")
    assert not principal.may_use("till")
    assert (principal.id, principal.label, principal.lineage) == (
        "inbound:shop.orders",
        "inbound:shop.orders",
        ("inbound:shop.orders",),
    )


def test_its_kind_and_label_are_what_the_row_says_and_no_token_can_be_labelled_so() -> None:
    principal = read({**ROW, "kind": "agent", "label": "Order desk"})["shop.orders"].principal

    assert (principal.kind, principal.label) == ("agent", "inbound:Order desk")
    for label in ("inbound:Order desk", "INBOUND:x", "\uff49nbound:x"):
        assert is_reserved(label)


@pytest.mark.parametrize(("memories", "only"), [("till", "till"), ("till*", None), ("til?", None), ("*", None)])
def test_a_plain_name_is_the_only_memory(memories: str, only: str | None) -> None:
    assert read({**ROW, "memories": memories})["shop.orders"].only_memory == only


@pytest.mark.parametrize("text", ["", "[]"])
def test_there_may_be_none(text: str) -> None:
    assert read_sources(text) == {}
    with pytest.raises(ScopeDeniedError, match="no source") as told:
        source_named({}, "shop.orders")
    assert told.value.field == "source"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("shop.orders", "row 2 has not the members"),
        ({}, "row 2 has not the members"),
        ({**ROW, "scopes": ["admin"]}, "row 2 has not the members"),
        ({**ROW, "tenant": ""}, "row 2: all members must be texts"),
        ({**ROW, "tenant": 5}, "row 2: all members must be texts"),
        ({**ROW, "tenant": "Acme"}, "row 2, tenant: "),
        ({**ROW, "name": "shop/orders"}, "row 2, name: "),
        ({**ROW, "memories": "orders/*"}, "row 2, memories: "),
        ({**ROW, "kind": "human"}, "row 2, kind: one of agent, service"),
        ({**ROW, "label": "engine:me"}, "row 2, label: "),
        ({**ROW, "label": "Bootstrap"}, "row 2, label: "),
        ({**ROW, "label": "two\nlines"}, "row 2, label: "),
        ({**ROW, "label": " x"}, "row 2, label: "),
        ({**ROW, "label": "x" * 57}, "row 2, label: "),
        ({**ROW, "name": "till"}, "a name stands twice"),
    ],
)
def test_a_table_that_is_wrong_anywhere_is_none_at_all_and_says_where(row: Any, said: str) -> None:
    with pytest.raises(InternalError, match=f"the table of inbound sources: {said}"):
        read({**ROW, "name": "till"}, row)


@pytest.mark.parametrize("text", ["{", "{}", "5", json.dumps([ROW] * (MAX_SOURCES + 1))])
def test_what_is_no_list_of_rows_is_none(text: str) -> None:
    with pytest.raises(InternalError, match="the table of inbound sources: not"):
        read_sources(text)
