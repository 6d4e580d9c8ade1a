"""A pass over one memory: gate, lease, fold, examine what was touched or fell due, store, move the watermark.

A crash anywhere loses nothing and repeats nothing: the fold counts once, findings are the same when they are settled
twice, and ``analyzed`` moves in the last write. A skipped pass writes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import Analyzer, ClusterView, ToolView, View
from provenloop.analyzers.contradiction_sweep import functional_relations
from provenloop.domain.address import Addresses, cluster_of, relation_of
from provenloop.domain.checkpoint import Watch
from provenloop.domain.commit import Change, Heads
from provenloop.domain.errors import LoopError
from provenloop.domain.events import MAX_AHEAD_MS
from provenloop.domain.instants import days_before, utc_day
from provenloop.domain.recommendation import family_of
from provenloop.domain.records import Due
from provenloop.services.call import Call
from provenloop.services.findings import DUE_EXPIRY, DUE_GROUP, Findings, group_ref
from provenloop.services.fold import Fold, Folding
from provenloop.services.lease import LeaseLostError, is_leased, take_lease
from provenloop.services.memories import require_heads
from provenloop.services.pass_end import PassEnd, finish
from provenloop.services.pass_gate import PassOptions, new_at_most, new_exactly, opens_by_counts, opens_by_time
from provenloop.services.ports import Store, Used

MAX_DUE_A_PASS = 80
RETRY_MS = 300_000

_log = logging.getLogger(__name__)


@dataclass
class Pass:
    """What one pass carries along."""

    store: Store
    call: Call
    heads: Heads
    addresses: Addresses
    folding: Folding
    watches: Mapping[str, Watch]
    due: tuple[Due, ...]
    planted: dict[Due, None] = field(default_factory=dict)
    skipped: list[Mapping[str, str]] = field(default_factory=list)


def run_pass(store: Store, call: Call, options: PassOptions, *, run_id: str) -> dict[str, Any]:
    """Run one pass, or skip it. A skip is success. A request sent again with its Idempotency-Key (and so the same
    ``run_id``) is answered with the outcome of the pass it ran.

    Returns:
        The outcome: what was new, found, stored, refreshed and expired, which analyzers ran, the watermark, the usage.

    Raises:
        ScopeDeniedError, NotFoundError.
        BusyError: decisions on the same findings kept coming in between; the next pass goes on from here.
    """
    call.require("write")
    known = store.run(call.memory, run_id) if call.idempotency_key is not None else None
    if known is not None:
        return dict(known.outcome)
    with store.metered() as used:
        heads = require_heads(store, call.memory)
        is_open, new = _gate(store, call, options, heads)
        if not is_open:
            return _skipped(heads, "gate", new, run_id, used)
        is_free = not is_leased(heads.folds, call.now)
        leased = take_lease(store, call.memory, heads.folds, run_id, call.now) if is_free else None
        if leased is None:
            return _skipped(heads, "busy", new, run_id, used)
        try:
            return _run(store, call, options, replace(heads, folds=leased), run_id, used)
        except LeaseLostError:
            return _skipped(heads, "busy", new, run_id, used)


def _gate(store: Store, call: Call, options: PassOptions, heads: Heads) -> tuple[bool, tuple[int, int]]:
    """Whether the pass has to run, and how many grains and failed calls are new.

    The head's counters can run ahead of what was stored, so a gate that they open is looked at again with the entries
    themselves; and they tell nothing of a number that was missed before and may have come since.
    """
    new = new_at_most(heads)
    if opens_by_time(options, heads, call.now) or not (opens_by_counts(options, *new) or heads.folds.holes):
        return opens_by_time(options, heads, call.now), new
    entries = store.log_entries(call.memory, heads.folds.analyzed, heads.log.seq)
    late = store.log_entries_at(call.memory, {*heads.folds.holes, *heads.folds.late})
    unseen = {entry.seq: entry for entry in (*entries, *late.values())}
    new = new_exactly(list(unseen.values()))
    return opens_by_counts(options, *new), new


def _run(store: Store, call: Call, options: PassOptions, heads: Heads, run_id: str, used: Used) -> dict[str, Any]:
    watches = store.watches(call.memory)
    fold = Fold(store, call.memory, now=call.now, watches=watches)
    folding = fold.run(heads.folds, heads.log.seq)
    due = store.due(call.memory, call.now, MAX_DUE_A_PASS)
    work = Pass(store, call, heads, Addresses(heads.log.key), folding, fold.watches, due)
    findings = Findings(store, call.memory, work.addresses, call.now, folds=lambda: folding.folds, watches=fold.watches)
    groups = _groups_to_look_at(work, options)
    for analyzer in ANALYZERS:
        for source in analyzer.manifest.sources:
            _examine_all(work, findings, analyzer, groups[source])
    _expire_all(work, findings)
    outcome = _outcome(work, findings, run_id)
    end = PassEnd(call.memory, call.now, heads, folding, due, tuple(work.planted), run_id, outcome)
    return finish(store, end, lambda: usage_of(used))


def _groups_to_look_at(work: Pass, options: PassOptions) -> Mapping[str, Sequence[str]]:
    """Per source, the groups that new grains touched or whose time has come; with a full sweep, all there are."""
    changes = list(work.folding.changes)
    tools = [change.tool_key for change in changes if change.tool_key is not None]
    clusters = list(_functional_clusters(work, changes))
    families = {family_of(analyzer.manifest.id): analyzer.manifest.sources for analyzer in ANALYZERS}
    for row in work.due:
        family, _, group = row.ref.partition("|")
        if row.what == DUE_GROUP and family in families:
            (tools if "tool_window" in families[family] else clusters).append(group)
    if options.full_sweep:
        tools += work.store.tool_keys(work.call.memory)
        wanted = _functional_parts(work)
        clusters += (group for group in work.store.clusters(work.call.memory) if group[8:] in wanted)
    return {"tool_window": sorted(set(tools)), "cluster": sorted(set(clusters))}


def _functional_parts(work: Pass) -> frozenset[str]:
    """The relation parts of the addresses that hold relations of one value."""
    sweep = next(analyzer for analyzer in ANALYZERS if "cluster" in analyzer.manifest.sources)
    relations = functional_relations(sweep.manifest.defaults())
    return frozenset(work.addresses.relation_part(relation) for relation in relations)


def _functional_clusters(work: Pass, changes: Iterable[Change]) -> Iterable[str]:
    """Clusters of changed facts, told by their addresses alone: nothing is read for any other relation."""
    facts = [change.address for change in changes if change.kind == "fact"]
    if not facts:
        return ()
    wanted = _functional_parts(work)
    return (cluster_of(address) for address in facts if relation_of(address) in wanted)


def _examine_all(work: Pass, findings: Findings, analyzer: Analyzer, groups: Sequence[str]) -> None:
    """Examine each group. One failing group is reported and looked at again soon; it does not fail the pass."""
    parameters = analyzer.manifest.defaults()
    family = family_of(analyzer.manifest.id)
    for group in groups:
        try:
            view = _view(work, analyzer, group, int(parameters.get("window_days", 0)))
            examination = findings.settle(analyzer, group, view, parameters)
        except LoopError as error:
            _report(work, analyzer.manifest.id, error)
            work.planted[Due(work.call.now + RETRY_MS, DUE_GROUP, group_ref(family, group))] = None
            continue
        if examination.next_due_at is not None:
            work.planted[Due(examination.next_due_at, DUE_GROUP, group_ref(family, group))] = None


def _expire_all(work: Pass, findings: Findings) -> None:
    """Let age out whatever is old enough. What cannot be settled now is tried again soon; it does not fail the pass."""
    for row in work.due:
        if row.what == DUE_EXPIRY:
            try:
                findings.expire(row.ref)
            except LoopError as error:
                _report(work, "expiry", error)
                work.planted[Due(work.call.now + RETRY_MS, DUE_EXPIRY, row.ref)] = None


def _report(work: Pass, what: str, error: LoopError) -> None:
    _log.warning("a part of a pass failed", extra={"part": what, "code": error.code})
    entry = {"id": what, "reason": error.code}
    if entry not in work.skipped:
        work.skipped.append(entry)


def _view(work: Pass, analyzer: Analyzer, group: str, window_days: int) -> View:
    """What the analyzer's manifest asks for, of one group."""
    store, memory, now = work.store, work.call.memory, work.call.now
    if "cluster" in analyzer.manifest.sources:
        return ClusterView(group, store.grains_by_prefix(memory, group, now))
    # Calls may be dated a little ahead of our clock, and so on the next day.
    last = utc_day(now + MAX_AHEAD_MS)
    window = store.tool_window(memory, group, days_before(utc_day(now), window_days - 1), last)
    namespace = window.days[0].namespace if window.days else ""
    sample = min((day.sample for day in window.days), default="")
    return ToolView(group, namespace, window, sample)


