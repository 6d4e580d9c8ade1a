"""The stack on this machine, for those who have a clone."""

from __future__ import annotations

import typer

from provenloop.cli.session import Session, command


def demo(_: Session) -> None:
    """Show the loop end to end on this machine; needs a clone and `make setup`."""
    _run("demo")


def dev(_: Session) -> None:
    """Serve the whole stack on 127.0.0.1; needs a clone and `make setup`."""
    _run("dev")


def _run(name: str) -> None:
    from provenloop.entry.local.__main__ import main

    raise typer.Exit(main([name]))


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "demo")(demo)
    command(app, "dev")(dev)
