"""Recall: what memory holds about a subject, a relation, or a question in free text.

Only grains that are live are returned (or were live at the instant asked about), of the one namespace asked for. What
was committed a moment ago is found as well: texts that no pass has indexed yet are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from provenloop.domain.address import Addresses, relation_of
from provenloop.domain.commit import Heads
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.grain import Grain, GrainDraft, text_of
from provenloop.domain.instants import format_instant
from provenloop.domain.names import MemoryId
from provenloop.domain.questions import question_of
from provenloop.domain.ranking import ranked, weight
from provenloop.domain.recallable import RECALLED_KINDS, key_terms, terms_of_grain
from provenloop.domain.records import TermRow
from provenloop.domain.terms import terms_of
from provenloop.domain.text import normalise, normalise_relation
from provenloop.services.as_of import live_at
from provenloop.services.call import Call
from provenloop.services.grain_read import shown
from provenloop.services.memories import require_heads, require_namespace
from provenloop.services.ports import Store
from provenloop.services.record_use import Telemetry, Use, record_use
from provenloop.services.term_index import gives_text, relation_key, term_key
from provenloop.services.unseen import unseen_changes

DEFAULT_LIMIT = 10
MAX_LIMIT = 100
MAX_CANDIDATES = 300
MAX_UNSEEN = 200
MAX_QUESTION_TERMS = 32
#: Of how many terms that stand in many texts, and of how many segments each, all are read.
MAX_DEEP_TERMS = 3
MAX_SEGMENTS = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked: at least one of subject, relation and question. ``as_of`` is epoch ms; None means now."""

    namespace: str
    subject: str | None = None
    relation: str | None = None
    question: str | None = None
    as_of: int | None = None
    limit: int = DEFAULT_LIMIT
    run_id: str | None = None

    def draft(self) -> GrainDraft:
        """The question as a grain."""
        return question_of(self.namespace, self.question, self.subject, self.relation)


@dataclass(frozen=True, slots=True)
class Holders:
    """The texts that hold one term, as far as they were read, and how many there are in all."""

    addresses: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """One grain that answers; ``score`` where it was ranked for a question."""

    grain: Grain
    score: float | None = None


def recall(store: Store, call: Call, wanted: Wanted, telemetry: Telemetry) -> dict[str, Any]:
    """What answers, best first; without a question, the latest first.

    Returns:
        ``{namespace, as_of, results: [grain with score]}``, at most ``limit`` of them.

    Raises:
        ScopeDeniedError.
        InvalidInputError: nothing is asked.
        NotFoundError: no such memory or namespace.
    """
    call.require("read")
    if wanted.subject is None and wanted.relation is None and wanted.question is None:
        raise InvalidInputError("give a subject, a relation or a question", field="question")
    heads = require_heads(store, call.memory)
    require_namespace(heads, wanted.namespace)
    found = find(store, call.memory, heads, wanted, call.now)
    # A look-up that finds something is no question that anybody would want answered.
    question = wanted.draft() if wanted.question is not None or not found else None
    grains = tuple(one.grain for one in found)
    record_use(store, call, Use(wanted.namespace, grains, question, wanted.run_id), telemetry)
    at = call.now if wanted.as_of is None else wanted.as_of
    return {
        "namespace": wanted.namespace,
        "as_of": None if wanted.as_of is None else format_instant(wanted.as_of),
        "results": [{**shown(one.grain, at), "score": one.score} for one in found],
    }


def would_find(store: Store, memory: MemoryId, heads: Heads, question: Grain, now: int) -> bool:
    """Whether asking a stored question now finds something; nothing is counted. A forgotten question finds nothing."""
    text, subject, relation = (text_of(question, name) or None for name in ("text", "subject", "relation"))
    if text is None and subject is None and relation is None:
        return False
    return bool(find(store, memory, heads, Wanted(question.namespace, subject, relation, text, limit=1), now))


def find(store: Store, memory: MemoryId, heads: Heads, wanted: Wanted, now: int) -> tuple[Found, ...]:
    """The grains that answer, best first."""
    finder = _Finder(store, memory, heads, wanted, now)
    if wanted.question is not None:
        return finder.answers(wanted.question)
    grains = sorted(finder.holding(finder.stated()), key=Grain.recency, reverse=True)
    return tuple(Found(grain) for grain in grains[: wanted.limit])


