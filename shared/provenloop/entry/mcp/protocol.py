"""JSON-RPC 2.0 as MCP uses it over HTTP: which messages are taken, at which version, and how they are answered.

Two eras are served. Since 2026-07-28 each request says for itself which version it speaks, in ``params._meta`` and in
headers that must agree with it. Before, a client said so once with ``initialize``; nothing of that is kept here, for
every later request names the version in a header.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import provenloop
from provenloop.domain.errors import InvalidInputError, TooLargeError
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.strict_body import MAX_BODY_BYTES, MAX_DEPTH, read_body

MODERN = "2026-07-28"
#: The newest first; the first one is offered to whoever asks for one that is not known.
WITH_HANDSHAKE = ("2025-11-25", "2025-06-18")
VERSIONS = (MODERN, *WITH_HANDSHAKE)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
SERVER = {"name": "provenloop", "version": provenloop.__version__}
#: Room for whatever HTTP takes as a body, and the message around it: what is too much is told by whoever is asked.
_MAX_BYTES = MAX_BODY_BYTES + 65_536
_MAX_DEPTH = 2 * MAX_DEPTH
_VERSION_HEADER = "mcp-protocol-version"
_ENCODED = ("=?base64?", "?=")


class ProtocolError(Exception):
    """A message that no tool answers. ``status`` is that of HTTP; ``id`` stays None where none could be read."""

    def __init__(self, code: int, message: str, *, status: int = 400, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification if it has no id."""

    method: str
    params: Mapping[str, Any]
    id: str | int | None = None
    is_modern: bool = field(default=False, compare=False)


def read_message(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON object that was posted.

    Raises:
        ProtocolError: it is too large, no JSON, or not one object; batches were given up with 2025-06-18.
    """
    try:
        value = read_body(event, optional=False, max_bytes=_MAX_BYTES, max_depth=_MAX_DEPTH).value
    except TooLargeError as error:
        raise ProtocolError(INVALID_REQUEST, error.message, status=413) from None
    except InvalidInputError as error:
        code = INVALID_REQUEST if error.field == "content-type" else PARSE_ERROR
        raise ProtocolError(code, f"{error.field}: {error.message}") from None
    if not isinstance(value, Mapping):
        raise ProtocolError(INVALID_REQUEST, "one JSON-RPC request or notification is needed, and no batch")
    return value


def id_of(body: Mapping[str, Any]) -> str | int | None:
    """The id to answer with, as far as it is one."""
    value = body.get("id")
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def member_of(sent: Mapping[str, Any], name: str) -> Any:
    """A member that is an object where it is anything: some clients write null for one that they leave out."""
    value = sent.get(name)
    return {} if value is None else value


def to_message(body: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """What was posted, after every check that needs no tool.

    Raises:
        ProtocolError: no message of a version that is served.
    """
    method, params = body.get("method"), member_of(body, "params")
    if body.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, "one JSON-RPC 2.0 request or notification is needed")
    if "id" in body and id_of(body) is None:
        raise ProtocolError(INVALID_REQUEST, "an id is a text or a whole number")
    if not isinstance(params, Mapping):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    if "id" not in body:
        _require_known(headers.get(_VERSION_HEADER))
        return Message(method, params)
    is_modern = _is_modern(method, params, headers)
    if is_modern:
        _require_envelope(method, params, headers)
    elif method != "initialize":
        _require_known(headers.get(_VERSION_HEADER))
    return Message(method, params, id_of(body), is_modern)


def _is_modern(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    meta = params.get("_meta")
    says_so = isinstance(meta, Mapping) and VERSION_KEY in meta
    return says_so or method == "server/discover" or headers.get(_VERSION_HEADER) == MODERN


def _require_known(version: object) -> None:
    """No header is taken for the handshake's versions: it was sent by no client before, and by some not since."""
    if version is not None and version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "this protocol version is not served", data=data)


def _require_envelope(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    meta = params.get("_meta")
    if not isinstance(meta, Mapping) or not {VERSION_KEY, CAPABILITIES_KEY} <= meta.keys():
        raise ProtocolError(INVALID_PARAMS, f"params._meta must hold {VERSION_KEY} and {CAPABILITIES_KEY}")
    version = meta[VERSION_KEY]
    _require_same(headers.get(_VERSION_HEADER), version, _VERSION_HEADER)
    _require_same(headers.get("mcp-method"), method, "mcp-method")
    if method == "tools/call" and params.get("name") is not None:
        _require_same(_decoded(headers.get("mcp-name")), params["name"], "mcp-name")
    if version != MODERN:
        data = {"supported": list(VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "this protocol version is not served so", data=data)


def _require_same(header: object, said: object, name: str) -> None:
    if header is None or header != said:
        raise ProtocolError(HEADER_MISMATCH, f"the header {name} does not say what the message says")


def _decoded(value: str | None) -> str | None:
    """A header whose text could not stand in it as it is comes in base64."""
    begin, end = _ENCODED
    if value is None or not (value.startswith(begin) and value.endswith(end)):
        return value
    written = value[len(begin) : -len(end)]
    try:
        decoded = base64.b64decode(written, validate=True)
        # More than one text in base64 is read as the same bytes; a header has one.
        return decoded.decode() if base64.b64encode(decoded).decode() == written else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def result_reply(message: Message, result: Mapping[str, Any]) -> Reply:
    """The answer to a request."""
    modern = {"resultType": "complete", "_meta": {SERVER_KEY: SERVER}}
    whole = {**modern, **result} if message.is_modern else result
    return json_reply({"jsonrpc": "2.0", "id": message.id, "result": whole})


def error_reply(error: ProtocolError, message_id: str | int | None) -> Reply:
    """The answer to what is no request, or none that can be answered."""
    told = {"code": error.code, "message": error.message, **({"data": error.data} if error.data else {})}
    return json_reply({"jsonrpc": "2.0", "id": message_id, "error": told}, status=error.status)


def unknown_method(message: Message) -> ProtocolError:
    """Nobody answers this method. Until 2025-11-25 only the transport's own refusals had a status of their own."""
    return ProtocolError(METHOD_NOT_FOUND, "there is no such method", status=404 if message.is_modern else 200)


def bad_params(message: Message, text: str) -> ProtocolError:
    """The method is known, and its parameters are not what it takes."""
    return ProtocolError(INVALID_PARAMS, text, status=400 if message.is_modern else 200)
