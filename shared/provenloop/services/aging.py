"""Which grains of a namespace have grown old: kept as a sorted set per analyzer, so that looking costs the same always.

Nothing is planned per grain. A walk follows the log at the distance of the age parameter and meets each commit once,
when its grains have become old enough. The start of the day after the next commit comes of age is due, so that a memory
to which nothing is added is looked at too; a changed setting lets the walk start anew. A grain is judged again when it
changes, when it is read, and when a read leaves the window. The set and its count move in one transaction, on condition
that the pass still has its lease.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from provenloop.analyzers.contract import AgedView, AgingAnalyzer
from provenloop.domain.address import Addresses
from provenloop.domain.commit import LogEntry
from provenloop.domain.grain import Grain
from provenloop.domain.instants import DAY_MS, day_start_ms, days_before, utc_day
from provenloop.domain.names import MemoryId
from provenloop.domain.records import AgedCount, AgedGrain
from provenloop.domain.rollup import ReadDays
from provenloop.services.groups import aged_grain, aged_grain_of, aged_namespace, aged_namespace_of, is_aged_grain
from provenloop.services.pass_settings import Setting
from provenloop.services.pass_writes import PassWrites
from provenloop.services.ports import Put, Remove, Replace, Store, Write

MAX_VIEWED = 80
MAX_ENTRIES_A_WALK = 2_000
_CHUNK = 20
_NAMESPACE_CHARS = 16


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a grain belongs to the set, and when time alone may change that."""

    belongs: bool
    again_at: int | None


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a walk came in the log, the groups of grains that it met, and when it has to go on (epoch ms)."""

    reached: int
    grown: Sequence[str] = ()
    again_at: int | None = None


@dataclass
class Aging:
    """The sets of one memory at time ``now`` (epoch ms), as one pass keeps them."""

    store: Store
    memory: MemoryId
    addresses: Addresses
    namespaces: frozenset[str]
    now: int
    writes: PassWrites

    def walk(self, setting: Setting, after: int, entries: Iterable[LogEntry]) -> Walk:
        """Follow the log from number ``after`` to the first commit that is too young.

        Args:
            setting: of the analyzer.
            after: where an earlier walk stopped.
            entries: those new to this pass; one that came late may stand where the walk has gone by already.
        """
        age_ms = _aging(setting).age_ms(setting.parameters)
        if age_ms is None:
            return Walk(after)
        met = [entry for entry in entries if entry.seq <= after]
        folded = self.writes.folds().folded
        reached = upto = max(after, min(after + MAX_ENTRIES_A_WALK, folded))
        again_at = self.now if upto < folded else None
        for entry in self.store.log_entries(self.memory, after, upto):
            if entry.at > self.now - age_ms:
                reached, again_at = entry.seq - 1, _next_day_start(entry.at + age_ms)
                break
            met.append(entry)
        kinds = setting.analyzer.manifest.kinds
        grown = (c.address for entry in met for c in entry.changes if c.op in ("add", "revive") and c.kind in kinds)
        return Walk(reached, [aged_grain(address) for address in dict.fromkeys(grown)], again_at)

    def groups(self) -> list[str]:
        """The sets of all namespaces."""
        return [aged_namespace(self._key(namespace)) for namespace in sorted(self.namespaces)]

    def rearrange(self, setting: Setting, groups: Iterable[str]) -> tuple[list[str], list[tuple[int, str]]]:
        """Judge the grains among the groups anew; the namespaces to look at, and when grains must be judged again."""
        groups = list(dict.fromkeys(groups))
        wanted = dict.fromkeys(group for group in groups if not is_aged_grain(group))
        again: list[tuple[int, str]] = []
        for chunk in _chunks(aged_grain_of(group) for group in groups if is_aged_grain(group)):
            moved, due = self._rearrange(setting, chunk)
            wanted |= dict.fromkeys(moved)
            again += due
        return list(wanted), again

    def _rearrange(self, setting: Setting, addresses: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
        grains = self.store.grains(self.memory, addresses, self.now)
        reads = self.store.grain_reads(self.memory, addresses) if setting.analyzer.manifest.needs else {}
        judged = {
            address: (grain, self._judge(setting, grain, reads.get(address))) for address, grain in grains.items()
        }
        moved: dict[str, None] = {}

        def plan() -> Iterator[Write]:
            moves = self._moves(setting, judged)
            moved.update(dict.fromkeys(aged_namespace(row.namespace_key) for row in moves))
            return self._written(setting, moves)

        self.writes.make(plan)
        return list(moved), [(j.again_at, address) for address, (_, j) in judged.items() if j.again_at is not None]

    def _judge(self, setting: Setting, grain: Grain, reads: ReadDays | None) -> Judgement:
        analyzer, parameters = _aging(setting), setting.parameters
        age_ms = analyzer.age_ms(parameters)
        if age_ms is None or grain.kind not in setting.analyzer.manifest.kinds or not setting.admits(grain.namespace):
            return Judgement(belongs=False, again_at=None)
        days = max(age_ms // DAY_MS, 1)
        first = days_before(utc_day(self.now), days - 1)
        recalls = reads.since(first) if reads is not None else 0
        is_old = grain.recorded_at <= self.now - age_ms
        belongs = is_old and analyzer.belongs(grain, recalls, parameters, self.now)
        instants = [at for at in (grain.valid_from, grain.valid_to) if at is not None and at > self.now]
        if recalls and reads is not None:
            instants.append(day_start_ms(min(day for day in reads.days if day >= first)) + days * DAY_MS)
        return Judgement(belongs, min(instants, default=None) if is_old else None)

    def _moves(self, setting: Setting, judged: Mapping[str, tuple[Grain, Judgement]]) -> Mapping[AgedGrain, bool]:
        """Which rows are to be put in (True) and which to be taken out."""
        wanted = {self._row(setting, grain): judgement.belongs for grain, judgement in judged.values()}
        for grain, _ in judged.values():
            wanted |= {row: False for row in self._earlier(setting, grain) if row not in wanted}
        present = self.store.aged_present(self.memory, wanted)
        return {row: belongs for row, belongs in wanted.items() if belongs != (row in present)}

    def _written(self, setting: Setting, moves: Mapping[AgedGrain, bool]) -> Iterator[Write]:
        """The writes of some moves, and of the counts they change."""
        yield from (Put(row) if belongs else Remove(row) for row, belongs in moves.items())
        by: Counter[str] = Counter()
        for row, belongs in moves.items():
            by[row.namespace_key] += 1 if belongs else -1
        if by:
            yield from self._counted(setting, by)

    def _take_out(self, setting: Setting, rows: Sequence[AgedGrain]) -> None:
        def plan() -> Iterator[Write]:
            return self._written(setting, dict.fromkeys(self.store.aged_present(self.memory, rows), False))

        self.writes.make(plan)

    def _earlier(self, setting: Setting, grain: Grain) -> Iterator[AgedGrain]:
        """Where a grain stood before it was stated anew."""
        if grain.generation > 1:
            yield from (self._row(setting, old) for old in self.store.history(self.memory, grain.address))

    def _row(self, setting: Setting, grain: Grain) -> AgedGrain:
        return AgedGrain(setting.family, self._key(grain.namespace), grain.recorded_at, grain.address)

    def _key(self, namespace: str) -> str:
        return self.addresses.short("namespace", namespace)[:_NAMESPACE_CHARS]

    def _counted(self, setting: Setting, by: Mapping[str, int]) -> Iterator[Write]:
        known = self.store.aged_counts(self.memory, setting.family, by)
        for key, difference in by.items():
            count = known.get(key, AgedCount(setting.family, key))
            counted = replace(count, count=count.count + difference, rev=count.rev + 1)
            yield Put(counted) if count.rev == 0 else Replace(counted, expected=count.rev)

    def view(self, setting: Setting, group: str) -> AgedView:
        """The oldest grains of one namespace's set. One that is gone is taken out when it is met."""
        key = aged_namespace_of(group)
        namespace = next((name for name in self.namespaces if self._key(name) == key), "")
        while True:
            rows = self.store.aged_oldest(self.memory, setting.family, key, MAX_VIEWED)
            grains = self.store.grains(self.memory, [row.address for row in rows], self.now)
            gone = [row for row in rows if row.address not in grains]
            if not gone:
                break
            self._take_out(setting, gone)
        count = self.store.aged_counts(self.memory, setting.family, [key]).get(key)
        return AgedView(group, namespace, tuple(grains[row.address] for row in rows), count.count if count else 0)


def _aging(setting: Setting) -> AgingAnalyzer:
    analyzer = setting.analyzer
    if not isinstance(analyzer, AgingAnalyzer):
        raise TypeError(f"{analyzer.manifest.id} cannot tell which grains are old")
    return analyzer


def _next_day_start(at: int) -> int:
    """The first start of a UTC day at or after an instant: one pass a day is enough for what counts in days."""
    return -(-at // DAY_MS) * DAY_MS


def _chunks(addresses: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(addresses, _CHUNK)):
        yield chunk
