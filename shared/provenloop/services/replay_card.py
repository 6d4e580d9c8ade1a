"""Replaying a card before it is armed: which past lines its key matches as lines fold now, and where it was followed.

It shows what the rule would have met: read-only, in pages of the project's stream, newest first.
"""

from __future__ import annotations

from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.grain import Grain
from provenloop.domain.instants import format_instant
from provenloop.domain.visible import visible
from provenloop.lessons.card import Card, card_id
from provenloop.lessons.folding import fold
from provenloop.lessons.line import Line, LineEvidence, kept_detail
from provenloop.services.call import Call
from provenloop.services.card_find import find_card
from provenloop.services.lesson_settings import InForce, settings_in_force
from provenloop.services.lessons_read import line_cursor, line_number, lines_at
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

MAX_LIMIT = 100
MAX_PASSES = 100


def replay_card(
    store: Store, call: Call, prefix: str, *, limit: int = MAX_LIMIT, cursor: str | None = None
) -> dict[str, Any]:
    """One page of what a card's key would have matched.

    Args:
        limit: how many lines of the stream to look at.

    Returns:
        ``{card, looked_at, lessons: [{lesson, seq, at, source, session, detail, would_count}], passes: [{at}],
        more_passes, cursor}``. ``would_count`` is what the line would be of an armed card: ``violation``, ``report`` or
        ``environment``. Passes (of the last 90 days) stand on the first page only.

    Raises:
        ScopeDeniedError, NotFoundError, AmbiguousPrefixError, InvalidInputError, IntegrityError.
    """
    call.require("read")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"1 to {MAX_LIMIT}", field="limit")
    before = None if cursor is None else line_number(cursor)
    card = find_card(store, call, prefix)
    addresses = Addresses(require_heads(store, call.memory).log.key)
    in_force = settings_in_force(store, call.memory)
    places = store.lesson_places(call.memory, card.project_key, before=before, limit=limit + 1)
    lines = (grain for _, grain in lines_at(store, call, places[:limit]) if grain is not None)
    passes = store.card_passes(call.memory, card.id, call.now, MAX_PASSES + 1) if cursor is None else ()
    return {
        "card": card.id,
        "looked_at": len(places[:limit]),
        "lessons": [_told(grain) for grain in lines if _matches(grain, card, addresses, in_force)],
        "passes": [{"at": format_instant(each.at)} for each in passes[:MAX_PASSES]],
        "more_passes": len(passes) > MAX_PASSES,
        "cursor": line_cursor(places[limit - 1].seq) if len(places) > limit else None,
    }


def _matches(grain: Grain, card: Card, addresses: Addresses, in_force: InForce) -> bool:
    names, seen = grain.body["lesson"], grain.body.get("evidence") or {}
    evidence = LineEvidence(target=seen.get("target"), signature=seen.get("signature"))
    line = Line(names["project"], names["category"], names["signature"], "", "", evidence=evidence)
    return card_id(addresses, line.project, fold(line, in_force.folds).key) == card.id


def _told(grain: Grain) -> dict[str, Any]:
    names, body = grain.body["lesson"], grain.body
    is_evidence = bool((body.get("evidence") or {}).get("needs_user_confirmation"))
    shown: dict[str, Any] = visible({"detail": kept_detail(body["detail"]), "session": body.get("session")})
    return {
        "lesson": grain.address,
        "seq": grain.seq,
        "at": format_instant(grain.recorded_at),
        "source": visible(names["source"]),
        "would_count": "environment" if names.get("kind") else "report" if is_evidence else "violation",
        **shown,
    }
