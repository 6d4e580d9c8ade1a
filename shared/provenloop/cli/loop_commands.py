"""Passes, the queue, and how the loop stands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from provenloop.cli.main import GateHoldsError
from provenloop.cli.output import print_block, print_fields, print_json, print_line, print_table, shown, told
from provenloop.cli.session import Session, command
from provenloop.client.errors import ProvenloopError
from provenloop.domain.lifecycle import STATUSES
from provenloop.domain.recommendation import SEVERITIES

INVALID = "PVL-E011"

Recommendation = Annotated[str, typer.Argument(metavar="ID", help="Its id, or any unique prefix of it.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Rows of a page, 100 at most.", metavar="N")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Go on: `cursor` of the page before.", metavar="TEXT")]
_Wait = Annotated[
    float, typer.Option("--wait", help="Seconds to go on for with a pass that runs out of time.", metavar="SECONDS")
]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing unless it fails.")]


def severities() -> list[str]:
    """For completion."""
    return list(SEVERITIES)


def statuses() -> list[str]:
    """For completion."""
    return [*STATUSES, "open", "all"]


def health(session: Session) -> None:
    """How far the loop of the memory is; without a memory, whether the service answers."""
    if session.settings.memory is None:
        with session.client(needs_memory=False) as client:
            _show_health(session, client.health(), ("status", "version"))
        return
    with session.client() as client:
        fields = (
            "last_run_at",
            "stale",
            "new_grains",
            "new_error_events",
            "seq",
            "folded",
            "next_due_at",
            "namespaces",
        )
        reply = client.loop_health()
        _show_health(session, reply, fields)
        if not session.as_json:
            print_line(f"policy  {reply['policy']['state']}")
            for finding in reply["unhandled_regressions"]:
                print_line(f"did not hold, and nobody is asked to undo it: {finding}")


def _show_health(session: Session, reply: Any, fields: tuple[str, ...]) -> None:
    if session.as_json:
        print_json(reply)
    else:
        print_fields(reply, fields)


def run(
    session: Session,
    *,
    min_new: Annotated[int | None, typer.Option(help="Only with so many new grains.", metavar="N")] = None,
    min_new_errors: Annotated[int | None, typer.Option(help="Or with so many new errors.", metavar="N")] = None,
    if_stale: Annotated[str | None, typer.Option(help="Or if the last pass is longer ago: 6h.", metavar="TIME")] = None,
    full_sweep: Annotated[bool, typer.Option("--full-sweep", help="Look at everything, not only at news.")] = False,
    wait: _Wait = 0.0,
    quiet: _Quiet = False,
) -> None:
    """Run a pass over the memory; with gates only if one of them opens. A skip is success."""
    gates = {"min_new": min_new, "min_new_errors": min_new_errors, "if_stale": if_stale}
    options: dict[str, Any] = {name: value for name, value in gates.items() if value is not None}
    _pass(session, options | ({"full_sweep": True} if full_sweep else {}), wait, quiet=quiet)


def reflect(session: Session, *, wait: _Wait = 0.0, quiet: _Quiet = False) -> None:
    """Run a pass that looks at everything: `run --full-sweep`."""
    _pass(session, {"full_sweep": True}, wait, quiet=quiet)


def _pass(session: Session, options: dict[str, Any], wait: float, *, quiet: bool) -> None:
    with session.client() as client:
        reply = client.loop_run(wait_s=wait, **options)
    if session.as_json:
        print_json(reply)
    elif not quiet:
        _show_pass(reply)


def _show_pass(reply: Any) -> None:
    if reply["outcome"] == "skipped":
        print_line(f"skipped: {told(reply['skip_reason'])} ({reply['new_grains']} new grains)")
        return
    print_fields(
        reply,
        ("run", "new_grains", "new_error_events", "stored", "refreshed", "expired", "measured", "auto_applied", "more"),
    )
    for skip in reply["analyzers_skipped"]:
        print_line(f"did not finish: {skip['id']}, {skip['reason']}")


def list_queue(
    session: Session,
    *,
    status: Annotated[
        str | None,
        typer.Option(help="One status, `open` or `all`; else pending.", autocompletion=statuses, metavar="STATUS"),
    ] = None,
    severity: Annotated[
        str | None, typer.Option(help="Only of that severity.", autocompletion=severities, metavar="SEVERITY")
    ] = None,
    analyzer: Annotated[str | None, typer.Option(help="Only of that analyzer.", metavar="NAME")] = None,
    limit: Limit = None,
    cursor: Cursor = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            help="Exit with 2 if anything pending is that severe, or more; other filters do not matter for it.",
            autocompletion=severities,
            metavar="SEVERITY",
        ),
    ] = None,
) -> None:
    """List recommendations in review order."""
    enough = _enough(fail_on)
    filters = {"status": status, "severity": severity, "analyzer": analyzer, "limit": limit, "cursor": cursor}
    with session.client() as client:
        reply = client.recommendations(**filters)
        holds = bool(enough) and any(row["severity"] in enough for row in client.every_recommendation())
    if session.as_json:
        print_json(reply)
    else:
        _show_queue(reply)
    if holds:
        raise GateHoldsError


def _enough(fail_on: str | None) -> frozenset[str]:
    """The severities that are enough to fail.

    Raises:
        ProvenloopError: there is no such severity.
    """
    if fail_on is None:
        return frozenset()
    if fail_on not in SEVERITIES:
        detail = f"unknown severity; one of {', '.join(SEVERITIES)}"
        raise ProvenloopError(detail, code=INVALID, status=None, field="fail_on")
    return frozenset(SEVERITIES[SEVERITIES.index(fail_on) :])


def _show_queue(reply: Any) -> None:
    rows = [
        (row["severity"], row["id"], row["status"], row["analyzer"], row["count"], row["summary"])
        for row in reply["recommendations"]
    ]
    print_table(("severity", "id", "status", "analyzer", "count", "what"), rows, nothing="Nothing here.")
    if reply["cursor"] is not None:
        print_line(f"More follow: --cursor {reply['cursor']}")


def show(session: Session, *, recommendation: Recommendation) -> None:
    """Show a recommendation: what it proposes, what it rests on, what was decided about it."""
    with session.client() as client:
        reply = client.recommendation(recommendation)
    if session.as_json:
        print_json(reply)
    else:
        _show_recommendation(reply)


def _show_recommendation(reply: Any) -> None:
    print_line(reply["summary"])
    fields = ("id", "severity", "status", "analyzer", "origin", "namespace", "count", "revision", "proposal_digest")
    print_fields(reply, (*fields, "destructive", "rollbackable", "created_at", "expires_at", "verified", "next"))
    for name in ("reason", "guidance", "held_back"):
        if reply[name]:
            print_line(f"{name.replace('_', ' ')}: {reply[name]}")
    print_line("proposal")
    for step in reply["proposal"]["operations"]:
        print_line(f"  {step['op']} {told(step['target'])} {told(step['fact']) if step['fact'] else ''}")
    if reply["proposal"]["advice"]:
        print_line(f"  advice {told(reply['proposal']['advice'])}")
    print_line("evidence")
    for grain in reply["evidence"]:
        print_line(f"  {grain['address'][:12]} {told(grain.get('body'))}")
    print_line("audit")
    print_block("\n".join(f"  {shown(told(entry))}" for entry in reply["audit"]))


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "health")(health)
    command(app, "run")(run)
    command(app, "reflect")(reflect)
    command(app, "list")(list_queue)
    command(app, "show")(show)
