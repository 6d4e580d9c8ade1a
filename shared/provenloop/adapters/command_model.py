"""A model behind a command of this machine, as ``services.model_port.ModelProvider``; for local stacks only.

Each call is one process that reads one JSON object and writes one: ``{"loop": 1, "op": ..., "instructions": ...}`` with
the fields of the stage. What is quoted for other providers becomes those fields again, so what others wrote and what is
ours stay apart here too. Before it is first asked, the command is asked for the name of its model (``op`` is
``probe``).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from time import monotonic
from typing import Any

from provenloop.adapters.bounded_process import ProcessFailure, run_bounded
from provenloop.adapters.model_reading import name_of, object_of
from provenloop.domain.errors import InternalError
from provenloop.domain.model_cost import Usage
from provenloop.domain.quoting import Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest

VERSION = 1
MAX_BYTES = 2_000_000
#: The name of a model whose command tells none.
UNSPECIFIED = "unspecified"
#: The fields that hold the items of a group; other groups go by their own name.
_FIELDS = {"brief": "findings", "claim": "claims", "finding": "findings"}


class CommandModel:
    """Implements ``services.model_port.ModelProvider``. It uses no key that it is given, and tells of no tokens.

    Args:
        command: the program and its arguments, divided as a shell does; no shell runs.
        environment: all variables that the program sees.

    Raises:
        InternalError: the command is empty, or a quotation mark in it is never closed.
    """

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        self._argv = _divided(command)
        self._environment = environment
        self._name: str | None = None

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:  # noqa: ARG002 - see above
        """See ``ModelProvider``."""
        ends_at = monotonic() + request.timeout_ms / 1000
        name = self._probed(ends_at)
        if isinstance(name, ModelFailure):
            return name
        told = self._run(_envelope(request), ends_at)
        if isinstance(told, ModelFailure):
            return told
        value = object_of(told)
        if value is None:
            return ModelFailure("parse", model=name, empty=not told)
        return ModelAnswer(value, told, Usage(), name)

    def _probed(self, ends_at: float) -> str | ModelFailure:
        """The name of the model, asked for once."""
        if self._name is None:
            told = self._run({"loop": VERSION, "op": "probe"}, ends_at)
            if isinstance(told, ModelFailure):
                return told
            value = object_of(told)
            if value is None:
                return ModelFailure("parse", empty=not told)
            self._name = name_of(value.get("model"), UNSPECIFIED)
        return self._name

    def _run(self, question: Mapping[str, Any], ends_at: float) -> str | ModelFailure:
        """What the command says, without blanks around it."""
        sent = json.dumps(question).encode()
        left = max(ends_at - monotonic(), 0)
        told = run_bounded(self._argv, sent, timeout_s=left, max_bytes=MAX_BYTES, environment=self._environment)
        if isinstance(told, ProcessFailure):
            return _failure(told)
        try:
            return told.decode().strip()
        except UnicodeDecodeError:
            return ModelFailure("parse")


def _divided(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InternalError("the command of the model cannot be divided into arguments") from error
    if not argv:
        raise InternalError("the command of the model is empty")
    return argv


def _envelope(request: ModelRequest) -> dict[str, Any]:
    """The question. A list that would be empty is left out."""
    fields: dict[str, list[Any]] = {}
    for part in request.quoted:
        group, _, name = part.label.partition(":")
        fields.setdefault(_FIELDS.get(group, group), []).append(_item(group, name, part))
    return {"loop": VERSION, "op": request.op, "instructions": request.instructions, **fields}


def _item(group: str, name: str, part: Quoted) -> Any:
    """The fields that were quoted; evidence also with the name by which it is cited."""
    item = object_of(part.shown)
    if item is None:
        return part.shown
    return {"hash": name, **item} if group == "evidence" else item


def _failure(failure: ProcessFailure) -> ModelFailure:
    if failure.kind == "timeout":
        return ModelFailure("network", timed_out=True)
    return ModelFailure("unknown")
