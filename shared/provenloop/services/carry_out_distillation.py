"""Carrying a distillation out: one call of a model at most, then a recipe or a reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenloop.domain.audit import acting_for
from provenloop.domain.canonical import parse_strict
from provenloop.domain.distillation import (
    Distillation,
    EnvelopeText,
    answered,
    claimed,
    learnt,
    not_learnt,
    row_of_skip,
)
from provenloop.domain.errors import BusyError, IntegrityError, LoopError, UnavailableError
from provenloop.domain.instants import MINUTE_MS
from provenloop.domain.ledger import DISTILLATION, SAVE_FAILED, LedgerRow, SkipReason
from provenloop.domain.names import MemoryId
from provenloop.domain.secrets import redact_json
from provenloop.recipes.distillation import (
    DEFAULT_MODEL,
    INSTRUCTIONS,
    MAX_TOKENS,
    SCHEMA,
    Envelope,
    Taught,
    envelope_of,
    quoted,
    read_taught,
)
from provenloop.services.call import Call
from provenloop.services.decision import lost_race
from provenloop.services.distil_port import Draft, RecipeKeeper
from provenloop.services.distil_recipe import unknown_job
from provenloop.services.keep_ledger import row_of_call
from provenloop.services.memories import require_heads
from provenloop.services.model_port import ModelAccess, ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from provenloop.services.ports import Entropy, Put, Remove, Replace, Store, Write, WriteRefusedError

#: No function that asks lives longer: who asked so long ago and stored no answer has ended.
ASKING_MS = 5 * MINUTE_MS
QUEUED_TIMEOUT_MS = 90_000
#: With the import of the SDK and what is stored before and after, a request of 25 s.
WAITING_TIMEOUT_MS = 20_000
_MAX_ANSWER_BYTES = 250_000
_CLAIM_BYTES = 8
_TRIES = 3


@dataclass(frozen=True, slots=True)
class DistilSettings:
    """Which model is asked, and how long that may take."""

    model: str = DEFAULT_MODEL
    timeout_ms: int = QUEUED_TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message of the queue, delivered at ``now`` (epoch ms)."""

    memory: MemoryId
    job: str
    message_id: str
    now: int
    entropy: Entropy


