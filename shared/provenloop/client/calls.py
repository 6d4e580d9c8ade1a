"""What every method of the client is made of: one request to one operation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx

from provenloop.client.errors import MISUSED, NOT_THE_SERVICE, ProvenloopError
from provenloop.client.transport import Asked, Options, Transport

T = TypeVar("T")
CURSOR: Final = "provenloop-cursor"
_ACCEPTED: Final = 202


class Calls:
    """Sends requests; the methods that people call are in the classes made of it."""

    def __init__(self, transport: Transport, memory: str | None, options: Options) -> None:
        self.transport = transport
        self._options = options
        self.memory = memory

    def _read(self, form: type[T], path: str, query: Mapping[str, Any] | None = None) -> T:
        del form
        answer: T = json_of(self.transport.send(Asked("GET", path, query or {})))
        return answer

    def _write(
        self, form: type[T], path: str, body: Mapping[str, Any] | None, key: str | None, method: str = "POST"
    ) -> T:
        del form
        answer: T = self._sent(Asked(method, path, body=body, key=key))[0]
        return answer

    def _sent(self, asked: Asked) -> tuple[Any, bool]:
        """(the answer, whether there is more to come) of a write; without a key of the caller's own one is made."""
        keyed = asked if asked.key is not None else replace(asked, key=self._options.new_key())
        response = self.transport.send(keyed)
        return json_of(response), response.status_code == _ACCEPTED

    def _lines(self, path: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The lines of all pages of an export."""
        cursor: str | None = None
        while True:
            asked = query if cursor is None else {**query, "cursor": cursor}
            page = self.transport.send(Asked("GET", path, asked))
            yield from (json.loads(line) for line in page.text.split("\n") if line)
            cursor = page.headers.get(CURSOR)
            if cursor is None:
                return

    def _until(self, ask: Callable[[], T], is_done: Callable[[T], bool], wait_s: float, first: T) -> T:
        """The first answer that is done; the last one there was, where ``wait_s`` seconds do not suffice."""
        answer, pause_s = first, 0.5
        ends_at = self._options.clock() + wait_s
        while (left_s := ends_at - self._options.clock()) > 0 and not is_done(answer):
            self._options.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 2, 5.0)
            answer = ask()
        return answer

    def path_in_memory(self, path: str = "", **parts: str) -> str:
        """A path within the memory; ``parts`` fill it in, escaped."""
        if self.memory is None:
            raise ProvenloopError("name the memory", code=MISUSED, field="memory")
        filled = path.format(**{name: segment(part) for name, part in parts.items()})
        return f"/v1/memories/{segment(self.memory)}{filled}"


def json_of(answer: httpx.Response) -> Any:
    """The JSON of an answer that claims success.

    Raises:
        ProvenloopError: it holds none: what answered is not the service.
    """
    try:
        return answer.json()
    except ValueError as error:
        detail = f"status {answer.status_code} without JSON"
        raise ProvenloopError(detail, code=NOT_THE_SERVICE, status=answer.status_code) from error


def segment(text: str) -> str:
    """A text as one segment of a path."""
    if not text or text in (".", ".."):
        raise ProvenloopError("an empty text, and dots alone, name nothing", code=MISUSED)
    return quote(text, safe="")