def _outcome(work: Pass, findings: Findings, run_id: str) -> dict[str, Any]:
    counts = findings.counts
    return {
        "run": run_id,
        "outcome": "ran",
        "skip_reason": None,
        "new_grains": work.folding.new_grains,
        "new_error_events": work.folding.new_errors,
        "proposed": counts["proposed"],
        "deduped": counts["deduped"],
        "suppressed": counts["suppressed"],
        "stored": counts["stored"],
        "refreshed": counts["refreshed"],
        "auto_applied": 0,
        "expired": counts["expired"],
        "measured": 0,
        "analyzers_run": [analyzer.manifest.id for analyzer in ANALYZERS],
        "analyzers_skipped": list(work.skipped),
        "watermark": work.folding.folds.folded,
    }


def _skipped(heads: Heads, reason: str, new: tuple[int, int], run_id: str, used: Used) -> dict[str, Any]:
    grains, errors = new
    numbers = ("proposed", "deduped", "suppressed", "stored", "refreshed", "auto_applied", "expired", "measured")
    return {
        "run": run_id,
        "outcome": "skipped",
        "skip_reason": reason,
        "new_grains": grains,
        "new_error_events": errors,
        **dict.fromkeys(numbers, 0),
        "analyzers_run": [],
        "analyzers_skipped": [],
        "watermark": heads.folds.analyzed,
        "usage": usage_of(used),
    }


def usage_of(used: Used) -> dict[str, float]:
    """Read and write units; of a pass, without those of its very last writes, which store this."""
    return {"reads": used.reads, "writes": used.writes}
