"""Decisions about recommendations, and what follows from them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from provenloop.cli.loop_commands import INVALID, Recommendation
from provenloop.cli.output import print_fields, print_json
from provenloop.cli.session import Session, command
from provenloop.client.errors import ProvenloopError

#: Not an option that the parser needs: left out, it is refused with the code and the field that the service has for it.
_Because = Annotated[str, typer.Option("--because", help="The written reason; needed.", metavar="TEXT")]
_Digest = Annotated[
    str | None,
    typer.Option("--digest", help="`proposal_digest` that you saw; refused if it differs by now.", metavar="DIGEST"),
]
_Destructive = Annotated[
    bool, typer.Option("--allow-destructive", help="A removal is wanted; needs the scope admin as well.")
]
_PENDING = "pending"


def approve(
    session: Session,
    *,
    recommendation: Recommendation,
    because: _Because = "",
    digest: _Digest = None,
    then_apply: Annotated[
        bool, typer.Option("--then-apply", help="Have the review that waits for it apply it as well.")
    ] = False,
    allow_destructive: _Destructive = False,
) -> None:
    """Approve a recommendation."""
    more = {"then_apply": then_apply, "allow_destructive": allow_destructive}
    _decide(session, "approve", recommendation, because, digest=digest, **more)


def reject(session: Session, *, recommendation: Recommendation, because: _Because = "", digest: _Digest = None) -> None:
    """Reject a recommendation, or withdraw an approved one; its finding stays quiet for a while."""
    _decide(session, "reject", recommendation, because, digest=digest)


def acknowledge(
    session: Session, *, recommendation: Recommendation, because: _Because = "", digest: _Digest = None
) -> None:
    """Close advice that was followed."""
    _decide(session, "acknowledge", recommendation, because, digest=digest)


def snooze(
    session: Session,
    *,
    recommendation: Recommendation,
    until: Annotated[str, typer.Option(help="RFC 3339, or epoch milliseconds; 90 days at most.", metavar="TIME")],
    because: _Because = "",
    digest: _Digest = None,
) -> None:
    """Put a recommendation off."""
    _decide(session, "snooze", recommendation, because, digest=digest, until=instant(until))


def wake(session: Session, *, recommendation: Recommendation, because: _Because = "", digest: _Digest = None) -> None:
    """Let a snoozed recommendation wait again before its time."""
    _decide(session, "wake", recommendation, because, digest=digest)


def apply(
    session: Session,
    *,
    recommendation: Recommendation,
    because: _Because = "",
    digest: _Digest = None,
    allow_destructive: _Destructive = False,
) -> None:
    """Apply an approved recommendation; one that is pending is approved and applied at once."""
    fields = _fields(because, digest=digest, allow_destructive=allow_destructive)
    with session.client() as client:
        is_pending = client.recommendation(recommendation)["status"] == _PENDING
        reply = (client.approve_and_apply if is_pending else client.apply)(recommendation, **fields)
    _show(session, reply)


def rollback(session: Session, *, recommendation: Recommendation, because: _Because = "") -> None:
    """Undo an applied recommendation exactly."""
    _decide(session, "rollback", recommendation, because)


def instant(text: str) -> str | int:
    """An instant as the service reads it: digits are epoch milliseconds."""
    return int(text) if text.isascii() and text.isdigit() else text


def _decide(session: Session, action: str, recommendation: str, because: str, **more: Any) -> None:
    fields = _fields(because, **more)
    with session.client() as client:
        reply = getattr(client, action)(recommendation, **fields)
    _show(session, reply)


def _fields(because: str, *, digest: str | None = None, **more: Any) -> dict[str, Any]:
    """What is sent: what was not said is left out.

    Raises:
        ProvenloopError: there is no reason.
    """
    if not because.strip():
        raise ProvenloopError("the written reason is needed: --because", code=INVALID, field="because")
    named = {"because": because, "proposal_digest": digest, **more}
    return {name: value for name, value in named.items() if value is not None and value is not False}


def _show(session: Session, reply: Any) -> None:
    if session.as_json:
        print_json(reply)
    else:
        print_fields(reply, [name for name in reply if name != "proposal_digest"])


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for name, function in (
        ("approve", approve), ("reject", reject), ("acknowledge", acknowledge), ("snooze", snooze), ("wake", wake),
        ("apply", apply), ("rollback", rollback),
    ):  # fmt: skip
        command(app, name)(function)
    command(app, "dismiss", help="Another word for `reject`.")(reject)
