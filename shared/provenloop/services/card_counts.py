"""What counting on a card rests on, and how much evidence it keeps."""

from __future__ import annotations

from contextlib import suppress

from provenloop.domain.errors import LoopError
from provenloop.lessons.card import KEPT_EVIDENCE, Card
from provenloop.lessons.settings import LessonSettings
from provenloop.services.call import Call
from provenloop.services.card_count import Within
from provenloop.services.ports import Remove, Store, WriteRefusedError

_TRIMMED_EVERY = 10
_AT_ONCE = 90


def side_of(card: Card, settings: LessonSettings) -> tuple[Within, ...]:
    """The side of the threshold on which a card was read: on the other one, a line would do something else."""
    if card.status == "rejected" and card.since_rejection + 1 < settings.revive_threshold:
        return (Within("since_rejection", high=settings.revive_threshold - 2),)
    if card.status != "candidate" or card.ready_at is not None:
        return ()
    if card.reports + 1 < settings.promote_threshold:
        return (Within("reports", high=settings.promote_threshold - 2),)
    return (Within("reports", card.reports, card.reports),)


def trim_evidence(store: Store, call: Call, card: Card | None) -> None:
    """Drop evidence that is older than the newest 20, now and then: readers see no more than those anyway.

    The line is stored by now, so whatever goes wrong here is left to the next time.
    """
    if card is None or card.reports < KEPT_EVIDENCE or card.reports % _TRIMMED_EVERY:
        return
    with suppress(LoopError, WriteRefusedError):
        old = store.card_evidence(call.memory, card.id)[KEPT_EVIDENCE:]
        if old:
            store.transact(call.memory, [Remove(row) for row in old[-_AT_ONCE:]], call.now, tries=1)
