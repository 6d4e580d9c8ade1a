"""What was live at an instant: the version of a grain that stood then, if it was live.

A version stood from the commit that made it to the commit that replaced it. What was forgotten since is gone, also from
the past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.services.ports import Store


def live_at(store: Store, memory: MemoryId, grains: Iterable[Grain], at: int) -> Iterator[Grain]:
    """The versions of the grains that were live at ``at`` (epoch ms)."""
    stood = [tuple(_versions(_stored_versions(store, memory, grain))) for grain in grains]
    made_at = _made_at(store, memory, [version for versions in stood for version in versions[1:]])
    for versions in stood:
        then = [version for n, version in enumerate(versions) if _since(version, n, made_at) <= at]
        if then and then[-1].body and then[-1].is_live(at):
            yield then[-1]


def _stored_versions(store: Store, memory: MemoryId, grain: Grain) -> Sequence[Grain]:
    """Every version of a grain that is stored, oldest first; one that never changed has no other."""
    return (grain,) if grain.head_rev == 1 else (*store.history(memory, grain.address), grain)


def _versions(stored: Sequence[Grain]) -> Iterator[Grain]:
    """Every version. Where a head moved and its body did not, the one before is as the body was, and current."""
    last_rev = 0
    for version in stored:
        if not version.is_current and version.head_rev > last_rev + 1:
            yield replace(version, state="current", superseded_by=None, head_rev=last_rev + 1, seq=0)
        yield version
        last_rev = version.head_rev


def _made_at(store: Store, memory: MemoryId, versions: Iterable[Grain]) -> Mapping[int, int]:
    numbers = {version.seq for version in versions if version.seq}
    return {seq: entry.at for seq, entry in store.log_entries_at(memory, numbers).items()} if numbers else {}


def _since(version: Grain, place: int, made_at: Mapping[int, int]) -> int:
    """When a version began to stand; the first one when it was recorded."""
    return version.recorded_at if place == 0 else made_at.get(version.seq, version.recorded_at)
