"""Checking a chain: its entries against each other, against the lifecycle, and against head and status.

A chain of a recommendation takes the steps of the lifecycle's table and no other; what else has a chain (what was
forgotten, the configuration) carries a colon in its subject and has statuses of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.audit import AuditEntry, ChainHead, body_of, head_after
from provenloop.domain.instants import InstantError, parse_instant
from provenloop.domain.lifecycle import STEPS
from provenloop.domain.measured_step import Told, is_measured, proposal_of, told_by


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where a chain does not hold, and why."""

    subject: str
    n: int
    reason: str


def verify_chain(
    subject: str, entries: Iterable[AuditEntry], *, head: ChainHead | None = None, status: str | None = None
) -> Break | None:
    """Check one subject's entries, given in order, against each other and against head and status.

    Returns:
        The first break, or None when the chain holds.
    """
    previous, last_status, told, applied = ChainHead(), "", None, None
    for entry in entries:
        body = body_of(entry) or {}
        reason = _fault(entry, body, subject, previous) or _fault_of_step(subject, body, last_status, told, applied)
        if reason:
            return Break(subject, previous.n + 1, reason)
        if is_measured(body):
            told = told_by(body, told, applied)
        elif body["to"] == "applied":
            applied = proposal_of(body)
        last_status = str(body["to"])
        previous = head_after(entry)
    if head is not None and head != previous:
        return Break(subject, previous.n + 1, "the chain's head names another last entry")
    if status is not None and status != last_status:
        return Break(subject, previous.n, f"the status is {status}, the chain says {last_status or 'nothing'}")
    return None


def _fault(entry: AuditEntry, body: Mapping[str, Any], subject: str, previous: ChainHead) -> str | None:
    """Why ``entry`` cannot follow ``previous``, or None."""
    checks = (
        (isinstance(body.get("to"), str), "the text is not that of an entry"),
        (entry.n == previous.n + 1, "an entry is missing or out of order"),
        (body.get("n") == entry.n, "the text has another number"),
        (entry.subject == subject and body.get("subject") == subject, "the entry belongs to another subject"),
        (body.get("previous") == previous.id, "the link to the previous entry does not hold"),
        (_instant_of(body) == entry.at, "the text has another time"),
    )
    return next((reason for holds, reason in checks if not holds), None)


def _fault_of_step(
    subject: str, body: Mapping[str, Any], last_status: str, told: Told | None, applied: str | None
) -> str | None:
    """Why the step itself cannot be taken, or None."""
    if body.get("from") != last_status:
        return "the step does not start where the last one ended"
    if ":" in subject:
        return None
    if (last_status, body["to"]) not in STEPS:
        return "the lifecycle has no such step"
    if is_measured(body) and told_by(body, told, applied) is None:
        return "no measurement comes to this"
    return None


def _instant_of(body: Mapping[str, Any]) -> int | None:
    try:
        return parse_instant(body.get("at"))
    except InstantError:
        return None
