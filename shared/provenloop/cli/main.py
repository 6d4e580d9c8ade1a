"""Where the program begins, and which exit code it ends with.

Invariants: 0 is done, 1 is any error (a word that is no command, too), 2 is a gate that holds and nothing else. Hooks
of coding agents start often and must not be late: they are told apart before anything heavy is imported, and end
without waiting for what they left behind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING

from provenloop.cli.hooks import EVENTS, run_hook

if TYPE_CHECKING:
    from provenloop.client import Options

PROGRAM = "provenloop"
DONE, FAILED, GATE_HOLDS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the program finds around it: the environment, and how its client behaves (None: as usual)."""

    environment: Mapping[str, str]
    options: Options | None = None


class GateHoldsError(Exception):
    """What ``list --fail-on`` asks about is there; the one reason for exit code 2."""


def run() -> int:
    """The program, as it was called."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that lacks a character is shown its number.
            stream.reconfigure(errors="backslashreplace")
    code = main(sys.argv[1:], Surroundings(os.environ))
    if is_hook(sys.argv[1:]):
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    return code


def is_hook(arguments: Sequence[str]) -> bool:
    """Whether a coding agent calls one of its hooks."""
    return len(arguments) > 1 and arguments[0] == "hook" and arguments[1] in EVENTS and "--help" not in arguments


def main(arguments: Sequence[str], around: Surroundings) -> int:
    """Carry out one command; its exit code."""
    if is_hook(arguments):
        return run_hook(arguments[1], arguments[2:], around)
    return _carried_out(arguments, around)


def _carried_out(arguments: Sequence[str], around: Surroundings) -> int:
    import typer

    from provenloop.cli.app import app
    from provenloop.cli.output import show_error, show_usage_error
    from provenloop.client import ProvenloopError

    try:
        code = app(args=list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=around)
    except GateHoldsError:
        return GATE_HOLDS
    except ProvenloopError as error:
        show_error(error, as_json="--json" in arguments)
        return FAILED
    except typer.TyperException as error:
        show_usage_error(error, as_json="--json" in arguments)
        return FAILED
    except typer.Abort:
        return FAILED
    except BrokenPipeError:
        # Whoever read has enough. Python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return FAILED if isinstance(code, int) and code else DONE
