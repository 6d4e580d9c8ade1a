"""Erasing what grains said: a tombstone for each, their earlier versions, and questions and reasons that repeat them.

The tombstones are part of the transaction that forgets, with as many erasures as it has room for; the rest follows
right after. Where that is interrupted, forgetting the same grain again finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from provenloop.domain.address import Addresses
from provenloop.domain.audit import Note
from provenloop.domain.commit import Change
from provenloop.domain.grain import Grain, text_of, without_content
from provenloop.domain.job import is_of_a_job
from provenloop.domain.mentions import mentions, own_texts
from provenloop.domain.records import Due, History
from provenloop.domain.remark import Remark, erased
from provenloop.lessons.card import Card, CardEvidence
from provenloop.lessons.line import is_lesson
from provenloop.services.call import Call
from provenloop.services.card_count import Count
from provenloop.services.card_find import cards_through_merging
from provenloop.services.decision import lost_race
from provenloop.services.declare import declare
from provenloop.services.memories import require_heads
from provenloop.services.ports import Erase, Remove, Replace, Store, Write, WriteRefusedError
from provenloop.services.remark_index import DUE_SAID, remarks_citing, remarks_that_may_mention

WRITES_AT_ONCE = 90


@dataclass(frozen=True, slots=True)
class Erasures:
    """What goes at ``at`` (epoch ms): earlier versions that still have content, and what repeats something: questions
    that agents asked, reasons that people wrote. ``calls`` are the forgotten calls as they were counted, by address.
    ``quoting`` is the evidence of cards that quotes lessons, ``suggesting`` cards with a suggestion that one brought.
    ``remarks`` are what somebody outside said of one of the grains, or in the same words; ``closing`` has the engine
    look at the findings of the latter, which nothing else leads to.
    """

    at: int
    versions: tuple[History, ...] = ()
    questions: tuple[Grain, ...] = ()
    notes: tuple[Note, ...] = ()
    calls: Mapping[str, Change] = field(default_factory=dict)
    quoting: tuple[CardEvidence, ...] = ()
    suggesting: tuple[Card, ...] = ()
    remarks: tuple[Remark, ...] = ()
    closing: tuple[Write, ...] = ()

    @property
    def texts(self) -> tuple[Grain, ...]:
        """The earlier versions and the questions, with what they said."""
        return (*(row.grain for row in self.versions), *self.questions)

    @property
    def writes(self) -> list[Write]:
        """Everything but the heads. Versions come last: as long as one is left, the others are found again by it."""
        return [
            *(Replace(tombstone(asked, seq=asked.seq, at=self.at), asked.head_rev) for asked in self.questions),
            *(Remove(note) for note in self.notes),
            *(Remove(row) for row in self.quoting),
            *(Count(card, None, forgets_suggestion=True) for card in self.suggesting),
            *self.said,
            *(Erase(History(without_content(row.grain))) for row in self.versions),
        ]

    @property
    def said(self) -> list[Write]:
        """What takes back remarks. While one has words, its finding is found again by them; so those go last."""
        return [*self.closing, *(Replace(erased(remark), remark.rev) for remark in self.remarks)]


def erasures_of(
    store: Store, call: Call, grains: Sequence[Grain], *, said: frozenset[str] = frozenset(), chain: str
) -> Erasures:
    """What has to go with some grains, forgotten ones among them.

    The grains are read before their versions: a version that comes later comes with a moved head, on which the
    tombstone is conditional.

    Args:
        said: further folded texts that nothing may repeat.
        chain: the audit chain whose reasons stay: they say why just this was forgotten.
    """
    calls = _as_counted(store, call, grains)
    versions = tuple(row for grain in grains if grain.head_rev > 1 for row in _with_content(store, call, grain))
    said = said.union(*map(own_texts, (*grains, *(row.grain for row in versions)))) - {""}
    quoting, suggesting = _of_lessons(store, call, grains)
    gone = frozenset(grain.address for grain in grains)

    def repeats(text: str) -> bool:
        return mentions(text, said)

    remarks, closing = remarks_on(store, call, gone, said, repeats) if gone or said else ((), ())
    of_grains = Erasures(call.now, versions, (), (), calls, quoting, suggesting, remarks, closing)
    if not said:
        return of_grains
    questions = (asked for asked in _repeating_questions(store, call, said) if asked.address not in gone)
    notes = (note for note in repeating_notes(store, call, repeats) if note.subject != chain)
    return replace(of_grains, questions=tuple(questions), notes=tuple(notes))


def remarks_on(
    store: Store, call: Call, gone: frozenset[str], said: frozenset[str], repeats: Callable[[str], bool]
) -> tuple[tuple[Remark, ...], tuple[Write, ...]]:
    """Remarks that rest on one of the grains, whatever their words are, and others that repeat something of what was
    said; and what has the engine look at the findings of those others.
    """
    addresses = Addresses(require_heads(store, call.memory).log.key)
    citing = [each for each in remarks_citing(store, call.memory, addresses, gone) if not each.is_erased]
    known = {remark.name for remark in citing}
    near = remarks_that_may_mention(store, call.memory, addresses, said)
    others = [each for each in near if each.name not in known and any(map(repeats, _words_of(each)))]
    dues = {Due(call.now, DUE_SAID, remark.recommendation) for remark in others}
    closing = declare(store, call.memory, *sorted(dues, key=repr)) if dues else ()
    return (*citing, *others), tuple(closing)


def _words_of(remark: Remark) -> tuple[str, ...]:
    return remark.target, remark.summary, remark.guidance


def _of_lessons(store: Store, call: Call, grains: Sequence[Grain]) -> tuple[tuple[CardEvidence, ...], tuple[Card, ...]]:
    """What cards hold of the text of lessons."""
    quoting: list[CardEvidence] = []
    suggesting: list[Card] = []
    for lesson in filter(is_lesson, grains):
        for card in cards_through_merging(store, call.memory, lesson.body["lesson"].get("card")):
            quoting += (row for row in store.card_evidence(call.memory, card.id) if row.lesson == lesson.address)
            suggesting += [card] if card.suggested_by == lesson.address else []
    return tuple(quoting), tuple(suggesting)


def _as_counted(store: Store, call: Call, grains: Sequence[Grain]) -> Mapping[str, Change]:
    """Tool calls as their commits list them: what counted them must count them no more."""
    calls = {grain.address for grain in grains if grain.kind == "tool_call" and grain.state != "forgotten"}
    numbers = {grain.seq for grain in grains if grain.address in calls}
    entries = (entry for seq in sorted(numbers) for entry in store.log_entries(call.memory, seq - 1, seq))
    return {
        change.address: replace(change, counted_in=entry.seq)
        for entry in entries
        for change in entry.changes
        if change.op == "add" and change.address in calls
    }


def _repeating_questions(store: Store, call: Call, said: frozenset[str]) -> Iterator[Grain]:
    """Those that have counts, and those that no pass has counted yet."""
    heads = require_heads(store, call.memory)
    uncounted = store.log_entries(call.memory, heads.folds.folded, heads.log.seq)
    new = (change.address for entry in uncounted for change in entry.changes if change.kind == "question")
    asked = dict.fromkeys((*store.questions(call.memory), *new))
    for question in store.grains(call.memory, asked, call.now).values() if asked else ():
        texts = (text for text in question.body.values() if isinstance(text, str))
        if question.state != "forgotten" and any(mentions(text, said) for text in texts):
            yield question


def repeating_notes(store: Store, call: Call, repeats: Callable[[str], bool]) -> Iterator[Note]:
    """Reasons that repeat something. A job keeps what it still needs to know, and drops it when it ends."""
    notes = (note for note in store.all_notes(call.memory) if not is_of_a_job(note.subject))
    return (note for note in notes if repeats(note.because))


def _with_content(store: Store, call: Call, grain: Grain) -> Iterator[History]:
    for version in store.history(call.memory, grain.address):
        if version.state != "forgotten" or version.body or version.redacted:
            yield History(version)


def tombstone(grain: Grain, *, seq: int, at: int) -> Grain:
    """What is left of a grain that is forgotten in commit ``seq``."""
    return replace(without_content(grain), head_rev=grain.head_rev + 1, seq=seq, changed_at=at)


def forgotten_change(grain: Grain, addresses: Addresses, calls: Mapping[str, Change]) -> Change:
    """What a fold needs: the address, and of a call what it was counted as, among ``calls``."""
    counted = calls.get(grain.address)
    if counted is not None:
        return replace(counted, op="forget", session=None)
    is_call = grain.kind == "tool_call"
    tool_key = addresses.tool_key(grain.namespace, text_of(grain, "tool")) if is_call else None
    return Change("forget", grain.kind, grain.address, grain.namespace, tool_key=tool_key)


def erase(store: Store, call: Call, erasures: Iterable[Write]) -> None:
    """Erase what had no room in the transaction that forgot.

    Raises:
        ConflictError: something moved in between; forgetting again goes on from there.
    """
    left = list(erasures)
    for start in range(0, len(left), WRITES_AT_ONCE):
        try:
            store.transact(call.memory, left[start : start + WRITES_AT_ONCE], call.now)
        except WriteRefusedError as refused:
            raise lost_race() from refused
