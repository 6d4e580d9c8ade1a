"""Commands that a local stack was begun with, as external analyzers: each is known by the name it tells,
or by its script with a number where that is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from provenloop.domain.errors import InternalError
from provenloop.domain.recommendation import family_of
from provenloop.domain.registered import COMMAND, MAX_REGISTERED, MAX_TIMEOUT_MS, NEEDS, RegisteredAnalyzer
from provenloop.external.answers import read_probe
from provenloop.external.identity import command_id, id_of_command
from provenloop.external.protocol import PROBE
from provenloop.services.external_port import ExternalAnalyzers

#: As much of a family as leaves room for a number.
_NUMBERED_CHARS = 40


def registered_commands(lines: Sequence[str], analyzers: ExternalAnalyzers) -> tuple[RegisteredAnalyzer, ...]:
    """Each command under its name, asked for all kinds of grains. One that does not answer goes by its
    script, and the second of a name gets a number.

    Raises:
        InternalError: there are too many.
    """
    found: dict[str, RegisteredAnalyzer] = {}
    for line in lines:
        named = _named(RegisteredAnalyzer(id_of_command(line), COMMAND + line, NEEDS), analyzers)
        named = replace(named, id=_free(named.id, found))
        found[family_of(named.id)] = named
    if len(found) > MAX_REGISTERED:
        raise InternalError(f"at most {MAX_REGISTERED} external analyzers")
    return tuple(found.values())


def _free(wanted: str, taken: Collection[str]) -> str:
    """An id whose family nobody has yet."""
    family, version = family_of(wanted), wanted.rsplit("/", 1)[-1]
    others = (f"{family[:_NUMBERED_CHARS]}_{number}" for number in range(2, len(taken) + 3))
    return f"{next(name for name in (family, *others) if name not in taken)}/{version}"


def _named(command: RegisteredAnalyzer, analyzers: ExternalAnalyzers) -> RegisteredAnalyzer:
    answer = analyzers(command).ask(PROBE, timeout_ms=MAX_TIMEOUT_MS, max_bytes=command.max_bytes)
    probed = read_probe(answer) if isinstance(answer, bytes) else None
    told = command_id(probed.id) if probed is not None and probed.id is not None else None
    return replace(command, id=told or command.id)
