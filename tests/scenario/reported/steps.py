"""What the tests of reported faults do again and again: ask, configure, look at what waits, and decide it."""

from __future__ import annotations

from typing import Any

from provenloop.services import findings_read
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.recall import Wanted, recall
from provenloop.services.record_use import Telemetry
from tests.builders import Desk


def recalled(desk: Desk, question: str | None = None, *, namespace: str = "shared", **wanted: Any) -> list[str]:
    """Objects or texts of what is recalled, in order; the recall is counted."""
    query = Wanted(namespace, question=question, **wanted)
    rows = recall(desk.store, desk.call(), query, Telemetry("aggregate"))["results"]
    return [str(row.get("object") or row.get("text") or row.get("name") or row.get("body")) for row in rows]


def families(desk: Desk, status: str = "pending") -> list[str]:
    """The analyzers of the findings of a status, without prefix and version, in alphabetical order."""
    return sorted(row["analyzer"].removeprefix("loop.").removesuffix("/1") for row in desk.queue(status))


def found_by_pass(desk: Desk, **options: Any) -> list[str]:
    """Run a pass, and tell the families of what is pending then."""
    desk.run(**options)
    return families(desk)


def shown(desk: Desk, rec_id: str) -> dict[str, Any]:
    """A recommendation as a reviewer sees it."""
    return findings_read.show_recommendation(desk.store, desk.call(), rec_id)


def apply_only(desk: Desk, **more: Any) -> dict[str, Any]:
    """Approve and apply the one finding that is pending."""
    return desk.approve_and_apply(desk.only()["id"], **more)


def set_up(desk: Desk, analyzer: str, **change: Any) -> None:
    """Configure an analyzer of the memory."""
    configure(desk.store, desk.call(), ConfigChange(analyzer=f"loop.{analyzer}", **change), "for this memory")


def live_facts(desk: Desk, subject: str = "sam") -> list[str]:
    """Values of the current facts about a subject, in alphabetical order."""
    return sorted(desk.facts(subject))
