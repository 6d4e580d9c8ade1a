"""The HTTP API of one memory in the local stack, asked by whoever a scenario says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from provenloop.entry.local.stack import LocalStack
from tests.parity.runner.served import Served

BOOTSTRAP = "bootstrap-token-of-parity"
EVERY_SCOPE = ("read", "write", "review", "apply", "admin")
_PAGE = 100
_NAME = re.compile(r"[^a-z0-9._-]")


@dataclass(frozen=True)
class Asker:
    """Who asks: a label, and the scopes that their token carries."""

    label: str = "user:reviewer"
    scopes: tuple[str, ...] = EVERY_SCOPE


@dataclass(frozen=True)
class Answer:
    """Status and JSON of one answer."""

    status: int
    body: Any

    @property
    def refused(self) -> str | None:
        """The code of a refusal."""
        return None if self.status < 400 else str(self.body.get("code", self.status))


class MemoryApi:
    """One new memory of the stack.

    Args:
        name: of the scenario; the memory is named after it.
        served: what requests may be made.
    """

    def __init__(self, stack: LocalStack, name: str, served: Served) -> None:
        self._stack = stack
        self._served = served
        self._memory = "/v1/memories/" + _NAME.sub("-", name.lower())[:64]
        self._tokens: dict[Asker, Answer] = {}

    def make(self, at: int) -> None:
        """Make the memory."""
        self._stack.set_clock(at)
        made = self._ask(BOOTSTRAP, "PUT", self._memory, {})
        if made.status != 201:
            raise AssertionError(f"the memory could not be made: {made.body}")

    def send(
        self,
        method: str,
        path: str,
        at: int,
        who: Asker,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request at an instant.

        Args:
            path: below the memory.
            at: epoch ms that the clock is set to.
        """
        self._served.need_route(method, re.sub(r"(/recommendations|/grains)/[^/]+", _named, _entity(path)))
        self._stack.set_clock(at)
        token = self._token(who)
        if token.refused:
            return token
        asked = self._memory + path + (f"?{urlencode(query)}" if query else "")
        return self._ask(token.body["secret"], method, asked, body)

    def govern(self, policy: str | None, at: int, who: Asker) -> str | None:
        """Put a host policy in place, or take it away; the code of what is wrong with it."""
        file = self._stack.policy_file
        if file is None:
            raise AssertionError("the stack has no place for a policy")
        if policy is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(policy, encoding="utf-8")
        reader = Asker(who.label) if "read" not in who.scopes else who
        faults = self.send("GET", "/loop/policy", at, reader).body["faults"]
        return str(faults[0]["code"]) if faults else None

    def refusal(self, who: Asker) -> str | None:
        """The code with which somebody gets no token; None where they have one."""
        return self._token(who).refused

    def use_commands(self, llm: str, analyzers: Sequence[str]) -> None:
        """Let these programs stand in for models, and be the external analyzers; empty ones take them away."""
        self._stack.use_commands(llm=llm, analyzers=analyzers)

    def tick(self, at: int) -> None:
        """Let the schedule run what is due at an instant.

        Raises:
            AssertionError: a function failed.
        """
        self._stack.set_clock(at)
        report = self._stack.tick()
        if report.failed or report.retrying:
            raise AssertionError(f"failed: {report.failed}, to be tried again: {report.retrying}")

    def queue(self, at: int, who: Asker) -> list[dict[str, Any]]:
        """Every recommendation of every status, in queue order. The reader may be any principal."""
        reader = Asker(who.label) if "read" not in who.scopes else who
        return list(self._pages(at, reader))

    def _pages(self, at: int, who: Asker) -> Iterator[dict[str, Any]]:
        query = {"status": "all", "limit": str(_PAGE)}
        while True:
            page = self.send("GET", "/loop/recommendations", at, who, query=query).body
            yield from page["recommendations"]
            if page["cursor"] is None:
                return
            query["cursor"] = page["cursor"]

    def _token(self, who: Asker) -> Answer:
        if who not in self._tokens:
            label = who.label if who.scopes == EVERY_SCOPE else f"{who.label}+{'+'.join(who.scopes)}"
            wanted = {"label": label, "kind": "human", "memories": "*", "scopes": list(who.scopes)}
            self._tokens[who] = self._ask(BOOTSTRAP, "POST", "/v1/tokens", wanted)
        return self._tokens[who]

    def _ask(self, token: str, method: str, path: str, body: Mapping[str, Any] | None) -> Answer:
        answer = self._stack.request(method, path, {"authorization": f"Bearer {token}"}, body)
        return Answer(answer.status, answer.json())


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def _named(match: re.Match[str]) -> str:
    return match[1] + ("/{id}" if match[1] == "/recommendations" else "/{address}")


def _entity(path: str) -> str:
    return "/entities/{namespace}/{subject}" if path.startswith("/entities/") else path
