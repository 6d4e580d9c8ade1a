"""The lifecycle table, every pair of statuses and every role; and how long a refused finding stays quiet."""

from __future__ import annotations

from typing import get_args

import pytest

from provenloop.domain.cooldown import ACKNOWLEDGED_MS, cooldown_ms
from provenloop.domain.errors import IllegalTransitionError
from provenloop.domain.lifecycle import NEW, OPEN, STATUSES, Role, Status, require_step, steps_from

DAY_MS = 86_400_000
ROLES: tuple[Role, ...] = get_args(Role)

ALLOWED = {
    ("", "pending", "engine"),
    ("pending", "pending", "engine"),
    ("pending", "approved", "reviewer"),
    ("pending", "rejected", "reviewer"),
    ("pending", "acknowledged", "reviewer"),
    ("pending", "snoozed", "reviewer"),
    ("pending", "applied", "policy"),
    ("pending", "expired", "engine"),
    ("snoozed", "pending", "engine"),
    ("snoozed", "pending", "reviewer"),
    ("snoozed", "approved", "reviewer"),
    ("snoozed", "rejected", "reviewer"),
    ("snoozed", "acknowledged", "reviewer"),
    ("snoozed", "expired", "engine"),
    ("approved", "applied", "applier"),
    ("approved", "rejected", "reviewer"),
    ("approved", "pending", "engine"),
    ("approved", "expired", "engine"),
    ("applied", "applied", "engine"),
    ("applied", "rolled_back", "applier"),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("before", [NEW, *STATUSES])
def test_a_step_is_allowed_exactly_when_the_table_has_it(before: str, role: Role) -> None:
    for after in STATUSES:
        if (before, after, role) in ALLOWED:
            require_step(before, after, role)
        else:
            with pytest.raises(IllegalTransitionError):
                require_step(before, after, role)


def test_a_refusal_says_the_status_and_what_may_follow() -> None:
    with pytest.raises(
        IllegalTransitionError, match="status is approved; from there only: applied, expired, pending, rejected"
    ):
        require_step("approved", "approved", "reviewer")
    with pytest.raises(IllegalTransitionError, match="status is rejected; from there only: nothing"):
        require_step("rejected", "approved", "reviewer")


def test_every_open_status_can_still_be_decided_and_every_closed_one_is_final_but_for_undoing() -> None:
    decided = {"rejected", "applied", "acknowledged"}
    for status in STATUSES:
        onward = set(steps_from(status))
        assert bool(onward & decided) == (status in OPEN)
        assert status in OPEN or onward == ({"rolled_back"} if status == "applied" else set())


def test_nothing_leads_back_to_new_and_every_status_can_be_reached() -> None:
    reached: set[str] = set()
    frontier = {NEW}
    while frontier:
        reached |= frontier
        frontier = {after for before in frontier for after in steps_from(before)} - reached
    assert reached == {NEW, *STATUSES}


def test_an_unknown_status_goes_nowhere() -> None:
    wanted: Status = "pending"
    with pytest.raises(IllegalTransitionError):
        require_step("open", wanted, "engine")


@pytest.mark.parametrize(
    ("strikes", "days"), [(0, 7), (1, 14), (2, 28), (3, 56), (4, 90), (5, 90), (60, 90), (10_000, 90)]
)
def test_each_strike_doubles_the_quiet_time_up_to_ninety_days(strikes: int, days: int) -> None:
    assert cooldown_ms(strikes) == days * DAY_MS


def test_what_was_acknowledged_is_quiet_for_thirty_days() -> None:
    assert ACKNOWLEDGED_MS == 30 * DAY_MS
