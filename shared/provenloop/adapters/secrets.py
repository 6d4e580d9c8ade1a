"""Secrets of the deployment, read when asked for and kept nowhere."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import InternalError, UnavailableError

_CONFIG = Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
#: Faults of set-up: trying again cannot help.
_OURS = frozenset({"AccessDeniedException", "ResourceNotFoundException", "InvalidRequestException"})


def read_secret(arn: str) -> str:
    """The text of a secret.

    Raises:
        InternalError: there is no such secret, no right to it, or it holds no text.
        UnavailableError: it could not be read now.
    """
    try:
        answer = _client().get_secret_value(SecretId=arn)
    except ClientError as error:
        if error.response["Error"]["Code"] in _OURS:
            raise InternalError("a secret of the installation cannot be read") from error
        raise UnavailableError("a credential could not be read; try again") from error
    except BotoCoreError as error:
        raise UnavailableError("a credential could not be read; try again") from error
    text = answer.get("SecretString")
    if not isinstance(text, str):
        raise InternalError("a secret of the installation holds no text")
    return text


@cache
def _client() -> Any:
    # At its lowest level this logger shows whole answers, and these are secrets.
    logging.getLogger("botocore.parsers").setLevel(logging.INFO)
    return botocore.session.get_session().create_client("secretsmanager", config=_CONFIG)
