"""What a reader saw, and what it could not use."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class ReadReport:
    """Counts of one reading. Nothing that is left out goes uncounted.

    Attributes:
        runs: transcripts that were read.
        messages: messages that were read.
        calls: events that came of them.
        errors: those of them that failed.
        orphans: results without a call; with a tool's name of their own they are events all the same.
        unanswered: calls without a result, left out.
        nameless: results of no tool that could be named, left out.
        reused: calls under an id that named an earlier call of the run; each is an event of its own.
        repeated: further results of a call that had its result, left out.
        unreadable: messages and calls that have not the form of one, left out.
        malformed: numbers of the lines that hold no run, left out.
        renamed: runs whose task and trial named an earlier run of the file; their session has a number more.
        by_tool: events by tool.
        errors_by_tool: those of them that failed.
    """

    runs: int = 0
    messages: int = 0
    calls: int = 0
    errors: int = 0
    orphans: int = 0
    unanswered: int = 0
    nameless: int = 0
    reused: int = 0
    repeated: int = 0
    unreadable: int = 0
    malformed: list[int] = field(default_factory=list)
    renamed: int = 0
    by_tool: Counter[str] = field(default_factory=Counter)
    errors_by_tool: Counter[str] = field(default_factory=Counter)
