"""Reports of recalls and contexts on their way into the commit of the batch they came in.

What they count is exact as the batch is: all of it or nothing, and once for an Idempotency-Key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provenloop.domain.address import Addresses
from provenloop.domain.commit import Change
from provenloop.domain.errors import TooLargeError
from provenloop.domain.grain import Grain
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.records import RecallRow
from provenloop.domain.use_events import AssemblyReport, RecallReport, Report
from provenloop.services.ports import Failure, Put, Write
from provenloop.services.record_use import question_grain, reads_of

MAX_RETURNED = 500


@dataclass(frozen=True, slots=True)
class Reported:
    """A report at its place in the request."""

    index: int
    report: Report


def returned_of(reported: Iterable[Reported]) -> tuple[str, ...]:
    """Every address that was returned, each once.

    Raises:
        TooLargeError: over 500 in one request.
    """
    found = tuple(dict.fromkeys(
        address for one in reported if isinstance(one.report, RecallReport) for address in one.report.returned
    ))  # fmt: skip
    if len(found) > MAX_RETURNED:
        raise TooLargeError(f"at most {MAX_RETURNED} returned grains a request", field="events")
    return found


def ignored_reports(reported: Iterable[Reported]) -> list[Mapping[str, Any]]:
    """The answers to reports where nothing is recorded."""
    return [{"index": one.index, "kind": one.report.kind, "status": "ignored"} for one in reported]


class Reports:
    """The reports of one batch.

    Args:
        grains: the stored ones among the returned grains.
        seq, by, now: the commit's number, its principal's label, its time.
        mode: how uses are recorded; with ``off`` nothing is.
    """

    def __init__(
        self,
        reported: Sequence[Reported],
        addresses: Addresses,
        grains: Mapping[str, Grain],
        mode: TelemetryMode,
        *,
        seq: int,
        by: str,
        now: int,
    ) -> None:
        self._reported = reported
        self._grains = grains
        self._seq, self._now, self._mode = seq, now, mode
        self._is_repeat = False
        self._questions: dict[int, str] = {}
        self._new: dict[str, Grain] = {}
        self._forgotten: set[str] = set()
        for one in reported:
            draft = one.report.draft() if isinstance(one.report, RecallReport) else None
            if draft is not None:
                address = self._questions[one.index] = addresses.address(draft)
                self._new.setdefault(address, question_grain(draft, address, seq=seq, by=by, now=now))

    @property
    def counts(self) -> bool:
        """Whether sending the batch twice would count something twice."""
        return bool(self._reported) and not self._is_repeat and self._mode != "off"

    def mark_repeated(self) -> None:
        """This very request was stored before: nothing is left to do."""
        self._is_repeat = True

    def learn(self, failures: Iterable[Failure]) -> None:
        """Take in which questions a refused transaction found kept already."""
        kept = [failure.found for failure in failures if isinstance(failure.found, Grain)]
        for grain in kept:
            is_ours = self._new.pop(grain.address, None) is not None
            if is_ours and grain.state == "forgotten":
                self._forgotten.add(grain.address)

    def writes(self) -> list[Write]:
        """The writes beside the log entry."""
        if not self.counts:
            return []
        writes: list[Write] = [Put(grain) for grain in self._new.values()]
        if self._mode == "full":
            writes += [Put(row) for row in self._rows()]
        return writes

    def changes(self) -> tuple[Change, ...]:
        """What the reports count, in order."""
        if not self.counts:
            return ()
        return tuple(change for one in self._reported for change in self._counted(one))

    def _counted(self, one: Reported) -> Iterator[Change]:
        report = one.report
        if isinstance(report, AssemblyReport):
            yield Change(
                "assemble", "assembly", "", report.namespace, occurred_at=self._now, is_miss=report.dropped > 0
            )
            return
        question = self._question_of(one)
        if question is not None:
            yield Change("ask", "question", question, report.namespace, occurred_at=self._now, is_miss=report.is_miss)
        yield from reads_of(self._known(report), self._now)

    def _question_of(self, one: Reported) -> str | None:
        question = self._questions.get(one.index)
        return None if question in self._forgotten else question

    def _known(self, report: RecallReport) -> list[Grain]:
        """The returned grains that this namespace really holds, each once."""
        found = (self._grains.get(address) for address in dict.fromkeys(report.returned))
        return [grain for grain in found if grain is not None and grain.namespace == report.namespace]

    def _rows(self) -> Iterator[RecallRow]:
        for one in self._reported:
            report = one.report
            if isinstance(report, RecallReport):
                returned = tuple(grain.address for grain in self._known(report))
                yield RecallRow(
                    self._now, f"{self._seq}-{one.index}", report.namespace, self._question_of(one), returned,
                    report.is_miss, report.run_id,
                )  # fmt: skip

    def answers(self) -> list[Mapping[str, Any]]:
        """One answer per report; ``unknown`` counts returned addresses that the namespace does not hold."""
        if self._mode == "off":
            return ignored_reports(self._reported)
        status = "duplicate" if self._is_repeat else "counted"
        return [self._answer(one, status) for one in self._reported]

    def _answer(self, one: Reported, status: str) -> Mapping[str, Any]:
        answer: dict[str, Any] = {"index": one.index, "kind": one.report.kind, "status": status}
        if isinstance(one.report, AssemblyReport):
            return answer
        unknown = len(set(one.report.returned)) - len(self._known(one.report))
        return {**answer, "unknown": unknown} if unknown else answer
