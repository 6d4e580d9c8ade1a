"""The keys of external analyzers: one secret for all of them, read each time one is needed."""

from __future__ import annotations

from provenloop.adapters.secrets import read_secret
from provenloop.domain.canonical import StrictJsonError, parse_strict

#: A shorter key could be guessed.
MIN_KEY_CHARS = 16


def external_key(secret: str | None, family: str) -> str | None:
    """The key of one analyzer, from a JSON object of keys by family (``{"ext.name": "..."}``).

    Args:
        secret: ARN or name of the secret; None where the installation has none.

    Returns:
        None where there is none for it, or one of fewer than 16 characters.

    Raises:
        LoopError: the secret cannot be read.
    """
    if secret is None:
        return None
    try:
        keys = parse_strict(read_secret(secret).encode())
    except (StrictJsonError, UnicodeEncodeError):
        return None
    key = keys.get(family) if isinstance(keys, dict) else None
    return key if isinstance(key, str) and len(key) >= MIN_KEY_CHARS else None
