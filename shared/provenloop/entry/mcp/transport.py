"""Headers that HTTP itself has rules for, as MCP asks servers to keep them: who asks from a web page, and for what."""

from __future__ import annotations

from collections.abc import Mapping

from provenloop.entry.mcp.protocol import INVALID_REQUEST, ProtocolError
from provenloop.entry.reply import JSON

_TAKES_JSON = frozenset({JSON, "application/*", "*/*"})


def require_origin(headers: Mapping[str, str]) -> None:
    """Programs send no origin; a web page has to be one of the address that it asks.

    Raises:
        ProtocolError: it is another page (403), whatever name it found this address by.
    """
    origin = headers.get("origin")
    host = headers.get("host", "").lower()
    if origin is not None and (not host or origin.lower() not in (f"https://{host}", f"http://{host}")):
        raise ProtocolError(INVALID_REQUEST, "pages of other origins are not answered", status=403)


def require_accepted(headers: Mapping[str, str]) -> None:
    """Every answer is JSON; whoever says nothing takes it.

    Raises:
        ProtocolError: the caller takes something else only (406), so nothing is done for it.
    """
    accepted = headers.get("accept")
    if accepted is not None and not any(_takes_json(each) for each in accepted.split(",")):
        raise ProtocolError(INVALID_REQUEST, "answers are application/json", status=406)


def _takes_json(accepted: str) -> bool:
    media_type, *parameters = (part.strip().lower() for part in accepted.split(";"))
    return media_type in _TAKES_JSON and not any(_is_none(parameter) for parameter in parameters)


def _is_none(parameter: str) -> bool:
    """Whether it is the weight that means not at all."""
    name, _, weight = parameter.replace(" ", "").partition("=")
    return name == "q" and weight.strip("0.") == "" and weight.startswith("0")
