"""A pass over one memory: gate, lease, fold, measure, examine what was touched or fell due, sweep, move the watermark.

A crash anywhere loses nothing and repeats nothing: the fold counts once, findings are the same when they are settled
twice, and ``analyzed`` moves in the last write. A skipped pass writes nothing. A pass that has spent its time ends in
good order, and says that there is more to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import AgingAnalyzer
from provenloop.domain.address import Addresses
from provenloop.domain.checkpoint import Watch
from provenloop.domain.commit import Change, Heads
from provenloop.domain.errors import IdempotencyMismatchError
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.policy import CLOSED, Policy
from provenloop.domain.recallable import RECALLED_KINDS
from provenloop.domain.records import Due
from provenloop.services.aging import Aging
from provenloop.services.auto_apply import AutoApply
from provenloop.services.call import Call, never_spent
from provenloop.services.examine import Examining, due_groups
from provenloop.services.findings import Findings
from provenloop.services.fold import Fold, Folding
from provenloop.services.gone_evidence import let_go
from provenloop.services.groups import Groups
from provenloop.services.lease import LeaseLostError, is_leased, take_lease
from provenloop.services.lessons_due import learn_due
from provenloop.services.look_outside import LookOutside
from provenloop.services.measure import Measuring
from provenloop.services.measure_due import measure_due
from provenloop.services.memories import require_heads
from provenloop.services.near_index import NearIndex
from provenloop.services.news import Log
from provenloop.services.outside_findings import OutsideFindings
from provenloop.services.outside_port import NOBODY, Outside
from provenloop.services.outside_turn import Turns
from provenloop.services.pass_end import PassEnd, finish
from provenloop.services.pass_gate import PassOptions, new_at_most, new_exactly, opens_by_counts, opens_by_time
from provenloop.services.pass_settings import CAPABILITIES, Setting, settings_of
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Store, Used
from provenloop.services.standing import Standing
from provenloop.services.sweep import sweep, with_sweep_wanted
from provenloop.services.term_index import index_texts
from provenloop.services.views import Views

MAX_DUE_A_PASS = 80
DUE_WALK = "walk"


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass is given."""

    store: Store
    call: Call
    options: PassOptions
    run_id: str
    spent: Callable[[], bool]
    used: Used
    policy: Policy
    outside: Outside


def run_pass(
    store: Store,
    call: Call,
    options: PassOptions,
    *,
    run_id: str,
    spent: Callable[[], bool] = never_spent,
    policy: Policy = CLOSED,
    outside: Outside = NOBODY,
) -> dict[str, Any]:
    """Run one pass, or skip it. A skip is success. A request sent again with its Idempotency-Key (and so the same
    ``run_id``) is answered with the outcome of the pass it ran.

    Args:
        spent: whether the time for this pass is used up; asked between groups, and the pass then ends in good order.
        policy: the host's.
        outside: models and external analyzers, which are asked once everything else is stored.

    Returns:
        The outcome: what was new, found, stored, refreshed and expired, which analyzers ran, the watermark, the usage.

    Raises:
        ScopeDeniedError, NotFoundError.
        IdempotencyMismatchError: the Idempotency-Key came with another body before.
        BusyError: decisions on the same findings kept coming in between; the next pass goes on from here.
    """
    call.require("write")
    known = store.run(call.memory, run_id) if call.idempotency_key is not None else None
    if known is not None and known.body_digest != call.body_digest:
        raise IdempotencyMismatchError("this Idempotency-Key was used with another body")
    if known is not None:
        return dict(known.outcome)
    with store.metered() as used:
        heads = require_heads(store, call.memory)
        is_open, new = _gate(store, call, options, heads)
        if not is_open:
            return _skipped(heads, "gate", new, run_id, used)
        config = store.memory_config(call.memory)
        if not config.passes_enabled:
            return _skipped(heads, "disabled", new, run_id, used)
        is_free = not is_leased(heads.folds, call.now)
        leased = take_lease(store, call.memory, heads.folds, run_id, call.now) if is_free else None
        if leased is None:
            return _skipped(heads, "busy", new, run_id, used)
        settings = settings_of(ANALYZERS, config, CAPABILITIES, policy)
        try:
            work = Pass(store, call, options, run_id, spent, used, policy, outside)
            return _run(work, replace(heads, folds=leased), settings, config)
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


def _run(work: Pass, heads: Heads, settings: Sequence[Setting], config: MemoryConfig) -> dict[str, Any]:
    store, call = work.store, work.call
    fold = Fold(store, call.memory, now=call.now, watches=store.watches(call.memory), spent=work.spent)
    folding = fold.run(heads.folds, heads.log.seq)
    index_texts(store, call.memory, Addresses(heads.log.key), folding.changes, call.now)
    folding.folds = with_sweep_wanted(folding.folds, settings, is_full=work.options.full_sweep)
    due: Sequence[Due] = store.due(call.memory, call.now, MAX_DUE_A_PASS)
    watches = dict(fold.watches)
    examining = _examining(work, heads, folding, watches)
    measuring = Measuring(store, call.memory, call.now, lambda: folding.folds, watches)
    due = measure_due(measuring, due, folding.entries, examining)
    due = learn_due(store, call, due, examining)
    examining.wake(due)
    _look_at_new(settings, folding, due, examining, measuring.touched)
    folding.folds = sweep(store, call.memory, folding.folds, settings, examining)
    examining.expire(due)
    outside = OutsideFindings(store, call.memory, Addresses(heads.log.key), heads.log.namespaces, examining.findings)
    let_go(outside, examining, folding.changes, due)
    ran, told = _look_outside(work, heads, folding, examining, outside, config)
    _apply_by_policy(work, folding, examining)
    outcome = {**_outcome(heads, folding, settings, examining, work.run_id), "measured": measuring.measured, **told}
    outcome["analyzers_run"] += ran
    end = PassEnd(call.memory, call.now, heads, folding, due, tuple(examining.planted), work.run_id, outcome,
                  call.body_digest)  # fmt: skip
    return finish(store, end, lambda: usage_of(work.used))


