"""The one table of statuses and steps; a step that is not in it is refused.

Statuses are assigned nowhere else. Who may take a step is named by role: the engine, a reviewer, an applier, or the
host policy. What stays as it is and is told anew (revised, or measured once it is applied) is a step as well.
``steps_from`` feeds the API and the docs, so that they cannot disagree with the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from provenloop.domain.errors import IllegalTransitionError

Status = Literal["pending", "snoozed", "approved", "applied", "rejected", "acknowledged", "rolled_back", "expired"]
Role = Literal["engine", "reviewer", "applier", "policy"]

STATUSES: tuple[Status, ...] = get_args(Status)
#: Open = may still be decided; at most one open recommendation per dedup key.
OPEN: frozenset[Status] = frozenset({"pending", "snoozed", "approved"})
NEW = ""

STEPS: Mapping[tuple[str, str], frozenset[Role]] = {
    (NEW, "pending"): frozenset({"engine"}),
    ("pending", "pending"): frozenset({"engine"}),
    ("pending", "approved"): frozenset({"reviewer"}),
    ("pending", "rejected"): frozenset({"reviewer"}),
    ("pending", "acknowledged"): frozenset({"reviewer"}),
    ("pending", "snoozed"): frozenset({"reviewer"}),
    ("pending", "applied"): frozenset({"policy"}),
    ("pending", "expired"): frozenset({"engine"}),
    ("snoozed", "pending"): frozenset({"engine", "reviewer"}),
    ("snoozed", "approved"): frozenset({"reviewer"}),
    ("snoozed", "rejected"): frozenset({"reviewer"}),
    ("snoozed", "acknowledged"): frozenset({"reviewer"}),
    ("snoozed", "expired"): frozenset({"engine"}),
    ("approved", "applied"): frozenset({"applier"}),
    ("approved", "rejected"): frozenset({"reviewer"}),
    ("approved", "pending"): frozenset({"engine"}),
    ("approved", "expired"): frozenset({"engine"}),
    ("applied", "applied"): frozenset({"engine"}),
    ("applied", "rolled_back"): frozenset({"applier"}),
}


def require_step(current: str, wanted: Status, role: Role) -> None:
    """Refuse unless the table lets ``role`` go from ``current`` to ``wanted``.

    Raises:
        IllegalTransitionError: saying what the status is and what may follow.
    """
    if role in STEPS.get((current, wanted), frozenset()):
        return
    onward = ", ".join(steps_from(current)) or "nothing"
    raise IllegalTransitionError(f"status is {current or 'new'}; from there only: {onward}")


def steps_from(current: str) -> tuple[str, ...]:
    """The statuses that may follow ``current``, sorted, whoever takes the step."""
    return tuple(sorted(after for (before, after) in STEPS if before == current and after != before))
