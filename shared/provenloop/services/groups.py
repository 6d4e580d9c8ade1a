"""Which groups an analyzer has to look at: those that commits touched, or in a sweep those there are.

A change names a grain by its address and kind, which tells the groups of every source; no grain is read for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenloop.analyzers.contract import Manifest, Source
from provenloop.domain.address import CLUSTER_CHARS, cluster_of
from provenloop.domain.commit import Change
from provenloop.domain.grain import Grain

ASSEMBLY_GROUP = "assembly"
_QUESTION_PREFIX = "q:"
_AGED_GRAIN_PREFIX = "g:"
_AGED_NAMESPACE_PREFIX = "n:"
#: Sources whose groups hold grains of certain kinds; an analyzer looks at those of its own kinds.
_OF_KINDS: frozenset[Source] = frozenset({"cluster", "grain", "aged"})
#: Changes after which a grain may no longer be what a finding said of it.
_MOVING = frozenset({"revive", "change", "supersede", "point", "merge", "restore", "remove", "forget"})
#: Kinds whose every change is looked at grain by grain; of the others, those with an end of validity.
_ALWAYS_SINGLY = frozenset({"goal"})


def question_group(address: str) -> str:
    """The group of a question, by the address of the grain that keeps its text."""
    return f"{_QUESTION_PREFIX}{address}"


def question_of(group: str) -> str:
    """The address in a question's group."""
    return group.removeprefix(_QUESTION_PREFIX)


def aged_grain(address: str) -> str:
    """A grain that has to be judged again before its namespace is looked at."""
    return f"{_AGED_GRAIN_PREFIX}{address}"


def is_aged_grain(group: str) -> bool:
    """Whether a group of an aged source is a single grain, and not a namespace."""
    return group.startswith(_AGED_GRAIN_PREFIX)


def aged_grain_of(group: str) -> str:
    """The address of a grain to judge."""
    return group.removeprefix(_AGED_GRAIN_PREFIX)


def aged_namespace(key: str) -> str:
    """The group of a namespace's old grains, by the namespace's digest."""
    return f"{_AGED_NAMESPACE_PREFIX}{key}"


def aged_namespace_of(group: str) -> str:
    """The digest of the namespace of a group of old grains."""
    return group.removeprefix(_AGED_NAMESPACE_PREFIX)


def source_of(manifest: Manifest, group: str) -> Source:
    """The source a group belongs to, where an analyzer has several."""
    if len(manifest.sources) == 1:
        return manifest.sources[0]
    return "cluster" if len(group) == CLUSTER_CHARS else "near"


class Groups:
    """Groups to look at, by source and kind, each once."""

    def __init__(self) -> None:
        self._found: dict[tuple[Source, str], dict[str, None]] = {}

    def add(self, source: Source, group: str, kind: str = "") -> None:
        """Remember one group."""
        self._found.setdefault((source, kind), {})[group] = None

    def add_change(self, change: Change) -> None:
        """Remember every group that a change touches."""
        if change.kind == "tool_call" and change.tool_key is not None:
            self.add("tool_window", change.tool_key)
        if change.kind == "tool_call" and change.op == "add" and change.valid_to is None:
            return
        if change.kind == "question":
            self.add("question", question_group(change.address))
        elif change.op == "assemble":
            self.add("assembly", ASSEMBLY_GROUP)
        elif change.op == "read":
            self.add("aged", aged_grain(change.address), change.kind)
        else:
            self._add_grain(change.kind, change.address)
            if change.op in _MOVING:
                self.add("aged", aged_grain(change.address), change.kind)
            if change.valid_to is not None or change.op in _MOVING or change.kind in _ALWAYS_SINGLY:
                self.add("grain", change.address, change.kind)

    def add_grain(self, grain: Grain) -> None:
        """Remember every group that a stored grain belongs to, but for tools, which are counted by themselves."""
        if grain.kind == "question":
            self.add("question", question_group(grain.address))
            return
        self._add_grain(grain.kind, grain.address)
        self.add("aged", aged_grain(grain.address), grain.kind)
        if grain.valid_to is not None or grain.kind in _ALWAYS_SINGLY:
            self.add("grain", grain.address, grain.kind)

    def _add_grain(self, kind: str, address: str) -> None:
        if kind == "observation":
            self.add("near", address)
        elif kind != "tool_call":
            self.add("cluster", cluster_of(address), kind)

    def of(self, manifest: Manifest) -> Iterator[tuple[Source, str]]:
        """The groups that an analyzer has to look at, in order."""
        for source in manifest.sources:
            kinds: Iterable[str] = manifest.kinds if source in _OF_KINDS else ("",)
            groups = {group for kind in kinds for group in self._found.get((source, kind), ())}
            for group in sorted(groups):
                yield source, group
