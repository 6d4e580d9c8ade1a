"""Files of events in the inbox: where they lie, how far one has been read, and what its report tells.

Keys are ``inbox/<source>/<memory>/<anything>``. A drop is one putting of one file: the same file put again is another
drop, with the same lines. Progress goes with the message that asks to read on, so it stays small whatever the file is.

Invariants: a report tells places, codes and rules, and never what stood in a line; it lies outside the inbox, where it
is read as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.instants import format_instant

INBOX_PREFIX = "inbox/"
REPORT_PREFIX = "reports/"
REPORT_SUFFIX = ".report.json"
#: So many refused lines are named; further ones are counted.
MAX_REFUSALS = 100
MAX_SHOWN_CHARS = 200
#: S3 takes keys of 1,024 bytes, and the report's is longer than the file's.
MAX_KEY_BYTES = 1_000

Status = Literal["read", "refused", "gone"]

_KEY = re.compile(r"inbox/([^/]+)/([^/]+)/.+", re.DOTALL)
_IN_BATCH = re.compile(r"events\[([0-9]+)\]\.?")


class Drop(NamedTuple):
    """One putting of one file; ``id`` tells it from others of the same key."""

    key: str
    etag: str
    id: str

    @property
    def report_key(self) -> str:
        """Where its report lies."""
        return f"{REPORT_PREFIX}{self.key.removeprefix(INBOX_PREFIX)}{REPORT_SUFFIX}"


class Refusal(NamedTuple):
    """A line that was not recorded: its number from 1, the error's code, its field if one is at fault, and the rule."""

    line: int
    code: str
    field: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file has been read: whole lines up to ``offset`` bytes, ``lines`` of them, and what became of them.

    ``begun_at`` is epoch ms. Blank lines are lines, but become nothing.
    """

    begun_at: int
    offset: int = 0
    lines: int = 0
    recorded: int = 0
    known: int = 0
    ignored: int = 0
    refused: int = 0
    refusals: tuple[Refusal, ...] = field(default=())

    def after(self, offset: int, lines: int, counts: Mapping[str, int], refusals: tuple[Refusal, ...]) -> Progress:
        """The progress once further lines were read; ``counts`` are of events recorded, known and ignored."""
        return replace(
            self,
            offset=offset,
            lines=lines,
            recorded=self.recorded + counts.get("recorded", 0),
            known=self.known + counts.get("known", 0),
            ignored=self.ignored + counts.get("ignored", 0),
            refused=self.refused + len(refusals),
            refusals=(*self.refusals, *refusals)[:MAX_REFUSALS],
        )

    def as_plain(self) -> dict[str, Any]:
        """As a JSON value, which :func:`read_progress` reads."""
        return {**asdict(self), "refusals": [list(each) for each in self.refusals]}


def read_progress(plain: Mapping[str, Any]) -> Progress:
    """The progress that a message brings.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        refusals = tuple(Refusal(*each) for each in plain["refusals"])
        return Progress(**{**plain, "refusals": refusals})
    except (TypeError, KeyError):
        raise InvalidInputError("a message to read on tells how far a file has been read", field="body") from None


class Place(NamedTuple):
    """Whose file it is, and of which memory, as its key says."""

    source: str
    memory: str


def place_of(key: str) -> Place:
    """The place that a key names.

    Raises:
        InvalidInputError: it is not a key of the inbox, or too long for one.
    """
    match = _KEY.fullmatch(key)
    if match is None or len(key.encode()) > MAX_KEY_BYTES:
        raise InvalidInputError("must be inbox/<source>/<memory>/<file>, of 1000 bytes at most", field="key")
    return Place(match[1], match[2])


def index_in_batch(error: LoopError) -> int | None:
    """Which event of a batch an error is about; None where it is about no single one."""
    match = _IN_BATCH.match(error.field or "")
    return int(match[1]) if match else None


def refusal_of(line: int, error: LoopError) -> Refusal:
    """The refusal of a line, whose event was sent alone or found at fault by itself."""
    named = _IN_BATCH.sub("", error.field or "", count=1)
    return Refusal(line, error.code, named[:MAX_SHOWN_CHARS] or None, error.message[:MAX_SHOWN_CHARS])


def report_of(
    drop: Drop, progress: Progress, now: int, status: Status, refused_for: LoopError | None = None
) -> dict[str, Any]:
    """The report beside a file. ``now`` is epoch ms; ``refused_for`` says why a file was refused as a whole."""
    report: dict[str, Any] = {
        "file": drop.key,
        "etag": drop.etag,
        "drop": drop.id,
        "status": status,
        "lines": progress.lines,
        "recorded": progress.recorded,
        "known": progress.known,
        "ignored": progress.ignored,
        "refused": progress.refused,
        "refusals": [_shown(each) for each in progress.refusals],
        "refusals_left_out": progress.refused - len(progress.refusals),
        "begun_at": format_instant(progress.begun_at),
        "ended_at": format_instant(now),
    }
    if refused_for is None:
        return report
    why = {"code": refused_for.code, "field": refused_for.field, "detail": refused_for.message}
    return {**report, **{name: value for name, value in why.items() if value is not None}}


def _shown(refusal: Refusal) -> dict[str, Any]:
    return {name: value for name, value in refusal._asdict().items() if value is not None}
