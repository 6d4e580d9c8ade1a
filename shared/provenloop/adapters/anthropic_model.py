"""Anthropic's Messages API behind ``services.model_port.ModelProvider``, over the SDK.

Invariants: the SDK is imported when a model is first asked, since that takes seconds; a client lives for one call and
is closed, so the key stays nowhere; the SDK tries once; the time of a call is over when it is over, however slowly the
other side speaks; nothing of an exception leaves this module, for they hold the request with the key in it.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from provenloop.adapters.model_reading import is_key, kind_of_status, name_of, object_of, tokens
from provenloop.adapters.outside_address import checked_address
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest

if TYPE_CHECKING:
    from anthropic import Anthropic

DEFAULT_URL = "https://api.anthropic.com"
#: Models that refuse to be told how much effort to make.
_NO_EFFORT = re.compile(
    r"claude-(haiku|sonnet)-4-5(-\d{8})?\Z|claude-(?!(haiku|sonnet|opus|fable|mythos)-)|(?!claude-)"
)


class AnthropicModel:
    """Implements ``services.model_port.ModelProvider``.

    Args:
        base_url: where the API is; HTTPS, or plain HTTP on this machine.

    Raises:
        InternalError: the address is neither.
    """

    def __init__(self, base_url: str = DEFAULT_URL) -> None:
        self._base_url = checked_address(base_url, "the models")

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        """See ``ModelProvider``."""
        if not is_key(key):
            return ModelFailure("auth")
        try:
            _sdk()
            from provenloop.adapters.bounded_http import BoundedTransport, Deadline  # noqa: PLC0415 - the SDK's HTTP
        except ImportError:
            return ModelFailure("unknown")
        deadline = Deadline(request.timeout_ms / 1000)
        transport = BoundedTransport(deadline)
        try:
            with deadline, _client(self._base_url, key, transport) as client:
                return _read(_create(client, request), request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there, the caller goes on without a model
            return _failure(error, timed_out=deadline.is_over)


@cache
def _sdk() -> Any:
    """The SDK. It logs whole requests at its lowest level, and nobody is to see them."""
    import anthropic  # noqa: PLC0415 - see above
    import anthropic.resources.messages  # noqa: PLC0415 - the SDK puts this off, into the time of the first call

    logging.getLogger("anthropic").setLevel(logging.WARNING)
    return anthropic


def _client(base_url: str, key: str, transport: Any) -> Anthropic:
    import httpx2  # noqa: PLC0415 - comes with the SDK

    http = httpx2.Client(transport=transport, follow_redirects=False, timeout=transport.deadline.seconds)
    made: Anthropic = _sdk().Anthropic(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        timeout=transport.deadline.seconds,
        http_client=http,
        open_telemetry=False,
    )
    return made


def _create(client: Anthropic, request: ModelRequest) -> Any:
    return client.messages.create(**_arguments(request))


def _arguments(request: ModelRequest) -> dict[str, Any]:
    instructions: dict[str, Any] = {"type": "text", "text": request.instructions}
    if request.cached:
        instructions["cache_control"] = {"type": "ephemeral"}
    wanted: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
    if request.effort is not None and not _NO_EFFORT.match(request.model):
        wanted["effort"] = request.effort
    return {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": [instructions],
        "messages": [{"role": "user", "content": [{"type": "text", "text": part.block} for part in request.quoted]}],
        "output_config": wanted,
    }


def _read(message: Any, request: ModelRequest) -> ModelOutcome:
    """The answer, of whatever form: the SDK does not check what it is sent."""
    content = getattr(message, "content", None)
    if not isinstance(content, list):
        return ModelFailure("parse", model=request.model)
    usage, model = _usage(getattr(message, "usage", None)), name_of(getattr(message, "model", None), request.model)
    if getattr(message, "stop_reason", None) == "refusal":
        return ModelFailure("refusal", usage, model)
    texts = [block.text for block in content if getattr(block, "type", None) == "text" and _is_text(block)]
    text = "".join(texts).strip()
    value = object_of(text)
    if value is None:
        return ModelFailure("parse", usage, model, empty=not text)
    return ModelAnswer(value, text, usage, model)


def _is_text(block: Any) -> bool:
    return isinstance(getattr(block, "text", None), str)


def _usage(told: Any) -> Usage:
    hour = tokens(getattr(getattr(told, "cache_creation", None), "ephemeral_1h_input_tokens", 0))
    written = tokens(getattr(told, "cache_creation_input_tokens", 0))
    return Usage(
        input_tokens=tokens(getattr(told, "input_tokens", 0)),
        output_tokens=tokens(getattr(told, "output_tokens", 0)),
        cache_write_tokens=max(written - hour, 0),
        cache_write_1h_tokens=hour,
        cache_read_tokens=tokens(getattr(told, "cache_read_input_tokens", 0)),
    )


def _failure(error: Exception, *, timed_out: bool) -> ModelFailure:
    sdk = _sdk()
    if timed_out or isinstance(error, sdk.APITimeoutError):
        return ModelFailure("network", timed_out=True)
    if isinstance(error, sdk.APIConnectionError):
        return ModelFailure("network")
    if isinstance(error, sdk.APIStatusError):
        return ModelFailure(kind_of_status(error.status_code))
    # Of a body that cannot be read as the JSON it says it is.
    return ModelFailure("parse" if isinstance(error, ValueError | sdk.APIResponseValidationError) else "unknown")
