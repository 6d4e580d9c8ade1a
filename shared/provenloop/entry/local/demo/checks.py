"""What the demo claims, and whether it holds. The demo fails unless all of it does."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from provenloop.entry.local.demo.tables import plain


@dataclass
class Checks:
    """Claims in the order they were made, each with what was seen where it does not hold."""

    console: Console
    made: list[tuple[str, bool]] = field(default_factory=list)

    def equal(self, claim: str, seen: object, expected: object) -> None:
        """Check that what was seen is what is claimed."""
        self.true(claim, seen == expected, seen)

    def true(self, claim: str, holds: bool, seen: object = "") -> None:  # noqa: FBT001  (the claim names it)
        """Check a claim; one that does not hold is shown at once, with what was seen."""
        self.made.append((claim, holds))
        if not holds:
            self.console.print(f"[bold red]does not hold:[/] {plain(claim)}; seen: {plain(str(seen))}")

    @property
    def all_hold(self) -> bool:
        """Whether every claim holds, and there is one."""
        return bool(self.made) and all(holds for _, holds in self.made)

    def show(self) -> None:
        """All claims, with a mark each."""
        table = Table(box=None, show_header=False, padding=(0, 1))
        for claim, holds in self.made:
            table.add_row("[green]yes[/]" if holds else "[red]NO[/]", plain(claim))
        self.console.print(table)
