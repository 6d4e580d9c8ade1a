"""The forty days of the demo, told by themselves on a system of their own, as text and as a record.

Both are pinned in ``golden/``. Where the story was changed, or the product tells another one for a good reason, write
them anew and read the difference before it is committed::

    .venv/bin/python -m tests.scenario.forty_days --write

Without ``--write`` the story is printed. Ids repeat: they come from a seeded source, and the clock is set.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from provenloop.entry.local.demo import forty_days
from provenloop.entry.local.demo.api import Usage
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.forty_days.diary import Diary
from provenloop.entry.local.stack import LocalStack

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
TEXT, RECORD = GOLDEN / "forty_days.txt", GOLDEN / "forty_days.json"
WIDTH = 80


@dataclass(frozen=True)
class Story:
    """What was printed, what was written down, and whether every claim holds."""

    text: str
    diary: Diary
    all_hold: bool

    @property
    def record(self) -> str:
        """What was written down, by day, as the JSON that is pinned."""
        days: dict[str, list[dict[str, Any]]] = {}
        for line in self.diary.lines:
            fields = {
                "who": line.who, "recommendation": line.recommendation, "what": line.what, "result": line.result,
                "status": line.status, "is_shown": line.is_shown,
            }  # fmt: skip
            days.setdefault(f"day {line.day}", []).append(fields)
        return json.dumps(days, indent=1, ensure_ascii=False) + "\n"


@contextmanager
def system() -> Iterator[LocalStack]:
    """The whole system, empty, with a file for its policy and ids that repeat."""
    with TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.json"
        policy.write_text("{}", encoding="utf-8")
        quiet = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true"}
        with LocalStack(ROOT, variables=quiet, now_ms=0, policy_file=policy, seed="forty days") as stack:
            yield stack


def told(stack: LocalStack) -> Story:
    """Tell the story."""
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False)
    checks = Checks(console)
    diary = forty_days.tell(console, checks, stack, Usage())
    assert isinstance(console.file, io.StringIO)
    lines = (line.rstrip() for line in console.file.getvalue().strip().splitlines())
    return Story("\n".join(lines) + "\n", diary, checks.all_hold)


def statuses(entries: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The status of each subject of an audit export by the last entry of its chain."""
    by_subject = itertools.groupby(sorted(entries, key=lambda each: (each["subject"], each["n"])),
                                   key=lambda each: str(each["subject"]))  # fmt: skip
    return {subject: list(chain)[-1]["to"] for subject, chain in by_subject}


def main(arguments: Sequence[str]) -> int:
    """Print the story, or write both files."""
    with system() as stack:
        story = told(stack)
    if "--write" not in arguments:
        sys.stdout.write(story.text)
    else:
        GOLDEN.mkdir(exist_ok=True)
        TEXT.write_text(story.text, encoding="utf-8")
        RECORD.write_text(story.record, encoding="utf-8")
    return 0 if story.all_hold else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
