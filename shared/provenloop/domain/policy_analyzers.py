"""External analyzers in a host policy: who is asked, where, and what they are shown. Nowhere else is one registered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from provenloop.domain.grain import GrainKind
from provenloop.domain.policy_parts import PolicyParts, within
from provenloop.domain.recommendation import family_of
from provenloop.domain.registered import (
    COMMAND,
    EXTERNAL_ID,
    MAX_ANSWER_BYTES,
    MAX_REGISTERED,
    MAX_TIMEOUT_MS,
    NEEDS,
    RegisteredAnalyzer,
)
from provenloop.domain.this_machine import THIS_MACHINE

_NEEDED = ("id", "endpoint", "needs")
_FIELDS = (*_NEEDED, "timeout_ms", "max_bytes")
_LAMBDA = re.compile(
    r"arn:aws[a-z-]{0,20}:lambda:[a-z0-9-]{1,32}:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]{1,128})?\Z"
)
_ADDRESS = re.compile(r"https?://[!-~]{1,1000}\Z")
_MAX_COMMAND_CHARS = 1_000
_NOBODY = RegisteredAnalyzer("", "", ())


class PolicyAnalyzers(PolicyParts):
    """Reads the field ``analyzers``.

    Args:
        commands: those that are in force beside what the policy registers.
        is_local: whether this is a local stack, where analyzers may be commands and addresses of this machine.
    """

    def __init__(self, commands: Sequence[RegisteredAnalyzer], *, is_local: bool) -> None:
        super().__init__()
        self.commands = tuple(commands)
        self._is_local = is_local

    def analyzers(self, value: object, place: str) -> tuple[RegisteredAnalyzer, ...]:
        """All that are registered, each under a name of its own."""
        found = {family_of(each.id): each for each in self.commands}
        for item, at in self.items(value, place):
            read = self._registered(item, at)
            if read.id and family_of(read.id) in found:
                self.refuse(within(at, "id"), "another one has this name")
            found[family_of(read.id)] = read
        if isinstance(value, list) and len(value) > MAX_REGISTERED:
            self.refuse(place, f"at most {MAX_REGISTERED}")
        return tuple(found.values())

    def _registered(self, value: object, place: str) -> RegisteredAnalyzer:
        fields = self.fields(value, place, _FIELDS)
        if not self.has_all(value, place, _NEEDED):
            return _NOBODY
        return RegisteredAnalyzer(
            id=self._id(fields["id"], within(place, "id")),
            endpoint=self._endpoint(fields["endpoint"], within(place, "endpoint")),
            needs=self._needs(fields["needs"], within(place, "needs")),
            timeout_ms=self.count(
                fields.get("timeout_ms", MAX_TIMEOUT_MS), within(place, "timeout_ms"), MAX_TIMEOUT_MS
            ),
            max_bytes=self.count(
                fields.get("max_bytes", MAX_ANSWER_BYTES), within(place, "max_bytes"), MAX_ANSWER_BYTES
            ),
        )

    def _id(self, value: object, place: str) -> str:
        if isinstance(value, str) and EXTERNAL_ID.match(value):
            return value
        self.refuse(place, "ext.<name>/<version> is needed, the name of a-z, 0-9 and _, the version a number from 1")
        return _NOBODY.id

    def _needs(self, value: object, place: str) -> tuple[GrainKind, ...]:
        if value == []:
            self.refuse(place, f"at least one of {', '.join(NEEDS)} is needed")
        wanted = {self.one_of(item, at, NEEDS) for item, at in self.items(value, place)}
        return tuple(kind for kind in NEEDS if kind in wanted)

    def _endpoint(self, value: object, place: str) -> str:
        text = value if isinstance(value, str) else ""
        if _LAMBDA.match(text) or self._is_address(text) or self._is_command(text):
            return text
        self.refuse(place, "the ARN of a Lambda function, or an address of https without a user, is needed")
        return _NOBODY.endpoint

    def _is_address(self, text: str) -> bool:
        if not _ADDRESS.match(text):
            return False
        try:
            parts = urlsplit(text)
            is_whole = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc and "#" not in text
        except ValueError:
            return False
        return is_whole and (parts.scheme == "https" or (self._is_local and parts.hostname in THIS_MACHINE))

    def _is_command(self, text: str) -> bool:
        is_command = text.startswith(COMMAND) and text.removeprefix(COMMAND).strip() != ""
        return self._is_local and is_command and len(text) <= _MAX_COMMAND_CHARS
