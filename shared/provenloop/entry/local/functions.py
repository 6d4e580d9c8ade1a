"""Functions as Lambda runs them: own environment, own context, JSON in and out, one invocation at a time.

Invariants: an invocation sees the variables of its own function and no other function's; what it gets and gives went
through JSON, within Lambda's size limits; a raised error is a function error, not an exception of the caller's. A
function's folder is never put on the import path: its module is loaded from its file, under a name of its own.

The process has one environment, and the HTTP resolver the functions use is not thread-safe, so one lock lets one
invocation run at a time, of whatever function; an invocation may invoke another one in the same thread.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provenloop.entry.local.account import CREDENTIALS, REGION
from provenloop.entry.local.intrinsics import TemplateError

if TYPE_CHECKING:
    from types import ModuleType

    from provenloop.entry.local.triggers import Function

REQUEST_LIMIT_BYTES = 6_291_456
REPLY_LIMIT_BYTES = 6_291_556

_MS_PER_S = 1_000
#: Variables of the developer's shell that must not reach a function: the template and the stack set them, or nobody.
_NOT_INHERITED = ("AWS_", "PROVENLOOP_", "_X_AMZN_", "POLICY_")

_logger = logging.getLogger(__name__)
_one_at_a_time = threading.RLock()


@dataclass(frozen=True, slots=True)
class Invocation:
    """What came of an invocation.

    Attributes:
        payload: the function's answer; of a failed one, ``errorType`` and ``errorMessage``.
        failed: whether it is a function error.
        elapsed_s: how long it took.
        request_id: the invocation's id.
    """

    payload: Any
    failed: bool
    elapsed_s: float
    request_id: str

    @property
    def error_type(self) -> str | None:
        """Name of the error of a failed invocation."""
        return self.payload["errorType"] if self.failed else None


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """What Lambda hands a function beside the event."""

    aws_request_id: str
    function_name: str
    invoked_function_arn: str
    memory_limit_in_mb: str
    log_group_name: str
    deadline_s: float
    function_version: str = "$LATEST"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda would end the invocation, 0 when that is past."""
        return max(0, int((self.deadline_s - time.monotonic()) * _MS_PER_S))