@dataclass(frozen=True, slots=True)
class Distiller:
    """What carries distillations out, and with what."""

    store: Store
    models: ModelAccess
    keep: RecipeKeeper
    settings: DistilSettings = DistilSettings()

    def deliver(self, delivery: Delivery) -> Distillation:
        """Go on with the distillation of a message, as who asked for it.

        Raises:
            NotFoundError, LoopError: as :meth:`carry_out`.
        """
        job = self.store.distillation(delivery.memory, delivery.job)
        if job is None:
            raise unknown_job()
        call = Call(
            principal=acting_for(job.by, delivery.memory, "write"),
            memory=delivery.memory,
            now=delivery.now,
            request_id=delivery.message_id,
            idempotency_key=None,
            entropy=delivery.entropy,
        )
        return self._go_on(call, job)

    def carry_out(self, call: Call, job_id: str) -> Distillation:
        """Go on with a distillation until it is over.

        Raises:
            NotFoundError: there is none, or not yet.
            LoopError: an outside reason, or somebody else is at it; going on later helps.
        """
        return self._go_on(call, self._job(call, job_id))

    def _go_on(self, call: Call, job: Distillation) -> Distillation:
        if job.status == "waiting":
            job = self._ask(call, job)
        elif job.status == "asked":
            job = self._interrupted(call, job)
        return self._kept(call, job) if job.status == "answered" else job

    def _job(self, call: Call, job_id: str) -> Distillation:
        job = self.store.distillation(call.memory, job_id)
        if job is None:
            raise unknown_job()
        return job

    def _ask(self, call: Call, job: Distillation) -> Distillation:
        if job.own_key and self.models.own_key is None:
            # The request that brought the key is gone; what it paid for, nobody knows.
            return self._failed(call, job, ModelFailure("unknown"))
        # Of a memory that is being erased nothing is told to anybody any more.
        require_heads(self.store, call.memory)
        envelope = self._envelope(call, job)
        asked = claimed(job, call.now, call.entropy(_CLAIM_BYTES).hex())
        self._move(call, job, asked)
        outcome = self._outcome(envelope)
        if isinstance(outcome, ModelFailure):
            return self._failed(call, asked, outcome)
        return self._answered(call, asked, outcome)

    def _outcome(self, envelope: Envelope) -> ModelOutcome:
        try:
            key = self.models.key()
        except LoopError:
            key = ""
        if not key:
            return ModelFailure("auth")
        question = ModelRequest(
            model=self.settings.model,
            instructions=INSTRUCTIONS,
            quoted=quoted(envelope),
            schema=SCHEMA,
            max_tokens=MAX_TOKENS,
            timeout_ms=self.settings.timeout_ms,
            cached=True,
        )
        return self.models.provider.ask(question, key)

    def _answered(self, call: Call, job: Distillation, answer: ModelAnswer) -> Distillation:
        row = self._row(call, job, answer)
        if len(answer.text.encode()) > _MAX_ANSWER_BYTES:
            return self._end(call, job, "validation_error", rows=[row])
        after = answered(job, call.now, answer.text, answer.model)
        self._move(call, job, after, [Put(row)])
        return after

    def _failed(self, call: Call, job: Distillation, failure: ModelFailure) -> Distillation:
        row = self._row(call, job, failure)
        if failure.empty:
            return self._end(call, job, "empty_response", rows=[row])
        return self._end(call, job, "opus_error", failure.kind, rows=[row])

    def _row(self, call: Call, job: Distillation, outcome: ModelOutcome) -> LedgerRow:
        return row_of_call(job.row_id("opus"), call.now, DISTILLATION, job.about, outcome, self.settings.model)

    def _interrupted(self, call: Call, job: Distillation) -> Distillation:
        """Somebody has asked: if they may still be waiting for the answer, so do we, else it is lost."""
        if call.now - job.changed_at < ASKING_MS:
            raise BusyError("the model is being asked; look again later")
        return self._failed(call, job, ModelFailure("unknown"))

    def _kept(self, call: Call, job: Distillation) -> Distillation:
        read = read_taught(_value(job))
        if not isinstance(read, Taught):
            return self._end(call, job, read)
        envelope = self._envelope(call, job)
        try:
            self.keep(call, _draft(job, envelope, read), lambda recipe_id: self._done(call, job, recipe_id))
        except LoopError as error:
            now = self._job(call, job.id)
            if now.is_over:
                return now
            if error.retryable:
                raise
            return self._end(call, job, "opus_error", SAVE_FAILED)
        return self._job(call, job.id)

    def _done(self, call: Call, job: Distillation, recipe_id: str) -> list[Write]:
        return [Replace(learnt(job, call.now, recipe_id), expected=job.rev), Remove(EnvelopeText(job.id, ""))]

    def _envelope(self, call: Call, job: Distillation) -> Envelope:
        found = self.store.envelope(call.memory, job.id)
        if found is None:
            # Somebody else may have ended it since it was read.
            raise lost_race() if self._job(call, job.id) != job else IntegrityError("a distillation lost its envelope")
        return envelope_of(found.text)

    def _end(
        self, call: Call, job: Distillation, reason: SkipReason, failure: str = "", *, rows: Sequence[LedgerRow] = ()
    ) -> Distillation:
        after = not_learnt(job, call.now, reason, failure)
        told = [*rows, row_of_skip(job, call.now, reason, failure)]
        self._move(call, job, after, [*map(Put, told), Remove(EnvelopeText(job.id, ""))])
        return after

    def _move(self, call: Call, before: Distillation, after: Distillation, beside: Sequence[Write] = ()) -> None:
        """One step, tried again where it is not known whether it was done: what was paid for is not to be lost.

        Raises:
            ConflictError: somebody else moved it.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                self.store.transact(call.memory, [Replace(after, expected=before.rev), *beside], call.now)
            except WriteRefusedError as refused:
                if self.store.distillation(call.memory, before.id) != after:
                    raise lost_race() from refused
            except UnavailableError:
                if not tries_left:
                    raise
                continue
            return


def _value(job: Distillation) -> dict[str, object]:
    """The answer without secrets, which it can hold only where the model made them up."""
    value = redact_json(parse_strict(job.answer.encode()))[0]
    return value if isinstance(value, dict) else {}


def _draft(job: Distillation, envelope: Envelope, taught: Taught) -> Draft:
    return Draft(
        scope=job.scope,
        kind=job.kind,
        request=envelope.problem,
        response=taught.response,
        category=taught.category,
        principles=taught.principles,
        confidence=taught.confidence,
        model=job.model,
        session=job.session,
        job=job.id,
    )
