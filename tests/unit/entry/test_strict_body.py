"""What is refused before any field is looked at."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, TooLargeError
from provenloop.entry.strict_body import MAX_BODY_BYTES, Body, read_body


def event(body: str | None, content_type: str | None = "application/json", *, encoded: bool = False) -> dict[str, Any]:
    headers = {} if content_type is None else {"content-type": content_type}
    sent: dict[str, Any] = {"headers": headers, "isBase64Encoded": encoded}
    return sent if body is None else {**sent, "body": body}


def refused(sent: dict[str, Any], *, optional: bool = False) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        read_body(sent, optional=optional)
    return caught.value


def test_a_json_body_comes_with_the_digest_of_its_canonical_text() -> None:
    spaced = read_body(event('{ "b": 1,\n "a": [1.0, "é"] }'), optional=False)
    tight = read_body(event('{"a":[1.0,"\\u00e9"],"b":1}'), optional=False)
    assert spaced == tight
    assert spaced.value == {"a": [1.0, "é"], "b": 1}
    assert len(spaced.digest) == 64


def test_a_base64_body_is_decoded() -> None:
    encoded = base64.b64encode('{"text":"Straße"}'.encode()).decode()
    assert read_body(event(encoded, encoded=True), optional=False).value == {"text": "Straße"}


@pytest.mark.parametrize("missing", [None, ""])
def test_no_body_is_an_empty_object_only_where_that_is_allowed(missing: str | None) -> None:
    assert read_body(event(missing, None), optional=True) == read_body(event("{}"), optional=False) != Body({})
    assert refused(event(missing, None)).field == "body"


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"', "application/json;q=1"],
)
def test_json_may_be_declared_with_parameters(content_type: str) -> None:
    assert read_body(event("{}", content_type), optional=False).value == {}


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/json; charset=latin-1",
    ],
)
def test_a_body_that_is_not_declared_as_json_is_refused(content_type: str | None) -> None:
    assert refused(event("{}", content_type)).field == "content-type"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "body"),
        ("{", "body"),
        ("{} {}", "body"),
        ("nul", "body"),
        ("\ufeff{}", "body"),
        ('{"a": NaN}', "a"),
        ('{"a": [1, Infinity]}', "a[1]"),
        ('{"a": -Infinity}', "a"),
        ('{"a": 1e400}', "a"),
        ('{"a": 1, "a": 2}', "a"),
        ('{"events": [{"text": "x", "text": "y"}]}', "events[0].text"),
        ('{"a": "\\ud800"}', "a"),
        ('{"a": {"b": "x\\udfffy"}}', "a.b"),
        ('{"a": "\ud800"}', "body"),
        ('{"a": ' + "[" * 40 + "]" * 40 + "}", "body"),
        ("[" * 100_000, "body"),
        ('{"a": ' + "1" * 5000 + "}", "a"),
    ],
)
def test_what_json_leaves_open_is_refused_with_its_place(text: str, field: str) -> None:
    assert refused(event(text)).field == field


def test_bytes_that_are_not_utf8_are_refused() -> None:
    encoded = base64.b64encode(b'{"a": "\xff"}').decode()
    assert refused(event(encoded, encoded=True)).field == "body"


@pytest.mark.parametrize("broken", ["{}", "e30", "é", "e30=\n!"])
def test_a_body_that_is_not_base64_as_declared_is_refused(broken: str) -> None:
    assert refused(event(broken, encoded=True)).field == "body"


def test_a_body_may_hold_exactly_the_limit() -> None:
    frame = len('{"a":""}')
    full = '{"a":"' + "x" * (MAX_BODY_BYTES - frame) + '"}'
    assert read_body(event(full), optional=False).digest
    with pytest.raises(TooLargeError) as caught:
        read_body(event(full + " "), optional=False)
    assert caught.value.field == "body"


def test_the_limit_counts_bytes_not_characters() -> None:
    with pytest.raises(TooLargeError):
        read_body(event('{"a":"' + "é" * (MAX_BODY_BYTES // 2) + '"}'), optional=False)


def test_a_base64_body_is_measured_decoded() -> None:
    text = b'{"a":"' + b"x" * (MAX_BODY_BYTES - 100) + b'"}'
    assert read_body(event(base64.b64encode(text).decode(), encoded=True), optional=False).digest
