"""An answer, and its form for the HTTP API (payload format 2.0)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = "application/json"
JSON_LINES = "application/x-ndjson"
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
