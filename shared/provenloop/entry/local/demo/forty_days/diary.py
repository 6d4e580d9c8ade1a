"""The diary of the story: one line for each thing that happened, and the claim that it came to what is expected."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.tables import short

_WHO, _ID, _WIDTH = 8, 8, 80
_REFUSED_FROM = 400
_COLOURS = {True: "yellow", False: "green"}


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody did or what became of something on a day (counted from 0).

    Attributes:
        recommendation: the id it is about; empty where it is about none.
        result: what it came to.
        status: HTTP status of the answer; None where nothing was asked.
        is_shown: whether it is printed; what the next lines tell anyway is not.
    """

    day: int
    who: str
    recommendation: str
    what: str
    result: str
    status: int | None = None
    is_shown: bool = True


@dataclass
class Diary:
    """Lines in the order in which they happened, printed as they do."""

    console: Console
    checks: Checks
    day: int = 0
    lines: list[Line] = field(default_factory=list)

    def begin(self) -> None:
        """Print what the columns hold."""
        self.console.print(f"day {'who':<{_WHO}} {'id':<{_ID}} {'what happens':<45} {'and comes to':>12}", style="dim")

    def tell(
        self, who: str, what: str, seen: str, expected: str, *,
        about: str = "", status: int | None = None, is_shown: bool = True,
    ) -> None:  # fmt: skip
        """Write down what happened and what it came to (``seen``), and check that. ``about``: a recommendation's id."""
        line = Line(self.day, who, about, what, seen, status, is_shown)
        if is_shown:
            self.console.print(self._shown(line), soft_wrap=True)
        self.lines.append(line)
        self.checks.equal(f"day {self.day}, {who}: {what}", seen, expected)

    def _shown(self, line: Line) -> Text:
        is_first = not any(each.day == line.day and each.is_shown for each in self.lines)
        day = f"{line.day:>3}" if is_first else "   "
        head = f"{day} {line.who:<{_WHO}} {short(line.recommendation):<{_ID}} "
        dots = "." * max(2, _WIDTH - len(head) - len(line.what) - len(line.result) - 2)
        text = Text(head + line.what + " ")
        text.append(dots, "dim")
        text.append(f" {line.result}", _COLOURS[(line.status or 0) >= _REFUSED_FROM])
        text.stylize("bold", 0, len(day))
        return text
