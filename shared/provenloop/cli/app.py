"""All commands, and what is said before them."""

from __future__ import annotations

from typing import Annotated

import typer

import provenloop
from provenloop.cli import (
    access_commands,
    decision_commands,
    hook_commands,
    import_command,
    init_command,
    local_commands,
    loop_commands,
    read_commands,
)
from provenloop.cli.output import print_line
from provenloop.cli.session import AsJson, Memory, Token, Url, session_of

app = typer.Typer(
    name="provenloop",
    help="Provenloop: a governed self-improvement loop for hosted AI agents. Alone it is `health`.",
    epilog="Exit codes: 0 done, 1 an error, 2 what --fail-on asks about is there.",
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - called by the parser
    if wanted:
        print_line(provenloop.__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _before(
    context: typer.Context,
    *,
    url: Url = None,
    token: Token = None,
    memory: Memory = None,
    as_json: AsJson = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    del version
    context.obj = session_of(context, url=url, token=token, memory=memory, as_json=as_json)
    if context.invoked_subcommand is None:
        loop_commands.health(context.obj)


for room in (
    init_command, local_commands, loop_commands, decision_commands, read_commands, access_commands,
    import_command, hook_commands,
):  # fmt: skip
    room.add_to(app)
