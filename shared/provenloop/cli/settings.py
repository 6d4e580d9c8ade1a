"""Where the service is, who calls and which memory is meant: options, else the environment, else a settings file.

Invariants: a settings file holds a token, so it is made for its owner alone and not read where others may read it; a
token is never shown.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from provenloop.client.errors import MISUSED, ProvenloopError

URL, TOKEN, MEMORY = "PROVENLOOP_URL", "PROVENLOOP_TOKEN", "PROVENLOOP_MEMORY"
VARIABLES: Final = {"url": URL, "token": TOKEN, "memory": MEMORY}
_OWNER_ONLY: Final = 0o600
_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True)
class Settings:
    """What a call needs; None is not set."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    memory: str | None = None

    def over(self, other: Settings) -> Settings:
        """These, and where one is not set the other's."""
        return Settings(**{each.name: getattr(self, each.name) or getattr(other, each.name) for each in fields(self)})


def settings_file(environment: Mapping[str, str]) -> Path:
    """Where the settings of this user are kept."""
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "provenloop" / "settings.json"


def settings_from(environment: Mapping[str, str]) -> Settings:
    """What the environment says, over what the settings file says.

    Raises:
        ProvenloopError: the file cannot be used.
    """
    said = Settings(**{name: environment.get(variable) or None for name, variable in VARIABLES.items()})
    if said.url and said.token and said.memory:
        return said
    return said.over(_read(settings_file(environment)))


def save_settings(file: Path, settings: Settings) -> None:
    """Write the file anew, for its owner alone."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    beside.unlink(missing_ok=True)
    # Never there with the rights of others, not even for a moment.
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w", encoding="utf-8") as out:
        json.dump({each.name: getattr(settings, each.name) for each in fields(settings)}, out)
    beside.replace(file)


def _read(file: Path) -> Settings:
    try:
        rights, text = stat.S_IMODE(file.stat().st_mode), file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise _unusable(file, error.strerror or "cannot be read") from error
    if os.name == "posix" and rights & _OTHERS:
        raise _unusable(file, "others may read it; make it yours alone (chmod 600)")
    try:
        said: Any = json.loads(text)
        return Settings(**{name: said[name] for name in VARIABLES if isinstance(said.get(name), str)})
    except (ValueError, AttributeError) as error:
        raise _unusable(file, "no JSON object") from error


def _unusable(file: Path, reason: str) -> ProvenloopError:
    return ProvenloopError(f"the settings file {file}: {reason}", code=MISUSED)
