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
    "ParameterNotFound": (NotFoundError, "does not exist"),
    "AccessDeniedException": (ForbiddenError, "may not be read"),
}
_UNAVAILABLE = (UnavailableError, "could not be read")


class ParameterPolicy:
    """A policy in a parameter of type String, by its name; lists of names are in others, ``<name>-names-<number>``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self) -> str:
        """The parameter's value.

        Raises:
            NotFoundError, ForbiddenError: set up wrongly.
            UnavailableError: it could not be read now.
        """
        return _value(self._name, "the policy")

    def read_names(self, number: int) -> str:
        """See ``PolicySource``.

        Raises:
            NotFoundError, ForbiddenError, UnavailableError: as ``read``.
        """
        return _value(f"{self._name}-names-{number}", f"list {number} of names")


class FilePolicy:
    """A policy in a file, with lists of names in ``<file>-names-<number>``; what is written there counts at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        """The file's text; bytes that are no UTF-8 are left for the reader of the policy to refuse.

        Raises:
            NotFoundError: there is no such file, or it cannot be read.
        """
        return _text(self._path, "the policy")

    def read_names(self, number: int) -> str:
        """See ``PolicySource``.

        Raises:
            NotFoundError: as ``read``.
        """
        return _text(self._path.with_name(f"{self._path.name}-names-{number}"), f"list {number} of names")


def _value(name: str, what: str) -> str:
    try:
        return str(_client().get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        cls, rule = _REFUSALS.get(error.response["Error"]["Code"], _UNAVAILABLE)
        raise cls(f"the parameter that holds {what} {rule}") from error
    except BotoCoreError as error:
        cls, rule = _UNAVAILABLE
        raise cls(f"the parameter that holds {what} {rule}") from error


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_POLICY_BYTES + 1).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFoundError(f"the file that holds {what} cannot be read") from error


@cache
def _client() -> Any:
    return botocore.session.get_session().create_client("ssm", config=_CONFIG)
