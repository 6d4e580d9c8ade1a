"""A first use, led step by step."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from provenloop.cli.loop_commands import INVALID
from provenloop.cli.output import print_json, print_line
from provenloop.cli.session import Session, command
from provenloop.cli.settings import Settings, save_settings, settings_file
from provenloop.client.errors import ProvenloopError
from provenloop.domain.names import DEFAULT_NAMESPACE

TEMPLATES: Final = ("blank", "demo", "coding-agent")
_ASKED: Final = {"url": "Where is the service", "token": "Bearer token", "memory": "Name of the memory"}


def templates() -> list[str]:
    """For completion."""
    return list(TEMPLATES)


def planted(namespace: str) -> list[dict[str, Any]]:
    """What the demo puts into a memory: a fact in two spellings, a contradiction, and a fact that has expired."""
    said: tuple[tuple[str, str, str, dict[str, str]], ...] = (
        ("customer:7", "prefers", "tea in the morning", {}),
        ("Customer:7", "prefers", "Tea  in the morning", {}),
        ("checkout", "deploy_target", "eu-west-1", {}),
        ("checkout", "deploy_target", "us-east-1", {}),
        ("summer sale", "runs", "with 20 percent off", {"valid_to": "2025-08-31T00:00:00Z"}),
    )
    return [
        {"kind": "fact", "namespace": namespace, "subject": subject, "relation": relation, "object": value, **more}
        for subject, relation, value, more in said
    ]


def init(
    session: Session,
    *,
    template: Annotated[
        str, typer.Option(help="blank, demo (with something to find) or coding-agent.", autocompletion=templates)
    ] = "blank",
    ns: Annotated[str, typer.Option("--ns", help="Namespace of what demo plants.", metavar="NAME")] = DEFAULT_NAMESPACE,
    save: Annotated[
        bool, typer.Option("--save", help="Keep address, token and memory in a settings file for your user alone.")
    ] = False,
) -> None:
    """Begin: make the memory, put something in it if wanted, and say what comes next. Asks for what is not set."""
    if template not in TEMPLATES:
        raise ProvenloopError(f"one of {', '.join(TEMPLATES)}", code=INVALID, field="template")
    known = _Begin(session).asked()
    with known.client() as client:
        reply = client.create_memory()
        if template == "demo":
            client.record_events(planted(ns), key=f"init-{template}-{ns}")
            client.loop_run()
        found = len(client.recommendations()["recommendations"]) if template == "demo" else 0
    if save:
        save_settings(settings_file(session.around.environment), known.settings)
    if session.as_json:
        print_json(reply)
    else:
        _tell(known, template, found, saved=save)


@dataclass(frozen=True, slots=True)
class _Begin:
    session: Session

    def asked(self) -> Session:
        """The session with everything that it needs, asked for where somebody is there to answer."""
        known = self.session.settings
        missing = [name for name in _ASKED if getattr(known, name) is None]
        if not missing or self.session.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return self.session
        said = {name: typer.prompt(_ASKED[name], hide_input=name == "token", err=True) for name in missing}
        return Session(self.session.around, Settings(**said).over(known))


def _tell(session: Session, template: str, found: int, *, saved: bool) -> None:
    known = session.settings
    print_line(f"The memory {known.memory} is there.")
    if template == "demo":
        print_line(f"Five facts are in it, and a pass has {found} findings about them:")
        print_line("  provenloop list")
        print_line("  provenloop show ID")
        print_line("  provenloop apply ID --because 'one spelling is enough'")
    elif template == "coding-agent":
        print_line("Put these lines into your agent's settings; nothing is changed by printing them:")
        print_line("  provenloop hook print")
    else:
        print_line("Send it history with `provenloop import FILE` or the Python client, then:")
        print_line("  provenloop run")
        print_line("  provenloop list")
    if saved:
        print_line(f"Address, token and memory are in {settings_file(session.around.environment)}.")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "init")(init)
