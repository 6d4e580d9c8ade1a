"""What the demo claims, and whether it holds. The demo fails unless all of it does."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from provenloop.entry.local.demo.tables import plain


class StoryEndedError(Exception):
    """A claim does not hold, and what would come next builds on it."""


@dataclass
class Checks:
    """Claims in the order they were made, each with what was seen where it does not hold."""

    console: Console
    made: list[tuple[str, bool]] = field(default_factory=list)

    def equal(self, claim: str, seen: object, expected: object) -> bool:
        """Check that what was seen is what is claimed; whether it is."""
        return self._note(claim, seen == expected, f"{seen!r} instead of {expected!r}")

    def need(self, claim: str, seen: object, expected: object) -> None:
        """The same for what the next steps build on.

        Raises:
            StoryEndedError: it does not hold.
        """
        if not self.equal(claim, seen, expected):
            raise StoryEndedError(claim)

    def failed(self, claim: str, seen: str) -> None:
        """A claim that does not hold."""
        self._note(claim, False, seen)  # noqa: FBT003  (that is what it says)

    def take_in(self, claim: str, others: Checks) -> None:
        """Make one claim of many others; those that do not hold are kept beside it."""
        self.made += [each for each in others.made if not each[1]]
        self.made.append((f"{claim}: {len(others.made)} claims", others.all_hold))

    def _note(self, claim: str, holds: bool, seen: str) -> bool:  # noqa: FBT001  (the claim names it)
        self.made.append((claim, holds))
        if not holds:
            self.console.print(f"[bold red]does not hold:[/] {plain(claim)}; seen: {plain(seen)}")
        return holds

    @property
    def all_hold(self) -> bool:
        """Whether every claim holds, and there is one."""
        return bool(self.made) and all(holds for _, holds in self.made)

    def show(self) -> None:
        """All claims, with a mark each."""
        table = Table(box=None, show_header=False, padding=(0, 1))
        for claim, holds in self.made:
            table.add_row("[green]yes[/]" if holds else "[bold red]NO[/]", plain(claim))
        self.console.print(table)
