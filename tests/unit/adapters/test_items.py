"""Every entity goes into an item and comes back the same, whatever its fields hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.dynamodb.codec import decode, encode
from provenloop.adapters.dynamodb.items import FORMS, audit_entry_of, entity_of, key_of, row_of
from provenloop.adapters.dynamodb.keys import Key
from provenloop.adapters.dynamodb.packing import packed
from provenloop.adapters.dynamodb.rows import DEFLATE_OVER_BYTES, ROW_VERSION, Row, pack, unpack
from provenloop.domain.address import ADDRESS_CHARS
from provenloop.domain.audit import AuditEntry, Note
from provenloop.domain.checkpoint import Checkpoint
from provenloop.domain.commit import Change, LogEntry, PassHead
from provenloop.domain.errors import IntegrityError
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import Operation, Proposal
from provenloop.domain.recipe_vectors import VectorItem
from provenloop.domain.recommendation import Recommendation, Summary, Target
from provenloop.domain.records import BeforeImage, Due, RecallRow, Replay, Run, Undo
from provenloop.domain.rollup import AskDay, AssemblyDay, ReadDays, SignatureDay, ToolDay
from provenloop.services.ports import Entity
from tests.builders import MEMORY, NOW, make_grain

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.integers(-(10**15), 10**15)
INSTANTS = st.integers(NOW - 10**11, NOW + 10**11)
RATES = st.floats(0, 1)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(-1e9, 1e9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ADDRESSES = st.text("0123456789abcdef", min_size=ADDRESS_CHARS, max_size=ADDRESS_CHARS)
HEX = st.text("0123456789abcdef", min_size=32, max_size=32)
DAYS = st.dates().filter(lambda day: day.year > 1999).map(lambda day: day.strftime("%Y%m%d"))
BODIES = st.dictionaries(TEXTS, JSON, max_size=4)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: NUMBERS,
    float: RATES,
    bool: st.booleans(),
    bytes: st.binary(max_size=8),
    NoneType: st.none(),
    Any: JSON,
}
#: Fields that cannot hold just anything of their type.
NARROW: dict[tuple[type[Any], str], st.SearchStrategy[Any]] = {
    (Grain, "address"): ADDRESSES,
    (Grain, "body"): BODIES,
    (Grain, "expires_at"): st.none() | INSTANTS.map(lambda at: at // 1000 * 1000),
    (LogEntry, "unreadable"): st.just(False),
    (LogEntry, "seq"): st.integers(1, 10**9),
    (LogEntry, "at"): INSTANTS,
    (ToolDay, "day"): DAYS,
    (SignatureDay, "day"): DAYS,
    (AskDay, "day"): DAYS,
    (AssemblyDay, "day"): DAYS,
    (ReadDays, "days"): st.dictionaries(DAYS, st.integers(1, 99), max_size=3),
    (AuditEntry, "text"): st.text(st.characters(codec="utf-8"), min_size=1),
    (AuditEntry, "n"): st.integers(1, 10**6),
    (Recommendation, "created_at"): INSTANTS,
    (Checkpoint, "horizon_ms"): INSTANTS,
    (Due, "due_at"): INSTANTS,
    (Note, "n"): st.integers(1, 10**6),
    (Run, "at"): INSTANTS,
    (Replay, "at"): INSTANTS,
    (RecallRow, "at"): INSTANTS,
    (VectorItem, "packed"): st.lists(st.floats(-1, 1, width=16).filter(bool), min_size=1, max_size=4).map(
        lambda vector: packed([vector])
    ),
}


def any_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type hint, as the domain's dataclasses use them."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        names = [field.name for field in fields(hint)]
        narrow = {name: NARROW[hint, name] if (hint, name) in NARROW else any_of(hints[name]) for name in names}
        return st.builds(hint, **narrow)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of(*map(any_of, args))
    if origin is tuple:
        return st.lists(any_of(args[0]), max_size=3).map(tuple) if args[-1] is ... else st.tuples(*map(any_of, args))
    if origin is Mapping:
        return st.dictionaries(any_of(args[0]), any_of(args[1]), max_size=3)
    return {frozenset: lambda: st.frozensets(any_of(args[0]), max_size=3)}[origin]()


def stored_and_read(entity: Entity) -> Entity:
    """The entity after a journey through the wire form of its item."""
    return entity_of(Row.from_raw_data(row_of(MEMORY, entity).serialize()))


@pytest.mark.parametrize("cls", [form.cls for form in FORMS], ids=lambda cls: cls.__name__)
def test_an_entity_comes_back_as_it_was(cls: type[Any]) -> None:
    @given(any_of(cls))
    def comes_back(entity: Any) -> None:
        assert stored_and_read(entity) == entity
        assert decode(cls, encode(entity)) == entity

    comes_back()


def test_every_entity_has_one_form_and_no_two_share_a_name() -> None:
    entities = {cls for union in get_args(Entity) for cls in (get_args(union) or (union,))}
    assert entities == {form.cls for form in FORMS}
    assert len({form.name for form in FORMS}) == len(FORMS)


def test_numbers_and_flags_keep_their_type() -> None:
    body = {"one": 1, "float": 1.0, "yes": True, "text": "1", "big": 10**30, "none": None, "small": 1e-7}
    read = stored_and_read(make_grain(body=body))
    assert isinstance(read, Grain)
    assert {name: (type(value), value) for name, value in read.body.items() if name in body} == {
        name: (type(value), value) for name, value in body.items()
    }


def test_fields_added_later_take_their_default_in_items_written_before() -> None:
    head = PassHead(rev=4, folded=7)
    assert decode(PassHead, '{"folded":7,"rev":4}') == head
    assert encode(PassHead()) == "{}"


def test_holes_and_other_numbers_as_keys_survive() -> None:
    head = PassHead(rev=1, holes={3: NOW, 12: NOW + 1}, partial={4: 2}, late=(5,), set_aside=(9,))
    assert stored_and_read(head) == head


def test_a_proposal_survives_with_all_its_operations() -> None:
    steps = tuple(Operation("POINT", target=f"a{n}", into="b", expects={f"a{n}": n, "b": 1}) for n in range(80))
    undo = Undo("rec", 3, (BeforeImage("a", 2, None), BeforeImage("b", 3, {"state": "current", "seq": 1}, 2, 4)))
    assert stored_and_read(undo) == undo
    assert decode(Proposal, encode(Proposal(operations=steps))) == Proposal(operations=steps)


def test_long_documents_are_deflated_and_short_ones_are_not() -> None:
    short, long = (f'"{"x" * (size - 2)}"' for size in (DEFLATE_OVER_BYTES, DEFLATE_OVER_BYTES + 1))
    assert pack(short) == short.encode()
    assert len(pack(long)) < 50
    assert unpack(pack(short)) == short
    assert unpack(pack(long)) == long


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_unpacked_as_it_was_packed(text: str) -> None:
    document = encode(Summary(text))
    assert unpack(pack(document)) == document


def row(**changed: Any) -> Row:
    made = row_of(MEMORY, make_grain())
    for name, value in changed.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "damaged",
    [
        row(type="grain2"),
        row(type="run"),
        row(version=ROW_VERSION + 1),
        row(doc=None),
        row(doc=b"{}"),
        row(doc=b"not json"),
        row(doc=b"[1]"),
        row(doc=b"\x78 no deflate stream"),
        row(doc=b"\xff\xfe"),
        row(stated=None),
        row(last_stated_at=None),
        row(rev=None),
    ],
    ids=lambda damaged: f"{damaged.type} {damaged.version} {damaged.doc!r}"[:40],
)
def test_a_damaged_item_is_an_integrity_error_and_never_guessed_at(damaged: Row) -> None:
    with pytest.raises(IntegrityError):
        entity_of(damaged)


@pytest.mark.parametrize(
    ("changed", "read"),
    [
        ({"text": None}, AuditEntry("rec", 1, "", NOW)),
        ({"doc": None}, AuditEntry("rec", 1, "{}", 0)),
        ({"doc": b"{}"}, AuditEntry("rec", 1, "{}", 0)),
        ({"doc": b"7"}, AuditEntry("rec", 1, "{}", 0)),
        ({"doc": b"\x78junk"}, AuditEntry("rec", 1, "{}", 0)),
        ({"sk": "rec#junk"}, AuditEntry("rec#junk", 0, "{}", NOW)),
        ({"sk": "rec"}, AuditEntry("rec", 0, "{}", NOW)),
        ({"sk": "7"}, AuditEntry("", 7, "{}", NOW)),
        ({"type": "grain"}, AuditEntry("rec", 1, "{}", NOW)),
    ],
)
def test_a_damaged_audit_item_is_read_as_what_stands_in_its_place(changed: dict[str, Any], read: AuditEntry) -> None:
    made = row_of(MEMORY, AuditEntry("rec", 1, "{}", NOW))
    for name, value in changed.items():
        setattr(made, name, value)
    assert audit_entry_of(made) == read


def test_an_integrity_error_shows_nothing_of_what_is_stored() -> None:
    with pytest.raises(IntegrityError) as caught:
        entity_of(row(doc=b'{"body": "my secret"}'))
    assert "secret" not in str(caught.value)


def test_items_of_two_memories_and_tenants_never_share_a_key() -> None:
    memories = [MemoryId("acme", "demo"), MemoryId("acme", "demo2"), MemoryId("acme2", "demo")]
    grain = make_grain()
    assert len({key_of(memory, grain) for memory in memories}) == len(memories)
    assert key_of(MEMORY, grain) == Key("T#acme#M#demo#GRAIN", grain.address)


def test_each_class_of_items_has_a_partition_of_its_own() -> None:
    rec = Recommendation(
        "r", "d", "f", "g", 0, "a/1", {}, "builtin", "shared", Target("entity", ("x",)), Summary("t"), "low",
        Proposal(), "digest", destructive=False, rollbackable=False, evidence=(), count=1, confidence=0.5,
        created_at=NOW, updated_at=NOW, expires_at=NOW, creators=("engine",),
    )  # fmt: skip
    change = Change("add", "fact", "a" * 64, "shared")
    examples: list[Entity] = [make_grain(), LogEntry(1, "c", NOW, "ann", (change,)), rec, AuditEntry("r", 1, "{}", NOW)]
    assert [row_of(MEMORY, entity).pk.rsplit("#", 1)[1] for entity in examples] == ["GRAIN", "LOG", "LOOP", "AUDIT"]
    low, high = (row_of(MEMORY, replace(rec, severity=severity)) for severity in ("low", "high"))
    assert (low.queue_pk, high.queue_sk < low.queue_sk) == ("T#acme#M#demo#Q#pending", True)
