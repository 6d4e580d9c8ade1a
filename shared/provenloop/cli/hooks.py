"""Hooks of coding agents: what is told to the agent, what is recorded of it, and a pass when it is done.

Invariants: a hook never stops its agent. Whatever happens it ends within its time with exit code 0 and at most one line
on stderr, in which nothing of what it was given and no token stands; stdout holds the block for the agent, or nothing.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from provenloop.cli.main import Surroundings
    from provenloop.client import Provenloop

#: How long each may take, in seconds.
LIMITS_S: Final[Mapping[str, float]] = {"session-start": 5.0, "prompt": 3.0, "after-tool": 5.0, "session-end": 15.0}
EVENTS: Final = tuple(LIMITS_S)
MAX_INPUT_BYTES: Final = 8 * 1024 * 1024
#: A pass at the end of a session is worth it from here on.
GATES: Final = {"min_new": 20, "min_new_errors": 3}

_FORBIDDEN: Final = 403
_OUTCOME_WITHIN: Final = ("is_error", "isError", "error", "exit_code", "status")
_OPTIONS: Final = ("--limit", "--project", "--url", "--token", "--memory")
_NO_ID: Final = ("call_id",)


class HookError(Exception):
    """Why a hook did nothing; said to whoever reads the agent's log."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One call of a hook. ``given`` is what the agent says, ``options`` what stands in its settings."""

    client: Provenloop
    given: Mapping[str, Any]
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def session(self) -> str:
        """The agent's session, as an id that can be sent; empty where it names none."""
        from provenloop.adapters.transcripts.ingest_form import foreign_id, plain_text
        from provenloop.adapters.transcripts.plain_lines import SESSION, first

        named = plain_text(first(self.given, SESSION))
        return foreign_id(named) if named else ""

    @property
    def project(self) -> str:
        """Whose rules are told: what the settings say, else the name of the folder that the agent works in."""
        folder = self.given.get("cwd")
        return self.options.get("--project") or (PurePath(folder).name if isinstance(folder, str) else "") or "default"


def run_hook(event: str, arguments: Sequence[str], around: Surroundings) -> int:
    """Carry out a hook; the exit code is always 0."""
    told: list[str] = []
    failed: list[str] = []

    def work() -> None:
        try:
            told.append(_carried_out(event, arguments, around))
        except HookError as error:
            failed.append(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
            failed.append(type(error).__name__)

    limit_s = _limit_s(event, arguments)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(limit_s)
    # Nobody may be left to read it.
    with suppress(OSError, ValueError):
        if told:
            sys.stdout.write(told[0])
        else:
            reason = failed[0] if failed else f"not done in {limit_s:g} s"
            sys.stderr.write(f"provenloop hook {event}: {_one_line(reason)}\n")
    return 0


def _carried_out(event: str, arguments: Sequence[str], around: Surroundings) -> str:
    """What is told to the agent."""
    from provenloop.client import ProvenloopError

    options = _options(arguments)
    given = _given()
    try:
        with _client(options, around, _limit_s(event, arguments)) as client:
            return _WORK[event](Hook(client, given, options))
    except ProvenloopError as error:
        raise HookError(str(error)) from error


def _client(options: Mapping[str, str], around: Surroundings, limit_s: float) -> Provenloop:
    from provenloop.cli.settings import Settings, settings_from
    from provenloop.client import Options, Provenloop

    said = Settings(options.get("--url"), options.get("--token"), options.get("--memory"))
    known = said.over(settings_from(around.environment))
    if known.url is None or known.memory is None:
        raise HookError("PROVENLOOP_URL and PROVENLOOP_MEMORY are not both set")
    # There is no time for a second attempt.
    behaviour = replace(around.options or Options(), attempts=1, timeout_s=limit_s)
    return Provenloop(known.url, known.token, known.memory, options=behaviour)


def _session_start(hook: Hook) -> str:
    from provenloop.client import ProvenloopError

    if hook.session:
        try:
            hook.client.start_session(hook.session, hook.project)
        except ProvenloopError as error:
            # A token that may only read is told the same; nothing is counted then.
            if error.status != _FORBIDDEN:
                raise
        else:
            return _block(hook, session=hook.session)
    return _block(hook, project=hook.project)


def _prompt(hook: Hook) -> str:
    """The same for agents without a hook at the start: once a session, at its first prompt."""
    if not hook.session or hook.client.start_session(hook.session, hook.project)["resumed"]:
        return ""
    return _block(hook, session=hook.session)


def _block(hook: Hook, **whose: Any) -> str:
    return f"{hook.client.context(**whose)['block']}\n"


def _after_tool(hook: Hook) -> str:
    event = tool_call_of(hook.given)
    if event is None:
        raise HookError("stdin tells of no tool")
    hook.client.record_events([event])
    return ""


def _session_end(hook: Hook) -> str:
    if hook.session:
        hook.client.end_session(hook.session)
    hook.client.loop_run(min_new=GATES["min_new"], min_new_errors=GATES["min_new_errors"])
    return ""


_WORK: Final[Mapping[str, Callable[[Hook], str]]] = {
    "session-start": _session_start, "prompt": _prompt, "after-tool": _after_tool, "session-end": _session_end,
}  # fmt: skip


def tool_call_of(given: Mapping[str, Any]) -> Any:
    """The tool call that an agent tells of after it, as an event; None where it tells of none."""
    from provenloop.adapters.transcripts.call_book import Clock
    from provenloop.adapters.transcripts.plain_lines import ID, RESULT, SESSION, PlainRun, first
    from provenloop.adapters.transcripts.report import ReadReport

    response = first(given, RESULT)
    within = response if isinstance(response, Mapping) else {}
    line = {**given, **{name: within[name] for name in _OUTCOME_WITHIN if name in within}}
    if within.get("success") is False:
        line["is_error"] = True
    if not any(name in line for name in (*RESULT, *_OUTCOME_WITHIN)):
        line["tool_response"] = None
    events = PlainRun(str(first(given, SESSION) or "agent"), ReadReport()).take(line, 0, Clock(None, 0))
    event = next(iter(events), None)
    if event is not None and first(given, ID) is None:
        # Its place in a session is not known, so nothing may take it for another call.
        return {name: value for name, value in event.items() if name not in _NO_ID}
    return event


def _given() -> Mapping[str, Any]:
    """What the agent says on stdin; nothing is an empty object.

    Raises:
        HookError: it is no JSON object, or too long.
    """
    text = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    if len(text) > MAX_INPUT_BYTES:
        raise HookError(f"over {MAX_INPUT_BYTES} bytes on stdin")
    try:
        given = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise HookError("no JSON on stdin") from None
    if not isinstance(given, Mapping):
        raise HookError("no JSON object on stdin")
    return given


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Options by name.

    Raises:
        HookError: there is no such option, or it has no value.
    """
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or not set(names) <= set(_OPTIONS):
        raise HookError(f"options are {', '.join(_OPTIONS)}, each with a value")
    return dict(zip(names, values, strict=True))


def _limit_s(event: str, arguments: Sequence[str]) -> float:
    """How long it may take, in seconds: what is given, up to a minute."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=False)).get("--limit", "")
    try:
        return min(max(float(given), 0.1), 60.0)
    except ValueError:
        return LIMITS_S[event]


def _one_line(text: str) -> str:
    from provenloop.domain.visible import visible

    return str(visible(" ".join(text.split())))[:300]
