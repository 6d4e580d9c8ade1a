"""Entities to items and back: where each is stored, and what stands beside its document.

One ``Form`` per entity type. Reading dispatches on the item's ``type``; an item of an unknown type or a newer version
is an integrity error, never guessed at.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from provenloop.adapters.dynamodb import keys
from provenloop.adapters.dynamodb.beside import (
    RUN_KEPT_S,
    among_callbacks,
    among_tenants,
    in_outbox,
    in_queue,
    in_vector_index,
    in_wake_index,
    timer_of,
    ttl_in_session,
    ttl_of_day,
    ttl_of_distillation,
    ttl_of_job,
    ttl_of_reads,
    ttl_of_session,
    ttl_of_use,
    ttl_of_wait,
)
from provenloop.adapters.dynamodb.card_items import beside_card, beside_place, card_doc, card_of
from provenloop.adapters.dynamodb.codec import decode, encode
from provenloop.adapters.dynamodb.grain_items import beside_grain, grain_doc, grain_of, seconds
from provenloop.adapters.dynamodb.keys import Key
from provenloop.adapters.dynamodb.rows import ROW_VERSION, Row, pack, unpack
from provenloop.domain.audit import AuditEntry, ChainEnd, Note
from provenloop.domain.bus_events import BusEvent
from provenloop.domain.canonical import canonical_json
from provenloop.domain.checkpoint import Checkpoint, Regression, Watch
from provenloop.domain.commit import LogEntry, PassHead, TimerHead
from provenloop.domain.distillation import Distillation, EnvelopeText
from provenloop.domain.errors import IntegrityError
from provenloop.domain.grain import Grain
from provenloop.domain.job import Job
from provenloop.domain.ledger import LedgerRow
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import HitFeedback, Recipe, RecipeVersion
from provenloop.domain.recipe_vectors import Embedded, VectorHead, VectorItem, VectorRow
from provenloop.domain.recommendation import FindingKey, Recommendation
from provenloop.domain.records import (
    RECALL_KEPT_MS,
    AgedCount,
    AgedGrain,
    Due,
    History,
    Label,
    MemoryRecord,
    NearPosting,
    NearText,
    Predecessors,
    RecallRow,
    Replay,
    Run,
    TermRow,
    TermSegment,
    Token,
    TokenId,
    Undo,
)
from provenloop.domain.remark import Looked, Remark
from provenloop.domain.rollup import AskDay, AssemblyDay, ReadDays, SignatureDay, ToolDay
from provenloop.domain.waiting import Callback, Wait
from provenloop.lessons.card import Card, CardEvidence, LessonPlace, Rule
from provenloop.lessons.session import CardPass, Session, SessionBreach, SessionPass, SessionRules
from provenloop.services.ports import Entity


@dataclass(frozen=True)
class Form:
    """How one entity type is stored: ``name`` marks its items, ``sort`` gives the sort key in ``item_class``."""

    name: str
    cls: type[Any]
    sort: Callable[[Any], str]
    item_class: str = ""
    revision: str | None = None
    beside: Callable[[MemoryId, Any], Mapping[str, Any]] = lambda _memory, _entity: {}
    key: Callable[[MemoryId, Any], Key] | None = None


FORMS: tuple[Form, ...] = (
    Form("grain", Grain, lambda grain: grain.address, "GRAIN", "head_rev", beside_grain),
    Form("history", History, lambda row: keys.history(row.grain.address, row.grain.head_rev), "GRAIN"),
    Form("predecessors", Predecessors, lambda row: keys.predecessors(row.address, row.seq), "GRAIN"),
    Form("log", LogEntry, lambda entry: keys.log_entry(entry.seq), "LOG", None, ttl_of_use),
    Form("pass", PassHead, lambda _head: keys.PASS_HEAD, "HEAD", "rev"),
    Form("timer", TimerHead, lambda _head: keys.TIMER_HEAD, "HEAD", "rev", in_wake_index),
    Form("tool_day", ToolDay, lambda row: keys.tool_day(row.tool_key, row.day), "INDEX", "rev", ttl_of_day),
    Form(
        "signature_day",
        SignatureDay,
        lambda row: keys.signature_day(row.tool_key, row.day, row.signature),
        "INDEX",
        "rev",
        ttl_of_day,
    ),
    Form("ask_day", AskDay, lambda row: keys.ask_day(row.question, row.day), "INDEX", "rev", ttl_of_day),
    Form("assembly_day", AssemblyDay, lambda row: keys.assembly_day(row.day), "INDEX", "rev", ttl_of_day),
    Form("read_days", ReadDays, lambda row: keys.read_days(row.address), "INDEX", "rev", ttl_of_reads),
    Form("term", TermRow, lambda row: keys.term(row.term), "INDEX", "rev"),
    Form("term_segment", TermSegment, lambda row: keys.term_segment(row.term, row.n), "INDEX", "rev"),
    Form(
        "recall",
        RecallRow,
        lambda row: keys.recall(row.at, row.id),
        "INDEX",
        "rev",
        lambda _memory, row: {"ttl": seconds(row.at + RECALL_KEPT_MS)},
    ),
    Form("aged", AgedGrain, lambda row: keys.aged(row.family, row.namespace_key, row.at, row.address), "INDEX"),
    Form("aged_count", AgedCount, lambda row: keys.aged_count(row.family, row.namespace_key), "INDEX", "rev"),
    Form("near", NearPosting, lambda row: keys.near_posting(row.token, row.size, row.address), "INDEX"),
    Form("near_text", NearText, lambda row: keys.near_text(row.address), "INDEX", "rev"),
    Form("due", Due, lambda row: keys.due(row.due_at, row.what, row.ref), "INDEX"),
    Form("recommendation", Recommendation, lambda rec: keys.recommendation(rec.id), "LOOP", "rev", in_queue),
    Form("key", FindingKey, lambda key: keys.finding_key(key.family, key.group, key.dedup_key), "LOOP", "rev"),
    Form("checkpoint", Checkpoint, lambda row: keys.checkpoint(row.recommendation, row.horizon_ms), "LOOP", "rev"),
    Form("watch", Watch, lambda row: keys.watch(row.subject_key, row.recommendation), "LOOP", "rev"),
    Form("regression", Regression, lambda row: keys.regression(row.recommendation), "LOOP"),
    Form("remark", Remark, lambda row: keys.remark(row.name), "LOOP", "rev"),
    Form("looked", Looked, lambda row: keys.looked(row.family), "LOOP", "rev"),
    Form("wait", Wait, lambda row: keys.wait(row.recommendation, row.execution), "LOOP", "rev", ttl_of_wait),
    Form("callback", Callback, lambda row: keys.callback(row.id, row.execution), "OUTBOX", None, among_callbacks),
    Form("undo", Undo, lambda row: keys.undo(row.recommendation), "LOOP"),
    Form("config", MemoryConfig, lambda _config: keys.CONFIG, "HEAD", "rev"),
    Form("run", Run, lambda row: keys.run(row.id), "LOOP", None, lambda _m, run: {"ttl": run.at // 1000 + RUN_KEPT_S}),
    Form("job", Job, lambda job: keys.job(job.id), "LOOP", "rev", ttl_of_job),
    Form("distillation", Distillation, lambda row: keys.distillation(row.id), "RECIPE", "rev", ttl_of_distillation),
    Form("envelope", EnvelopeText, lambda row: keys.envelope(row.job), "RECIPE"),
    Form("ledger", LedgerRow, lambda row: keys.ledger_row(row.at, row.id), "RECIPE"),
    Form("audit", AuditEntry, lambda entry: keys.chain(entry.subject, entry.n), "AUDIT"),
    Form("recipe", Recipe, lambda row: keys.recipe(row.scope_key, row.signature), "RECIPE", "rev"),
    Form(
        "recipe_version",
        RecipeVersion,
        lambda row: keys.recipe_version(row.recipe.scope_key, row.recipe.signature, row.recipe.revision),
        "RECIPE",
    ),
    Form("hit_feedback", HitFeedback, lambda row: keys.hit_feedback(row.scope_key, row.signature, row.hit), "RECIPE"),
    Form("vector_head", VectorHead, lambda head: keys.vector_head(head.scope_key, head.space), "RECIPE", "rev"),
    Form("vector_row", VectorRow, lambda row: keys.vector_row(row.scope_key, row.space, row.n), "RECIPE", "rev"),
    Form("embedded", Embedded, lambda row: keys.embedded(row.scope_key), "RECIPE", "rev"),
    Form(
        "vector_item",
        VectorItem,
        lambda row: keys.vector_item(row.scope_key, row.space, row.name),
        "RECIPE",
        "rev",
        in_vector_index,
    ),
    Form("chain_end", ChainEnd, lambda end: keys.chain_end(end.subject), "LOOP", "rev", among_tenants),
    Form("event", BusEvent, lambda event: event.id, "OUTBOX", None, in_outbox),
    Form("note", Note, lambda note: keys.chain(note.subject, note.n), "NOTE"),
    Form(
        "replay",
        Replay,
        lambda row: str(row.key),
        "REPLAY",
        None,
        lambda _memory, row: {"ttl": seconds(row.at + row.kept_ms)},
    ),
    Form(
        "token", Token, lambda _token: keys.TOKEN_SORT, revision="rev", key=lambda _m, token: keys.token(token.digest)
    ),
    Form(
        "memory",
        MemoryRecord,
        lambda row: row.name,
        revision="rev",
        beside=lambda memory, _row: {"time_pk": keys.MEMORIES, "time_sk": keys.memory_order(memory)},
        key=lambda m, _row: keys.memory_row(m),
    ),
    Form("card", Card, lambda card: keys.card(card.id), "LESSON", "rev", beside_card),
    Form("card_evidence", CardEvidence, lambda row: keys.card_evidence(row.card, row.seq), "LESSON"),
    Form("rule", Rule, lambda rule: keys.rule(rule.project_key, rule.armed_at, rule.card), "LESSON", "rev"),
    Form(
        "lesson_place",
        LessonPlace,
        lambda place: keys.lesson(place.project_key, place.seq, place.lesson),
        "LESSON",
        None,
        beside_place,
    ),
    Form("session", Session, lambda row: keys.session(row.key), "LESSON", "rev", ttl_of_session),
    Form(
        "session_rules",
        SessionRules,
        lambda row: keys.session_rules(row.session, row.n),
        "LESSON",
        None,
        ttl_in_session,
    ),
    Form(
        "session_pass",
        SessionPass,
        lambda row: keys.session_pass(row.session, row.card),
        "LESSON",
        None,
        ttl_in_session,
    ),
    Form("card_pass", CardPass, lambda row: keys.card_pass(row.card, row.session), "LESSON", None, ttl_in_session),
    Form(
        "session_breach",
        SessionBreach,
        lambda row: keys.session_breach(row.session, row.card, row.seq),
        "LESSON",
        None,
        ttl_in_session,
    ),
    Form("token_id", TokenId, lambda row: row.id, key=lambda m, row: keys.token_id(m.tenant, row.id)),
    Form("label", Label, lambda row: row.label, key=lambda m, row: keys.label(m.tenant, row.label)),
)
_BY_CLASS: Mapping[type[Any], Form] = {form.cls: form for form in FORMS}
_BY_TYPE: Mapping[str, Form] = {form.name: form for form in FORMS}


def form_of(entity: Entity) -> Form:
    """How an entity's type is stored."""
    return _BY_CLASS[type(entity)]


