"""An answer, and its form for the HTTP API (payload format 2.0)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.errors import TooLargeError

JSON = "application/json"
JSON_LINES = "application/x-ndjson"
#: What Lambda hands on of an answer.
MAX_ANSWER_BYTES = 6_291_556
#: A character outside of the plane that most texts are in, as its two escapes.
_LONGEST_CHARACTER = 12
_HEADERS = 16_384
#: Where a page of JSON lines says that there is more.
CURSOR_HEADER = "provenloop-cursor"


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, a text and its media type. Nothing that is answered may be kept by caches on the way."""

    status: int
    text: str
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_gateway(self) -> dict[str, Any]:
        """What the function returns."""
        headers = {"content-type": self.media_type, "cache-control": "no-store", **self.headers}
        return {"statusCode": self.status, "headers": headers, "body": self.text, "isBase64Encoded": False}

    def fits(self) -> bool:
        """Whether Lambda hands the answer on, in whatever way it writes JSON."""
        at_most = len(self.text) * _LONGEST_CHARACTER + _HEADERS
        return at_most <= MAX_ANSWER_BYTES or len(json.dumps(self.to_gateway())) <= MAX_ANSWER_BYTES


def too_large() -> TooLargeError:
    """What is told instead of an answer that does not fit: reads can ask for less, and only they have such answers."""
    return TooLargeError(f"the answer is over {MAX_ANSWER_BYTES} bytes; ask for less, such as a lower limit")


def json_reply(payload: Mapping[str, Any], status: int = 200) -> Reply:
    """The payload as a JSON object."""
    return Reply(status, json_text(payload))


def json_lines_reply(lines: Iterable[str], cursor: str | None) -> Reply:
    """A page of JSON texts, one a line; where there is more, a header holds the cursor of the next page."""
    headers = {} if cursor is None else {CURSOR_HEADER: cursor}
    return Reply(200, "".join(f"{line}\n" for line in lines), JSON_LINES, headers)


def json_text(payload: Any) -> str:
    """JSON without blanks; mappings of any class are objects."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_as_plain)


def _as_plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