def _examining(work: Pass, heads: Heads, folding: Folding, watches: Mapping[str, Watch]) -> Examining:
    store, memory, now, addresses = work.store, work.call.memory, work.call.now, Addresses(heads.log.key)
    findings = Findings(store, memory, addresses, now, folds=lambda: folding.folds, watches=watches)
    own = PassWrites(store, memory, now, folds=lambda: folding.folds)
    aging = Aging(store, memory, addresses, heads.log.namespaces, now, own)
    near = NearIndex(store, memory, addresses, now, own)
    standing = Standing(store, memory, heads, now, own)
    return Examining(findings, Views(store, memory, now, aging, near, standing), work.spent)


def _look_at_new(
    settings: Sequence[Setting], folding: Folding, due: Sequence[Due], examining: Examining, measured: Iterable[str]
) -> None:
    """Let every analyzer look at what commits touched, what fell due or was measured, and what has grown old."""
    touched = Groups()
    for recommendation in measured:
        touched.add("measured", recommendation)
    for change in folding.changes:
        touched.add_change(change)
    for watch in _caught_up(folding, examining.findings.watches):
        touched.add("tool_window", watch.subject_key)
    for setting in settings:
        if setting.skip_reason is not None:
            examining.skip(setting.analyzer.manifest.id, setting.skip_reason)
            continue
        more = due_groups(due, setting.family)
        if isinstance(setting.analyzer, AgingAnalyzer):
            more += _walked(setting, folding, examining)
        if "question" in setting.analyzer.manifest.sources and (due or any(map(_may_answer, folding.changes))):
            more += examining.views.standing.groups(setting.family)
        examining.look_at(setting, touched, more)


def _caught_up(folding: Folding, watches: Mapping[str, Watch]) -> Iterator[Watch]:
    """Watches of tools that count now what earlier passes have folded: what those saw was less."""
    planted = (watches.get(name) for entry in folding.entries for name in entry.watches)
    return (watch for watch in planted if watch is not None and watch.caught_up and watch.of == "tool")


def _walked(setting: Setting, folding: Folding, examining: Examining) -> Sequence[str]:
    """The groups of grains that have grown old since the last pass."""
    walks = folding.folds.walks
    walk = examining.views.aging.walk(setting, walks.get(setting.family, 0), folding.entries)
    folding.folds = replace(folding.folds, walks={**walks, setting.family: walk.reached})
    if walk.again_at is not None:
        examining.planted[Due(walk.again_at, DUE_WALK, setting.family)] = None
    return walk.grown


def _look_outside(
    work: Pass, heads: Heads, folding: Folding, examining: Examining, findings: OutsideFindings, config: MemoryConfig
) -> tuple[list[str], dict[str, Any]]:
    """Ask whoever is outside, if anybody; who was asked, and what is told of it."""
    if work.outside.models is None and work.outside.analyzers is None:
        return [], {}
    store, call = work.store, work.call
    folds = folding.folds
    log = Log(store, call.memory, call.now, folding.entries, heads.folds.analyzed, folds.folded)
    own = PassWrites(store, call.memory, call.now, folds=lambda: folding.folds)
    is_full = work.options.full_sweep
    turns = Turns(call, work.policy, config, log, examining, own, is_full)
    looking = LookOutside(call, work.policy, work.outside, log, findings, examining, turns, is_full)
    looking.look()
    return turns.ran, looking.told


def _apply_by_policy(work: Pass, folding: Folding, examining: Examining) -> None:
    """Let happen what the host policy grants, of what this pass left pending."""
    auto = AutoApply(work.store, work.call, lambda: folding.folds, work.policy.digest, work.spent)
    auto.settle(examining.findings.waiting)
    examining.findings.counts["auto_applied"] = auto.applied
    examining.is_cut_short |= auto.is_cut_short
    examining.planted.update(dict.fromkeys(auto.again))


def _may_answer(change: Change) -> bool:
    """Whether a change may answer a question, or take its answer away."""
    return change.kind in RECALLED_KINDS and not change.is_telemetry


def _outcome(
    heads: Heads, folding: Folding, settings: Sequence[Setting], examining: Examining, run_id: str
) -> dict[str, Any]:
    counts = examining.findings.counts
    return {
        "run": run_id,
        "outcome": "ran",
        "skip_reason": None,
        "more": examining.is_cut_short or folding.folds.folded < heads.log.seq,
        "new_grains": folding.new_grains,
        "new_error_events": folding.new_errors,
        "proposed": counts["proposed"],
        "deduped": counts["deduped"],
        "suppressed": counts["suppressed"],
        "stored": counts["stored"],
        "refreshed": counts["refreshed"],
        "auto_applied": counts["auto_applied"],
        "expired": counts["expired"],
        "analyzers_run": [setting.analyzer.manifest.id for setting in settings if setting.skip_reason is None],
        "analyzers_skipped": list(examining.skipped),
        "watermark": folding.folds.folded,
    }


def _skipped(heads: Heads, reason: str, new: tuple[int, int], run_id: str, used: Used) -> dict[str, Any]:
    grains, errors = new
    numbers = ("proposed", "deduped", "suppressed", "stored", "refreshed", "auto_applied", "expired", "measured")
    return {
        "run": run_id,
        "outcome": "skipped",
        "skip_reason": reason,
        "more": False,
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
