"""One HTTP request after every check that needs no use case: who, what, about which memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from provenloop.domain.errors import InternalError, InvalidInputError, UnauthenticatedError
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.domain.principal import Principal, require_memory, require_scope
from provenloop.entry.models.fields import WireModel
from provenloop.entry.models.paths import PathParameters
from provenloop.entry.models.validation import read_model
from provenloop.entry.operations import Operation
from provenloop.entry.strict_body import Body, read_body
from provenloop.services.call import Call

if TYPE_CHECKING:
    from provenloop.entry.wiring import Wiring

M = TypeVar("M", bound=WireModel)

_SECRET = re.compile(r"[\x21-\x7e]{1,512}\Z")
_KEY = re.compile(r"[\x20-\x7e]{1,255}\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """Who wants something of which place. ``now`` is epoch ms; no principal where the operation needs none."""

    principal: Principal | None
    path: PathParameters
    now: int


@dataclass(frozen=True, slots=True)
class Request:
    """A checked request. ``now`` is epoch ms; the models are those the operation names; ``context`` is Lambda's.

    ``model_key`` is a key of the caller's own to ask models with, for this request and nothing else.
    """

    operation: Operation
    wiring: Wiring
    principal: Principal | None
    path: PathParameters
    query: WireModel | None
    body: WireModel | None
    body_digest: str
    idempotency_key: str | None
    request_id: str
    now: int
    context: object = None
    model_key: str | None = field(default=None, repr=False)

    @property
    def caller(self) -> Principal:
        """The principal, of an operation that needs one."""
        if self.principal is None:
            raise UnauthenticatedError("a bearer token is needed")
        return self.principal

    @property
    def call(self) -> Call:
        """The request as use cases see it, of an operation about one memory."""
        return self._call(MemoryId(self.caller.tenant, self.need("memory")))

    @property
    def call_of_tenant(self) -> Call:
        """The same of an operation about the tenant itself."""
        return self._call(tenant_itself(self.caller.tenant))

    def _call(self, memory: MemoryId) -> Call:
        return Call(
            principal=self.caller,
            memory=memory,
            now=self.now,
            request_id=self.request_id,
            idempotency_key=self.idempotency_key,
            entropy=self.wiring.entropy,
            body_digest=self.body_digest,
        )

    def need(self, name: str) -> str:
        """A path parameter that the operation's path has."""
        value = getattr(self.path, name)
        if not isinstance(value, str):
            raise InternalError(f"the path has no parameter {name}")
        return value

    def body_as(self, model: type[M]) -> M:
        """The body as the model that the operation names."""
        return _as(self.body, model)

    def query_as(self, model: type[M]) -> M:
        """The query as the model that the operation names."""
        return _as(self.query, model)


def identify(event: Mapping[str, Any], operation: Operation, wiring: Wiring) -> Target:
    """The first half of the checks: who, and whether they may. What was sent is not looked at before.

    Raises:
        UnauthenticatedError, ScopeDeniedError, InvalidInputError: nothing was done.
    """
    now = wiring.now()
    principal = _principal(event, operation, wiring, now)
    path = read_model(PathParameters, _path_parameters(event), root="path")
    if principal is not None and path.memory is not None:
        require_memory(principal, path.memory)
    return Target(principal, path, now)


def read_request(event: Mapping[str, Any], operation: Operation, wiring: Wiring, target: Target) -> Request:
    """The second half: what was sent.

    Raises:
        InvalidInputError, TooLargeError: nothing was done.
    """
    body = _body(event, operation)
    return Request(
        operation=operation,
        wiring=wiring,
        principal=target.principal,
        path=target.path,
        query=_query(event, operation),
        body=None if operation.body is None else read_model(operation.body, body.value),
        body_digest=body.digest,
        idempotency_key=_idempotency_key(event, operation),
        request_id=request_id_of(event),
        now=target.now,
        model_key=_model_key(event, operation),
    )


def request_id_of(event: Mapping[str, Any]) -> str:
    """The gateway's id of the request."""
    return str(event["requestContext"]["requestId"])


def require_key(key: str, field: str) -> str:
    """An idempotency key that is one.

    Raises:
        InvalidInputError: it is none; names the field.
    """
    if not _KEY.match(key) or not key.strip():
        raise InvalidInputError("1 to 255 printable ASCII characters", field=field)
    return key


def _principal(event: Mapping[str, Any], operation: Operation, wiring: Wiring, now: int) -> Principal | None:
    if not operation.scopes:
        return None
    principal = wiring.credentials.principal(_header(event, "authorization"), now, fresh=operation.is_fresh)
    for scope in operation.scopes:
        require_scope(principal, scope)
    return principal


def _path_parameters(event: Mapping[str, Any]) -> dict[str, str]:
    """The gateway decodes every escape of a path but ``%25``."""
    return {name: value.replace("%25", "%") for name, value in (event.get("pathParameters") or {}).items()}


def _query(event: Mapping[str, Any], operation: Operation) -> WireModel | None:
    sent = event.get("queryStringParameters") or {}
    if operation.query is not None:
        return read_model(operation.query, dict(sent), root="query")
    if sent:
        raise InvalidInputError("this operation takes no query", field=min(sent)[:64])
    return None


def _body(event: Mapping[str, Any], operation: Operation) -> Body:
    if operation.body is None:
        return Body({})
    return read_body(event, optional=operation.body_optional)


def _idempotency_key(event: Mapping[str, Any], operation: Operation) -> str | None:
    key = _header(event, "idempotency-key")
    if key is None or operation.method == "GET":
        return None
    return require_key(key, "idempotency-key")


def _model_key(event: Mapping[str, Any], operation: Operation) -> str | None:
    key = _header(event, "x-model-key") if operation.takes_model_key else None
    if key is not None and not _SECRET.match(key):
        raise InvalidInputError("1 to 512 printable ASCII characters without blanks", field="x-model-key")
    return key


def _header(event: Mapping[str, Any], name: str) -> str | None:
    value = (event.get("headers") or {}).get(name)
    return None if value is None else str(value)


def _as(value: WireModel | None, model: type[M]) -> M:
    if not isinstance(value, model):
        raise InternalError(f"the operation does not take a {model.__name__}")
    return value
