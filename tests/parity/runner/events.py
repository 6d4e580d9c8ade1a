"""The events that the writing steps of a scenario stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.parity.runner.scenarios import Step
from tests.parity.runner.served import NotServedError
from tests.parity.runner.timeline import resolved

WireEvent = dict[str, Any]

#: Names of the original's fields here, by kind; None: has no counterpart, and says nothing that an analyzer reads.
_FIELDS: Mapping[str, Mapping[str, str | None]] = {
    "fact": {"source_doc": "source", "tags": "tags", "valid_to": "valid_to"},
    "observation": {"content": "text", "body": "text", "valid_to": "valid_to", "subject": None},
    "tool_call": {
        "tool_name": "tool",
        "content": "result",
        "is_error": "is_error",
        "tool_call_id": "call_id",
        "valid_to": "valid_to",
    },
    "skill": {
        "name": "name",
        "confidence": "proficiency",
        "proficiency": "proficiency",
        "practice_count": "practice_count",
        "description": None,
        "valid_to": "valid_to",
    },
    "goal": {"description": "name", "goal_state": "state", "progress": "progress", "valid_to": "valid_to"},
    "event": {"content": "body", "valid_to": "valid_to"},
}
_TRIPLE = ("subject", "relation", "object")
_IDENTITY = {
    "fact": ("namespace", *_TRIPLE),
    "observation": ("namespace", "text"),
    "skill": ("namespace", "name"),
    "goal": ("namespace", "name"),
}
_KIND_OF_TYPE = {"tool": "tool_call"}
_STATES = {"satisfied": "done", "completed": "done", "failed": "dropped", "abandoned": "dropped"}
#: A goal of the original goes by its description, which may be any length; a name is at most this long.
_MAX_NAME_CHARS = 512
DEFAULT_NAMESPACE = "shared"


def namespace_of(name: str | None) -> str:
    """The namespace that stands for one of the original's; a slash, which is refused here, is a dot."""
    return (name or DEFAULT_NAMESPACE).replace("/", ".")


def written(step: Step, number: int, namespace: str) -> WireEvent | None:
    """The event of one act of a ``fact``, ``tool_call`` or ``grain`` step; None where ours has no such grain.

    Args:
        number: of the act within its step, from 0.
        namespace: where the step itself names none.
    """
    event = _WRITERS[step["op"]](step)
    if event is None:
        return None
    index = int(step.get("from", 0)) + number
    placed = {"namespace": namespace_of(step.get("ns") or namespace), **event}
    return {name: _indexed(value, index) for name, value in placed.items() if value is not None}


def replacing(step: Step, kind: str, namespace: str, target: str) -> WireEvent:
    """The event of a ``supersede`` step, or of a branch of a ``fork`` step."""
    event = {"kind": kind, "namespace": namespace, **_mapped(kind, step.get("fields") or {})}
    return {"kind": "supersede", "target": target, "with": event}


def identity(event: WireEvent) -> tuple[str, ...] | None:
    """The texts that make two events one grain; None where every event is a grain of its own."""
    names = _IDENTITY.get(event["kind"])
    return None if names is None else (event["kind"], *(str(event.get(name, "")) for name in names))


def kind_of(type_name: str) -> str:
    """Our kind of the original's grain type."""
    return _KIND_OF_TYPE.get(type_name, type_name)


def _fact(step: Step) -> WireEvent:
    given = {name: step[name] for name in (*_TRIPLE, "confidence") if name in step}
    return {"kind": "fact", **given, **_mapped("fact", step.get("fields") or {})}


def _tool_call(step: Step) -> WireEvent:
    return {
        "kind": "tool_call",
        "tool": step["name"],
        "is_error": bool(step.get("is_error", False)),
        "result": step.get("result"),
        "session": step.get("thread"),
        "call_id": step.get("call_id"),
    }


def _grain(step: Step) -> WireEvent | None:
    kind = kind_of(step["type"])
    if kind == "state":
        return None
    if kind == "tool_call":
        return {"kind": kind, "is_error": False, **_mapped(kind, step["fields"])}
    return {"kind": kind, **_mapped(kind, step.get("fields") or {})}


_WRITERS: Mapping[str, Callable[[Step], WireEvent | None]] = {"fact": _fact, "tool_call": _tool_call, "grain": _grain}


def _mapped(kind: str, fields: Mapping[str, Any]) -> WireEvent:
    """The original's fields under our names."""
    found = {ours: value for name, value in fields.items() for ours, value in _renamed(kind, name, value)}
    if kind == "observation" and "subject" in fields:
        # What an observation is about stands in its text here.
        found["text"] = f"{fields['subject']}: {found['text']}"
    if kind == "goal" and len(found.get("name", "")) > _MAX_NAME_CHARS:
        return {**found, "name": found["name"][:_MAX_NAME_CHARS], "description": found["name"]}
    return found


def _renamed(kind: str, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    names = {**_FIELDS.get(kind, {}), **({part: part for part in _TRIPLE} if kind == "fact" else {})}
    if name not in names:
        raise NotServedError(f"{name} of grains of type {kind}")
    ours = names[name]
    if ours is not None:
        yield ours, _STATES.get(value, value) if ours == "state" else resolved(value)


def _indexed(value: Any, index: int) -> Any:
    return value.replace("{i}", str(index)) if isinstance(value, str) else value
