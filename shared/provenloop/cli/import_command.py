"""Import of tool logs: what is in a file becomes tool calls of the memory, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from provenloop.adapters.transcripts.ingest_form import foreign_id
from provenloop.adapters.transcripts.openai_chat import batches
from provenloop.adapters.transcripts.report import ReadReport
from provenloop.adapters.transcripts.transcript_file import (
    FORMS,
    Form,
    NoTranscriptError,
    Transcript,
    form_of,
    lines_of,
)
from provenloop.cli.decision_commands import instant
from provenloop.cli.loop_commands import INVALID
from provenloop.cli.output import print_fields, print_json, print_line
from provenloop.cli.sending import Sent, send_all
from provenloop.cli.session import Session, command
from provenloop.client.errors import ProvenloopError
from provenloop.domain.instants import InstantError, parse_instant

_LEFT_OUT = ("orphans", "unanswered", "nameless", "repeated", "unreadable")


def forms() -> list[str]:
    """For completion."""
    return list(FORMS)


def import_files(
    session: Session,
    *,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of tool logs, or `-` for stdin.")],
    form: Annotated[
        str | None,
        typer.Option(help="openai, anthropic or jsonl; else the file shows it.", autocompletion=forms, metavar="FORM"),
    ] = None,
    session_name: Annotated[
        str | None,
        typer.Option("--session", help="Names the run of what names none; else the file's name.", metavar="NAME"),
    ] = None,
    started_at: Annotated[
        str | None, typer.Option(help="When it began; else only what has a time of its own has one.", metavar="TIME")
    ] = None,
) -> None:
    """Import tool logs. A call and its result become one tool call; importing a file again adds nothing."""
    wanted = _form(form)
    begins = None if started_at is None else _begins(started_at)
    report, sent = ReadReport(), Sent()
    with session.client() as client:
        for file in files:
            with _opened(file) as (lines, name):
                found, rest = (wanted, lines) if wanted else form_of(lines)
                transcript = Transcript(found, foreign_id(session_name or name), begins, report)
                send_all(client, batches(transcript.events(rest)), sent)
    if session.as_json:
        print_json({"read": {**vars(report), "malformed": len(report.malformed)}, "sent": asdict(sent)})
    else:
        _tell(report, sent)
    if sent.refused or not report.calls + report.unanswered:
        raise typer.Exit(1)


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Iterator[bytes], str]]:
    """(lines, name) of a file, with its progress shown where somebody looks on."""
    try:
        if str(file) == "-":
            yield lines_of(sys.stdin.buffer), "stdin"
            return
        with file.open("rb") as opened, _progress(file.name, file.stat().st_size) as advance:
            yield lines_of(opened, advance), file.name
    except OSError as error:
        raise ProvenloopError(f"{file}: {error.strerror}", code=INVALID, field="file") from error
    except NoTranscriptError as error:
        raise ProvenloopError(f"{file}: {error}", code=INVALID, field="file") from error


@contextmanager
def _progress(name: str, size: int) -> Iterator[Callable[[int], None]]:
    """Shows how many bytes of ``size`` are read, on a terminal; what it yields is told of more."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(name, total=size)
        yield lambda more: shown.advance(task, more)


def _form(said: str | None) -> Form | None:
    if said is None:
        return None
    for known in FORMS:
        if said == known:
            return known
    raise ProvenloopError(f"unknown form; one of {', '.join(FORMS)}", code=INVALID, field="form")


def _begins(said: str) -> int:
    try:
        return parse_instant(instant(said))
    except InstantError as error:
        raise ProvenloopError(error.reason, code=INVALID, field="started_at") from error


def _tell(report: ReadReport, sent: Sent) -> None:
    print_line(f"{report.calls} calls of {len(report.by_tool)} tools, {report.errors} of them errors")
    print_fields(asdict(sent), ("stored", "known", "ignored", "refused"))
    for reason in sent.reasons:
        print_line(f"refused: {reason}")
    told = {name: getattr(report, name) for name in _LEFT_OUT} | {"malformed lines": len(report.malformed)}
    for name, count in told.items():
        if count:
            print_line(f"{name}: {count}")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "import")(import_files)