class RequestIds:
    """Ids of the form Lambda gives, counted instead of drawn, so that a run repeats."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def next(self) -> str:
        """The next id, unlike any since the last restart."""
        return f"{next(self._numbers):08x}-0000-4000-8000-000000000000"

    def restart(self) -> None:
        """Begin again at the first."""
        self._numbers = itertools.count(1)


class StoppedError(RuntimeError):
    """The stack is not running, so no function may."""


class Functions:
    """The functions of a stack, by logical id. They run between ``open`` and ``close``."""

    def __init__(self, hosts: Iterable[FunctionHost]) -> None:
        self._hosts = {host.function.logical_id: host for host in hosts}
        self._open = False

    def open(self) -> None:
        """Let functions run."""
        self._open = True

    def close(self) -> None:
        """Wait for the invocation that runs and let no other one begin: what it would call is about to go."""
        with _one_at_a_time:
            self._open = False

    def load(self) -> None:
        """Import every function now instead of at its first invocation, so that faults show at once."""
        for host in self._hosts.values():
            host.load()

    def described(self, logical_id: str) -> Function:
        """What the template says of a function.

        Raises:
            KeyError: the template has no such function.
        """
        return self._hosts[logical_id].function

    def invoke(self, logical_id: str, event: Any) -> Invocation:
        """Run a function with ``event``, any value that JSON can hold; waits for the invocation before it.

        Raises:
            KeyError: the template has no such function.
            StoppedError: the stack is not running.
        """
        host = self._hosts[logical_id]
        with _one_at_a_time:
            if not self._open:
                raise StoppedError("the local stack is not running")
            return host.invoke(event)


class FunctionHost:
    """Runs one function.

    Args:
        function: the function, as the template describes it.
        extra: variables beside the template's, read anew at each invocation.
        ids: where request ids come from.
        monotonic: seconds of a clock that only runs forward; measures how long an invocation took.
    """

    def __init__(
        self,
        function: Function,
        *,
        extra: Callable[[], Mapping[str, str]],
        ids: RequestIds,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.function = function
        self._extra = extra
        self._ids = ids
        self._monotonic = monotonic
        self._handler: Callable[[Any, LambdaContext], Any] | None = None

    def load(self) -> None:
        """Import the function's module, as a cold start does; harmless when loaded.

        Raises:
            TemplateError: there is no such file, or no such handler in it.
            Exception: whatever the module raises when imported.
        """
        with _one_at_a_time, _environment(self._variables()):
            if self._handler is None:
                self._handler = _handler_of(self.function)

    def invoke(self, event: Any) -> Invocation:
        """Run the function with ``event``, any value that JSON can hold."""
        request_id = self._ids.next()
        body = json.dumps(event)
        if len(body.encode()) > REQUEST_LIMIT_BYTES:
            return self._failure(request_id, 0.0, "RequestEntityTooLargeException", "the event is over 6 MB")
        with _one_at_a_time:
            try:
                self.load()
            except Exception as error:
                _logger.exception("%s cannot be loaded", self.function.logical_id)
                return self._failure(request_id, 0.0, "Runtime.ImportModuleError", str(error))
            began = self._monotonic()
            with _environment(self._variables()):
                outcome = self._run(json.loads(body), request_id)
            elapsed = self._monotonic() - began
        if elapsed > self.function.timeout_s:
            # Ended late and not in time, as Lambda would: a thread cannot be stopped. What it wrote stays written.
            message = f"{request_id} Task timed out after {self.function.timeout_s:.2f} seconds"
            return self._failure(request_id, elapsed, "Sandbox.Timedout", message)
        if isinstance(outcome, BaseException):
            return self._failure(request_id, elapsed, type(outcome).__name__, str(outcome))
        return self._success(request_id, elapsed, outcome)

    def _run(self, event: Any, request_id: str) -> Any:
        """The function's answer, or what it raised."""
        handler = self._handler
        assert handler is not None  # noqa: S101 - load() has set it
        try:
            return handler(event, self._context(request_id))
        except (Exception, SystemExit) as error:
            _logger.exception("%s failed", self.function.logical_id)
            return error

    def _success(self, request_id: str, elapsed: float, answer: Any) -> Invocation:
        try:
            text = json.dumps(answer, allow_nan=False)
        except (TypeError, ValueError) as error:
            return self._failure(request_id, elapsed, "Runtime.MarshalError", str(error))
        if len(text.encode()) > REPLY_LIMIT_BYTES:
            return self._failure(request_id, elapsed, "Function.ResponseSizeTooLarge", "the answer is over 6 MB")
        return Invocation(json.loads(text), failed=False, elapsed_s=elapsed, request_id=request_id)

    def _failure(self, request_id: str, elapsed: float, error_type: str, message: str) -> Invocation:
        _logger.error("%s: %s", self.function.logical_id, error_type)
        payload = {"errorType": error_type, "errorMessage": message}
        return Invocation(payload, failed=True, elapsed_s=elapsed, request_id=request_id)

    def _context(self, request_id: str) -> LambdaContext:
        return LambdaContext(
            aws_request_id=request_id,
            function_name=self.function.name,
            invoked_function_arn=self.function.arn,
            memory_limit_in_mb=str(self.function.memory_mb),
            log_group_name=f"/aws/lambda/{self.function.name}",
            deadline_s=time.monotonic() + self.function.timeout_s,
        )

    def _variables(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
        of_lambda = {
            **CREDENTIALS,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_LAMBDA_FUNCTION_NAME": self.function.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self.function.memory_mb),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            # Whatever the developer's machine is set up with: neither its profiles nor its account are for these calls.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return {**inherited, **of_lambda, **self.function.environment, **self._extra()}


def _handler_of(function: Function) -> Callable[[Any, LambdaContext], Any]:
    module = _module_at(f"functions.{function.folder.name}.{function.module}", function)
    handler = getattr(module, function.handler, None)
    if not callable(handler):
        raise TemplateError(f"{function.logical_id}: there is no {function.handler} in {module.__name__}")
    found: Callable[[Any, LambdaContext], Any] = handler
    return found


def _module_at(name: str, function: Function) -> ModuleType:
    path = function.folder / f"{function.module}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise TemplateError(f"{function.logical_id}: there is no {path}")
    module = importlib.util.module_from_spec(spec)
    # Annotations are looked up through sys.modules.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Make ``variables`` the whole environment for a while."""
    before = dict(os.environ)
    _become(variables)
    try:
        yield
    finally:
        _become(before)


def _become(variables: Mapping[str, str]) -> None:
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
