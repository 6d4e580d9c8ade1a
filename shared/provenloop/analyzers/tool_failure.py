"""Tools that keep failing in one way, or in many ways together.

A cluster is one (namespace, tool, signature). It fires within a window of UTC days when errors >= min_count and
(errors / calls >= min_rate or errors >= min_abs). Where no single signature fires, all errors of the tool together
fire a tool-level finding (signature ``*``) at the same rate with at least 10 errors. What was applied before fires
again only on calls that came after the apply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenloop.analyzers.contract import (
    AppliedMark,
    Examination,
    Manifest,
    Marks,
    Parameter,
    Parameters,
    ToolView,
    View,
    no_marks,
)
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.instants import day_start_ms
from provenloop.domain.proposal import NewFact, Operation, Proposal, TextRef
from provenloop.domain.recommendation import DAY_MS, MAX_EVIDENCE, Draft, Metric, Severity, Summary, Target
from provenloop.domain.rollup import OVERFLOW, SignatureDay

WHOLE_TOOL = "*"
TOOL_LEVEL_MIN_ERRORS = 10
LESSON_RELATION = "fails_with"


@dataclass(frozen=True, slots=True)
class Tally:
    """Errors out of calls."""

    errors: int
    calls: int

    @property
    def rate(self) -> float:
        """Errors per call, 0 without calls."""
        return self.errors / self.calls if self.calls else 0.0


class ToolFailure:
    """See the module."""

    manifest = Manifest(
        id="loop.tool_failure/1",
        title="Tool failures",
        line="A tool keeps failing with one error, or with many errors together.",
        tier="T0",
        trust="builtin",
        default_on=True,
        source="tool_window",
        parameters=(
            Parameter("min_count", "int", 3, 1, 1000, "errors of one signature"),
            Parameter("min_rate", "float", 0.4, 0, 1, "errors per call of the tool"),
            Parameter("min_abs", "int", 50, 1, 100_000, "errors that fire at any rate"),
            Parameter("window_days", "int", 30, 1, 365, "UTC days, today included"),
        ),
        metric="tool_error_recurrence",
    )

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """Look at one tool."""
        if not isinstance(view, ToolView):
            raise AnalyzerError("tool_failure looks at tools")
        single = tuple(self._clusters(view, parameters, now, marks))
        drafts = single or tuple(self._whole_tool(view, parameters, now, marks))
        return Examination(drafts, _next_day_that_matters(view, parameters))

    def _clusters(self, view: ToolView, parameters: Parameters, now: int, marks: Marks) -> Iterator[Draft]:
        for signature, rows in view.window.by_signature().items():
            if signature == OVERFLOW:
                continue
            whole = Tally(sum(row.n for row in rows), view.window.calls)
            tally = _since(whole, marks(view.namespace, (view.group, signature)), now, parameters)
            if _fires(tally, parameters, int(parameters["min_count"])):
                yield _draft(view, signature, rows, tally, parameters)

    def _whole_tool(self, view: ToolView, parameters: Parameters, now: int, marks: Marks) -> Iterator[Draft]:
        whole = Tally(view.window.errors, view.window.calls)
        tally = _since(whole, marks(view.namespace, (view.group, WHOLE_TOOL)), now, parameters)
        if tally.errors >= TOOL_LEVEL_MIN_ERRORS and tally.rate >= float(parameters["min_rate"]):
            yield _draft(view, WHOLE_TOOL, view.window.signatures, tally, parameters)


def _since(whole: Tally, mark: AppliedMark | None, now: int, parameters: Parameters) -> Tally:
    """The part of the window after an apply, where one falls into it; the watch has counted exactly that."""
    if mark is None or mark.watch is None or mark.at <= now - int(parameters["window_days"]) * DAY_MS:
        return whole
    longest = max(mark.watch.calls, default=0)
    return Tally(mark.watch.errors.get(longest, 0), mark.watch.calls.get(longest, 0))


def _fires(tally: Tally, parameters: Parameters, min_count: int) -> bool:
    often = tally.errors >= min_count
    return often and (tally.rate >= float(parameters["min_rate"]) or tally.errors >= int(parameters["min_abs"]))


def _severity(tally: Tally, min_abs: int) -> Severity:
    if tally.rate >= 0.7 and tally.errors >= 5:
        return "high"
    if tally.rate >= 0.5 or tally.errors >= min_abs:
        return "medium"
    return "low"


def _draft(
    view: ToolView, signature: str, rows: tuple[SignatureDay, ...], tally: Tally, parameters: Parameters
) -> Draft:
    newest = sorted((pair for row in rows for pair in row.newest), key=lambda pair: (-pair[0], pair[1]))
    evidence = tuple(dict.fromkeys(address for _, address in newest))[:MAX_EVIDENCE]
    example = evidence[0] if evidence else view.sample
    tool = TextRef(view.sample, "tool")
    shown = TextRef(example, "signature") if signature != WHOLE_TOOL else "many different errors"
    rate = round(tally.rate, 4)
    return Draft(
        parts=(view.group, signature),
        namespace=view.namespace,
        severity=_severity(tally, int(parameters["min_abs"])),
        target=Target("entity", ("lessons", tool)),
        summary=Summary(
            "tool_failure.cluster" if signature != WHOLE_TOOL else "tool_failure.tool",
            {
                "tool": tool,
                "errors": tally.errors,
                "calls": tally.calls,
                "percent": round(tally.rate * 100),
                "signature": shown,
                "signatures": len({row.signature for row in rows}),
            },
        ),
        proposal=Proposal(
            operations=(Operation("ADD", fact=NewFact(view.namespace, tool, LESSON_RELATION, shown, min(rate, 1.0))),)
        ),
        evidence=evidence,
        count=tally.errors,
        confidence=rate,
        metric=Metric(
            name="tool_error_recurrence",
            baseline_errors=tally.errors,
            baseline_calls=tally.calls,
            window_days=int(parameters["window_days"]),
            subject_key=view.group,
            signature=None if signature == WHOLE_TOOL else signature,
        ),
    )


def _next_day_that_matters(view: ToolView, parameters: Parameters) -> int | None:
    """When the window loses its oldest day, if there is an error in it at all: only then can time alone matter."""
    if not view.window.errors:
        return None
    oldest = min(day.day for day in view.window.days)
    return day_start_ms(oldest) + int(parameters["window_days"]) * DAY_MS
