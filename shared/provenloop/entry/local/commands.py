"""What ``make dev`` and ``make demo`` run."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from provenloop.domain.errors import InternalError
from provenloop.entry.local.doors import source_parameters
from provenloop.entry.local.intrinsics import TemplateError
from provenloop.entry.local.server import DEFAULT_PORT, LocalServer
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.settings import INBOUND_SOURCES, read_settings

_LAST_PORT = 65_535
#: The demo's own words only: neither log lines nor metrics between them.
_QUIET = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true"}

#: The demo's ids are the same each time; its tokens too, and they end with it.
_SEED = "demo"


class CannotStartError(Exception):
    """What is missing to start, said to a person."""


def dev(root: Path) -> int:
    """Serve the stack of the clone at ``root`` until interrupted or terminated.

    Raises:
        CannotStartError: the template or the port cannot be used.
    """
    port = _port(os.environ.get("PORT"))
    # Terminating and interrupting are one thing here, and may come while it still starts.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _stack(root, parameters=_sources()) as stack, _server(stack, port) as server:
            stack.functions.load()
            _announce(stack, server.url)
            server.serve_forever()
    except KeyboardInterrupt:
        sys.stdout.write("\nStopped.\n")
    return 0


def demo(root: Path) -> int:
    """Run the demo on the stack of the clone at ``root``; its exit code.

    Raises:
        CannotStartError: the template cannot be used.
    """
    run_demo: Callable[..., int] = importlib.import_module("provenloop.entry.local.demo").run_demo
    with TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.json"
        policy.write_text("{}", encoding="utf-8")
        alone = {"policy_file": policy, "llm_command": "", "analyzer_commands": ()}
        with _stack(root, variables=_QUIET, seed=_SEED, **alone) as stack:
            return run_demo(stack, root=root)


def _stack(root: Path, **given: Any) -> LocalStack:
    try:
        return LocalStack(root, **given)
    except TemplateError as error:
        raise CannotStartError(f"The template cannot be carried out: {error}") from error


def _sources() -> dict[str, str]:
    """Parameters for the sources of events without HTTP that the environment names."""
    try:
        return source_parameters(read_settings().inbound_sources)
    except InternalError as error:
        raise CannotStartError(f"{INBOUND_SOURCES}: {error.message}") from error


def _server(stack: LocalStack, port: int) -> LocalServer:
    try:
        return LocalServer(stack, port)
    except OSError as error:
        raise CannotStartError(f"Port {port} cannot be used ({error.strerror}); set PORT to another.") from error


def _port(text: str | None) -> int:
    if not text:
        return DEFAULT_PORT
    if not (text.isascii() and text.isdigit()) or int(text) > _LAST_PORT:
        raise CannotStartError(f"PORT must be a number up to {_LAST_PORT}, not {text!r}.")
    return int(text)


def _announce(stack: LocalStack, url: str) -> None:
    lines = [
        f"Provenloop is at {url}",
        f"Admin token: {stack.dev_token}",
        f"Clock: {url}/_local/clock (GET, POST); tick: {url}/_local/tick (POST)",
        f"Without HTTP: {url}/_local/events (POST), {url}/_local/inbox/ (PUT), {url}/_local/reports/ (GET)",
        *(f"Not carried out here: {name}" for name in stack.unsupported),
        "Stop with Ctrl-C.",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
