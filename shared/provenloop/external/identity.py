"""Who an external analyzer may be. Its id is the host's to give: whoever answers under another name is not asked."""

from __future__ import annotations

import re
import shlex

from provenloop.domain.registered import COMMAND, EXTERNAL_ID, RegisteredAnalyzer
from provenloop.external.answers import Probed

_BUILT_IN = "loop."
_OURS = "ext."
_OTHER = re.compile(r"[^a-z0-9]+")
_MAX_NAME_CHARS = 41
_SCRIPTS = (".py", ".sh")


def is_who_it_should_be(probed: Probed, registered: RegisteredAnalyzer) -> bool:
    """Whether an analyzer that was probed may answer under the id that the host gave it."""
    if probed.id is None or probed.id == registered.id:
        return True
    return registered.endpoint.startswith(COMMAND) and command_id(probed.id) == registered.id


def command_id(told: str) -> str | None:
    """The id of a command that calls itself so: ``ext.<name>/1``; None for a name of a built-in analyzer.

    An id of ours stays as it is.
    """
    folded = told.strip().lower()
    if EXTERNAL_ID.match(folded):
        return folded
    return None if folded.startswith(_BUILT_IN) else _id_of(folded.split("/", maxsplit=1)[0].removeprefix(_OURS))


def id_of_command(line: str) -> str:
    """The id of a command that does not say who it is: by its script, or by its first word."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    named = next((word for word in words if word.endswith(_SCRIPTS)), words[0] if words else "")
    return _id_of(named.rsplit("/", 1)[-1].removesuffix(".py").removesuffix(".sh").lower())


def _id_of(text: str) -> str:
    """An id whose name is made of a text, and begins with a letter."""
    name = _OTHER.sub("_", text).strip("_")
    lettered = name if name[:1].isalpha() else f"command_{name}".rstrip("_")
    return f"{_OURS}{lettered[:_MAX_NAME_CHARS]}/1"
