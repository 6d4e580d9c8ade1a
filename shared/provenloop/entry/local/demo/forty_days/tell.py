"""The story from beginning to end."""

from __future__ import annotations

from rich.console import Console

from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import Usage
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.forty_days.cast import gather, write_policy
from provenloop.entry.local.demo.forty_days.diary import Diary
from provenloop.entry.local.demo.forty_days.first_week import first_week
from provenloop.entry.local.demo.forty_days.last_days import last_days
from provenloop.entry.local.demo.forty_days.reckoning import reckon
from provenloop.entry.local.demo.forty_days.three_weeks import three_weeks
from provenloop.entry.local.stack import LocalStack


def tell(console: Console, checks: Checks, stack: LocalStack, used: Usage) -> Diary:
    """Tell and check the forty days on a stack that has a file for the host policy; what was written down.

    All its claims count as one in ``checks``; those that do not hold are told there each.

    Raises:
        LookupError: the stack has no such file, or something is missing that the story goes on with.
        UnexpectedAnswerError: it cannot go on with an answer.
    """
    tables.heading(console, "3  Forty days of two agents and a reviewer")
    own = Checks(console)
    diary = Diary(console, own)
    try:
        _days(stack, diary, used)
    finally:
        checks.take_in("the forty days are as they are told", own)
    return diary


def _days(stack: LocalStack, diary: Diary, used: Usage) -> None:
    cast = gather(stack, diary, used)
    diary.begin()
    try:
        found = first_week(cast)
        three_weeks(cast, found)
        last_days(cast, found)
        reckon(cast)
    finally:
        write_policy(stack, {})
