"""Tools that keep failing in one way, or in many ways together.

A cluster is one (namespace, tool, signature). It fires within a window of UTC days when errors >= min_count and
(errors / calls >= min_rate or errors >= min_abs). Where no single signature fires, all errors of the tool together
fire a tool-level finding (signature ``*``) at the same rate with at least 10 errors. What was applied before fires
again only on calls that came after the apply, and errors that an applied lesson answers count for no other finding.

What was cured falls silent: when, on the days after its last error, the tool was called at least as often as it had
failed so (and at least 10 times).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

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
from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS
from provenloop.domain.errors import AnalyzerError
from provenloop.domain.instants import day_start_ms, utc_day
from provenloop.domain.proposal import NewFact, Operation, Proposal, TextRef
from provenloop.domain.recommendation import DAY_MS, MAX_EVIDENCE, Draft, Metric, Severity, Summary, Target
from provenloop.domain.rollup import OVERFLOW, SignatureDay, ToolWindow

WHOLE_TOOL = "*"
TOOL_LEVEL_MIN_ERRORS = 10
CURED_MIN_CALLS = 10
MEDIUM_ERRORS = 50
FAMILY = "loop.tool_failure"
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
        sources=("tool_window",),
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
        window_start = now - int(parameters["window_days"]) * DAY_MS

        def mark_of(signature: str) -> AppliedMark | None:
            mark = marks(view.namespace, (view.group, signature))
            return mark if mark is not None and mark.at > window_start else None

        clusters = tuple(_clusters(view, mark_of, now))
        alive = [c for c in clusters if not _is_cured(c.rows, c.tally, view.window)]
        single = [c for c in alive if c.signature != OVERFLOW and _fires(c.tally, parameters)]
        drafts = [_draft(view, c.signature, c.tally, (c,), parameters) for c in single]
        everything = Tally(sum(c.tally.errors for c in clusters), view.window.calls)
        whole = _since(everything, view.window.signatures, view.window, mark_of(WHOLE_TOOL), now)
        is_cured = _is_cured(view.window.signatures, whole, view.window)
        if not single and _fires_as_tool(whole, parameters) and not is_cured:
            drafts.append(_draft(view, WHOLE_TOOL, whole, _later(clusters, mark_of(WHOLE_TOOL)), parameters))
        return Examination(tuple(drafts), _next_day_that_matters(view, parameters))


@dataclass(frozen=True, slots=True)
class Cluster:
    """The errors of one signature that no applied lesson answers yet: those that occurred after ``after``."""

    signature: str
    rows: tuple[SignatureDay, ...]
    tally: Tally
    after: int

    @property
    def newest(self) -> tuple[tuple[int, str], ...]:
        """The newest of them as (occurred_at, address)."""
        return tuple(pair for row in self.rows for pair in row.newest if pair[0] > self.after)


def _clusters(view: ToolView, mark_of: Callable[[str], AppliedMark | None], now: int) -> Iterator[Cluster]:
    for signature, rows in view.window.by_signature().items():
        mark = mark_of(signature) if signature != OVERFLOW else None
        tally = _since(Tally(sum(row.n for row in rows), view.window.calls), rows, view.window, mark, now)
        yield Cluster(signature, rows, tally, mark.at if mark is not None else -1)


def _later(clusters: Iterable[Cluster], mark: AppliedMark | None) -> tuple[Cluster, ...]:
    """The clusters that still have errors, with those after ``mark`` only."""
    after = mark.at if mark is not None else -1
    return tuple(replace(c, after=max(c.after, after)) for c in clusters if c.tally.errors)


def _since(whole: Tally, rows: Iterable[SignatureDay], window: ToolWindow, mark: AppliedMark | None, now: int) -> Tally:
    """The part of the window after an apply; the watch has counted exactly that.

    It counts up to its last horizon; in a longer window the days after that of the apply count. Before then, an apply
    whose watch is not there was made while this pass was reading: all that the pass sees came before it.
    """
    if mark is None:
        return whole
    if now >= mark.at + HORIZONS_MS[-1] + GRACE_MS:
        after = utc_day(mark.at)
        calls = sum(day.calls for day in window.days if day.day > after)
        return Tally(sum(row.n for row in rows if row.day > after), calls)
    if mark.watch is None:
        return Tally(0, 0)
    longest = max(mark.watch.calls, default=0)
    return Tally(mark.watch.errors.get(longest, 0), mark.watch.calls.get(longest, 0))


def _is_cured(rows: Iterable[SignatureDay], tally: Tally, window: ToolWindow) -> bool:
    """Whether the tool was called often enough on the days after the last of these errors. Within its day, the order of
    errors and successes is not known.
    """
    last = max((row.day for row in rows), default="")
    since = sum(day.calls for day in window.days if day.day > last)
    return since >= max(tally.errors, CURED_MIN_CALLS)


def _fires(tally: Tally, parameters: Parameters) -> bool:
    often = tally.errors >= int(parameters["min_count"])
    return often and (tally.rate >= float(parameters["min_rate"]) or tally.errors >= int(parameters["min_abs"]))


def _fires_as_tool(tally: Tally, parameters: Parameters) -> bool:
    return tally.errors >= TOOL_LEVEL_MIN_ERRORS and tally.rate >= float(parameters["min_rate"])


def _severity(tally: Tally) -> Severity:
    """How grave it is, whatever the parameters let fire."""
    if tally.rate >= 0.7 and tally.errors >= 5:
        return "high"
    if tally.rate >= 0.5 or tally.errors >= MEDIUM_ERRORS:
        return "medium"
    return "low"


def _draft(
    view: ToolView, signature: str, tally: Tally, clusters: tuple[Cluster, ...], parameters: Parameters
) -> Draft:
    newest = sorted((pair for c in clusters for pair in c.newest), key=lambda pair: (-pair[0], pair[1]))
    evidence = tuple(dict.fromkeys(address for _, address in newest))[:MAX_EVIDENCE]
    example = evidence[0] if evidence else view.sample
    tool = TextRef(view.sample, "tool")
    shown = TextRef(example, "signature") if signature != WHOLE_TOOL else "many different errors"
    rate = round(tally.rate, 4)
    return Draft(
        parts=(view.group, signature),
        namespace=view.namespace,
        severity=_severity(tally),
        target=Target("entity", ("lessons", tool)),
        summary=Summary(
            "tool_failure.cluster" if signature != WHOLE_TOOL else "tool_failure.tool",
            {
                "tool": tool,
                "errors": tally.errors,
                "calls": tally.calls,
                "percent": round(tally.rate * 100),
                "signature": shown,
                "signatures": len(clusters),
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
