"""Steps of a case as what an agent sends.

Every step has ``at`` (relative, an hour before when not given), may have ``as`` (its label) and ``ns``, and one of

| step | value | may have |
|---|---|---|
| fact | [subject, relation, object] | confidence, from, until, occurred, source, tags, replaces, fork |
| note | the text of an observation | until, occurred, replaces, fork |
| skill | [name, proficiency or null, times practised or null] | revision, until, replaces |
| goal | [name, state or null, progress or null] | description, until, replaces |
| event | any JSON | occurred |
| call | the tool; with ``error`` or ``errors`` (one each) it failed, else ``result`` | times, ids, session, signature |
| assemble | [budget, used, dropped] | times, unit |

``replaces`` is the label of what is superseded, ``fork`` allows that it is superseded already. A text may be given as
``{"repeat": text, "times": n}`` with ``before`` and ``after``; in an error ``{n}`` is the number of the occurrence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from provenloop.domain.events import (
    Event,
    FactEvent,
    FreeEvent,
    GoalEvent,
    ObservationEvent,
    SkillEvent,
    StatedEvent,
    SupersedeEvent,
    ToolCallEvent,
)
from provenloop.domain.use_events import AssemblyReport, Report
from tests.precision.bench.times import instant

Step = Mapping[str, Any]
Sent = Event | Report

_COMMON = {"at", "as", "ns"}
_REPLACING = {"until", "replaces"}
_SENT: Mapping[str, set[str]] = {
    "fact": {"confidence", "from", "occurred", "source", "tags", "fork"} | _REPLACING,
    "note": {"occurred", "fork"} | _REPLACING,
    "skill": {"revision"} | _REPLACING,
    "goal": {"description"} | _REPLACING,
    "event": {"occurred"},
    "call": {"error", "errors", "result", "times", "ids", "session", "signature", "until", "occurred"},
    "assemble": {"times", "unit"},
}


def kind_of(step: Step, kinds: Mapping[str, set[str]] = _SENT) -> str | None:
    """Which of the kinds a step is; None for none of them.

    Raises:
        ValueError: it has an option that this kind does not have.
    """
    found = next((kind for kind in kinds if kind in step), None)
    if found is not None:
        odd = step.keys() - kinds[found] - _COMMON - {found}
        if odd:
            raise ValueError(f"{found} has no {sorted(odd)}")
    return found


def sent_by(step: Step, name: str, labelled: Mapping[str, str]) -> list[Sent]:
    """What a step sends.

    Args:
        name: makes the ids of its calls unique.
        labelled: addresses of earlier steps by label.
    """
    kind = kind_of(step)
    if kind is None:
        raise ValueError(f"nothing is sent: {sorted(step)}")
    if kind == "call":
        return list(_calls(step, name))
    if kind == "assemble":
        return list(_reports(step))
    event = _MAKERS[kind](step)
    if "replaces" not in step or isinstance(event, ToolCallEvent):
        return [event]
    return [SupersedeEvent(labelled[step["replaces"]], event, allow_fork=step.get("fork", False))]


def written(value: Any, number: int = 1) -> Any:
    """A value with its texts written out."""
    if isinstance(value, Mapping):
        if "repeat" in value:
            return f"{value.get('before', '')}{value['repeat'] * value['times']}{value.get('after', '')}".replace(
                "{n}", str(number)
            )
        return {name: written(item, number) for name, item in value.items()}
    if isinstance(value, list):
        return [written(item, number) for item in value]
    return value.replace("{n}", str(number)) if isinstance(value, str) else value


def namespace_of(step: Step) -> str:
    """The namespace a step speaks of."""
    return str(step.get("ns", "shared"))


def _fact(step: Step) -> FactEvent:
    subject, relation, value = written(step["fact"])
    return FactEvent(
        namespace_of(step),
        subject,
        relation,
        value,
        confidence=step.get("confidence"),
        valid_from=_when(step, "from"),
        valid_to=_when(step, "until"),
        occurred_at=_when(step, "occurred"),
        source=step.get("source"),
        tags=tuple(step.get("tags", ())),
    )


def _note(step: Step) -> ObservationEvent:
    return ObservationEvent(
        namespace_of(step),
        written(step["note"]),
        valid_to=_when(step, "until"),
        occurred_at=_when(step, "occurred"),
    )


def _skill(step: Step) -> SkillEvent:
    name, proficiency, practised = written(step["skill"])
    return SkillEvent(
        namespace_of(step), name, step.get("revision", 1), proficiency, practised, valid_to=_when(step, "until")
    )


def _goal(step: Step) -> GoalEvent:
    name, state, progress = written(step["goal"])
    told = written(step.get("description"))
    return GoalEvent(namespace_of(step), name, state, progress, told, valid_to=_when(step, "until"))


def _free(step: Step) -> FreeEvent:
    return FreeEvent(namespace_of(step), written(step["event"]), occurred_at=_when(step, "occurred"))


def _calls(step: Step, name: str) -> Iterator[ToolCallEvent]:
    errors = step["errors"] if "errors" in step else [step["error"]] if "error" in step else []
    for number in range(1, step.get("times", len(errors) or 1) + 1):
        said = errors[(number - 1) % len(errors)] if errors else step.get("result", "ok")
        yield ToolCallEvent(
            namespace_of(step),
            written(step["call"]),
            bool(errors),
            written(said, number),
            call_id=step.get("ids", f"{name}-{number}"),
            session=step.get("session"),
            occurred_at=_when(step, "occurred"),
            valid_to=_when(step, "until"),
            signature=step.get("signature"),
        )


def _reports(step: Step) -> Iterator[AssemblyReport]:
    budget, used, dropped = step["assemble"]
    for _ in range(step.get("times", 1)):
        yield AssemblyReport(namespace_of(step), budget, used, dropped, step.get("unit", "tokens"))


def _when(step: Step, name: str) -> int | None:
    return instant(step[name]) if name in step else None


_MAKERS: Mapping[str, Callable[[Step], StatedEvent]] = {
    "fact": _fact,
    "note": _note,
    "skill": _skill,
    "goal": _goal,
    "event": _free,
}
