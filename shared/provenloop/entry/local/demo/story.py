"""The demo from beginning to end; exit code 0 only if everything it showed was checked and held."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from provenloop.entry.local.demo import airline, forty_days, guarded_week, proof, tables
from provenloop.entry.local.demo.api import Api, People, UnexpectedAnswerError, Usage
from provenloop.entry.local.demo.checks import Checks, StoryEndedError
from provenloop.entry.local.stack import LocalStack

#: 2027-01-15T08:00:00Z
BEGINS_AT = 1_800_000_000_000
_WIDTH = 100


def run_demo(stack: LocalStack, console: Console | None = None, root: Path | None = None) -> int:
    """Show and check the main job on a running stack that holds nothing yet.

    Args:
        stack: with a file for the host policy.
        root: the clone, which holds the transcripts; the working folder by default.

    Returns:
        The exit code: 0 when every claim held.
    """
    shown = console or Console(width=min(Console().width, _WIDTH), highlight=False)
    checks = Checks(shown)
    used = Usage()
    stack.set_clock(BEGINS_AT)
    shown.print("[bold]Provenloop[/]: the deployed handlers in one process, on an emulated AWS, through the HTTP API.")
    try:
        _tell(stack, shown, checks, used, root or Path())
    except StoryEndedError:
        shown.print("The story ends here: what comes next builds on that.")
    except UnexpectedAnswerError as error:
        checks.failed("every request is answered as it must be", str(error))
    except (LookupError, TypeError, ValueError) as error:
        checks.failed("every answer has the form it must have", f"{type(error).__name__}: {error}")
    tables.heading(shown, "Checked")
    checks.show()
    tables.usage(shown, used)
    shown.print(f"[bold green]All {len(checks.made)} hold.[/]" if checks.all_hold else "[bold red]Not all hold.[/]")
    return 0 if checks.all_hold else 1


def _tell(stack: LocalStack, console: Console, checks: Checks, used: Usage, root: Path) -> None:
    admin = Api(stack, "proof", stack.dev_token, used)
    agent = admin.mint("demo agent", "agent", ["read", "write"])
    reviewer = admin.mint("demo reviewer", "human", ["read", "review", "apply"])
    applier = admin.mint("demo applier", "human", ["read", "apply"])
    console.print("Three tokens: an agent that reads and writes, a reviewer, and somebody who may only apply.")

    def people_of(memory: str) -> People:
        Api(stack, memory, stack.dev_token, used).make_memory()
        return People(*(Api(stack, memory, token, used) for token in (agent, reviewer, applier)))

    proof.prove(console, checks, people_of("proof"))
    airline.learn(console, checks, people_of("airline"), root / airline.TRANSCRIPTS)
    forty_days.tell(console, checks, stack, used)
    guarded_week.tell(console, checks, stack, used)
