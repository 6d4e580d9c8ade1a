"""External analyzers that are Lambda functions, invoked as the registered ARN says; only the role decides which may be.

A question is the function's event, and what it returns is its answer. Nothing is tried twice.
"""

from __future__ import annotations

from contextlib import closing
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from provenloop.services.external_port import ExternalFailure

_CONNECT_S = 1.0


class LambdaAnalyzer:
    """Implements ``services.external_port.ExternalAnalyzer``.

    Args:
        function: the ARN of the function, with or without an alias or version.
    """

    def __init__(self, function: str) -> None:
        self._function = function

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        """See ``ExternalAnalyzer``."""
        try:
            with closing(_client(self._function, timeout_ms / 1000)) as client:
                answer = client.invoke(
                    FunctionName=self._function, InvocationType="RequestResponse", LogType="None", Payload=request
                )
                return _read(answer, max_bytes)
        except ReadTimeoutError:
            return ExternalFailure("timeout")
        except (IncompleteReadError, ResponseStreamingError):
            return ExternalFailure("failed")
        except (BotoCoreError, ClientError, HTTPClientError):
            return ExternalFailure("unreachable")


def _read(answer: Any, max_bytes: int) -> bytes | ExternalFailure:
    if answer.get("FunctionError"):
        return ExternalFailure("failed")
    payload = b""
    with closing(answer["Payload"]) as stream:
        # Only a read that comes to the end tells whether the answer is whole.
        while chunk := stream.read(max_bytes + 1 - len(payload)):
            payload += chunk
            if len(payload) > max_bytes:
                return ExternalFailure("too_large")
    return payload


def _client(function: str, seconds: float) -> Any:
    # The timeouts of a client are fixed, so each call has a client of its own.
    config = Config(connect_timeout=min(_CONNECT_S, seconds), read_timeout=seconds, retries={"total_max_attempts": 1})
    return _session().create_client("lambda", region_name=function.split(":")[3], config=config)


@cache
def _session() -> Any:
    return botocore.session.get_session()
