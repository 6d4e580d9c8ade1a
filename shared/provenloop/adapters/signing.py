"""Signatures by KMS: the private key never leaves it, and the public one is enough to check them."""

from __future__ import annotations

import base64
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.anchor import Signature
from provenloop.domain.errors import UnavailableError
from provenloop.domain.rsa_signature import ALGORITHM

_CONFIG = Config(connect_timeout=3, read_timeout=8, retries={"mode": "standard", "total_max_attempts": 3})


class KmsSigner:
    """Implements ``services.anchor_port.Signer`` with one RSA key of usage SIGN_VERIFY."""

    def __init__(self, key: str, *, client: Any = None) -> None:
        self._key = key
        self._client: Any = client or botocore.session.get_session().create_client("kms", config=_CONFIG)

    def sign(self, message: str) -> Signature:
        """See ``Signer``."""
        try:
            answer = self._client.sign(
                KeyId=self._key, Message=message.encode(), MessageType="RAW", SigningAlgorithm=ALGORITHM
            )
        except (ClientError, BotoCoreError) as error:
            raise UnavailableError("the anchor could not be signed") from error
        return Signature(str(answer["KeyId"]), ALGORITHM, base64.b64encode(answer["Signature"]).decode())
