"""What a command works with: settings, the client, and whether the reply is shown as it came."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any

import typer

from provenloop.cli.main import Surroundings
from provenloop.cli.settings import MEMORY, TOKEN, URL, Settings, settings_from
from provenloop.client.errors import MISUSED, ProvenloopError

#: Options of every command; before it they mean the same.
Url = Annotated[str | None, typer.Option("--url", help=f"Where the service is (or {URL}).", metavar="URL")]
Token = Annotated[
    str | None,
    typer.Option(
        "--token", help=f"Bearer token; others on the machine can see it here, so better {TOKEN}.", metavar="TOKEN"
    ),
]
Memory = Annotated[str | None, typer.Option("--memory", help=f"Name of the memory (or {MEMORY}).", metavar="NAME")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the service's reply as it is, as JSON.")]
_EVERYWHERE: Mapping[str, tuple[Any, Any]] = {
    "url": (Url, None), "token": (Token, None), "memory": (Memory, None), "as_json": (AsJson, False),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Session:
    """One command's. ``given`` is what options say."""

    around: Surroundings
    given: Settings = field(default_factory=Settings)
    as_json: bool = False

    @property
    def settings(self) -> Settings:
        """What options, environment and file say together."""
        if self.given.url and self.given.token and self.given.memory:
            return self.given
        return self.given.over(settings_from(self.around.environment))

    @contextmanager
    def client(self, *, needs_memory: bool = True) -> Iterator[Any]:
        """The client, open.

        Raises:
            ProvenloopError: something it needs is not set.
        """
        from provenloop.client import Provenloop

        known = self.settings
        if known.url is None:
            raise ProvenloopError(f"say where the service is: --url or {URL}", code=MISUSED, field="url")
        if needs_memory and known.memory is None:
            raise ProvenloopError(f"say which memory: --memory or {MEMORY}", code=MISUSED, field="memory")
        with Provenloop(known.url, known.token, known.memory, options=self.around.options) as opened:
            yield opened


def command(app: typer.Typer, name: str, **how: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command that takes the options of all commands, too; its first argument is the session."""

    def made(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        _, *own = signature.parameters.values()

        @wraps(function)
        def run(context: typer.Context, **given: Any) -> None:
            everywhere = {each: given.pop(each) for each in _EVERYWHERE}
            function(session_of(context, **everywhere), **given)

        added = [
            inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for each, (kind, default) in _EVERYWHERE.items()
        ]
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = signature.replace(parameters=[context, *keyword, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (context, *keyword, *added)}
        del run.__wrapped__
        app.command(name, **how)(run)
        return function

    return made


def session_of(
    context: typer.Context, *, url: str | None, token: str | None, memory: str | None, as_json: bool
) -> Session:
    """The session of a command: its own options, over those before it."""
    above = context.parent.obj if context.parent is not None else context.obj
    around = above.around if isinstance(above, Session) else above
    before = above if isinstance(above, Session) else Session(around)
    return Session(around, Settings(url, token, memory).over(before.given), as_json or before.as_json)
