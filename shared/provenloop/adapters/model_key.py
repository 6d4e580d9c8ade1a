"""The key of the model provider, read from Secrets Manager each time it is needed, so that rotation works at once."""

from __future__ import annotations

from provenloop.adapters.secrets import read_secret


class SecretModelKey:
    """Implements ``services.model_port.ModelKey``.

    Args:
        secret: ARN or name of the secret that holds the key; None where models are off.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret

    def current(self) -> str:
        """See ``ModelKey``."""
        return read_secret(self._secret).strip() if self._secret else ""
