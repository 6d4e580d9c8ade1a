"""Exporting the audit trail: JSON lines by subject and number, in pages.

Read from the chains themselves, strongly consistent: an export holds all that was written before it began. A page
costs what it looks at, also where only a span of time is wanted: it ends after so many entries, however few fit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from provenloop.domain.audit import AuditEntry
from provenloop.domain.cursor import cursor_at, place_of
from provenloop.domain.errors import InvalidInputError
from provenloop.services.audit_trail import chain_name, entry_line, require_trail
from provenloop.services.call import Call
from provenloop.services.ports import Store

#: An answer may hold 6 MB; this leaves room for the envelope and its escapes.
PAGE_BYTES = 5_000_000
PAGE_ENTRIES = 10_000
_PLACE = re.compile(r"([ -~]{1,900})#([0-9]{1,12})")

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Span:
    """Entries from ``since`` on and before ``until`` (epoch ms); None is no bound."""

    since: int | None = None
    until: int | None = None

    def holds(self, entry: AuditEntry) -> bool:
        """Whether an entry is wanted. One whose time cannot be read is: damage is never left out."""
        if not entry.at:
            return True
        return (self.since is None or entry.at >= self.since) and (self.until is None or entry.at < self.until)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Lines without their line ends; ``cursor`` is None on the last page."""

    lines: Sequence[str]
    cursor: str | None


def export_page(
    store: Store, call: Call, *, subject: str | None = None, span: Span | None = None, cursor: str | None = None
) -> AuditPage:
    """The next page of the trail, at most 5 MB.

    Args:
        subject: id of one recommendation, or any unique prefix of it; or another subject, ``grain:<address>`` say.
        cursor: of the page before, which was asked for with the same subject and span.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError.
        InvalidInputError: a span that ends before it begins, or a cursor that was never given out.
    """
    require_trail(store, call)
    wanted = span or Span()
    if wanted.since is not None and wanted.until is not None and wanted.until < wanted.since:
        raise InvalidInputError("ends before it begins", field="until")
    after = _place_of(cursor) if cursor is not None else None
    return _page(store, call, None if subject is None else chain_name(store, call, subject), wanted, after)


def _page(store: Store, call: Call, name: str | None, span: Span, after: Place | None) -> AuditPage:
    lines: list[str] = []
    size, last = 0, after
    for looked_at, entry in enumerate(store.audit_entries(call.memory, name, after=after)):
        line = _line(entry) if span.holds(entry) else ""
        grown = size + len(line.encode()) + 1 if line else size
        if looked_at and (grown > PAGE_BYTES or looked_at >= PAGE_ENTRIES):
            return AuditPage(lines, None if last is None else cursor_at(f"{last[0]}#{last[1]}"))
        lines += [line] if line else []
        size, last = grown, (entry.subject, entry.n)
    return AuditPage(lines, None)


def _line(entry: AuditEntry) -> str:
    return json.dumps(entry_line(entry, None), ensure_ascii=False, separators=(",", ":"))


def _place_of(cursor: str) -> Place:
    subject, n = place_of(cursor, _PLACE, "this trail").groups()
    return subject, int(n)
