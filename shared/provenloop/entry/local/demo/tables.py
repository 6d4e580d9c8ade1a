"""How the demo shows things: headings and tables that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_COLOURS = {"high": "bold red", "medium": "yellow", "low": "cyan", "info": "dim"}
_SHORT_ID = 8


def plain(text: str) -> str:
    """Text from outside, so that nothing in it is taken for markup."""
    return escape(text)


def heading(console: Console, text: str) -> None:
    """A new part of the story."""
    console.print()
    console.rule(f"[bold]{plain(text)}", align="left")


def findings(console: Console, rows: Iterable[Mapping[str, Any]]) -> None:
    """The review queue."""
    table = Table(title="Findings", title_justify="left", expand=True)
    table.add_column("id", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("what was found", ratio=1)
    for row in rows:
        colour = _COLOURS[row["severity"]]
        table.add_row(row["id"][:_SHORT_ID], f"[{colour}]{row['severity']}[/]", plain(row["summary"]))
    console.print(table)


def evidence(console: Console, rec: Mapping[str, Any], shown: int = 3) -> None:
    """What a finding rests on: some of its grains."""
    count = len(rec["evidence"])
    console.print(f"Evidence of {rec['id'][:_SHORT_ID]}: {count} grains, the newest {min(shown, count)} of them:")
    for item in rec["evidence"][:shown]:
        body = item["body"]
        text = body.get("result") or " ".join(str(body[name]) for name in ("subject", "relation", "object"))
        console.print(f"  {item['occurred_at']}  [dim]{item['address'][:12]}[/]  {plain(str(text))}")


def proposal(console: Console, rec: Mapping[str, Any]) -> None:
    """What applying would change."""
    for operation in rec["proposal"]["operations"]:
        fact = operation["fact"]
        if fact is not None:
            text = f"{fact['subject']} {fact['relation']} {fact['object']}"
        else:
            text = f"{operation['target'][:12]} -> {operation['into'][:12]}"
        console.print(f"Proposal: [bold]{operation['op']}[/] {plain(text)}")


def trail(console: Console, entries: Iterable[Mapping[str, Any]]) -> None:
    """The audit trail of one recommendation."""
    table = Table(title="Audit trail", title_justify="left", expand=True)
    table.add_column("when", no_wrap=True)
    table.add_column("who", max_width=14)
    table.add_column("step", max_width=12)
    table.add_column("because", ratio=1)
    for entry in entries:
        step = f"{entry['from'] or 'new'} -> {entry['to']}"
        when = entry["at"][:16].replace("T", " ")
        table.add_row(when, plain(entry["by"]["label"]), step, plain(entry.get("because") or ""))
    console.print(table)


def outcome(console: Console, run: Mapping[str, Any]) -> None:
    """What a pass came to."""
    if run["outcome"] == "skipped":
        console.print(f"Pass: skipped ({run['skip_reason']}), {_units(run)}")
        return
    counted = ("new_grains", "new_error_events", "proposed", "stored", "deduped", "suppressed", "refreshed", "expired")
    figures = ", ".join(f"{name.replace('_', ' ')} {run[name]}" for name in counted)
    console.print(f"Pass: {figures}; {_units(run)}")


def _units(run: Mapping[str, Any]) -> str:
    return f"{run['usage']['reads']:g} read and {run['usage']['writes']:g} write units"
