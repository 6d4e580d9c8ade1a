"""The clock can be pinned, and garbage in the pin stops everything."""

from __future__ import annotations

import time

import pytest

from provenloop.domain.errors import InternalError
from provenloop.entry.clock import now_ms


@pytest.mark.parametrize("pinned", ["2027-01-15T08:00:00Z", "2027-01-15T09:00:00+01:00", "1800000000000"])
def test_the_clock_stands_at_the_pinned_instant(monkeypatch: pytest.MonkeyPatch, pinned: str) -> None:
    monkeypatch.setenv("PROVENLOOP_NOW", pinned)
    assert now_ms() == 1_800_000_000_000


def test_stepping_the_pin_steps_the_clock_of_a_running_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_NOW", "2027-01-15T08:00:00Z")
    before = now_ms()
    monkeypatch.setenv("PROVENLOOP_NOW", "2027-01-15T07:00:00Z")
    assert before - now_ms() == 3_600_000


@pytest.mark.parametrize("unset", [None, ""])
def test_without_a_pin_it_is_the_wall_clock(monkeypatch: pytest.MonkeyPatch, unset: str | None) -> None:
    monkeypatch.delenv("PROVENLOOP_NOW", raising=False)
    if unset is not None:
        monkeypatch.setenv("PROVENLOOP_NOW", unset)
    before = time.time_ns() // 1_000_000  # noqa: TID251 - held against the real clock
    assert before <= now_ms() <= time.time_ns() // 1_000_000  # noqa: TID251


@pytest.mark.parametrize(
    "garbage",
    [
        "now",
        " ",
        "tomorrow",
        "2027-01-15",
        "2027-01-15T08:00:00",
        "1800000000",
        "-1",
        "1.5",
        "9" * 5000,
        "١٨٠٠٠٠٠٠٠٠٠٠٠",
    ],
)
def test_garbage_in_the_pin_fails_loudly(monkeypatch: pytest.MonkeyPatch, garbage: str) -> None:
    monkeypatch.setenv("PROVENLOOP_NOW", garbage)
    with pytest.raises(InternalError, match="PROVENLOOP_NOW does not name an instant"):
        now_ms()
