"""Cheap answers of moto: an attribute value is written as it stands, not looked for under every name it might have.

Moto 5 serializes what it answers by asking each object for every member of its shape, under the member's name and under
several others. An attribute value is a dict with one of ten members, so that nine tenths of that are for nothing, and
more than half of the time of a query with it. What is answered stays the same.
"""

from __future__ import annotations

from typing import Any

_SHAPE = "AttributeValue"
_MARK = "writes_values_plainly"


def answer_plain_values() -> None:
    """Make moto's DynamoDB write attribute values as they stand. Doing it again changes nothing."""
    from moto.core.serialize import BaseJSONSerializer

    serializer: Any = BaseJSONSerializer
    original = serializer._serialize_type_structure  # noqa: SLF001  (moto offers no public way)
    if getattr(original, _MARK, False):
        return

    def serialize_structure(self: Any, serialized: dict[str, Any], value: Any, shape: Any, key: str) -> None:
        if shape.name == _SHAPE and key and type(value) is dict:
            _write_plainly(self, serialized, value, shape, key)
        else:
            original(self, serialized, value, shape, key)

    setattr(serialize_structure, _MARK, True)
    serializer._serialize_type_structure = serialize_structure  # noqa: SLF001


def _write_plainly(serializer: Any, serialized: dict[str, Any], value: dict[str, Any], shape: Any, key: str) -> None:
    written: dict[str, Any] = {}
    for name, part in value.items():
        if part is not None:
            serializer._serialize(written, part, shape.members[name], name)  # noqa: SLF001
    serializer._default_serialize(serialized, written, shape, key)  # noqa: SLF001
