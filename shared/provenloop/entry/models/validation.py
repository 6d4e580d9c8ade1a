"""From a value to a model, and from pydantic's findings to one error of ours that names the field.

Invariants: a message never repeats what was sent; a field path is bounded, whatever the keys that were sent look like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from provenloop.domain.errors import InvalidInputError, LoopError, TooLargeError

M = TypeVar("M", bound=BaseModel)

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_MAX_KEY_SHOWN = 64
#: pydantic names the chosen member of a union in a path; these are no fields.
_UNION_TAGS = frozenset({
    "fact", "tool_call", "observation", "skill", "goal", "event", "supersede", "recall_report", "assembly_report",
})  # fmt: skip
#: A batch over this field's limit is too large rather than ill-formed.
_BATCH_FIELD = ("events",)

_MESSAGES: Mapping[str, str] = {
    "missing": "this field is needed",
    "extra_forbidden": "unknown field",
    "string_pattern_mismatch": "does not have the form it must have",
    "union_tag_not_found": "this field is needed",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "list_type": "must be a JSON array",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}


def read_model(model: type[M], value: object, *, root: str = "body") -> M:
    """The value as a model.

    Args:
        model: the model's class.
        value: what was sent.
        root: what to call the value itself where it is at fault as a whole.

    Raises:
        InvalidInputError: names the first field at fault.
        TooLargeError: more events than a request may hold.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _as_error(error.errors(include_url=False, include_input=False), root) from None


def _as_error(details: Sequence[ErrorDetails], root: str) -> LoopError:
    for detail in details:
        if detail["type"] == "too_long" and detail["loc"] == _BATCH_FIELD:
            return TooLargeError(f"at most {detail['ctx']['max_length']} events a request", field="events")
    first = details[0]
    return InvalidInputError(_message(first), field=_path(first) or root)


def _message(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "union_tag_invalid":
        return f"must be one of {context['expected_tags']}"
    if kind == "literal_error":
        return f"must be one of {context['expected']}"
    return _MESSAGES.get(kind) or detail["msg"]


def _path(detail: ErrorDetails) -> str:
    """A path such as ``events[3].object``, in the names of the wire."""
    path = ""
    for part in _without_tags(detail["loc"]):
        path += _step(part, is_first=not path)
    if detail["type"].startswith("union_tag_"):
        path += _step("kind", is_first=not path)
    return path


def _without_tags(loc: tuple[int | str, ...]) -> list[int | str]:
    return [
        part
        for place, part in enumerate(loc)
        if not (part in _UNION_TAGS and place and (isinstance(loc[place - 1], int) or loc[place - 1] == "with"))
    ]


def _step(part: Any, *, is_first: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if _PLAIN_KEY.match(part):
        return part if is_first else f".{part}"
    return f"[{json.dumps(part[:_MAX_KEY_SHOWN])}]"
