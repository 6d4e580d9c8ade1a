"""``python -m provenloop.entry.local dev|demo``: serve the whole stack on this machine, or show what it does.

Invariants: this module imports with a plain install, so that what is missing can be said to a person; the commands
themselves need a clone (template.yaml and functions/ are in no package) and the development environment.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

#: What the development environment has and a plain install has not.
_NEEDED = ("moto", "yaml")
_COMMANDS = {
    "dev": "serve the stack on 127.0.0.1; PORT, PROVENLOOP_DEV_TOKEN, PROVENLOOP_NOW, PROVENLOOP_LLM_CMD and "
    "PROVENLOOP_INBOUND_SOURCES are read",
    "demo": "show the loop end to end",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 done, 1 could not start, or the demo found something wrong."""
    parser = argparse.ArgumentParser(prog="python -m provenloop.entry.local")
    choices = parser.add_subparsers(dest="command", required=True)
    for name, text in _COMMANDS.items():
        choices.add_parser(name, help=text)
    command = parser.parse_args(arguments).command
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return _cannot_start(f"This needs the development environment (make setup): {missing[0]} is not installed.")
    root = find_root()
    if root is None:
        return _cannot_start("This needs a clone of the repository: there is no template.yaml with functions/ here.")
    commands = importlib.import_module("provenloop.entry.local.commands")
    try:
        code: int = getattr(commands, command)(root)
    except commands.CannotStartError as error:
        return _cannot_start(str(error))
    return code


def find_root() -> Path | None:
    """The clone that this package lies in, else the one around the working directory, None if there is neither."""
    folders = (*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents)
    found = (folder for folder in folders if (folder / "template.yaml").is_file() and (folder / "functions").is_dir())
    return next(found, None)


def _cannot_start(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
