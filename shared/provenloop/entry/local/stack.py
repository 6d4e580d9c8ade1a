"""The local stack as one object: start it, send requests, step its clock, let it tick.

Invariants: requests reach the real handlers as API Gateway's events, with no socket in between; between two ``reset``
calls state lives in the tables and queues, as it would in AWS, and after one nothing of it is left, not even in the
functions' caches; the process's environment is the functions' only while one of them runs. One stack at a time may run
in a process: moto is one for all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from provenloop.entry import clock, wiring
from provenloop.entry.local import resources, triggers
from provenloop.entry.local.aws import LocalAws
from provenloop.entry.local.clock import LocalClock
from provenloop.entry.local.entropy import seeded
from provenloop.entry.local.functions import FunctionHost, Functions, Invocation, RequestIds
from provenloop.entry.local.gateway import Gateway, HttpResponse
from provenloop.entry.local.http_event import HttpRequest
from provenloop.entry.local.routing import Router
from provenloop.entry.local.template import Template
from provenloop.entry.local.tick import Ticker, TickReport
from provenloop.entry.local.workflows import answering_invocations
from provenloop.entry.settings import ANALYZER_COMMANDS, DEV_TOKEN, LLM_COMMAND, NOW, POLICY_FILE, read_settings
from provenloop.services.ports import Entropy

if TYPE_CHECKING:
    import httpx

TEMPLATE = "template.yaml"

_TOKEN_BYTES = 32


class LocalStack:
    """The whole deployed system in this process.

    Args:
        root: the folder with template.yaml and functions/.
        parameters: template parameters other than their defaults.
        variables: environment variables of the functions beside the template's, such as ``POWERTOOLS_LOG_LEVEL``.
        dev_token: the bootstrap admin token; by default ``PROVENLOOP_DEV_TOKEN`` of the environment, else a new one.
        now_ms: epoch ms to set the clock to; by default ``PROVENLOOP_NOW`` of the environment, else the wall clock.
        policy_file: holds the host policy; by default ``POLICY_FILE`` of the environment, else there is none.
        llm_command: the command that stands in for all models of passes; by default ``PROVENLOOP_LLM_CMD`` of the
            environment, else there is none.
        analyzer_commands: external analyzers; by default ``PROVENLOOP_ANALYZER_CMDS`` of the environment, one a line.
        seed: makes all randomness of the functions repeat from one start or reset to the next; by default none does.

    Raises:
        TemplateError: the template is missing, or says what cannot be carried out.
        ValueError: the command of an analyzer is not one line.
    """

    def __init__(  # noqa: PLR0913  (a stack is begun in that many ways)
        self,
        root: Path,
        *,
        parameters: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        dev_token: str | None = None,
        now_ms: int | None = None,
        policy_file: Path | None = None,
        llm_command: str | None = None,
        analyzer_commands: Sequence[str] | None = None,
        seed: str | None = None,
    ) -> None:
        template = Template.load(root / TEMPLATE, parameters)
        settings = read_settings()
        self.dev_token = dev_token or settings.dev_token or secrets.token_urlsafe(_TOKEN_BYTES)
        self._variables = dict(variables or {})
        #: Where the functions look for the host policy; what is written there counts from then on.
        self.policy_file = policy_file or (Path(settings.policy_file) if settings.policy_file else None)
        self._llm_command = settings.llm_command if llm_command is None else llm_command
        given = settings.analyzer_commands if analyzer_commands is None else analyzer_commands
        self._analyzer_commands = _one_line_each(given)
        self._seed = seed
        self._entropy: Entropy = secrets.token_bytes
        self._clock = LocalClock(clock.now_ms() if now_ms is None and settings.values.get(NOW) else now_ms)
        self._ids = RequestIds()
        self.functions = Functions(
            FunctionHost(function, extra=self._extra_variables, ids=self._ids)
            for function in triggers.functions(template)
        )
        self.aws = LocalAws(template, now_ms=self.now_ms, secret_value=self.dev_token)
        self.gateway = Gateway(Router(triggers.routes(template)), self.functions.invoke, self.now_ms)
        self._ticker = Ticker(
            aws=self.aws,
            functions=self.functions,
            schedules=triggers.schedules(template),
            sources=triggers.queue_sources(template),
            rules=triggers.bus_rules(template),
            now_ms=self.now_ms,
            ids=self._ids,
        )
        #: What the template has and this stack lacks.
        self.unsupported = (*resources.unsupported(template), *triggers.undelivered(template))
        self._client: httpx.Client | None = None
        self._named = {
            name: function.logical_id
            for function in triggers.functions(template)
            for name in (function.arn, function.name)
        }
        self._hooks = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Create the resources, empty."""
        self._forget()
        self.aws.start()
        self._hooks.enter_context(answering_invocations(self._invoke_named))
        self.functions.open()

    def stop(self) -> None:
        """Drop everything; ``start`` begins anew. Harmless when not started."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self.functions.close()
        self._hooks.close()
        self.aws.stop()
        self._forget()
        wiring.use_wiring(None)

    def reset(self) -> None:
        """Empty every table and queue, and begin ids and schedules anew; the clock stays. The modules stay loaded."""
        self._forget()
        self.aws.reset()

    @property
    def client(self) -> httpx.Client:
        """An HTTP client whose requests go straight to the gateway. Closed by ``stop``."""
        if self._client is None:
            self._client = self.client_as(None)
        return self._client

    def client_as(self, token: str | None) -> httpx.Client:
        """A client of one's own that sends ``token`` with every request."""
        # httpx takes as long to import as all of this package; who only serves does not need it.
        from provenloop.entry.local.transport import client_of

        return client_of(self.gateway, token)

    def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | Mapping[str, Any] | list[Any] | None = None,
    ) -> HttpResponse:
        """Send one request. ``path`` is encoded and may have a query; a mapping or list is sent as JSON."""
        given = {"host": "localhost", **{name.lower(): value for name, value in (headers or {}).items()}}
        if isinstance(body, Mapping | list):
            given = {"content-type": "application/json", **given}
            body = json.dumps(body)
        raw = body.encode() if isinstance(body, str) else body or b""
        path, _, query = path.partition("?")
        return self.gateway.handle(HttpRequest(method.upper(), path, query, tuple(given.items()), raw))

    def invoke(self, function: str, event: Any) -> Invocation:
        """Run a function, named by its logical id, on an event.

        Raises:
            KeyError: the template has no such function.
            StoppedError: the stack is not running.
        """
        return self.functions.invoke(function, event)

    def _invoke_named(self, name: str, event: Any) -> Invocation:
        return self.functions.invoke(self._named[name], event)

    def use_commands(self, *, llm: str = "", analyzers: Sequence[str] = ()) -> None:
        """Let other programs stand in for models, and be the external analyzers; by default there are none.

        The functions begin anew with their next invocation, as they do in AWS when their settings change.

        Raises:
            ValueError: the command of an analyzer is not one line.
        """
        self._llm_command, self._analyzer_commands = llm, _one_line_each(analyzers)
        wiring.use_wiring(None, entropy=self._entropy)

    def tick(self) -> TickReport:
        """Fire the schedules that are due, then deliver queued messages until none is visible."""
        return self._ticker.run()

    def now_ms(self) -> int:
        """The stack's time in epoch milliseconds."""
        return self._clock.now_ms()

    @property
    def clock_is_set(self) -> bool:
        """Whether the clock stands still."""
        return self._clock.pinned is not None

    def set_clock(self, now_ms: int | None) -> None:
        """Let the clock stand at an instant (epoch ms, earlier ones too); None lets it go with the wall clock."""
        self._clock.pinned = now_ms

    def queue_depth(self, logical_id: str) -> int:
        """How many messages a queue holds, hidden ones too."""
        return self.aws.all_messages(self.aws.queue(logical_id))

    def items(self) -> dict[str, list[dict[str, Any]]]:
        """Every item of every table, ordered by key, so that two of these compare."""
        return self.aws.items()

    def _extra_variables(self) -> dict[str, str]:
        pinned = {} if self._clock.pinned is None else {NOW: str(self._clock.pinned)}
        policy = {} if self.policy_file is None else {POLICY_FILE: str(self.policy_file.absolute())}
        commands = {LLM_COMMAND: self._llm_command, ANALYZER_COMMANDS: "\n".join(self._analyzer_commands)}
        given = {name: command for name, command in commands.items() if command}
        return {**self._variables, DEV_TOKEN: self.dev_token, **policy, **pinned, **given}

    def _forget(self) -> None:
        """What a new process would not know."""
        self._entropy = secrets.token_bytes if self._seed is None else seeded(self._seed)
        wiring.use_wiring(None, entropy=self._entropy)
        self._ticker.restart()
        self._ids.restart()
        self.gateway.restart_ids()


def _one_line_each(commands: Sequence[str]) -> tuple[str, ...]:
    """The commands, of which the environment of the functions holds one a line."""
    if any(len(command.splitlines()) > 1 for command in commands):
        raise ValueError("the command of an analyzer is one line")
    return tuple(commands)
