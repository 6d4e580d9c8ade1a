"""Functions of this installation, asked by another one of them as the gateway would ask.

Nothing is tried twice: whether what was asked for was done is known by whoever asked, and by an Idempotency-Key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, ReadTimeoutError

from provenloop.domain.errors import InternalError, UnavailableError

CONNECT_S = 1


class LambdaFunctions:
    """The functions by the names of their folders.

    Args:
        names: the name of each in Lambda.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._client = cache(_client)

    def ask(self, function: str, event: Mapping[str, Any], *, at_most_s: float) -> Any:
        """What a function answers to an event.

        Args:
            function: its folder.
            event: any JSON.
            at_most_s: how long it may take once it is reached. A client is kept for each, so let there be few.

        Raises:
            UnavailableError: it could not be asked, or did not answer in time.
            InternalError: it failed.
        """
        payload = json.dumps(event).encode()
        try:
            answer = self._client(at_most_s).invoke(FunctionName=self._names[function], Payload=payload)
            text = answer["Payload"].read()
        except ReadTimeoutError as error:
            raise UnavailableError("no answer came in time; it may have been done all the same") from error
        except (BotoCoreError, ClientError, HTTPClientError) as error:
            raise UnavailableError("this cannot be done at the moment") from error
        if answer.get("FunctionError"):
            raise InternalError(f"the function {function} failed")
        return json.loads(text)


def _client(at_most_s: float) -> Any:
    config = Config(connect_timeout=CONNECT_S, read_timeout=at_most_s, retries={"total_max_attempts": 1})
    return botocore.session.get_session().create_client("lambda", config=config)
