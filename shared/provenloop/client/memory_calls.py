"""What a memory holds: events in, grains out, and forgetting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Unpack

from provenloop.client import forms
from provenloop.client.calls import Calls
from provenloop.client.outbox import Event, Outbox
from provenloop.client.transport import Asked, Options, Transport


class MemoryCalls(Calls):
    """Operations on grains.

    ``add`` and the methods named after kinds of events only put an event on its way: it is sent in the background,
    and ``flush`` says whether all arrived. ``record_events`` sends a batch now and tells what became of each event.
    """

    def __init__(self, transport: Transport, memory: str | None, options: Options) -> None:
        super().__init__(transport, memory, options)
        self._outbox = Outbox(partial(_send_batch, Calls(transport, memory, options)), options)

    def add(self, event: forms.Event) -> None:
        """Put an event of any kind on its way.

        Raises:
            TypeError, ValueError: it is no JSON.
            ProvenloopError: the client is closed, or too many events wait; the event was not taken.
        """
        self.path_in_memory()
        self._outbox.add(event)

    def add_fact(
        self,
        subject: str,
        relation: str,
        object: str,  # noqa: A002 - the name of the field
        **rest: Unpack[forms.FactRest],
    ) -> None:
        """Put a fact on its way."""
        self.add({"kind": "fact", "subject": subject, "relation": relation, "object": object, **rest})

    def record_tool_call(self, tool: str, is_error: bool, **rest: Unpack[forms.ToolCallRest]) -> None:  # noqa: FBT001
        """Put a tool call on its way; with a ``call_id`` it is stored once, however often it is sent."""
        self.add({"kind": "tool_call", "tool": tool, "is_error": is_error, **rest})

    def observe(self, text: str, **rest: Unpack[forms.ObservationRest]) -> None:
        """Put an observation on its way."""
        self.add({"kind": "observation", "text": text, **rest})

    def flush(self) -> None:
        """Send all events that wait.

        Raises:
            ProvenloopError: some were refused (its ``unsent``), or the service cannot be reached: then they wait on.
        """
        self._outbox.flush()

    @property
    def waiting(self) -> int:
        """How many events wait to be sent."""
        return self._outbox.waiting

    def record_events(self, events: Sequence[forms.Event], *, key: str | None = None) -> forms.EventsReply:
        """Send up to 90 events now: all are stored, or none."""
        return self._write(forms.EventsReply, self.path_in_memory("/events"), {"events": list(events)}, key)

    def recall(self, **query: Unpack[forms.RecallQuery]) -> forms.RecallReply:
        """What is held about a subject, a relation or a question."""
        return self._read(forms.RecallReply, self.path_in_memory("/recall"), query)

    def grain(self, address: str) -> forms.GrainReply:
        """One grain."""
        return self._read(forms.GrainReply, self.path_in_memory("/grains/{address}", address=address))

    def entity(self, namespace: str, subject: str) -> forms.EntityReply:
        """All facts about a subject."""
        path = self.path_in_memory("/entities/{namespace}/{subject}", namespace=namespace, subject=subject)
        return self._read(forms.EntityReply, path)

    def history(self, **query: Unpack[forms.HistoryQuery]) -> forms.HistoryReply:
        """The versions of a grain, or every value of a relation."""
        return self._read(forms.HistoryReply, self.path_in_memory("/history"), query)

    def forget(
        self, *, wait_s: float = 0.0, key: str | None = None, **fields: Unpack[forms.ForgetRequest]
    ) -> forms.ForgottenReply | forms.JobReply:
        """Forget a grain or a subject for good; a large one is a job, waited for up to ``wait_s`` seconds."""
        reply, is_job = self._sent(Asked("POST", self.path_in_memory("/forget"), body={**fields}, key=key))
        if not is_job:
            forgotten: forms.ForgottenReply = reply
            return forgotten
        begun: forms.JobReply = reply
        return self._job_done(begun, wait_s)

    def job(self, job: str) -> forms.JobReply:
        """How far a job is."""
        return self._read(forms.JobReply, self.path_in_memory("/jobs/{job}", job=job))

    def wait_for(self, job: str, wait_s: float) -> forms.JobReply:
        """A job once it is done, or as it stands after ``wait_s`` seconds."""
        return self._job_done(self.job(job), wait_s)

    def _job_done(self, begun: forms.JobReply, wait_s: float) -> forms.JobReply:
        return self._until(lambda: self.job(begun["job"]), lambda reply: reply["status"] != "running", wait_s, begun)

    def audit(self, **query: Unpack[forms.AuditExportQuery]) -> Iterator[dict[str, Any]]:
        """The audit trail, entry by entry."""
        return self._lines(self.path_in_memory("/audit"), query)

    def verify_audit(self, **query: Unpack[forms.AuditQuery]) -> forms.AuditVerifyReply:
        """Whether the audit chains hold; the first break."""
        return self._read(forms.AuditVerifyReply, self.path_in_memory("/audit/verify"), query)

    def export(self, cursor: str | None = None) -> Iterator[dict[str, Any]]:
        """Everything that the memory holds, line by line, from the beginning or from the cursor of a page."""
        return self._lines(self.path_in_memory("/export"), {"cursor": cursor})


def _send_batch(calls: Calls, events: Sequence[Event], key: str, attempts: int | None) -> None:
    """Sends a batch; holds on to the calls, not to the client, which is so free to go."""
    asked = Asked("POST", calls.path_in_memory("/events"), body={"events": events}, key=key)
    calls.transport.send(asked, attempts)
