"""Hooks as commands: their help, and the lines for an agent's settings."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from provenloop.cli.hooks import LIMITS_S, run_hook
from provenloop.cli.session import Session, command

_Project = Annotated[str | None, typer.Option(help="Whose rules; else the name of the agent's folder.", metavar="NAME")]
_Limit = Annotated[float | None, typer.Option(help="Seconds that it may take.", metavar="SECONDS")]
#: Events of the agent's settings: the hook, and whether it is asked for by tool.
_SETTINGS: Final = {
    "SessionStart": ("session-start", False),
    "UserPromptSubmit": ("prompt", False),
    "PostToolUse": ("after-tool", True),
    "PostToolUseFailure": ("after-tool", True),
    "SessionEnd": ("session-end", False),
}
_HELP: Final = {
    "session-start": "Tell an agent that begins the rules of its project, applied lessons and what waits.",
    "prompt": "The same at the first prompt of a session, for agents without a hook at its start.",
    "after-tool": "Record a tool call that an agent made, and whether it failed.",
    "session-end": "End a session, and run a pass from 20 new grains or 3 new errors on.",
}
_GRACE_S: Final = 5


def print_settings(_: Session, *, project: _Project = None) -> None:
    """Print the lines for an agent's settings, with absolute paths; nothing is changed."""
    hooks: dict[str, Any] = {}
    for event, (name, is_by_tool) in _SETTINGS.items():
        words = [*_program(), "hook", name, *(["--project", project] if project else [])]
        entry = {"type": "command", "command": shlex.join(words), "timeout": int(LIMITS_S[name]) + _GRACE_S}
        hooks[event] = [{"matcher": "*", "hooks": [entry]} if is_by_tool else {"hooks": [entry]}]
    sys.stdout.write(f"{json.dumps({'hooks': hooks}, indent=2)}\n")


def _program() -> list[str]:
    installed = Path(sys.executable).with_name("provenloop")
    return [str(installed)] if installed.is_file() else [sys.executable, "-m", "provenloop.cli"]


def _added(app: typer.Typer, name: str) -> None:
    def carry_out(session: Session, *, project: _Project = None, limit: _Limit = None) -> None:
        said = {"--project": project, "--limit": None if limit is None else str(limit)}
        said |= {f"--{each}": getattr(session.given, each) for each in ("url", "token", "memory")}
        words = [word for option, value in said.items() if value for word in (option, value)]
        raise typer.Exit(run_hook(name, words, session.around))

    command(app, name, help=_HELP[name])(carry_out)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    hook = typer.Typer(help="Hooks of coding agents; they read JSON on stdin and never stop the agent.")
    command(hook, "print")(print_settings)
    for name in LIMITS_S:
        _added(hook, name)
    app.add_typer(hook, name="hook")
