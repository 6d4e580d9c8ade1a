"""Steps that write: grains, supersessions, forks, removals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.parity.runner.drive import Drive, Said
from tests.parity.runner.events import WireEvent, identity, kind_of, replacing, written
from tests.parity.runner.scenarios import Step
from tests.parity.runner.timeline import offset_ms

_BATCH = 90
_AHEAD_MS = 300_000
#: Tool calls at most this far apart go into one request, and each says when it occurred. Of other grains the instant
#: matters at which they are recorded, so each has a request of its own.
_TOGETHER_MS = 1
_TIMED = frozenset({"fact", "tool_call", "observation", "event"})


def write(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``fact``, ``tool_call`` or ``grain`` step."""
    namespace = drive.namespace(step)
    acts: list[tuple[int, WireEvent]] = []
    for act, at in enumerate(drive.times[number]):
        event = written(step, act, namespace)
        if event is not None:
            acts.append((at, _spelt(drive, step, event)))
    spacing = offset_ms(step["every"]) if "every" in step else _TOGETHER_MS
    size = _BATCH if step["op"] == "tool_call" and spacing <= _TOGETHER_MS else 1
    said: list[str] = []
    for start in range(0, len(acts), size):
        answer = _send(drive, number, acts[start : start + size])
        if "error" in answer:
            return answer
        said += [drive.label(step, start + n, address, event) for n, (address, event) in answer["stored"]]
    return {"made": said, "distinct_grains": len(set(said))}


def supersede(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``supersede`` step; one that leaves the identity as it is restates the grain, which is the same one here."""
    old = drive.grain(step["target"])
    event = replacing(step, kind_of(step.get("type") or old.kind), old.namespace, old.address)
    if old.identity is not None and identity(event["with"]) == old.identity:
        answer = _send(drive, number, [(drive.times[number][0], event["with"])])
        if "error" in answer:
            return answer
        drive.grains[step.get("id", step["target"])] = old
        return {"made": [step.get("id", step["target"])]}
    return _replace(drive, number, 0, step, step["target"])


def fork(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``fork`` step: each branch after the first says that it forks."""
    heads: list[str] = []
    for act, branch in enumerate(step["branches"]):
        answer = _replace(drive, number, act, branch, step["target"], allow_fork=act > 0)
        if "error" in answer:
            return answer
        heads += answer["made"]
    return {"heads": heads}


def forget(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``forget`` step."""
    body = {"address": drive.grain(step["target"]).address, "because": step.get("because", "parity")}
    answer = drive.api.send("POST", "/forget", drive.times[number][0], drive.who, body)
    return {"error": answer.refused} if answer.refused else {"ok": True}


def _replace(
    drive: Drive, number: int, act: int, step: Step, target: str, *, allow_fork: bool = False
) -> dict[str, Any]:
    old = drive.grain(target)
    kind = kind_of(step.get("type") or old.kind)
    event = replacing(step, kind, old.namespace, old.address)
    answer = _send(drive, number, [(drive.times[number][act], {**event, "allow_fork": True} if allow_fork else event)])
    if "error" in answer:
        return answer
    return {"made": [drive.label(step, act, address, event["with"]) for _, (address, _) in answer["stored"]]}


def _send(drive: Drive, number: int, acts: Sequence[tuple[int, WireEvent]]) -> dict[str, Any]:
    """One batch, sent at the instant of its last act."""
    now = acts[-1][0]
    run_at = drive.next_run_at(number)
    if run_at is not None and now > run_at + _AHEAD_MS:
        now = run_at
    events = [_dated(event, at) if at != now else event for at, event in acts]
    for event in events:
        drive.served.need_event(event)
    answer = drive.api.send("POST", "/events", now, drive.who, {"events": events})
    if answer.refused:
        return {"error": answer.refused}
    drive.facts += sum(event["kind"] == "fact" for event in events)
    return {"stored": [(n, (row["address"], events[n])) for n, row in enumerate(answer.body["events"])]}


def _dated(event: WireEvent, at: int) -> WireEvent:
    return {**event, "occurred_at": at} if event["kind"] in _TIMED else event


def _spelt(drive: Drive, step: Step, event: WireEvent) -> WireEvent:
    """The event; a fact that was written before is spelt with one blank more, where the scenario wants two grains."""
    if not drive.scenario.twice or event["kind"] != "fact" or step.get("idempotent"):
        return event
    key = tuple(event[name] for name in ("namespace", "subject", "relation", "object"))
    drive.spelt[key] = drive.spelt.get(key, -1) + 1
    return {**event, "object": event["object"] + " " * drive.spelt[key]}
