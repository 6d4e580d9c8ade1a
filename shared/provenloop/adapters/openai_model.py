"""Chat completions, as many gateways offer them, behind ``services.model_port.ModelProvider``.

Invariants: the HTTP library is imported when a model is first asked; a connection lives for one call, so the key stays
nowhere; nothing is tried twice, but where a gateway refuses the form of a question the same is asked once more in
another: without the field of ours that it names, which this model is not sent again, or else without the schema; the
time of a call is over when it is over, and an answer is at most 2 MB; nothing of an exception leaves this module, for
they hold the request with the key in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from provenloop.adapters.model_reading import is_key, kind_of_status, name_of, object_of, tokens
from provenloop.adapters.outside_address import checked_address
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest

if TYPE_CHECKING:
    import httpx2

    from provenloop.adapters.bounded_http import BoundedTransport

_OK = 200
#: What gateways answer to a form that they do not take.
_UNUSABLE = frozenset({400, 422})
#: What is not sent where a field is refused: newer models have a name of their own for ``max_tokens``, and choose their
#: temperature. Whoever refuses a temperature alone may know the older name only.
_LEFT_OUT = {"max_tokens": frozenset({"max_tokens", "temperature"}), "temperature": frozenset({"temperature"})}


class OpenAiModel:
    """Implements ``services.model_port.ModelProvider``.

    Args:
        base_url: where the API is, as far as ``/chat/completions``; HTTPS, or plain HTTP on this machine.

    Raises:
        InternalError: the address is neither.
    """

    def __init__(self, base_url: str) -> None:
        self._url = f"{checked_address(base_url, 'the models').rstrip('/')}/chat/completions"
        self._refused: dict[str, frozenset[str]] = {}

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """See ``ModelProvider``."""
        if not is_key(key):
            return ModelFailure("auth")
        try:
            from provenloop.adapters.bounded_http import BoundedTransport, Deadline  # noqa: PLC0415 - takes long
        except ImportError:
            return ModelFailure("unknown")
        transport = BoundedTransport(Deadline(request.timeout_ms / 1000))
        try:
            with transport.deadline, _client(transport, key) as client:
                return _read(self._answered(request, lambda body: self._post(client, transport, body)), request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there, the caller goes on without a model
            return _failure(error, timed_out=transport.deadline.is_over)

    def _answered(self, request: ModelRequest, post: Callable[[dict[str, Any]], httpx2.Response]) -> httpx2.Response:
        refused = self._refused.get(request.model, frozenset())
        response = post(_body(request, refused))
        if response.status_code not in _UNUSABLE:
            return response
        field = _refused_field(response)
        if field is None or field in refused:
            return post(_body_without_schema(request, refused))
        self._refused[request.model] = refused | _LEFT_OUT[field]
        return post(_body(request, self._refused[request.model]))

    def _post(self, client: httpx2.Client, transport: BoundedTransport, body: dict[str, Any]) -> httpx2.Response:
        return client.post(self._url, json=body, timeout=transport.deadline.seconds_left)


def _client(transport: BoundedTransport, key: str) -> httpx2.Client:
    import httpx2  # noqa: PLC0415 - takes long to import

    # Of a connection that was used before, nobody knows whether the other side has closed it meanwhile.
    headers = {"authorization": f"Bearer {key}", "connection": "close"}
    return httpx2.Client(transport=transport, follow_redirects=False, trust_env=False, headers=headers)


def _body(request: ModelRequest, refused: Collection[str]) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
    wanted = {"type": "json_schema", "json_schema": schema}
    return {**_question(request, request.instructions, refused), "response_format": wanted}


def _refused_field(response: httpx2.Response) -> str | None:
    error = (object_of(response.content.decode("utf-8", "replace")) or {}).get("error")
    field = error.get("param") if isinstance(error, dict) else None
    return field if isinstance(field, str) and field in _LEFT_OUT else None


def _body_without_schema(request: ModelRequest, refused: Collection[str]) -> dict[str, Any]:
    said = (
        f"{request.instructions}\n\nAnswer with one JSON object that follows this schema:\n{_text_of(request.schema)}"
    )
    return {**_question(request, said, refused), "response_format": {"type": "json_object"}}


def _text_of(schema: Any) -> str:
    return json.dumps(dict(schema), separators=(",", ":"))


def _question(request: ModelRequest, instructions: str, refused: Collection[str]) -> dict[str, Any]:
    most = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    return {
        "model": request.model,
        most: request.max_tokens,
        **({} if "temperature" in refused else {"temperature": 0}),
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": [{"type": "text", "text": part.block} for part in request.quoted]},
        ],
    }


def _read(response: httpx2.Response, request: ModelRequest) -> ModelOutcome:
    """The answer, of whatever form."""
    if response.status_code != _OK:
        return ModelFailure(kind_of_status(response.status_code))
    told = object_of(response.content.decode("utf-8", "replace")) or {}
    usage, model = _usage(told.get("usage")), name_of(told.get("model"), request.model)
    choice = _first(told.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict):
        return ModelFailure("parse", usage, model)
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return ModelFailure("refusal", usage, model)
    content = message.get("content")
    text = content.strip() if isinstance(content, str) else ""
    value = object_of(text)
    if value is None:
        return ModelFailure("parse", usage, model, empty=not text)
    return ModelAnswer(value, text, usage, model)


def _first(choices: Any) -> dict[str, Any]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _usage(told: Any) -> Usage:
    if not isinstance(told, dict):
        return Usage()
    details = told.get("prompt_tokens_details")
    prompt = tokens(told.get("prompt_tokens"))
    cached = min(tokens(details.get("cached_tokens")), prompt) if isinstance(details, dict) else 0
    return Usage(prompt - cached, tokens(told.get("completion_tokens")), cache_read_tokens=cached)


def _failure(error: Exception, *, timed_out: bool) -> ModelFailure:
    import httpx2  # noqa: PLC0415 - takes long to import

    if timed_out or isinstance(error, httpx2.TimeoutException):
        return ModelFailure("network", timed_out=True)
    return ModelFailure("network" if isinstance(error, httpx2.TransportError) else "unknown")
