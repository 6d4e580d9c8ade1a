"""Reading the lesson stream, newest first, and figures about lessons with the settings in force."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.canonical import canonical_json
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.grain import Grain
from provenloop.domain.instants import format_instant
from provenloop.domain.visible import visible
from provenloop.lessons.card import CARD_STATUSES, LessonPlace, project_key
from provenloop.lessons.line import is_lesson
from provenloop.services.call import Call
from provenloop.services.cards_read import project_name
from provenloop.services.lesson_settings import settings_if_readable
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

MAX_LIMIT = 100
_PLACE = re.compile(r"line/([0-9]{1,12})")
#: Most bytes of lines on a page; an answer can carry a little more.
PAGE_BYTES = 4_000_000
#: Lines of 200 KB are read in small lots, so that a page does not read what it has no room for.
_READ_AT_ONCE = 10


def list_lessons(
    store: Store, call: Call, *, project: str | None = None, limit: int = MAX_LIMIT, cursor: str | None = None
) -> dict[str, Any]:
    """One page of lines, the newest first: of a project, or of the whole library.

    Returns:
        ``{lessons: [...], cursor}``; the cursor is None on the last page. Forgotten lines are left out, and long ones
        fill a page early, so a page may hold fewer than ``limit`` and still have a cursor.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError.
    """
    call.require("read")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"1 to {MAX_LIMIT}", field="limit")
    before = None if cursor is None else line_number(cursor)
    addresses = Addresses(require_heads(store, call.memory).log.key)
    if settings_if_readable(store, call.memory) is None:
        return {"lessons": [], "cursor": None}
    place = None if project is None else project_key(addresses, project_name(project))
    places = store.lesson_places(call.memory, place, before=before, limit=limit + 1)
    lines: list[dict[str, Any]] = []
    size, reached = 0, 0
    for at, grain in lines_at(store, call, places[:limit]):
        line = _shown(grain) if grain is not None else None
        size += len(canonical_json(line).encode())
        if lines and size > PAGE_BYTES:
            return {"lessons": lines, "cursor": line_cursor(reached)}
        lines += [line] if line is not None else []
        reached = at.seq
    return {"lessons": lines, "cursor": line_cursor(reached) if len(places) > limit else None}


def lesson_stats(store: Store, call: Call) -> dict[str, Any]:
    """Figures about lessons, and the settings in force.

    Returns:
        ``{cards: {status: n}, lessons: {lines, bytes}, settings, folds}``; where the settings cannot be read they are
        None and everything else is empty.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    in_force = settings_if_readable(store, call.memory)
    if in_force is None:
        return {"cards": {}, "lessons": {}, "settings": None, "folds": {}}
    return {
        "cards": {status: store.count_cards(call.memory, status) for status in CARD_STATUSES},
        "lessons": store.lesson_totals(call.memory)._asdict(),
        "settings": asdict(in_force.settings),
        "folds": dict(in_force.folds),
    }


def lines_at(store: Store, call: Call, places: Sequence[LessonPlace]) -> Iterator[tuple[LessonPlace, Grain | None]]:
    """The lines at these places of the stream, as they are asked for; None where one was forgotten."""
    for start in range(0, len(places), _READ_AT_ONCE):
        lot = places[start : start + _READ_AT_ONCE]
        found = store.grains(call.memory, [place.lesson for place in lot], call.now)
        for place in lot:
            grain = found.get(place.lesson)
            yield place, grain if grain is not None and is_lesson(grain) else None


def _shown(grain: Grain) -> dict[str, Any]:
    names = {name: value for name, value in grain.body["lesson"].items() if name != "just_ready"}
    told = {name: value for name, value in grain.body.items() if name != "lesson"}
    shown: dict[str, Any] = visible({**names, **told})
    return {"lesson": grain.address, "seq": grain.seq, "at": format_instant(grain.recorded_at), "by": grain.by, **shown}


def line_cursor(seq: int) -> str:
    """Where a page of the stream goes on, behind the line with this number."""
    return cursor_at(f"line/{seq}")


def line_number(cursor: str) -> int:
    """The number that :func:`line_cursor` put into a cursor.

    Raises:
        InvalidInputError: it is none.
    """
    return int(place_of(cursor, _PLACE)[1])
