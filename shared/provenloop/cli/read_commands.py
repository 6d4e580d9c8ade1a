"""What there is to look at: outcomes, analyzers, policy, lessons, rules, recipes, the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from provenloop.cli.decision_commands import instant
from provenloop.cli.loop_commands import Cursor, Limit
from provenloop.cli.output import print_fields, print_json, print_line, print_table
from provenloop.cli.session import Session, command

Since = Annotated[str | None, typer.Option("--since", help="From this instant on.", metavar="TIME")]
Until = Annotated[str | None, typer.Option("--until", help="Before this instant.", metavar="TIME")]
_Project = Annotated[str | None, typer.Option("--project", help="Only of that project.", metavar="NAME")]
_Columns = Sequence[str]


def given_instant(text: str | None) -> str | int | None:
    """An instant, if there is one."""
    return None if text is None else instant(text)


def outcomes(session: Session) -> None:
    """Show what became of applied changes, of rules and of recipes."""
    with session.client() as client:
        reply = client.outcomes()
    if session.as_json:
        return print_json(reply)
    applied = ("id", "analyzer", "status", "verdict", "applied_at", "target")
    _rows(applied, reply["recommendations"], nothing="Nothing was applied yet.")
    armed = ("id", "project", "status", "verdict", "reports_before", "violations", "suppressed", "samples")
    return _rows(armed, reply["rules"], nothing="No rule was armed yet.")


def analyzers(session: Session) -> None:
    """List analyzers with their parameters as they are set in the memory."""
    with session.client() as client:
        reply = client.analyzers()
    if session.as_json:
        print_json(reply)
    else:
        columns = ("id", "enabled", "skip_reason", "severity_floor", "effective", "line")
        _rows(columns, reply["analyzers"], nothing="None.")


def policy(session: Session) -> None:
    """Show the host policy in force, and what is wrong with it."""
    with session.client() as client:
        reply = client.policy()
    if session.as_json:
        return print_json(reply)
    print_fields(reply, ("state", "digest"))
    print_fields(reply["policy"], list(reply["policy"]))
    for fault in reply["faults"]:
        print_line(f"fault: {fault['field']} {fault['code']} {fault['detail']}")
    return None


def lessons(session: Session, *, project: _Project = None, limit: Limit = None, cursor: Cursor = None) -> None:
    """List lessons, the newest first."""
    with session.client() as client:
        reply = client.lessons(project=project, limit=limit, cursor=cursor)
    columns = ("at", "project", "category", "signature", "counted", "source", "detail")
    _page(session, reply, "lessons", columns, "No lessons.")


def rules(
    session: Session,
    *,
    card: Annotated[str | None, typer.Argument(metavar="[ID]", help="Show this one whole.")] = None,
    project: _Project = None,
    status: Annotated[str, typer.Option(help="Another status of cards, or `all`.", metavar="STATUS")] = "armed",
    limit: Limit = None,
    cursor: Cursor = None,
) -> None:
    """List rules: the cards that are armed, or those of another status."""
    with session.client() as client:
        if card is not None:
            return _one(session, client.card(card))
        reply = client.cards(project=project, status=status, limit=limit, cursor=cursor)
    columns = ("id", "status", "project", "category", "reports", "violations", "suppressed", "ready", "statement")
    return _page(session, reply, "cards", columns, "No rules.")


def recipes(
    session: Session,
    *,
    recipe: Annotated[str | None, typer.Argument(metavar="[ID]", help="Show this one whole.")] = None,
    status: Annotated[str, typer.Option(help="live, quarantined, retired, or `all`.", metavar="STATUS")] = "all",
    limit: Limit = None,
    cursor: Cursor = None,
) -> None:
    """List recipes; those that are quarantined wait for a person."""
    with session.client() as client:
        if recipe is not None:
            return _one(session, client.recipe(recipe))
        reply = client.recipes(status=status, limit=limit, cursor=cursor)
    columns = ("id", "status", "kind", "hits", "held", "regressed", "request")
    return _page(session, reply, "recipes", columns, "No recipes.")


def ledger(
    session: Session,
    *,
    since: Since = None,
    until: Until = None,
    rows: Annotated[bool, typer.Option("--rows", help="Each row instead of sums.")] = False,
    limit: Limit = None,
    cursor: Cursor = None,
) -> None:
    """Show what models cost and which runs were saved: sums by component, or each row."""
    span: dict[str, Any] = {"since": given_instant(since), "until": given_instant(until), "cursor": cursor}
    with session.client() as client:
        reply = client.ledger(limit=limit, **span) if rows else client.ledger_summary(**span)
    if rows:
        columns = ("at", "component", "model", "input_tokens", "output_tokens", "cost_usd", "recipe")
        return _page(session, reply, "rows", columns, "The ledger is empty.")
    if session.as_json:
        return print_json(reply)
    summed = ("component", "rows", "input_tokens", "output_tokens", "cost_usd", "unpriced")
    sums = [{"component": name, **figures} for name, figures in reply["components"].items()]
    _rows(summed, sums, nothing="The ledger is empty.")
    return print_fields(reply, ("cost_usd", "runs_saved", "cost_per_run_saved_usd"))


def _one(session: Session, reply: Any) -> None:
    if session.as_json:
        print_json(reply)
    else:
        print_fields(reply, list(reply))


def _page(session: Session, reply: Any, name: str, columns: _Columns, nothing: str) -> None:
    if session.as_json:
        print_json(reply)
        return
    _rows(columns, reply[name], nothing=nothing)
    if reply["cursor"] is not None:
        print_line(f"More follow: --cursor {reply['cursor']}")


def _rows(columns: _Columns, rows: Sequence[Any], *, nothing: str) -> None:
    heads = [column.replace("_", " ") for column in columns]
    print_table(heads, ([row.get(column) for column in columns] for row in rows), nothing=nothing)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for name, function in (
        ("outcomes", outcomes), ("analyzers", analyzers), ("policy", policy), ("lessons", lessons), ("rules", rules),
        ("recipes", recipes), ("ledger", ledger),
    ):  # fmt: skip
        command(app, name)(function)
