"""Drives one scenario through the HTTP API, step by step, and says what was answered in the words of a recording."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenloop.entry.local.stack import LocalStack
from tests.parity.runner.api import Asker, MemoryApi
from tests.parity.runner.events import DEFAULT_NAMESPACE, WireEvent, identity, namespace_of
from tests.parity.runner.scenarios import Scenario, Step
from tests.parity.runner.served import NotServedError, Served
from tests.parity.runner.timeline import earliest, instants

Said = dict[str, Any]
_HOUR_MS = 3_600_000


class NoGrainError(Exception):
    """A step is about a grain that was never written."""


@dataclass(frozen=True)
class Labelled:
    """A grain that a scenario gave a name."""

    address: str
    kind: str
    namespace: str
    identity: tuple[str, ...] | None = None


@dataclass
class Drive:
    """Where a scenario stands.

    Attributes:
        who: acts now.
        ns: where steps that name no namespace write and read.
        grains: by label.
        names: of recommendations (``r1``, ``r2``), by id.
        grants: scopes of principals that were granted any.
        facts: how many facts were written.
        spelt: how often each fact was written.
        policy: the host's, but for passes that bring one of their own.
    """

    api: MemoryApi
    served: Served
    scenario: Scenario
    times: tuple[tuple[int, ...], ...]
    who: Asker = field(default_factory=Asker)
    ns: str = DEFAULT_NAMESPACE
    grains: dict[str, Labelled] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    grants: dict[str, set[str]] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    facts: int = 0
    plain: int = 0
    spelt: dict[tuple[str, ...], int] = field(default_factory=dict)
    policy: str = "{}"

    def watch(self, telemetry: str | None, at: int) -> None:
        """Let the host's policy say how telemetry is kept."""
        self.policy = json.dumps({"telemetry": telemetry} if telemetry else {})
        self.api.govern(self.policy, at, self.who)

    @property
    def labels(self) -> dict[str, str]:
        """Labels by address; a grain that was restated under another label keeps its first."""
        return {grain.address: label for label, grain in reversed(self.grains.items())}

    def namespace(self, step: Mapping[str, Any]) -> str:
        """Our spelling of the step's namespace."""
        given = str(step.get("ns") or self.ns)
        ours = namespace_of(given)
        if ours != given:
            self.namespaces[ours] = given
        return ours

    def label(self, step: Mapping[str, Any], number: int, address: str, event: WireEvent) -> str:
        """Give a grain its label; what was stored before keeps the one it has."""
        known = self.labels.get(address)
        if known is not None:
            return known
        if step.get("id") is None:
            self.plain += 1
            name = f"g{self.plain}"
        else:
            name = f"{step['id']}.{number}" if step.get("repeat", 1) > 1 else str(step["id"])
        self.grains[name] = Labelled(address, event["kind"], event["namespace"], identity(event))
        return name

    def grain(self, label: str) -> Labelled:
        """The grain with this label; ``id`` of a repeated step stands for its first.

        Raises:
            NoGrainError: what was to have the label was refused.
        """
        found = self.grains.get(label) or self.grains.get(f"{label}.0")
        if found is None:
            raise NoGrainError(label)
        return found

    def next_run_at(self, number: int) -> int | None:
        """When the next pass after a step runs."""
        later = (self.times[n][0] for n, step in _from(self.scenario, number) if step["op"] == "run")
        return next(later, None)


Operation = Callable[[Drive, int, Step], Said | None]


def play(stack: LocalStack, scenario: Scenario, served: Served, operations: Mapping[str, Operation]) -> dict[int, Said]:
    """What our system answers at each step, by the number of the step.

    Raises:
        NotServedError: a step needs what is not built yet.
    """
    times = instants(scenario.steps)
    api = MemoryApi(stack, scenario.name, served)
    stack.reset()
    # Telemetry starts with the memory; an hour earlier than the first act it has watched all of the scenario.
    api.make(earliest(times) - _HOUR_MS)
    drive = Drive(api, served, scenario, times)
    drive.watch(scenario.opened.get("telemetry"), earliest(times) - _HOUR_MS)
    said: dict[int, Said] = {}
    for number, step in enumerate(scenario.steps):
        if step["op"] not in operations:
            raise NotServedError(f"step {step['op']}")
        try:
            answer = operations[step["op"]](drive, number, step)
        except NoGrainError:
            answer = {"error": "no such grain"}
        if answer is not None:
            said[number] = answer
    return said


def _from(scenario: Scenario, number: int) -> Iterator[tuple[int, Step]]:
    yield from ((n, scenario.steps[n]) for n in range(number, len(scenario.steps)))
