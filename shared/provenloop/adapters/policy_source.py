"""Where the host policy is kept: a parameter of Systems Manager, or a file of a local stack."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import ForbiddenError, LoopError, NotFoundError, UnavailableError
from provenloop.domain.policy import MAX_POLICY_BYTES

#: Recalls wait for it once a minute, so it gives up early.
_CONFIG = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})
#: Faults of set-up; any other may pass.
_REFUSALS: Mapping[str, tuple[type[LoopError], str]] = {
    "ParameterNotFound": (NotFoundError, "the parameter that holds the policy does not exist"),
    "AccessDeniedException": (ForbiddenError, "the parameter that holds the policy may not be read"),
}
_UNAVAILABLE = (UnavailableError, "the parameter that holds the policy could not be read")


class ParameterPolicy:
    """A policy in a parameter of type String, by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self) -> str:
        """The parameter's value.

        Raises:
            NotFoundError, ForbiddenError: set up wrongly.
            UnavailableError: it could not be read now.
        """
        try:
            return str(_client().get_parameter(Name=self._name)["Parameter"]["Value"])
        except ClientError as error:
            code = error.response["Error"]["Code"]
            cls, rule = _REFUSALS.get(code, _UNAVAILABLE)
            raise cls(rule) from error
        except BotoCoreError as error:
            cls, rule = _UNAVAILABLE
            raise cls(rule) from error


class FilePolicy:
    """A policy in a file; what is written there counts at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        """The file's text; bytes that are no UTF-8 are left for the reader of the policy to refuse.

        Raises:
            NotFoundError: there is no such file, or it cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                return file.read(MAX_POLICY_BYTES + 1).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise NotFoundError("the file that holds the policy cannot be read") from error


@cache
def _client() -> Any:
    return botocore.session.get_session().create_client("ssm", config=_CONFIG)
