"""Instants: what may name one, and the texts made of one.

Invariants: an instant is an int of epoch milliseconds between 2000 and 2200; nothing is guessed. Naive and relative
times, dates alone, digits in quotes and epoch seconds are refused with a reason, never read as something else.
A day is the text ``YYYYMMDD`` in UTC; days sort as texts.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_MS = timedelta(milliseconds=1)
_LAST_MS_OF_MINUTE = 59_999
EARLIEST_MS = (datetime(2000, 1, 1, tzinfo=UTC) - _EPOCH) // _ONE_MS
LATEST_MS = (datetime(2200, 1, 1, tzinfo=UTC) - _EPOCH) // _ONE_MS - 1

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,30}))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?\Z"
)
_DATE_ALONE = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}\Z")
_DIGITS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?\Z")
_DAY = re.compile(r"[0-9]{8}\Z")


class InstantError(ValueError):
    """The value does not name one instant.

    Attributes:
        reason: why, and what would do.
        field: path of the input field, as the caller named it.
    """

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.reason = reason
        self.field = field


def parse_instant(value: object, field: str = "") -> int:
    """Epoch milliseconds of an RFC 3339 text with an offset, or of an int that is epoch milliseconds already.

    Fractions beyond milliseconds are cut off; a leap second becomes the last millisecond of its minute.

    Raises:
        InstantError: anything else, or an instant before 2000 or after 2199.
    """
    if isinstance(value, str):
        at = _from_text(value, field)
    elif isinstance(value, int) and not isinstance(value, bool):
        at = value
    else:
        raise InstantError("give RFC 3339 text with an offset, or a whole number of epoch milliseconds", field)
    if EARLIEST_MS <= at <= LATEST_MS:
        return at
    raise InstantError(_why_implausible(at), field)


def format_instant(at: int) -> str:
    """RFC 3339 in UTC with milliseconds, such as ``2027-01-15T08:00:00.000Z``."""
    return _datetime_of(at).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def utc_day(at: int) -> str:
    """The UTC day of an instant, such as ``20270115``."""
    return _datetime_of(at).strftime("%Y%m%d")


def day_start_ms(day: str) -> int:
    """The first instant of a UTC day, in epoch milliseconds.

    Raises:
        InstantError: ``day`` is not eight digits that name a day.
    """
    if not _DAY.match(day):
        raise InstantError("a day is eight digits, YYYYMMDD")
    try:
        start = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), tzinfo=UTC)
    except ValueError:
        raise InstantError("no such day") from None
    return (start - _EPOCH) // _ONE_MS


def days_before(day: str, n: int) -> str:
    """The day ``n`` days before ``day`` (after it, where ``n`` is negative)."""
    return utc_day(day_start_ms(day) - n * DAY_MS)


def iso_week(at: int) -> str:
    """The ISO week of an instant in UTC, such as ``2027-W02``; its year may differ from the day's."""
    year, week, _ = _datetime_of(at).isocalendar()
    return f"{year:04}-W{week:02}"


def next_week_start_ms(at: int) -> int:
    """The first instant of the ISO week after that of an instant, in epoch milliseconds."""
    days_left = 8 - _datetime_of(at).isoweekday()
    return day_start_ms(utc_day(at)) + days_left * DAY_MS


def _datetime_of(at: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at)


def _from_text(text: str, field: str) -> int:
    match = _RFC3339.match(text)
    if match is None:
        raise InstantError(_why_unreadable(text), field)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, zulu, sign, offset_hour, offset_minute = match.groups()[6:]
    if not zulu and not sign:
        raise InstantError("a time without an offset can mean many instants; add Z or one such as +02:00", field)
    offset = 0 if zulu else _offset_ms(sign, int(offset_hour), int(offset_minute), field)
    in_minute = second * SECOND_MS + int((fraction or "0")[:3].ljust(3, "0"))
    try:
        start = datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        raise InstantError("no such date or time of day", field) from None
    minute_at = (start - _EPOCH) // _ONE_MS - offset
    return minute_at + _within_minute(second, in_minute, minute_at, field)


def _offset_ms(sign: str, hours: int, minutes: int, field: str) -> int:
    if hours > 23 or minutes > 59:
        raise InstantError("no such offset", field)
    return (hours * HOUR_MS + minutes * MINUTE_MS) * (-1 if sign == "-" else 1)


def _within_minute(second: int, in_minute: int, minute_at: int, field: str) -> int:
    if second < 60:
        return in_minute
    if second == 60 and minute_at % DAY_MS == DAY_MS - MINUTE_MS:
        return _LAST_MS_OF_MINUTE
    raise InstantError("no such second", field)


def _why_unreadable(text: str) -> str:
    if _DIGITS.match(text) and not (_DATE_ALONE.match(text) and len(text) == 8):
        return "digits in quotes; give epoch milliseconds as a number, or RFC 3339 text"
    if _DATE_ALONE.match(text):
        return "a date alone is no instant; add a time of day and an offset"
    return "not RFC 3339 with an offset (such as 2027-01-15T08:00:00Z); relative times are not read"


def _why_implausible(at: int) -> str:
    if EARLIEST_MS <= at * SECOND_MS <= LATEST_MS:
        return "this looks like epoch seconds; give milliseconds"
    if EARLIEST_MS <= at // 1_000 <= LATEST_MS or EARLIEST_MS <= at // 1_000_000 <= LATEST_MS:
        return "this looks like epoch micro- or nanoseconds; give milliseconds"
    return "an instant before 2000 or after 2199 is not plausible; leave it out where there is none"
