"""The export of the audit trail: by subject, by time, and in pages that together hold every entry once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.audit import AuditEntry
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.instants import format_instant
from provenloop.services import audit_export
from provenloop.services.audit_export import Span, export_page
from tests.builders import NOW, Desk

FIRST, SECOND, THIRD = "config:memory", "grain:aa", "grain:bb"


def entry(subject: str, n: int, at: int) -> AuditEntry:
    return AuditEntry(subject, n, json.dumps({"subject": subject, "n": n, "at": format_instant(at)}), at)


@pytest.fixture
def trail(desk: Desk) -> list[AuditEntry]:
    """Three chains of four entries that grew by turns, one entry a second."""
    planted = [entry(name, n, NOW + 1000 * (3 * n + place)) for place, name in enumerate((FIRST, SECOND, THIRD))
               for n in range(1, 5)]  # fmt: skip
    desk.plant(*planted)
    return planted


def pages(desk: Desk, **wanted: Any) -> list[list[str]]:
    """The ids of the entries of each page."""
    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = export_page(desk.store, desk.call(), cursor=cursor, **wanted)
        found.append([json.loads(line)["id"] for line in page.lines])
        cursor = page.cursor
        if cursor is None:
            return found


def ids(entries: list[AuditEntry]) -> list[str]:
    return [each.id for each in entries]


def test_a_small_trail_is_one_page_by_subject_and_number(desk: Desk, trail: list[AuditEntry]) -> None:
    assert pages(desk) == [ids(trail)]


@pytest.mark.parametrize("size", [1, 2, 5, 11, 12])
def test_pages_that_end_by_entries_hold_each_entry_once_in_order(
    desk: Desk, trail: list[AuditEntry], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_export, "PAGE_ENTRIES", size)
    found = pages(desk)
    assert [each for page in found for each in page] == ids(trail)
    assert max(map(len, found)) == size


@pytest.mark.parametrize("limit", [1, 170, 400])
def test_pages_that_end_by_bytes_hold_each_entry_once_and_never_more_bytes(
    desk: Desk, trail: list[AuditEntry], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_export, "PAGE_BYTES", limit)
    assert [each for page in pages(desk) for each in page] == ids(trail)
    first = export_page(desk.store, desk.call())
    assert len(first.lines) == 1 or sum(len(line.encode()) + 1 for line in first.lines) <= limit


@pytest.mark.parametrize("size", [1, 3, 100])
def test_one_subject_comes_alone_in_pages_too(desk: Desk, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_export, "PAGE_ENTRIES", size)
    monkeypatch.setattr(audit_export, "chain_name", lambda _store, _call, subject: subject)
    planted = [entry(name, n, NOW) for name in (FIRST, SECOND, THIRD) for n in range(1, 5)]
    desk.plant(*planted)
    assert [each for page in pages(desk, subject=SECOND) for each in page] == ids(planted[4:8])


@pytest.mark.parametrize(("since", "until"), [(None, 7), (7, None), (6, 9), (7, 7), (0, 99)])
@pytest.mark.parametrize("size", [2, 100])
def test_a_span_holds_its_first_instant_and_not_its_last(
    desk: Desk,
    trail: list[AuditEntry],
    since: int | None,
    until: int | None,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit_export, "PAGE_ENTRIES", size)
    low = None if since is None else NOW + 1000 * since
    high = None if until is None else NOW + 1000 * until
    wanted = [each for each in trail if (low is None or each.at >= low) and (high is None or each.at < high)]
    assert [each for page in pages(desk, span=Span(low, high)) for each in page] == ids(wanted)


@pytest.mark.usefixtures("trail")
def test_an_entry_whose_time_cannot_be_read_is_in_every_span(desk: Desk) -> None:
    damaged = AuditEntry(SECOND, 2, "no entry any more", 0)
    desk.plant(damaged)
    assert pages(desk, span=Span(NOW + 99_000, None)) == [[damaged.id]]


@pytest.mark.parametrize("cursor", ["x", "!!!!", "e30", "IzE", "YWJj", "YSM", "A" * 300])
def test_a_made_up_cursor_is_refused(desk: Desk, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        export_page(desk.store, desk.call(), cursor=cursor)
    assert caught.value.field == "cursor"


def test_a_span_that_ends_before_it_begins_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInputError) as caught:
        export_page(desk.store, desk.call(), span=Span(2, 1))
    assert caught.value.field == "until"
