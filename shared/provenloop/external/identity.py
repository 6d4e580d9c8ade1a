"""Who an external analyzer may be. Its id is the host's to give: whoever answers under another name is not asked."""

from __future__ import annotations

import re

from provenloop.domain.registered import COMMAND, EXTERNAL_ID, RegisteredAnalyzer
from provenloop.external.answers import Probed

_BUILT_IN = "loop."
_OURS = "ext."
_OTHER = re.compile(r"[^a-z0-9]+")
_MAX_NAME_CHARS = 41


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
    if folded.startswith(_BUILT_IN):
        return None
    name = _OTHER.sub("_", folded.split("/", maxsplit=1)[0].removeprefix(_OURS)).strip("_")
    return f"{_OURS}{_lettered(name)[:_MAX_NAME_CHARS]}/1"


def _lettered(name: str) -> str:
    """A name that begins with a letter."""
    return name if name[:1].isalpha() else f"command_{name}".rstrip("_")
