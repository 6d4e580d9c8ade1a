"""What names an instant, what does not, and the texts made of instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.instants import (
    EARLIEST_MS,
    LATEST_MS,
    InstantError,
    day_start_ms,
    days_before,
    format_instant,
    iso_week,
    next_week_start_ms,
    parse_instant,
    utc_day,
)

T0 = 1_800_000_000_000
plausible = st.integers(EARLIEST_MS, LATEST_MS)


def reason_of(value: object) -> str:
    with pytest.raises(InstantError) as caught:
        parse_instant(value, "events[0].occurred_at")
    assert caught.value.field == "events[0].occurred_at"
    assert str(caught.value).startswith("events[0].occurred_at: ")
    return caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-15T08:00:00Z",
        "2027-01-15t08:00:00z",
        "2027-01-15 08:00:00Z",
        "2027-01-15T08:00:00.000Z",
        "2027-01-15T10:00:00+02:00",
        "2027-01-15T13:30:00+05:30",
        "2027-01-14T23:00:00-09:00",
        "2027-01-15T08:00:00.0009999999Z",
        "2027-01-15T08:00:00-00:00",
    ],
)
def test_rfc3339_with_an_offset_names_an_instant(text: str) -> None:
    assert parse_instant(text) == T0


def test_epoch_milliseconds_are_taken_as_they_are() -> None:
    assert parse_instant(T0) == T0


@pytest.mark.parametrize(("fraction", "ms"), [(".5", 500), (".05", 50), (".1239", 123), (".999999999", 999)])
def test_fractions_are_cut_to_milliseconds(fraction: str, ms: int) -> None:
    assert parse_instant(f"2027-01-15T08:00:00{fraction}Z") == T0 + ms


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.7Z", "2017-01-01T05:29:60+05:30"])
def test_a_leap_second_is_the_last_millisecond_of_its_minute(text: str) -> None:
    assert format_instant(parse_instant(text)) == "2016-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("2027-01-15T08:00:00", "offset"),
        ("2027-01-15 08:00:00.123", "offset"),
        ("2027-01-15", "date alone"),
        ("20270115", "date alone"),
        ("yesterday", "relative"),
        ("in 2 hours", "relative"),
        ("now", "relative"),
        ("", "RFC 3339"),
        ("1800000000000", "quotes"),
        ("1800000000", "quotes"),
        ("-1", "quotes"),
        ("2027-01-15T08:00Z", "RFC 3339"),
        ("2027-01-15T08:00:00 Z", "RFC 3339"),
        (" 2027-01-15T08:00:00Z", "RFC 3339"),
        ("2027-01-15T08:00:00Z\n", "RFC 3339"),
        ("٢٠٢٧-٠١-١٥T٠٨:٠٠:٠٠Z", "RFC 3339"),
        ("2027-02-30T08:00:00Z", "no such date"),
        ("2027-01-15T24:00:00Z", "no such date"),
        ("2027-01-15T08:00:61Z", "no such second"),
        ("2027-01-15T08:00:60Z", "no such second"),
        ("2027-01-15T08:00:00+24:00", "no such offset"),
        ("2027-01-15T08:00:00+01:60", "no such offset"),
        ("1999-12-31T23:59:59Z", "plausible"),
        ("9999-12-31T23:59:59Z", "plausible"),
        ("0000-01-01T00:00:00Z", "no such date"),
        (T0 // 1000, "seconds"),
        (T0 * 1000, "micro"),
        (T0 * 1_000_000, "nano"),
        (0, "plausible"),
        (-1, "plausible"),
        (10**30, "plausible"),
        (float(T0), "whole number"),
        (float("nan"), "whole number"),
        (True, "whole number"),
        (None, "whole number"),
        ([T0], "whole number"),
    ],
)
def test_anything_else_is_refused_with_its_reason(value: object, why: str) -> None:
    assert why in reason_of(value)


@given(plausible, st.integers(-14 * 60, 14 * 60))
def test_an_instant_written_in_any_zone_reads_back(at: int, offset_minutes: int) -> None:
    zone = timezone(timedelta(minutes=offset_minutes))
    local = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    assert parse_instant(local.astimezone(zone).isoformat(timespec="milliseconds")) == at
    assert parse_instant(format_instant(at)) == at


@given(plausible)
def test_a_day_holds_its_instants(at: int) -> None:
    start = day_start_ms(utc_day(at))
    assert start <= at < start + 86_400_000
    assert days_before(utc_day(at), 0) == utc_day(at)


@given(plausible, plausible)
def test_days_sort_as_their_instants(one: int, other: int) -> None:
    assert (utc_day(one) < utc_day(other)) == (day_start_ms(utc_day(one)) < day_start_ms(utc_day(other)))


def test_texts_of_an_instant() -> None:
    assert format_instant(T0) == "2027-01-15T08:00:00.000Z"
    assert format_instant(T0 + 1) == "2027-01-15T08:00:00.001Z"
    assert utc_day(T0) == "20270115"
    assert day_start_ms("20270115") == T0 - 8 * 3_600_000


def test_days_are_counted_over_months_and_leap_days() -> None:
    assert days_before("20270115", 29) == "20261217"
    assert days_before("20280301", 1) == "20280229"
    assert days_before("20271231", -1) == "20280101"


@pytest.mark.parametrize("day", ["2027-01-15", "20270230", "2027", "", "٢٠٢٧٠١١٥", "20270115\n"])
def test_what_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(InstantError):
        day_start_ms(day)


@pytest.mark.parametrize(
    ("text", "week"),
    [
        ("2027-01-15T08:00:00Z", "2027-W02"),
        ("2027-01-17T23:59:59.999Z", "2027-W02"),
        ("2027-01-18T00:00:00Z", "2027-W03"),
        ("2027-01-03T12:00:00Z", "2026-W53"),
        ("2024-12-30T00:00:00Z", "2025-W01"),
        ("2027-01-18T01:00:00+02:00", "2027-W02"),
    ],
)
def test_a_week_is_the_iso_week_in_utc(text: str, week: str) -> None:
    assert iso_week(parse_instant(text)) == week


@given(plausible)
def test_the_next_week_starts_at_the_first_instant_with_another_week(at: int) -> None:
    start = next_week_start_ms(at)
    assert at < start <= at + 7 * 86_400_000
    assert iso_week(start - 1) == iso_week(at) != iso_week(start)
