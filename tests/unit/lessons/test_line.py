"""A reported line: what is refused by name, what is trimmed, replaced or taken out, and what is never cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError, LoopError, TooLargeError
from provenloop.lessons.line import (
    KEPT_DETAIL_CHARS,
    MAX_DETAIL_BYTES,
    SOURCES,
    checked,
    is_source,
    kept_detail,
    statement_of,
)
from tests.lessons import make_line


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_that_comes_with_provenloop_is_kept(source: str) -> None:
    line = checked(make_line(source=source))
    assert (line.source, is_source(source)) == (source, True)


@pytest.mark.parametrize(
    ("given_", "kept", "replaced"),
    [
        ("my-own-guard", "my-own-guard", False),
        ("  danger-guard\n", "danger-guard", False),
        ("x" * 64, "x" * 64, False),
        (" " + "x" * 64 + " ", "x" * 64, False),
        ("x" * 65, "manual", True),
        ("", "manual", True),
        (" \t ", "manual", True),
    ],
)
def test_a_source_is_trimmed_and_where_it_is_none_it_is_manual(given_: str, kept: str, replaced: bool) -> None:
    line = checked(make_line(source=given_))
    assert (line.source, is_source(given_)) == (kept, not replaced)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("project", "", InvalidInputError),
        ("project", " \u00a0\u200b ", InvalidInputError),
        ("category", "\n", InvalidInputError),
        ("signature", "   ", InvalidInputError),
        ("detail", " \n ", InvalidInputError),
        ("project", "p" * 513, InvalidInputError),
        ("category", "c" * 513, InvalidInputError),
        ("signature", "s" * 513, InvalidInputError),
        ("statement", "s" * 2001, InvalidInputError),
        ("detail", "d" * (MAX_DETAIL_BYTES + 1), TooLargeError),
        ("detail", "\u20ac" * (MAX_DETAIL_BYTES // 3 + 1), TooLargeError),
    ],
)
def test_what_is_wrong_is_named(field: str, value: str, error: type[LoopError]) -> None:
    with pytest.raises(error) as caught:
        checked(make_line(**{field: value}))
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["target", "signature"])
def test_too_long_evidence_is_named(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        checked(make_line(evidence={name: "x" * 513}))
    assert caught.value.field == f"evidence.{name}"


def test_a_detail_of_200_kb_is_kept_whole() -> None:
    detail = "d" * MAX_DETAIL_BYTES
    assert checked(make_line(detail)).detail == detail


@pytest.mark.parametrize(
    ("text", "kept"),
    [(None, None), ("", None), (" \n\t", None), ("  look first \n", "look first"), ("x" * 2000, "x" * 2000)],
)
def test_a_statement_is_trimmed_and_a_blank_one_was_not_given(text: str | None, kept: str | None) -> None:
    assert statement_of(text) == kept
    assert checked(make_line(statement=text)).statement == kept


@pytest.mark.parametrize(("field", "value"), [("target", ""), ("signature", " ")])
def test_blank_evidence_was_not_given(field: str, value: str) -> None:
    assert getattr(checked(make_line(evidence={field: value})).evidence, field) is None


@given(st.text(max_size=KEPT_DETAIL_CHARS + 40))
def test_evidence_keeps_at_most_2000_characters_and_says_where_it_is_cut(detail: str) -> None:
    kept = kept_detail(detail)
    assert len(kept) <= KEPT_DETAIL_CHARS
    assert kept == detail or (kept.endswith("…") and detail.startswith(kept[:-1]) and len(detail) > KEPT_DETAIL_CHARS)


SECRET = "sk-" + "ant-api03-" + "Ab1" * 30


@pytest.mark.parametrize(
    "place",
    [
        {"detail": f"it read {SECRET}"},
        {"signature": f"cat {SECRET}"},
        {"statement": f"never print {SECRET}"},
        {"evidence": {"target": f"/srv/{SECRET}"}},
        {"project": f"p {SECRET}"},
    ],
)
def test_secrets_are_taken_out_of_every_text_and_counted(place: dict[str, Any]) -> None:
    line = checked(make_line(**place))
    assert SECRET not in str(line.body(None, "report", just_ready=False))
    assert sum(line.redacted.values()) == 1