def key_of(memory: MemoryId, entity: Entity) -> Key:
    """Where an entity is stored."""
    form = form_of(entity)
    if form.key is not None:
        return form.key(memory, entity)
    return Key(keys.partition(memory, form.item_class), form.sort(entity))


def row_of(memory: MemoryId, entity: Entity) -> Row:
    """The item that holds an entity."""
    form = form_of(entity)
    pk, sk = key_of(memory, entity)
    beside = {name: value for name, value in form.beside(memory, entity).items() if value is not None}
    row = Row(pk, sk, type=form.name, version=ROW_VERSION, **beside)
    if form.revision is not None:
        row.rev = getattr(entity, form.revision)
    if isinstance(entity, AuditEntry):
        row.text = entity.text
        row.doc = pack(canonical_json({"at": entity.at}))
    else:
        row.doc = pack(_doc(entity))
    return row


def _doc(entity: Entity) -> str:
    if isinstance(entity, Grain):
        return grain_doc(entity)
    return card_doc(entity) if isinstance(entity, Card) else encode(entity)


#: Entities of which something stands beside their document, so that others may move it.
_WITH_COUNTERS: Mapping[type[Any], Callable[[Row, str], Entity]] = {
    Grain: grain_of,
    Card: card_of,
    TimerHead: timer_of,
}


def entity_of(row: Row) -> Entity:
    """The entity an item holds.

    Raises:
        IntegrityError: unknown type or newer version, or a document that cannot be read.
    """
    form = _BY_TYPE.get(row.type)
    if form is None or row.version > ROW_VERSION or row.doc is None:
        raise IntegrityError("a stored item has an unknown form")
    if form.cls is AuditEntry:
        return audit_entry_of(row)
    try:
        text = unpack(row.doc)
        if form.cls in _WITH_COUNTERS:
            return _WITH_COUNTERS[form.cls](row, text)
        return cast("Entity", decode(form.cls, text))
    except (TypeError, ValueError, zlib.error) as error:
        raise IntegrityError(f"a stored {form.cls.__name__} cannot be read") from error


def audit_entry_of(row: Row) -> AuditEntry:
    """The audit entry that stands in a row's place, whatever became of the row.

    Never refuses: verifying the chain shall name a damaged entry, not fail at it.
    """
    subject, n = keys.place_in_chain(row.sk)
    try:
        at = int(json.loads(unpack(row.doc))["at"])
    except (TypeError, ValueError, LookupError, zlib.error):
        at = 0
    return AuditEntry(subject, n, text=row.text or "", at=at)
