"""State machines, the topics they write to, and rules of a bus: what the emulator needs to carry them out.

Invariants: a state machine runs in the emulator's interpreter on its own threads, and its waits take real time,
whatever the stack's clock says; its tasks are the stack's functions, called by name through the hook that
``answering_invocations`` puts in front of the emulator. An error of a function reaches the workflow by the name of its
class, as Lambda reports it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import boto3
from botocore.awsrequest import AWSResponse
from botocore.handlers import BUILTIN_HANDLERS, REGISTER_FIRST

from provenloop.entry.local.functions import Invocation, StoppedError
from provenloop.entry.local.intrinsics import TemplateError, text_of
from provenloop.entry.local.template import Template

STATE_MACHINE = "AWS::Serverless::StateMachine"
TOPIC = "AWS::SNS::Topic"

_EVENT = "before-send.lambda.Invoke"
_HOOK = "provenloop-local-invoke"
_ANSWERS_JSON = {"Content-Type": "application/json"}
_FUNCTION_ERROR = {"X-Amz-Function-Error": "Unhandled"}


@dataclass(frozen=True, slots=True)
class StateMachine:
    """A state machine; ``definition`` is its text with everything substituted."""

    name: str
    arn: str
    definition: str


def state_machines(template: Template) -> tuple[StateMachine, ...]:
    """The template's state machines."""
    found = []
    for resource in template.of_kind(STATE_MACHINE):
        text = (template.folder / str(resource.need("DefinitionUri"))).read_text(encoding="utf-8")
        for name, value in resource.get("DefinitionSubstitutions", {}).items():
            text = text.replace(f"${{{name}}}", text_of(value))
        if "${" in text:
            raise TemplateError(f"{resource.logical_id}: the definition holds a place that nothing is put into")
        arn = template.ref(resource.logical_id)
        found.append(StateMachine(template.attribute(resource.logical_id, "Name"), arn, text))
    return tuple(found)


def topics(template: Template) -> tuple[str, ...]:
    """Names of the template's topics."""
    return tuple(template.attribute(resource.logical_id, "TopicName") for resource in template.of_kind(TOPIC))


@contextmanager
def answering_invocations(invoke: Callable[[str, Any], Invocation]) -> Iterator[None]:
    """While inside, Lambda's Invoke reaches ``invoke``, which takes a function's ARN or name and the event.

    One inside another answers alone: every handler of an event is called, and a call answered twice is done twice.
    """
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()
    # The session's own events: what the emulator's interpreter makes its clients from.
    session: Any = boto3.DEFAULT_SESSION
    _answering.append(invoke)
    # It may have begun with the handler already.
    session.events.unregister(_EVENT, _answer)
    session.events.register_first(_EVENT, _answer, unique_id=_HOOK)
    if _FOR_NEW_SESSIONS not in BUILTIN_HANDLERS:
        BUILTIN_HANDLERS.append(_FOR_NEW_SESSIONS)
    try:
        yield
    finally:
        _answering.remove(invoke)
        if not _answering:
            BUILTIN_HANDLERS.remove(_FOR_NEW_SESSIONS)
            session.events.unregister(_EVENT, unique_id=_HOOK)


_answering: list[Callable[[str, Any], Invocation]] = []


def _answer(request: Any, **_: Any) -> AWSResponse | None:
    if not _answering:
        return None
    event = json.loads(request.body or b"{}")
    try:
        status, headers, payload = _answered(_answering[-1](_function_of(request.url), event))
    except (StoppedError, KeyError):
        status, headers, payload = 500, {}, {"Message": "there is no such function now"}
    raw = _Raw(json.dumps(payload).encode())
    return AWSResponse(request.url, status, {**_ANSWERS_JSON, **headers}, raw)  # type: ignore[arg-type]


#: What sessions begin with: functions make their own.
_FOR_NEW_SESSIONS = (_EVENT, _answer, REGISTER_FIRST)


def _answered(outcome: Invocation) -> tuple[int, Mapping[str, str], Any]:
    return 200, _FUNCTION_ERROR if outcome.failed else {}, outcome.payload


def _function_of(url: str) -> str:
    """Name or ARN of the function in a URL of Invoke."""
    return unquote(url.partition("/functions/")[2].partition("/invocations")[0])


class _Raw(io.BytesIO):
    """A body as botocore reads it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        """All of it at once."""
        yield self.read()
