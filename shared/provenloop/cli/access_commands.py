"""Commands that have commands of their own: the audit trail, retention, tokens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from provenloop.cli.loop_commands import Cursor, Limit
from provenloop.cli.main import FAILED
from provenloop.cli.output import print_fields, print_json, print_line, print_table, told
from provenloop.cli.read_commands import Since, Until, given_instant
from provenloop.cli.session import Session, command

RETENTION = "loop.retention_sweep"

_Subject = Annotated[str | None, typer.Option("--subject", help="Only the chain of that id.", metavar="ID")]
_OfTenant = Annotated[bool, typer.Option("--tenant", help="The tenant's own trail: its tokens and memories.")]
_Because = Annotated[str | None, typer.Option("--because", help="The written reason.", metavar="TEXT")]


def audit_export(
    session: Session,
    *,
    subject: _Subject = None,
    since: Since = None,
    until: Until = None,
    tenant: _OfTenant = False,
) -> None:
    """Print the audit trail, one entry a line, as JSON."""
    query = {"subject": subject, "since": given_instant(since), "until": given_instant(until)}
    with session.client(needs_memory=not tenant) as client:
        for entry in client.tenant_audit(**query) if tenant else client.audit(**query):
            print_json(entry)


def audit_verify(session: Session, *, subject: _Subject = None, tenant: _OfTenant = False) -> None:
    """Verify the audit chains and name the first break, which is an error."""
    with session.client(needs_memory=not tenant) as client:
        reply = client.verify_tenant_audit(subject=subject) if tenant else client.verify_audit(subject=subject)
    if session.as_json:
        print_json(reply)
    else:
        print_fields(reply, ("ok", "subjects", "entries", "break"))
    if not reply["ok"]:
        raise typer.Exit(FAILED)


def retention_set(
    session: Session,
    *,
    days: Annotated[int, typer.Option(help="How long a grain is kept; what is older is proposed.", metavar="N")],
    kind: Annotated[str | None, typer.Option(help="Only grains of that kind.", metavar="KIND")] = None,
    batch: Annotated[int | None, typer.Option(help="Grains of one proposal, at most.", metavar="N")] = None,
    because: _Because = None,
) -> None:
    """Say how long grains are kept. Nothing is deleted by it: every removal is proposed and decided."""
    named = {"max_age_days": days, "grain_type": kind, "max_grains": batch}
    parameters = {name: value for name, value in named.items() if value is not None}
    with session.client() as client:
        reply = client.configure(analyzer=RETENTION, enabled=True, parameters=parameters, because=because)
    _show_retention(session, reply)


def retention_list(session: Session) -> None:
    """Show how long grains are kept."""
    with session.client() as client:
        reply = client.analyzers()
    _show_retention(session, reply)


def retention_clear(session: Session, *, because: _Because = None) -> None:
    """Keep grains for good again: nothing is proposed for its age any more."""
    with session.client() as client:
        reply = client.configure(analyzer=RETENTION, enabled=False, clear_parameters=True, because=because)
    _show_retention(session, reply)


def _show_retention(session: Session, reply: Any) -> None:
    if session.as_json:
        print_json(reply)
        return
    [sweep] = (each for each in reply["analyzers"] if each["id"].startswith(f"{RETENTION}/"))
    print_fields({**sweep["effective"], "enabled": sweep["enabled"]}, ("enabled", *sweep["effective"]))


def token_create(
    session: Session,
    *,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is called in lists and the audit trail.")],
    scope: Annotated[list[str], typer.Option(help="read, write, review, apply or admin; again for more.")],
    kind: Annotated[str, typer.Option(help="human, agent or service.", metavar="KIND")] = "agent",
    memories: Annotated[str, typer.Option(help="Glob over names of memories.", metavar="GLOB")] = "*",
    expires_at: Annotated[str | None, typer.Option(help="When it ends.", metavar="TIME")] = None,
) -> None:
    """Mint a token; its secret is printed this once."""
    rest = {} if expires_at is None else {"expires_at": given_instant(expires_at)}
    with session.client(needs_memory=False) as client:
        reply = client.mint_token(label, kind, scope, memories=memories, **rest)
    if session.as_json:
        print_json(reply)
    else:
        print_fields(reply, ("id", "label", "kind", "memories", "scopes", "expires_at", "secret"))


def token_list(session: Session, *, limit: Limit = None, cursor: Cursor = None) -> None:
    """List tokens with what they may do; no secret is among it."""
    with session.client(needs_memory=False) as client:
        reply = client.tokens(limit=limit, cursor=cursor)
    if session.as_json:
        print_json(reply)
        return
    columns = ("id", "label", "kind", "memories", "scopes", "expires_at", "revoked_at")
    rows = ([row[column] for column in columns] for row in reply["tokens"])
    print_table([column.replace("_", " ") for column in columns], rows, nothing="No tokens.")
    if reply["cursor"] is not None:
        print_line(f"More follow: --cursor {reply['cursor']}")


def token_revoke(session: Session, *, token_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]) -> None:
    """Revoke a token and all that was minted under it."""
    with session.client(needs_memory=False) as client:
        reply = client.revoke_token(token_id)
    if session.as_json:
        print_json(reply)
    else:
        print_line(f"revoked {told(reply['id'])}; minted under it: {told(reply['descendants'])}")


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    audit = typer.Typer(help="The audit trail.", no_args_is_help=True)
    command(audit, "export")(audit_export)
    command(audit, "verify")(audit_verify)
    app.add_typer(audit, name="audit")
    retention = typer.Typer(help="How long grains are kept.", no_args_is_help=True)
    command(retention, "set")(retention_set)
    command(retention, "list")(retention_list)
    command(retention, "clear")(retention_clear)
    app.add_typer(retention, name="retention")
    token = typer.Typer(help="Tokens.", no_args_is_help=True)
    command(token, "create")(token_create)
    command(token, "list")(token_list)
    command(token, "revoke")(token_revoke)
    app.add_typer(token, name="token")
