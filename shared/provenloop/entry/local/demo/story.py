"""The demo from beginning to end; exit code 0 only if everything it showed was checked and held."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from provenloop.entry.local.demo import airline, proof, tables
from provenloop.entry.local.demo.api import Api, UnexpectedAnswerError
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.stack import LocalStack

#: 2027-01-15T08:00:00Z
BEGINS_AT = 1_800_000_000_000
_WIDTH = 100


def run_demo(stack: LocalStack, console: Console | None = None, root: Path | None = None) -> int:
    """Show and check the main job on a running stack.

    Args:
        root: the clone, which holds the transcripts; the working folder by default.

    Returns:
        The exit code: 0 when every claim held.
    """
    shown = console or Console(width=min(Console().width, _WIDTH), highlight=False)
    checks = Checks(shown)
    stack.set_clock(BEGINS_AT)
    shown.print("[bold]Provenloop[/]: the deployed handlers in one process, on an emulated AWS, through the HTTP API.")
    try:
        _tell(stack, shown, checks, root or Path())
    except UnexpectedAnswerError as error:
        checks.true("every request is answered as it must be", holds=False, seen=error)
    tables.heading(shown, "Checked")
    checks.show()
    shown.print("[bold green]Everything held.[/]" if checks.all_hold else "[bold red]Not everything held.[/]")
    return 0 if checks.all_hold else 1


def _tell(stack: LocalStack, console: Console, checks: Checks, root: Path) -> None:
    admin = Api(stack, "proof", stack.dev_token)
    agent = admin.mint("demo agent", "agent", ["read", "write"])
    reviewer = admin.mint("demo reviewer", "human", ["read", "review", "apply"])
    console.print("Two tokens: an agent that may read and write, a person who may review and apply.")
    admin.make_memory()
    proof.prove(console, checks, Api(stack, "proof", agent), Api(stack, "proof", reviewer))
    Api(stack, "airline", stack.dev_token).make_memory()
    pair = Api(stack, "airline", agent), Api(stack, "airline", reviewer)
    airline.learn(console, checks, *pair, root / airline.TRANSCRIPTS, stack.now_ms())
