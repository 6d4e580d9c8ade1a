"""Models on Amazon Bedrock (Converse) behind ``services.model_port.ModelProvider``, asked in the function's own name.

Invariants: there is no key, for the role of the function says which models it may ask; nothing is tried twice, but
where a model knows no schemas (or no cache) the same is asked once more in a form that more models know; no part of a
call waits for longer than the call may take.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import cache
from time import monotonic
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.exceptions import (
    ConnectionError as NoConnectionError,
)

from provenloop.adapters.model_reading import kind_of_status, object_of, tokens
from provenloop.domain.model_cost import Usage
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest

#: A service of the same region is connected to in milliseconds, or not at all.
_CONNECT_S = 1.0
_LEAST_S = 0.05
_TOOL = "answer"
_REFUSED = frozenset({"content_filtered", "guardrail_intervened", "refusal"})


def connect(seconds: float) -> Any:
    """Botocore's client for one call of that many seconds."""
    connecting = min(_CONNECT_S, seconds / 4)
    config = Config(connect_timeout=connecting, read_timeout=seconds - connecting, retries={"total_max_attempts": 1})
    return _session().create_client("bedrock-runtime", config=config)


@cache
def _session() -> Any:
    # At their lowest level these loggers show whole questions and answers.
    for name in ("botocore.endpoint", "botocore.parsers"):
        logging.getLogger(name).setLevel(logging.INFO)
    return botocore.session.get_session()


class BedrockModel:
    """Implements ``services.model_port.ModelProvider``; whatever key it is given, it uses none.

    Args:
        connect: gives the client for one call of so many seconds.
    """

    def __init__(self, connect: Callable[[float], Any] = connect) -> None:
        self._connect = connect

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:  # noqa: ARG002 - see above
        """See ``ModelProvider``."""
        ends_at = monotonic() + request.timeout_ms / 1000
        try:
            try:
                told = self._converse(ends_at, _with_schema(request))
            except (ClientError, ParamValidationError) as error:
                if not _is_unusable(error):
                    raise
                told = self._converse(ends_at, _with_tool(request))
            return _read(told, request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there, the caller goes on without a model
            return _failure(error)

    def _converse(self, ends_at: float, arguments: dict[str, Any]) -> Any:
        client = self._connect(max(ends_at - monotonic(), _LEAST_S))
        return client.converse(**arguments)


def _with_schema(request: ModelRequest) -> dict[str, Any]:
    """The question in the form that newer models know: an answer by a schema, instructions kept for the next call."""
    asked = _question(request)
    if request.cached:
        asked["system"].append({"cachePoint": {"type": "default"}})
    schema = {"jsonSchema": {"name": _TOOL, "schema": json.dumps(dict(request.schema))}}
    return {**asked, "outputConfig": {"textFormat": {"type": "json_schema", "structure": schema}}}


def _with_tool(request: ModelRequest) -> dict[str, Any]:
    """The question in the form that most models know: the answer is what a tool is called with."""
    tool = {"name": _TOOL, "description": "Takes the answer.", "inputSchema": {"json": dict(request.schema)}}
    tools = {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": _TOOL}}}
    return {**_question(request), "toolConfig": tools}


def _question(request: ModelRequest) -> dict[str, Any]:
    return {
        "modelId": request.model,
        "system": [{"text": request.instructions}],
        "messages": [{"role": "user", "content": [{"text": part.block} for part in request.quoted]}],
        "inferenceConfig": {"maxTokens": request.max_tokens},
    }


def _is_unusable(error: Exception) -> bool:
    """Whether it is the form of the question that was refused, by the model or by a botocore that is older than it."""
    return not isinstance(error, ClientError) or error.response["Error"]["Code"] == "ValidationException"


def _read(told: Any, request: ModelRequest) -> ModelOutcome:
    """The answer, of whatever form. Which model answered is not told."""
    usage = _usage(told.get("usage") or {})
    if told.get("stopReason") in _REFUSED:
        return ModelFailure("refusal", usage, request.model)
    blocks = [block for block in _blocks(told) if isinstance(block, dict)]
    tools = [block["toolUse"].get("input") for block in blocks if "toolUse" in block]
    text = json.dumps(tools[0]) if tools else "".join(block.get("text", "") for block in blocks).strip()
    value = object_of(text)
    if value is None:
        return ModelFailure("parse", usage, request.model, empty=not text)
    return ModelAnswer(value, text, usage, request.model)


def _blocks(told: Any) -> list[Any]:
    content = ((told.get("output") or {}).get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def _usage(told: Any) -> Usage:
    details = told.get("cacheDetails") or []
    hour = sum(tokens(each.get("inputTokens")) for each in details if each.get("ttl") == "1h")
    return Usage(
        input_tokens=tokens(told.get("inputTokens")),
        output_tokens=tokens(told.get("outputTokens")),
        cache_write_tokens=max(tokens(told.get("cacheWriteInputTokens")) - hour, 0),
        cache_write_1h_tokens=hour,
        cache_read_tokens=tokens(told.get("cacheReadInputTokens")),
    )


def _failure(error: Exception) -> ModelFailure:
    if isinstance(error, ConnectTimeoutError | ReadTimeoutError):
        return ModelFailure("network", timed_out=True)
    if isinstance(error, ClientError):
        return _refused(error.response)
    if isinstance(error, NoCredentialsError):
        return ModelFailure("auth")
    return ModelFailure("network" if isinstance(error, NoConnectionError | HTTPClientError) else "unknown")


def _refused(response: Any) -> ModelFailure:
    if response["Error"]["Code"] == "ModelErrorException":
        return ModelFailure("server")
    return ModelFailure(kind_of_status(response["ResponseMetadata"]["HTTPStatusCode"]))
