"""The loop: passes, recommendations, decisions, outcomes, settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from provenloop.client import forms
from provenloop.client.calls import Calls

_ONE = "/loop/recommendations/{id}"


class LoopCalls(Calls):
    """Operations of the loop. ``key`` is an Idempotency-Key of the caller's own; else each call has a new one."""

    def loop_run(
        self, *, wait_s: float = 0.0, key: str | None = None, **options: Unpack[forms.RunRequest]
    ) -> forms.PassReply:
        """Run a pass, if a gate opens. A skip is success.

        A pass that ran out of time says ``more``: for up to ``wait_s`` seconds further ones go on where it ended, and
        the reply of the last is returned. Without that the schedule goes on by itself.
        """
        reply = self._write(forms.PassReply, self.path_in_memory("/loop/run"), {**options}, key)
        return self._until(self._go_on, _is_over, wait_s, reply)

    def _go_on(self) -> forms.PassReply:
        return self._write(forms.PassReply, self.path_in_memory("/loop/run"), {}, None)

    def show_run(self, run: str) -> forms.PassReply:
        """The outcome of a pass that ran."""
        return self._read(forms.PassReply, self.path_in_memory("/loop/runs/{run}", run=run))

    def recommendations(self, **query: Unpack[forms.QueueQuery]) -> forms.QueueReply:
        """One page of the queue, by default of those that are pending."""
        return self._read(forms.QueueReply, self.path_in_memory("/loop/recommendations"), query)

    def every_recommendation(self, **query: Unpack[forms.QueueQuery]) -> Iterator[forms.QueueRow]:
        """The queue, page after page."""
        asked: dict[str, Any] = {"limit": 100, **query}
        while True:
            page = self._read(forms.QueueReply, self.path_in_memory("/loop/recommendations"), asked)
            yield from page["recommendations"]
            if page["cursor"] is None:
                return
            asked["cursor"] = page["cursor"]

    def recommendation(self, recommendation: str) -> forms.RecommendationReply:
        """One recommendation, whole; of an id any unique prefix will do, here and below."""
        return self._read(forms.RecommendationReply, self.path_in_memory(_ONE, id=recommendation))

    def approve(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.ApproveRequestRest]
    ) -> forms.DecisionReply:
        """Approve a recommendation."""
        return self._write(forms.DecisionReply, self._of(recommendation, "approve"), {"because": because, **rest}, key)

    def reject(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.DecisionRequestRest]
    ) -> forms.RejectedReply:
        """Reject a recommendation, or withdraw an approved one."""
        return self._write(forms.RejectedReply, self._of(recommendation, "reject"), {"because": because, **rest}, key)

    #: Another word for it.
    dismiss = reject

    def acknowledge(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.DecisionRequestRest]
    ) -> forms.RejectedReply:
        """Close advice that was followed."""
        return self._write(
            forms.RejectedReply, self._of(recommendation, "acknowledge"), {"because": because, **rest}, key
        )

    def snooze(
        self,
        recommendation: str,
        because: str,
        until: str | int,
        *,
        key: str | None = None,
        **rest: Unpack[forms.SnoozeRequestRest],
    ) -> forms.SnoozedReply:
        """Put a recommendation off."""
        return self._write(
            forms.SnoozedReply, self._of(recommendation, "snooze"), {"because": because, "until": until, **rest}, key
        )

    def wake(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.DecisionRequestRest]
    ) -> forms.DecisionReply:
        """Let a snoozed recommendation wait again before its time."""
        return self._write(forms.DecisionReply, self._of(recommendation, "wake"), {"because": because, **rest}, key)

    def request_review(self, recommendation: str, *, key: str | None = None) -> forms.ReviewReply:
        """Have reviewers told of a pending recommendation, and reminded."""
        return self._write(forms.ReviewReply, self._of(recommendation, "request-review"), None, key)

    def apply(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.ApplyRequestRest]
    ) -> forms.AppliedReply:
        """Apply an approved recommendation."""
        return self._write(forms.AppliedReply, self._of(recommendation, "apply"), {"because": because, **rest}, key)

    def approve_and_apply(
        self, recommendation: str, because: str, *, key: str | None = None, **rest: Unpack[forms.ApplyRequestRest]
    ) -> forms.AppliedReply:
        """Approve and apply at once: both, or neither."""
        return self._write(
            forms.AppliedReply, self._of(recommendation, "approve-and-apply"), {"because": because, **rest}, key
        )

    def rollback(self, recommendation: str, because: str, *, key: str | None = None) -> forms.RolledBackReply:
        """Undo an applied recommendation exactly."""
        return self._write(forms.RolledBackReply, self._of(recommendation, "rollback"), {"because": because}, key)

    def batch_review(
        self, *, key: str | None = None, **fields: Unpack[forms.BatchReviewRequest]
    ) -> forms.BatchReviewReply:
        """Decide the same about each of up to 50 recommendations."""
        path = self.path_in_memory("/loop/recommendations/batch-review")
        return self._write(forms.BatchReviewReply, path, {**fields}, key)

    def offer_card(
        self,
        recommendation: str,
        because: str,
        project: str,
        *,
        key: str | None = None,
        **rest: Unpack[forms.OfferRequestRest],
    ) -> forms.ReportReply:
        """Offer an applied lesson as a candidate card."""
        return self._write(
            forms.ReportReply,
            self._of(recommendation, "offer-card"),
            {"because": because, "project": project, **rest},
            key,
        )

    def loop_health(self) -> forms.LoopHealthReply:
        """How far the loop of the memory is."""
        return self._read(forms.LoopHealthReply, self.path_in_memory("/loop/health"))

    def outcomes(self) -> forms.OutcomesReply:
        """What became of applied changes, and how each analyzer fared."""
        return self._read(forms.OutcomesReply, self.path_in_memory("/loop/outcomes"))

    def telemetry(self) -> forms.TelemetryReply:
        """What is recalled most, what is asked, and what finds nothing."""
        return self._read(forms.TelemetryReply, self.path_in_memory("/loop/telemetry"))

    def analyzers(self) -> forms.AnalyzersReply:
        """Analyzers and how they are set in the memory."""
        return self._read(forms.AnalyzersReply, self.path_in_memory("/loop/analyzers"))

    def policy(self) -> forms.PolicyReply:
        """The host policy in force, and what is wrong with it."""
        return self._read(forms.PolicyReply, self.path_in_memory("/loop/policy"))

    def configure(self, *, key: str | None = None, **change: Unpack[forms.ConfigRequest]) -> forms.ConfigReply:
        """Set how the memory is analyzed; what is left out stays as it is."""
        return self._write(forms.ConfigReply, self.path_in_memory("/loop/config"), {**change}, key)

    def _of(self, recommendation: str, action: str) -> str:
        return self.path_in_memory(f"{_ONE}/{action}", id=recommendation)


def _is_over(reply: forms.PassReply) -> bool:
    return not reply["more"] and reply["skip_reason"] != "busy"
