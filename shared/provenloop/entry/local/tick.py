"""What starts functions without HTTP: schedules that are due, then queues that hold messages and events of a bus.

Invariants: nothing fires unless a tick is asked for, and every tick ends: after so many batches it stops and says so. A
schedule is due at the first tick, then whenever its rate has passed since it last fired; however far the clock was
stepped it fires once, and a clock stepped back makes it due again. A failed asynchronous invocation is repeated at
once, as often as the template says, and then goes to its failure destination.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.instants import format_instant
from provenloop.entry.local.account import ACCOUNT, REGION
from provenloop.entry.local.aws import LocalAws
from provenloop.entry.local.deliver import deliver_batch, receive_batch
from provenloop.entry.local.functions import Functions, Invocation, RequestIds
from provenloop.entry.local.triggers import BusRule, Function, QueueSource, Schedule

BATCHES_PER_TICK = 200


@dataclass(slots=True)
class TickReport:
    """What a tick did.

    Attributes:
        fired: the schedules that were due, as ``<function>.<event>``.
        failed: the functions whose invocation failed, one entry each time.
        batches: how many batches of messages were handed to functions.
        done, retrying: how many messages were deleted; how many wait for their visibility timeout.
        complete: False if visible messages were left because the tick had to end.
    """

    fired: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    batches: int = 0
    done: int = 0
    retrying: int = 0
    complete: bool = True


class Ticker:
    """Fires schedules and drains queues.

    Args:
        aws: where the queues are.
        functions: what fires.
        schedules: what fires by time.
        sources: what fires by messages.
        rules: what fires by events of a bus.
        now_ms: the stack's clock.
        ids: where event ids come from.
    """

    def __init__(
        self,
        *,
        aws: LocalAws,
        functions: Functions,
        schedules: Iterable[Schedule],
        sources: Iterable[QueueSource],
        rules: Iterable[BusRule] = (),
        now_ms: Callable[[], int],
        ids: RequestIds,
    ) -> None:
        self._aws = aws
        self._functions = functions
        self._schedules = tuple(schedules)
        self._sources = tuple(sources)
        self._rules = tuple(rules)
        self._now_ms = now_ms
        self._ids = ids
        self._fired_at: dict[str, int] = {}
        self._one_at_a_time = threading.Lock()

    def restart(self) -> None:
        """Forget what has fired."""
        self._fired_at.clear()

    def run(self) -> TickReport:
        """Fire what is due and deliver what is waiting."""
        report = TickReport()
        with self._one_at_a_time:
            for schedule in self._schedules:
                self._fire_if_due(schedule, report)
            while self._deliver_round(report) | self._deliver_events(report):
                pass
        return report

    def _fire_if_due(self, schedule: Schedule, report: TickReport) -> None:
        now = self._now_ms()
        name = f"{schedule.function}.{schedule.name}"
        before = self._fired_at.get(name)
        if before is not None and before <= now < before + schedule.every_ms:
            return
        self._fired_at[name] = now
        report.fired.append(name)
        event = scheduled_event(schedule, event_id=self._ids.next(), now_ms=now)
        self._invoke_asynchronously(self._functions.described(schedule.function), event, report)

    def _invoke_asynchronously(self, function: Function, event: Any, report: TickReport) -> None:
        outcome = self._functions.invoke(function.logical_id, event)
        attempts = 1
        while outcome.failed and attempts <= function.retries:
            report.failed.append(function.logical_id)
            outcome = self._functions.invoke(function.logical_id, event)
            attempts += 1
        if not outcome.failed:
            return
        report.failed.append(function.logical_id)
        if function.failure_arn is not None:
            record = _failure_record(function, event, outcome, attempts=attempts, now_ms=self._now_ms())
            queue = self._aws.queue(function.failure_arn)
            self._aws.client("sqs").send_message(QueueUrl=queue.url, MessageBody=json.dumps(record))

    def _deliver_events(self, report: TickReport) -> bool:
        """Hand each function what its rules let through; whether there was any."""
        delivered = False
        for rule in self._rules:
            for event in self._aws.events_of(rule):
                delivered = True
                self._invoke_asynchronously(self._functions.described(rule.function), event, report)
        return delivered

    def _deliver_round(self, report: TickReport) -> bool:
        """Hand each function one batch; whether there was any."""
        delivered = False
        for source in self._sources:
            queue = self._aws.queue(source.queue_arn)
            sqs = self._aws.client("sqs")
            if report.batches >= BATCHES_PER_TICK:
                report.complete = report.complete and self._aws.visible_messages(queue) == 0
                continue
            messages = receive_batch(sqs, queue, source.batch_size)
            if not messages:
                continue
            delivered = True
            outcome = deliver_batch(sqs, queue, source, self._functions, messages)
            report.batches += 1
            report.done += outcome.done
            report.retrying += outcome.retrying
            if outcome.function_failed:
                report.failed.append(source.function)
        return delivered


def scheduled_event(schedule: Schedule, *, event_id: str, now_ms: int) -> Any:
    """The event a schedule sends: its fixed one, or EventBridge's own; ``now_ms`` in epoch milliseconds."""
    if schedule.event is not None:
        return schedule.event
    service, kind = ("events", "rule") if schedule.is_rule else ("scheduler", "schedule/default")
    return {
        "version": "0",
        "id": event_id,
        "detail-type": "Scheduled Event",
        "source": f"aws.{service}",
        "account": ACCOUNT,
        "time": f"{format_instant(now_ms)[:19]}Z",
        "region": REGION,
        "resources": [f"arn:aws:{service}:{REGION}:{ACCOUNT}:{kind}/{schedule.function}{schedule.name}"],
        # The scheduler writes an empty object as text; a rule does not.
        "detail": {} if schedule.is_rule else "{}",
    }


def _failure_record(
    function: Function, event: Any, outcome: Invocation, *, attempts: int, now_ms: int
) -> dict[str, Any]:
    return {
        "version": "1.0",
        "timestamp": format_instant(now_ms),
        "requestContext": {
            "requestId": outcome.request_id,
            "functionArn": f"{function.arn}:$LATEST",
            "condition": "RetriesExhausted",
            "approximateInvokeCount": attempts,
        },
        "requestPayload": event,
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "responsePayload": outcome.payload,
    }
