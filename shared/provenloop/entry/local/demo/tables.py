"""How the demo shows things: headings and tables that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from provenloop.adapters.transcripts.report import ReadReport
from provenloop.entry.local.demo.api import DAY_MS, Usage

_COLOURS = {"high": "bold red", "medium": "yellow", "low": "cyan", "info": "dim"}
_SHORT_ID = 8
#: Of a pass, what is only worth a word when it happened.
_RESULTS = {
    "stored": "findings stored",
    "deduped": "open already",
    "refreshed": "refreshed",
    "suppressed": "kept quiet",
    "expired": "closed",
}


def plain(text: str) -> str:
    """Text from outside, so that nothing in it is taken for markup."""
    return escape(text)


def short(name: str) -> str:
    """The first characters of an id; the API takes any unique prefix."""
    return name[:_SHORT_ID]


def heading(console: Console, text: str) -> None:
    """A new part of the story."""
    console.print()
    console.rule(f"[bold]{plain(text)}", align="left")


def findings(console: Console, rows: Iterable[Mapping[str, Any]], cited: Mapping[str, int]) -> None:
    """The review queue. ``cited``: how many grains each finding cites, by id."""
    table = Table(title="Findings", title_justify="left", box=SIMPLE_HEAD, expand=True)
    table.add_column("id", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("evidence", justify="right", no_wrap=True)
    table.add_column("what was found", ratio=1)
    for row in rows:
        colour = _COLOURS[row["severity"]]
        severity = f"[{colour}]{row['severity']}[/]"
        table.add_row(short(row["id"]), severity, str(cited[row["id"]]), plain(row["summary"]))
    console.print(table)


def evidence(console: Console, rec: Mapping[str, Any], shown: int = 3) -> None:
    """What a finding rests on: some of its grains, those of different texts first."""
    texts = {item["address"]: _text_of(item["body"]) for item in rec["evidence"]}
    first_of = {text: address for address, text in reversed(texts.items())}
    wanted = sorted(texts, key=lambda address: first_of[texts[address]] != address)[:shown]
    console.print(f"Evidence of {short(rec['id'])}: {len(texts)} grains, {len(wanted)} of them here:")
    lines = Table.grid(padding=(0, 0, 0, 2))
    for item in rec["evidence"]:
        if item["address"] in wanted:
            # The first characters of an address are common to all grains of one tool.
            address = f"[dim]..{item['address'][-_SHORT_ID:]}[/]"
            lines.add_row(_minute(item["occurred_at"]), address, plain(texts[item["address"]]))
    console.print(lines)


def _text_of(body: Mapping[str, Any]) -> str:
    return str(body.get("result") or " ".join(str(body[name]) for name in ("subject", "relation", "object")))


def proposal(console: Console, rec: Mapping[str, Any]) -> None:
    """What applying would change."""
    for operation in rec["proposal"]["operations"]:
        fact = operation["fact"]
        if fact is not None:
            text = f"{fact['subject']} {fact['relation']} {fact['object']}"
        else:
            text = f"..{operation['target'][-_SHORT_ID:]} -> ..{operation['into'][-_SHORT_ID:]}"
        console.print(f"Proposal: [bold]{operation['op']}[/] {plain(text)}")


def trail(console: Console, entries: Iterable[Mapping[str, Any]]) -> None:
    """The audit trail of one recommendation."""
    table = Table(title="Audit trail", title_justify="left", box=SIMPLE_HEAD, expand=True)
    table.add_column("when", no_wrap=True)
    table.add_column("who", no_wrap=True)
    table.add_column("from -> to", max_width=11)
    table.add_column("because", ratio=1)
    for entry in entries:
        step, because = f"{entry['from'] or 'new'} -> {entry['to']}", entry.get("because") or ""
        if "verdict" in entry["effects"]:
            step, because = (
                "measured",
                f"{entry['effects']['verdict']} over {entry['effects']['horizon_ms'] // DAY_MS} d",
            )
        who = entry["by"]["label"].replace(":", ":\n")
        table.add_row(_minute(entry["at"]), plain(who), step, plain(because))
    console.print(table)


def tools(console: Console, report: ReadReport) -> None:
    """The calls and errors of a reading, by tool."""
    table = Table(title="Tools with errors", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("tool")
    for name in ("calls", "errors", "rate"):
        table.add_column(name, justify="right")
    failing = [(tool, errors) for tool, errors in report.errors_by_tool.most_common() if errors]
    for tool, errors in failing:
        calls = report.by_tool[tool]
        table.add_row(plain(tool), str(calls), str(errors), f"{errors / calls:.0%}")
    good = report.by_tool.keys() - dict(failing).keys()
    table.add_row(f"{len(good)} others", str(sum(report.by_tool[tool] for tool in good)), "0", "0%", style="dim")
    console.print(table)


def outcome(console: Console, run: Mapping[str, Any]) -> None:
    """What a pass came to."""
    if run["outcome"] == "skipped":
        console.print(f"Pass: [bold]skipped[/] ({run['skip_reason']}); {_units(run)}")
        return
    figures = [f"new grains {run['new_grains']}, failed calls among them {run['new_error_events']}"]
    figures += [f"{said} {run[name]}" for name, said in _RESULTS.items() if run[name]]
    console.print(f"Pass: {', '.join(figures)}; {_units(run)}")


def audit(console: Console, verified: Mapping[str, Any]) -> None:
    """What the verification of the audit trail came to."""
    holds = "[green]it holds[/]" if verified["ok"] else f"[bold red]broken[/] at {verified['break']}"
    console.print(f"Audit chain: {verified['entries']} entries of {verified['subjects']} subjects verified; {holds}.")


def usage(console: Console, used: Usage) -> None:
    """What was asked for, and what it took where the API tells."""
    console.print(
        f"{used.requests} requests; {used.sent} events sent, {used.stored} stored; "
        f"{used.ran} passes ran and {used.skipped} skipped, with {used.reads:g} read and {used.writes:g} write units."
    )


def _units(run: Mapping[str, Any]) -> str:
    return f"{run['usage']['reads']:g} read and {run['usage']['writes']:g} write units"


def _minute(instant: str) -> str:
    return instant[:16].replace("T", " ")
