"""Functions of this installation, asked by another one of them as the gateway would ask.

Nothing is tried twice: whether what was asked for was done is known by whoever asked, and by an Idempotency-Key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from provenloop.domain.errors import InternalError, UnavailableError

#: A little less than the asking function has itself, so that it can still say so.
_CONFIG = Config(connect_timeout=2, read_timeout=27, retries={"total_max_attempts": 1})


class LambdaFunctions:
    """The functions by the names of their folders.

    Args:
        names: the name of each in Lambda.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._client: Any = botocore.session.get_session().create_client("lambda", config=_CONFIG)

    def ask(self, function: str, event: Mapping[str, Any]) -> Any:
        """What a function answers to an event.

        Raises:
            UnavailableError: it could not be asked, or did not answer in time.
            InternalError: it failed.
        """
        payload = json.dumps(event).encode()
        try:
            answer = self._client.invoke(FunctionName=self._names[function], Payload=payload)
            text = answer["Payload"].read()
        except (BotoCoreError, ClientError, HTTPClientError) as error:
            raise UnavailableError("this cannot be done at the moment") from error
        if answer.get("FunctionError"):
            raise InternalError(f"the function {function} failed")
        return json.loads(text)
