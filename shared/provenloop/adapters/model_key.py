"""The keys of model providers, read from Secrets Manager each time one is needed, so that rotation works at once."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.adapters.secrets import read_secret
from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.errors import InternalError
from provenloop.domain.model_spec import DEFAULT_PROVIDER, PROVIDERS, ProviderName


@dataclass(frozen=True, slots=True)
class SecretModelKey:
    """Implements ``services.model_port.ModelKey``; two of one provider and secret are one key.

    The secret is the key of Anthropic as plain text, or a JSON object of keys by provider. A provider without a key is
    switched off.

    Args:
        secret: ARN or name of the secret; None where models are off.
        provider: whose key it is.
    """

    secret: str | None
    provider: ProviderName = DEFAULT_PROVIDER

    def current(self) -> str:
        """See ``ModelKey``."""
        text = read_secret(self.secret).strip() if self.secret else ""
        if text.startswith("{"):
            return _keys(text).get(self.provider, "").strip()
        return text if self.provider == DEFAULT_PROVIDER else ""


@dataclass(frozen=True, slots=True)
class NoKeyNeeded:
    """Implements ``services.model_port.ModelKey`` for providers that ask for none."""

    def current(self) -> str:
        """A word in place of a key, for an empty one would mean that models are off."""
        return "none-needed"


def _keys(text: str) -> dict[str, str]:
    try:
        given = parse_strict(text.encode())
    except StrictJsonError:
        raise InternalError("the secret of the models begins like JSON, and is none") from None
    keys = {name: key for name, key in given.items() if isinstance(key, str)} if isinstance(given, dict) else {}
    if keys != given or keys.keys() - set(PROVIDERS):
        raise InternalError(f"the secret of the models holds texts by provider; one of {', '.join(PROVIDERS)}")
    return keys
