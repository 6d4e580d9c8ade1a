"""Steps of the loop that decide: decisions, settings, and who acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.parity.runner.api import EVERY_SCOPE, Asker, segment
from tests.parity.runner.cards import our_card, plain_target
from tests.parity.runner.drive import Drive, Said
from tests.parity.runner.scenarios import Step
from tests.parity.runner.served import short

_ABSENT = "no such card"


def config(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``config`` step."""
    analyzer = step["analyzer"] if step.get("exact") else f"loop.{step['analyzer']}/1"
    body: dict[str, Any] = {"analyzer": analyzer}
    if "enabled" in step:
        body["enabled"] = step["enabled"]
    if "params" in step:
        body["parameters"] = step["params"]
    answer = drive.api.send("POST", "/loop/config", drive.times[number][0], drive.who, body)
    return {"error": answer.refused} if answer.refused else {"ok": True}


def decide(drive: Drive, number: int, step: Step) -> Said | None:
    """An ``apply``, ``approve``, ``dismiss`` or ``rollback`` step; applying what is pending approves it as well."""
    at = drive.times[number][0]
    row = chosen(drive, at, step["rec"])
    if row is None:
        return {"ok": False, "error": _ABSENT, "status": None}
    body: dict[str, Any] = {"because": step.get("because", "parity")}
    if step["op"] == "apply" and "allow_destructive" in step:
        body["allow_destructive"] = step["allow_destructive"]
    way = _way(step["op"], row.get("status"))
    path = f"/loop/recommendations/{segment(row['id'])}/{way}"
    answer = drive.api.send("POST", path, at, _asker(drive, step), body)
    after = next((r["status"] for r in drive.api.queue(at, Asker()) if r["id"] == row["id"]), None)
    said = {"ok": answer.refused is None, "status": after, "rec": drive.names.get(row["id"])}
    return {**said, "error": answer.refused} if answer.refused else said


def open_as(drive: Drive, number: int, step: Step) -> Said | None:
    """An ``open`` step: another actor, principal or namespace."""
    if "telemetry" in step:
        drive.watch(step["telemetry"], drive.times[number][0])
    drive.ns = step.get("ns") or drive.ns
    if "actor" in step:
        drive.who = replace(drive.who, label=step["actor"])
    if "principal" in step:
        name = step["principal"]
        scopes = EVERY_SCOPE if name is None else tuple(sorted(drive.grants.get(name, ())))
        drive.who = Asker(name or Asker().label, scopes)
    return None


def nothing(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``clock`` step, of which the times of the acts know; a ``stats`` step, whose counts only the original has."""
    del drive, number, step
    return None


def chosen(drive: Drive, at: int, wanted: Any) -> dict[str, Any] | None:
    """The row of the queue that a step names, or one with nothing but the id it gives."""
    rows = drive.api.queue(at, Asker())
    see(drive, rows)
    if isinstance(wanted, str):
        known = {name: rec for rec, name in drive.names.items()}
        return next((row for row in rows if row["id"] == known.get(wanted)), {"id": wanted})
    fitting = [row for row in rows if _fits(drive, row, wanted)]
    place = int(wanted.get("nth", 0))
    return fitting[place] if place < len(fitting) else None


def see(drive: Drive, rows: list[dict[str, Any]]) -> None:
    """Name recommendations in the order in which they are seen first."""
    for row in rows:
        drive.names.setdefault(row["id"], f"r{len(drive.names) + 1}")


def _fits(drive: Drive, row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    card = our_card(row, drive.labels, drive.namespaces)
    target = wanted.get("target")
    return (
        card.analyzer == short(wanted["analyzer"])
        and wanted.get("status") in (None, card.status)
        and (target is None or plain_target(card.analyzer, target) == card.target)
    )


def _way(operation: str, status: str | None) -> str:
    if operation == "apply":
        return "apply" if status == "approved" else "approve-and-apply"
    return {"approve": "approve", "dismiss": "reject", "rollback": "rollback"}[operation]


def _asker(drive: Drive, step: Step) -> Asker:
    if "scopes" not in step:
        return drive.who
    # A token without any scope cannot be made; one that may only read can decide no more.
    scopes = tuple(name.strip() for name in step["scopes"].split(",") if name.strip()) or ("read",)
    return replace(drive.who, scopes=scopes)
