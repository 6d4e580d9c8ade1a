"""Sweeps: every group there is, looked at once more, without counting anything again.

A pass sweeps on request, and the analyzers whose settings differ from those the memory was last analyzed with. Grains
are visited in address order; a sweep that runs out of time goes on in the next pass from the address it came to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from provenloop.analyzers.contract import AgingAnalyzer
from provenloop.domain.commit import PassHead
from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.domain.records import Due
from provenloop.services.examine import Examining
from provenloop.services.groups import ASSEMBLY_GROUP, Groups
from provenloop.services.pass_settings import Setting
from provenloop.services.ports import Store

DUE_SWEEP = "sweep"
_CHUNK = 500


def with_sweep_wanted(folds: PassHead, settings: Sequence[Setting], *, is_full: bool) -> PassHead:
    """The head with the sweep that has to be made or gone on with.

    In a memory that was never analyzed everything is new, and so looked at anyway.
    """
    running = [setting for setting in settings if setting.skip_reason is None]
    is_new = not folds.versions and folds.analyzed == 0
    stale = {s.family for s in running if not is_new and folds.versions.get(s.family) != s.version}
    wanted = {s.family for s in running} if is_full else stale
    going_on = {s.family for s in running} & set(folds.sweeping)
    return replace(
        folds,
        versions={setting.family: setting.version for setting in running},
        sweeping=tuple(sorted(wanted | going_on)),
        sweep_after="" if wanted else folds.sweep_after,
        walks={family: seq for family, seq in folds.walks.items() if family not in stale},
    )


def sweep(
    store: Store, memory: MemoryId, folds: PassHead, settings: Sequence[Setting], examining: Examining
) -> PassHead:
    """Sweep until done or out of time; the head with how far it came."""
    chosen = [setting for setting in settings if setting.family in folds.sweeping and setting.skip_reason is None]
    if not chosen:
        return replace(folds, sweeping=(), sweep_after="")
    if not folds.sweep_after:
        _look_at(examining, chosen, _counted_groups(store, memory))
    for grains in _chunks(store.all_grains(memory, folds.sweep_after, examining.views.now)):
        if examining.spent():
            examining.planted[Due(examining.views.now, DUE_SWEEP, "")] = None
            examining.is_cut_short = True
            return folds
        groups = Groups()
        for grain in grains:
            groups.add_grain(grain)
        _look_at(examining, chosen, groups)
        folds = replace(folds, sweep_after=grains[-1].address)
    _look_at_old(examining, chosen)
    return replace(folds, sweeping=(), sweep_after="")


def _counted_groups(store: Store, memory: MemoryId) -> Groups:
    """The groups that are counted or measured and not grains."""
    groups = Groups()
    groups.add("assembly", ASSEMBLY_GROUP)
    for tool_key in store.tool_keys(memory):
        groups.add("tool_window", tool_key)
    for row in store.regressions(memory):
        groups.add("measured", row.recommendation)
    return groups


def _look_at_old(examining: Examining, settings: Sequence[Setting]) -> None:
    """Look at every namespace's set of old grains, whether the sweep moved it or not."""
    for setting in settings:
        if isinstance(setting.analyzer, AgingAnalyzer):
            examining.look_at(setting, Groups(), examining.views.aging.groups())


def _look_at(examining: Examining, settings: Sequence[Setting], groups: Groups) -> None:
    for setting in settings:
        examining.look_at(setting, groups)


def _chunks(grains: Iterator[Grain]) -> Iterator[list[Grain]]:
    while chunk := list(islice(grains, _CHUNK)):
        yield chunk
