"""Export: everything a memory holds for a person or an auditor, as JSON lines, in pages.

The configuration in force comes first, then grains with their earlier versions, recommendations, cards (their lessons
are grains), recipes and what they said before, the ledger, and audit entries with their reasons; each in the order of
its key, so that the order is the same every time and a page goes on exactly where the last one ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from provenloop.domain.audit import AuditEntry, Note
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.grain import Grain
from provenloop.domain.ledger import LedgerRow
from provenloop.domain.policy import CLOSED, Policy
from provenloop.domain.recipe import Recipe, RecipeVersion
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.records import History
from provenloop.lessons.card import Card
from provenloop.services.audit_trail import entry_told
from provenloop.services.call import Call
from provenloop.services.cards_read import card_fields
from provenloop.services.configure import config_told
from provenloop.services.erasure_port import Part
from provenloop.services.findings_read import described
from provenloop.services.grain_read import shown
from provenloop.services.ledger_summary import row_told
from provenloop.services.memories import require_heads
from provenloop.services.ports import Entity, Store
from provenloop.services.recipe_told import recipe_fields

#: Most bytes of a page; an answer can carry a little more.
PAGE_BYTES = 4_000_000
#: What a line tells of.
LineField = Literal[
    "config", "grain", "version", "recommendation", "card", "recipe", "recipe_version", "ledger", "audit"
]  # fmt: skip
Line = tuple[LineField, Mapping[str, Any]]
_PARTS: tuple[Part, ...] = get_args(Part)
_PLACE = re.compile(rf"({'|'.join(('config', *_PARTS))})/([\x21-\x7e]{{1,1024}})")


class Page(NamedTuple):
    """JSON texts, the last of them ``{"cursor": ...}``; the cursor is None on the last page."""

    lines: tuple[str, ...]
    cursor: str | None


def export_page(
    store: Store, call: Call, cursor: str | None, spent: Callable[[], bool], policy: Policy = CLOSED
) -> Page:
    """The next page. It is never empty, and ends when it is full or the time is spent.

    Each line is an object of one field, one of ``LineField`` or at the end ``cursor``. The configuration is told as a
    change of it is answered, under the host's ``policy``.

    Raises:
        ScopeDeniedError, NotFoundError, InvalidInputError: naming the cursor.
    """
    call.require("admin")
    require_heads(store, call.memory)
    lines: list[str] = []
    size, reached = 0, cursor
    for place, (name, told) in _Telling(store, call, policy).after(*_place_of(cursor)):
        line = _text({name: told})
        size += len(line.encode()) + 1
        if lines and (size > PAGE_BYTES or spent()):
            return Page((*lines, _text({"cursor": reached})), reached)
        lines.append(line)
        reached = place
    return Page((*lines, _text({"cursor": None})), None)


@dataclass
class _Telling:
    """Tells of items as they are walked through."""

    store: Store
    call: Call
    policy: Policy
    _notes: tuple[str, Mapping[int, Note]] = field(default=("", {}))

    def after(self, part: str, place: str) -> Iterator[tuple[str, Line]]:
        """(cursor behind it, what is told) of everything from a place on; an empty part is the beginning."""
        if not part:
            config = self.store.memory_config(self.call.memory)
            yield cursor_at(f"config/{config.rev}"), ("config", config_told(config, self.policy))
        begun = _PARTS.index(part) if part in _PARTS else 0
        for each in _PARTS[begun:]:
            for sort, entity in self.store.walk(self.call.memory, each, place if each == part else "", self.call.now):
                told = self._told(entity)
                if told is not None:
                    yield cursor_at(f"{each}/{sort}"), told

    def _told(self, entity: Entity) -> Line | None:
        match entity:
            case Grain():
                return "grain", shown(entity, self.call.now)
            case History():
                version = shown(entity.grain, self.call.now)
                return "version", {name: value for name, value in version.items() if name != "live"}
            case Recommendation():
                return "recommendation", described(self.store, self.call, entity)
            case Card():
                return "card", card_fields(entity)
            case Recipe() | RecipeVersion() | LedgerRow():
                return _of_the_ladder(entity)
            case AuditEntry():
                return "audit", entry_told(entity, self._note(entity))
        return None

    def _note(self, entry: AuditEntry) -> Note | None:
        """The reason of an entry; those of one chain are read together."""
        if self._notes[0] != entry.subject:
            self._notes = (entry.subject, self.store.notes(self.call.memory, entry.subject))
        return self._notes[1].get(entry.n)


def _of_the_ladder(entity: Recipe | RecipeVersion | LedgerRow) -> Line:
    if isinstance(entity, LedgerRow):
        return "ledger", row_told(entity)
    if isinstance(entity, RecipeVersion):
        return "recipe_version", recipe_fields(entity.recipe)
    return "recipe", recipe_fields(entity)


def _text(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), default=dict)


def _place_of(cursor: str | None) -> tuple[str, str]:
    if cursor is None:
        return "", ""
    part, place = place_of(cursor, _PLACE, "an export").groups()
    return part, place
