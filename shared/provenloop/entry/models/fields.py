"""Types of single fields: bounded texts, instants, digests.

Invariants: lengths are counted in code points of the text as sent; nothing is trimmed or folded here, since the exact
text is what a grain is identified by. Two exceptions: outer blanks of ``Because`` say nothing, and a ``Namespace`` is
composed (NFC) first, as the other texts of an identity are later. A text that shows nothing is refused wherever a text
is asked for.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from provenloop.domain.instants import InstantError, parse_instant
from provenloop.domain.names import MAX_NAMESPACE_CHARS
from provenloop.domain.questions import MAX_QUESTION_CHARS
from provenloop.domain.text import nfc, normalise

#: Control characters and the two Unicode line separators; line feed and tab are listed apart.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_OR_TAB = re.compile("[\n\t]")
#: What would end or split a segment of a URL path, in which namespaces are named.
_PATH_SEPARATORS = re.compile(r"[/\\?#%]")

MAX_NAME_CHARS = 512
MAX_OBJECT_CHARS = 8192
MAX_TEXT_CHARS = 65_536
MAX_DESCRIPTION_CHARS = 2048
MAX_BECAUSE_CHARS = 500
ADDRESS_PATTERN = "^[0-9a-f]{64}$"


class WireModel(BaseModel):
    """Base of every model: exact types, no unknown fields, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def refusal(reason: str) -> PydanticCustomError:
    """What a validator raises; the text reaches the caller as it is."""
    return PydanticCustomError("refused", "{reason}", {"reason": reason})


def _shows_something(value: str) -> str:
    if not normalise(value):
        raise refusal("blank")
    return value


def no_control(value: str) -> str:
    """The text, unless it holds a control character other than line feed and tab."""
    if _CONTROL.search(value):
        raise refusal("control characters other than line feed and tab are not allowed")
    return value


def one_line(value: str) -> str:
    """The text, unless it holds a control character."""
    if _LINE_OR_TAB.search(value):
        raise refusal("line feeds and tabs are not allowed")
    return no_control(value)


def _no_outer_blanks(value: str) -> str:
    if value != value.strip():
        raise refusal("blanks around it are not allowed")
    return value


def _no_separator(value: str) -> str:
    if _PATH_SEPARATORS.search(value):
        raise refusal("'/', '\\', '?', '#' and '%' are not allowed")
    return _no_outer_blanks(value)


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _composed(value: object) -> object:
    return nfc(value) if isinstance(value, str) else value


def _read_instant(value: object) -> int:
    try:
        return parse_instant(value)
    except InstantError as error:
        raise refusal(error.reason) from error


_Visible = AfterValidator(_shows_something)
_OneLine = AfterValidator(one_line)

#: A name that may hold line feeds and tabs: subjects and relations.
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS), _Visible, AfterValidator(no_control)]
ObjectText = Annotated[str, Field(min_length=1, max_length=MAX_OBJECT_CHARS), _Visible]
LongText = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS), _Visible]
Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARS), _Visible, AfterValidator(no_control)]
#: Never over 8 KB, from which on longer texts are cut.
Description = Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION_CHARS), _Visible]
Tool = Annotated[str, Field(min_length=1, max_length=128), _Visible, _OneLine]
#: An id that the sender made up: a call, a session.
ForeignId = Annotated[str, Field(min_length=1, max_length=128), _Visible, _OneLine]
Line = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS), _Visible, _OneLine]
Tag = Annotated[str, Field(min_length=1, max_length=64), _Visible, _OneLine]
Namespace = Annotated[
    str,
    BeforeValidator(_composed),
    Field(min_length=1, max_length=MAX_NAMESPACE_CHARS),
    _Visible,
    _OneLine,
    AfterValidator(_no_separator),
]
#: What a token is called in lists and in the audit trail.
Label = Annotated[str, Field(min_length=1, max_length=64), _Visible, _OneLine, AfterValidator(_no_outer_blanks)]
Because = Annotated[
    str,
    BeforeValidator(_trimmed),
    Field(min_length=1, max_length=MAX_BECAUSE_CHARS, description="The written reason, outer blanks removed."),
    _Visible,
    AfterValidator(no_control),
]
Address = Annotated[str, Field(pattern=ADDRESS_PATTERN)]
Digest = Annotated[str, Field(pattern=ADDRESS_PATTERN)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

_INSTANT_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "format": "int64"}],
    "description": "RFC 3339 with an offset, or epoch milliseconds.",
}
#: Epoch milliseconds, read from either form.
Instant = Annotated[int, BeforeValidator(_read_instant), WithJsonSchema(_INSTANT_SCHEMA)]
#: An instant as it is answered: RFC 3339 in UTC with milliseconds.
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
