"""Plays a case: its steps through the services into an empty memory, a pass at the end, and the findings it left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from provenloop.adapters.dynamodb import table
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.address import Addresses
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Recommendation
from provenloop.services import apply_change, forget, ingest, memories, recall, review
from provenloop.services.analyze_memory import run_pass
from provenloop.services.call import Call
from provenloop.services.forget_plan import Wanted as Forgotten
from provenloop.services.pass_gate import PassOptions
from provenloop.services.ports import Put
from provenloop.services.record_use import Telemetry
from tests.builders import make_call
from tests.faults.tables import TABLE, make_table
from tests.precision.bench.cases import Case
from tests.precision.bench.steps import Sent, Step, kind_of, namespace_of, sent_by, written
from tests.precision.bench.times import NOW, instant

MEMORY = MemoryId("acme", "bench")
EVENTS_A_REQUEST = 45
_DEFAULT_AT = "1h"
_OPEN = ("pending", "approved", "snoozed")
_WHOLE_TOOL = "tool_failure.tool"
_DONE: Mapping[str, set[str]] = {
    "pass": set(), "apply": set(), "reject": set(), "forget": set(), "ask": {"times"}, "look_up": {"times"},
}  # fmt: skip


@dataclass
class Play:
    """One case on its way through an empty memory.

    Beside what is sent, a step may be

    | step | what is done |
    |---|---|
    | pass | a pass runs |
    | apply, reject | what an analyzer has proposed is approved and applied, or rejected |
    | forget | the grain of a label is forgotten |
    | ask | a question is asked, ``times`` of it |
    | look_up | [subject or null, relation or null] is looked up |
    """

    case: Case
    store: DynamoStore
    labels: dict[str, tuple[str, str]] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    numbers: int = 0

    def run(self) -> Counter[str]:
        """Play it, and say what was found in the words of the corpus."""
        steps = self.case.events
        times = [_at(step) for step in steps]
        if times != sorted(times):
            raise ValueError(f"not in the order of time: {self.case.name}")
        self._open(min(times, default=NOW))
        for at, together in groupby(enumerate(steps), key=lambda pair: _at(pair[1])):
            self._take(at, list(together))
        self._pass(NOW)
        return Counter(self._found())

    def _open(self, at: int) -> None:
        memories.create_memory(self.store, self._call(at))
        own = AnalyzerConfig(enabled=True, parameters=self.case.config)
        config = MemoryConfig(1, analyzers={f"loop.{self.case.analyzer}": own})
        self.store.transact(MEMORY, [Put(config)], at)

    def _take(self, at: int, steps: Sequence[tuple[int, Step]]) -> None:
        """Do the steps of one instant: what is sent goes in one request, but for what names another part of it."""
        waiting: list[tuple[Step, Sent]] = []
        for place, step in steps:
            is_sent = kind_of(step) is not None
            if not is_sent or step.get("replaces") in {other.get("as") for other, _ in waiting} - {None}:
                self._send(at, waiting)
                waiting = []
            if is_sent:
                waiting += [(step, sent) for sent in sent_by(step, f"c{place}", self.addresses)]
            else:
                self._do(at, step)
        self._send(at, waiting)

    def _send(self, at: int, waiting: Sequence[tuple[Step, Sent]]) -> None:
        for start in range(0, len(waiting), EVENTS_A_REQUEST):
            chunk = waiting[start : start + EVENTS_A_REQUEST]
            answer = ingest.record_events(self.store, self._call(at), [sent for _, sent in chunk])
            for (step, _), stored in zip(chunk, answer["events"], strict=True):
                if "as" in step:
                    self._label(step, stored["address"])

    def _label(self, step: Step, address: str) -> None:
        self.labels.setdefault(address, (step["as"], namespace_of(step)))
        self.addresses[step["as"]] = address

    def _do(self, at: int, step: Step) -> None:
        kind = kind_of(step, _DONE)
        if kind == "pass":
            self._pass(at)
        elif kind in ("apply", "reject"):
            self._decide(at, kind, step[kind])
        elif kind == "forget":
            forget.forget(self.store, self._call(at), Forgotten(address=self.addresses[step["forget"]]), "asked to")
        elif kind in ("ask", "look_up"):
            self._recall(at, step)
        else:
            raise ValueError(f"no such step: {sorted(step)}")

    def _decide(self, at: int, verb: str, analyzer: str) -> None:
        """Decide everything that an analyzer has proposed; there must be something."""
        pending = [rec for rec in self.store.all_recommendations(MEMORY) if rec.family == f"loop.{analyzer}"]
        pending = [rec for rec in pending if rec.status == "pending"]
        if not pending:
            raise ValueError(f"{analyzer} has proposed nothing: {self.case.name}")
        for rec in pending:
            if verb == "reject":
                review.reject(self.store, self._call(at), rec.id, "not for us")
            else:
                apply_change.approve_and_apply(
                    self.store, self._call(at), rec.id, "right, do it", allow_destructive=rec.destructive
                )

    def _recall(self, at: int, step: Step) -> None:
        subject, relation = written(step.get("look_up", (None, None)))
        wanted = recall.Wanted(namespace_of(step), subject, relation, written(step.get("ask")))
        for _ in range(step.get("times", 1)):
            recall.recall(self.store, self._call(at), wanted, Telemetry())
        if "as" in step:
            heads = memories.require_heads(self.store, MEMORY)
            self._label(step, Addresses(heads.log.key).address(wanted.draft()))

    def _pass(self, at: int) -> None:
        more = True
        while more:
            call = self._call(at)
            more = bool(run_pass(self.store, call, PassOptions(), run_id=f"run-{call.request_id}")["more"])

    def _call(self, at: int) -> Call:
        self.numbers += 1
        return make_call(now=at, number=self.numbers, memory=MEMORY)

    def _found(self) -> Iterator[str]:
        for rec in self.store.all_recommendations(MEMORY):
            if rec.family == f"loop.{self.case.analyzer}" and rec.status in _OPEN:
                yield self._told(rec)

    def _told(self, rec: Recommendation) -> str:
        """A finding by the labels of what it cites; what has none, or another namespace, never matches."""
        if not rec.evidence:
            return "/".join("…" if isinstance(part, TextRef) else part for part in rec.target.parts)
        unknown = ("?", rec.namespace)
        cited = {self.labels.get(address, unknown) for address in rec.evidence}
        words = {label if namespace == rec.namespace else f"{label}!" for label, namespace in cited}
        return " ".join(sorted(words | ({"*"} if rec.summary.template == _WHOLE_TOOL else set())))


def play(case: Case, store: DynamoStore) -> Counter[str]:
    """What the engine finds in a case, and how often. The table is emptied before.

    Raises:
        ValueError: the case is not well formed.
    """
    empty_table()
    return Play(case, store).run()


def empty_table() -> None:
    """Take everything out of the table."""
    client: Any = table.connection().client
    client.delete_table(TableName=TABLE)
    make_table(client)


def _at(step: Step) -> int:
    return instant(step.get("at", _DEFAULT_AT))
