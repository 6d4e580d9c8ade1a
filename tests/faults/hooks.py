"""Handlers on the public events of a botocore client.

botocore emits, for every call and in this order: ``before-parameter-build`` (the caller's parameters),
``before-call`` (the serialised request; a handler may raise, or return ``(http, parsed)`` to answer in AWS's place,
which also keeps later handlers from running), ``needs-retry`` after each attempt, ``after-call`` (the parsed reply;
a handler may edit it or raise). All of them share one ``context`` dict, in which the parameters are kept here, since
``before-call`` is not given them.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PARAMS = "faults.params"

#: What ``before-call`` may return: an HTTP response with a status code, and the parsed reply.
Reply = tuple[Any, dict[str, Any]]

_unobserved: ContextVar[bool] = ContextVar("unobserved", default=False)


@contextmanager
def unobserved() -> Iterator[None]:
    """Calls made inside are seen by no hook of this package: for looking at a table in the middle of a test."""
    token = _unobserved.set(True)
    try:
        yield
    finally:
        _unobserved.reset(token)


@dataclass(slots=True)
class Exchange:
    """One call on its way: the parameters of the caller, and the request or the reply that may be edited."""

    operation: str
    params: dict[str, Any]
    #: Lives as long as the call; handlers leave notes for each other in it.
    context: dict[str, Any]
    #: ``request["body"]`` is the JSON about to be sent; empty in ``after_call``.
    request: dict[str, Any]
    #: The parsed reply; empty in ``before_call``.
    parsed: dict[str, Any]
    #: HTTP status of the reply, 0 in ``before_call``.
    status: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether AWS did what was asked."""
        return 0 < self.status < 300


class ClientHooks:
    """Handlers put on some clients at construction and taken off by ``remove()`` or at the end of a ``with``."""

    #: Whether the handlers run ahead of those of the other classes here, whatever the order of construction.
    before_first: ClassVar[bool] = False
    after_first: ClassVar[bool] = False

    def __init__(self, *clients: Any) -> None:
        if not clients:
            raise ValueError("no client to hook")
        self.clients = clients
        for client in clients:
            events = client.meta.events
            events.register("before-parameter-build", _keep_params, unique_id=_PARAMS)
            (events.register_first if self.before_first else events.register)("before-call", self._on_before)
            (events.register_first if self.after_first else events.register)("after-call", self._on_after)

    def remove(self) -> None:
        """Take the handlers off again. Doing so twice is fine."""
        for client in self.clients:
            # _keep_params stays: other hooks of the client may need it, and it only fills the call's own context.
            client.meta.events.unregister("before-call", self._on_before)
            client.meta.events.unregister("after-call", self._on_after)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def before_call(self, exchange: Exchange) -> Reply | None:
        """Called ahead of each request; a reply returned is the answer, and nothing is sent."""

    def after_call(self, exchange: Exchange) -> None:
        """Called with each reply, refusals included."""

    def _on_before(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> Reply | None:
        if _unobserved.get():
            return None
        return self.before_call(Exchange(model.name, context[_PARAMS], context, params, {}))

    def _on_after(
        self, http_response: Any, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any
    ) -> None:
        if not _unobserved.get():
            status = http_response.status_code
            self.after_call(Exchange(model.name, context[_PARAMS], context, {}, parsed, status))


def _keep_params(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    context[_PARAMS] = params


def register_retry(client: Any, handler: Callable[..., float | None]) -> None:
    """Ask ``handler`` first whether an attempt is to be sent again (seconds to wait), before botocore's own rule."""
    client.meta.events.register_first(_retry_event(client), handler)


def unregister_retry(client: Any, handler: Callable[..., float | None]) -> None:
    """Undo ``register_retry``."""
    client.meta.events.unregister(_retry_event(client), handler)


def _retry_event(client: Any) -> str:
    return f"needs-retry.{client.meta.service_model.service_id.hyphenize()}"
