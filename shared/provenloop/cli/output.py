"""What is printed. Replies go to stdout, errors to stderr.

Invariants: as JSON it is what the service answered, on one line and in ASCII; for people, nothing that came from
outside can move the cursor, hide itself or be taken for markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer

from provenloop.client.errors import MISUSED, ProvenloopError
from provenloop.domain.visible import visible

_SEVERITY_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "info": "dim"}
_BREAKS = str.maketrans({"\n": " ", "\t": " ", "\r": " "})


def print_json(reply: Any) -> None:
    """One reply, on one line."""
    sys.stdout.write(f"{json.dumps(reply)}\n")


def print_line(text: str) -> None:
    """A line for people."""
    sys.stdout.write(f"{shown(text)}\n")


def print_block(text: str) -> None:
    """A text of several lines."""
    sys.stdout.write(f"{visible(text)}\n")


def print_fields(reply: Mapping[str, Any], names: Sequence[str]) -> None:
    """Some fields of a reply, one a line."""
    width = max(len(name) for name in names)
    for name in names:
        print_line(f"{name.replace('_', ' '):{width}}  {told(reply.get(name))}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, nothing: str) -> None:
    """Rows for people; ``nothing`` is what is said of none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(text, style=_SEVERITY_STYLES.get(text, "")) for text in (told(value) for value in row)))
    if table.row_count:
        Console(highlight=False, markup=False, emoji=False).print(table)
    else:
        print_line(nothing)


def shown(text: str) -> str:
    """A text as one line that shows whatever is in it."""
    return str(visible(text.translate(_BREAKS)))


def told(value: Any) -> str:
    """A value of a reply for people."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return shown(", ".join(value)) or "none"
    return shown(json.dumps(value, ensure_ascii=False))


def show_error(error: ProvenloopError, *, as_json: bool) -> None:
    """Why it did not succeed."""
    sys.stderr.write(f"{json.dumps(error.problem())}\n" if as_json else f"{shown(str(error))}\n")


def show_usage_error(error: typer.TyperException, *, as_json: bool) -> None:
    """What is wrong with how the program was called."""
    text = error.format_message()
    if as_json:
        show_error(ProvenloopError(text, code=MISUSED), as_json=True)
    else:
        sys.stderr.write(f"{shown(text)}\nprovenloop --help lists what there is.\n")
