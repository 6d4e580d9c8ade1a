"""The guards' week of the demo, told by itself on a system of its own, as the text that is pinned in ``golden/``.

Where the story was changed, or the product tells another one for a good reason, write it anew and read the difference::

    .venv/bin/python -m tests.scenario.guarded_week --write

Without ``--write`` the story is printed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from provenloop.entry.local.demo import guarded_week
from provenloop.entry.local.demo.api import Usage
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.stack import LocalStack
from tests.scenario.forty_days import WIDTH, system

TEXT = Path(__file__).parent / "golden" / "guarded_week.txt"


def told(stack: LocalStack) -> tuple[str, bool]:
    """Tell the story: what was printed, and whether every claim holds."""
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False)
    checks = Checks(console)
    guarded_week.tell(console, checks, stack, Usage())
    assert isinstance(console.file, io.StringIO)
    lines = (line.rstrip() for line in console.file.getvalue().strip().splitlines())
    return "\n".join(lines) + "\n", checks.all_hold


def main(arguments: Sequence[str]) -> int:
    """Print the story, or write it down."""
    with system() as stack:
        text, all_hold = told(stack)
    if "--write" in arguments:
        TEXT.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0 if all_hold else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