class _Finder:
    """One recall on its way through the store."""

    def __init__(self, store: Store, memory: MemoryId, heads: Heads, wanted: Wanted, now: int) -> None:
        self._store, self._memory, self._heads, self._wanted, self._now = store, memory, heads, wanted, now
        self._addresses_of = Addresses(heads.log.key)

    def holding(self, grains: Iterable[Grain]) -> Iterator[Grain]:
        """Those that were of the namespace and live at the instant asked about; each once."""
        ours = [
            grain
            for grain in grains
            if grain.namespace == self._wanted.namespace and grain.kind in RECALLED_KINDS and grain.state != "forgotten"
        ]
        if self._wanted.as_of is None:
            return (grain for grain in ours if grain.is_live(self._now))
        return live_at(self._store, self._memory, ours, self._wanted.as_of)

    def stated(self) -> list[Grain]:
        """Facts of the subject, of the relation, or of both, in whatever spelling and state."""
        about, relation = self._wanted.subject, self._wanted.relation
        return [
            grain
            for grain in self._facts()
            if grain.kind == "fact"
            and (about is None or normalise(text_of(grain, "subject")) == normalise(about))
            and (relation is None or normalise_relation(text_of(grain, "relation")) == normalise_relation(relation))
        ]

    def _facts(self) -> Iterable[Grain]:
        wanted, addresses = self._wanted, self._addresses_of
        if wanted.subject is None:
            return self._of_relation(wanted.relation or "")
        prefix = addresses.entity_prefix("fact", wanted.namespace, wanted.subject)
        if wanted.relation is not None:
            prefix = addresses.cluster_prefix("fact", wanted.namespace, wanted.subject, wanted.relation)
        return self._store.grains_by_prefix(self._memory, prefix, self._now)

    def _of_relation(self, relation: str) -> Iterable[Grain]:
        key = relation_key(self._addresses_of, self._wanted.namespace, relation)
        rows = self._store.term_rows(self._memory, [key])
        part = self._addresses_of.relation_part(relation)
        recent = [address for address in self._unseen({"fact"}) if relation_of(address) == part]
        known = self._addresses(rows[key], MAX_SEGMENTS) if key in rows else ()
        return self._store.grains(self._memory, [*known, *recent], self._now).values()

    def answers(self, question: str) -> tuple[Found, ...]:
        """The ranked answers to a question, among the stated facts where a subject or a relation is given."""
        terms = terms_of(question)[:MAX_QUESTION_TERMS]
        holders = self._holders(terms)
        recent: Mapping[str, Grain] = {}
        if self._wanted.subject is not None or self._wanted.relation is not None:
            candidates: Iterable[Grain] = self.stated()
        else:
            wanted = [*self._unseen(RECALLED_KINDS), *_likeliest(holders)]
            read = self._store.grains(self._memory, wanted, self._now)
            recent = read
            candidates = read.values()
        grains = {grain.address: grain for grain in self.holding(candidates)}
        texts = {address: terms_of_grain(grain) for address, grain in grains.items()}
        counts = _counts(holders, recent, self._wanted.namespace)
        return tuple(Found(grains[one.address], one.score) for one in ranked(terms, texts, counts, self._wanted.limit))

    def _holders(self, terms: Sequence[str]) -> Mapping[str, Holders]:
        """The indexed texts under each term; of terms that stand in many, all that matter are read of the rarest."""
        keys = {term_key(self._addresses_of, self._wanted.namespace, term): term for term in terms}
        rows = self._store.term_rows(self._memory, keys)
        rarest = sorted((row for row in rows.values() if row.segments), key=lambda row: (row.count, row.term))
        deep = {row.term for row in rarest[:MAX_DEEP_TERMS]}
        return {
            keys[key]: Holders(self._addresses(rows[key], MAX_SEGMENTS if key in deep else 0), rows[key].count)
            if key in rows
            else Holders()
            for key in keys
        }

    def _addresses(self, row: TermRow, segments: int) -> tuple[str, ...]:
        """The grains of a term, those indexed last first, as far back as so many segments."""
        earlier = self._store.term_segments(self._memory, row.term, segments) if row.segments and segments else ()
        return tuple(dict.fromkeys((*row.addresses, *(a for segment in earlier for a in segment.addresses))))

    def _unseen(self, kinds: Iterable[str]) -> list[str]:
        """The newest texts of the namespace that no pass has indexed yet."""
        changes = unseen_changes(self._store, self._memory, self._heads)
        ours = (
            change.address
            for change in changes
            if gives_text(change) and change.kind in kinds and change.namespace == self._wanted.namespace
        )
        return list(islice(dict.fromkeys(ours), MAX_UNSEEN))


def _likeliest(holders: Mapping[str, Holders]) -> list[str]:
    """The addresses that hold most of the question, at most 300."""
    told: dict[str, float] = {}
    for held in holders.values():
        for address in held.addresses:
            told[address] = told.get(address, 0.0) + weight(held.count)
    return sorted(told, key=lambda address: (-told[address], address))[:MAX_CANDIDATES]


def _counts(holders: Mapping[str, Holders], read: Mapping[str, Grain], namespace: str) -> Mapping[str, int]:
    """In how many texts each term is: those indexed, and those read that no pass has indexed yet."""
    terms = {address: key_terms(grain) for address, grain in read.items() if grain.namespace == namespace}
    return {
        term: held.count + len({address for address, found in terms.items() if term in found} - set(held.addresses))
        for term, held in holders.items()
    }
