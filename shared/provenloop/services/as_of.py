"""What was live at an instant: the version of a grain that stood then, if it was live.

A version stood from the commit that made it to the commit that replaced it. What was forgotten since is gone, also from
the past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenloop.domain.grain import Grain
from provenloop.domain.names import MemoryId
from provenloop.services.history import versions_of
from provenloop.services.ports import Store


def live_at(store: Store, memory: MemoryId, grains: Iterable[Grain], at: int) -> Iterator[Grain]:
    """The versions of the grains that were live at ``at`` (epoch ms)."""
    for grain in grains:
        versions = versions_of(store, memory, grain)
        # Of the first version it is told when it was recorded; its head may have moved since without a further one.
        begun = (versions[0].recorded_at, *(version.since for version in versions[1:]))
        then = [version for version, since in zip(versions, begun, strict=True) if since <= at]
        if then and then[-1].body and then[-1].is_live(at):
            yield then[-1]
