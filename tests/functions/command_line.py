"""The command line, called in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from provenloop.cli.main import Surroundings, main
from provenloop.client import Options
from tests.functions.requests import ADMIN


@dataclass
class CommandLine:
    """Calls commands against the service at ``url``; the environment names it, the token and the memory."""

    url: str
    capture: pytest.CaptureFixture[str]
    home: str
    options: Options | None = None
    environment: dict[str, str] = field(default_factory=dict)
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: str, token: str | None = ADMIN, memory: str | None = "support") -> int:
        """The exit code; ``out`` and ``err`` hold what was printed."""
        named = {"PROVENLOOP_URL": self.url, "PROVENLOOP_TOKEN": token, "PROVENLOOP_MEMORY": memory, "HOME": self.home}
        given = {name: value for name, value in named.items() if value is not None}
        self.capture.readouterr()
        code = main(arguments, Surroundings({**given, **self.environment}, self.options))
        self.out, self.err = self.capture.readouterr()
        return code

    def json(self, *arguments: str, **how: Any) -> Any:
        """The reply of a command that succeeds."""
        assert self(*arguments, "--json", **how) == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    def refused(self, *arguments: str, **how: Any) -> dict[str, Any]:
        """The problem that a command fails with."""
        assert self(*arguments, "--json", **how) == 1
        assert self.out == ""
        problem: dict[str, Any] = json.loads(self.err)
        return problem
