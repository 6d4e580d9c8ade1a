"""Several actors run in one thread in a given order, switching at their AWS calls.

Each actor is a greenlet. Ahead of every AWS call it hands control back, so one step of an actor is: do the call it
stands before, then run on until it stands before the next one. Nothing else of an actor can be seen from outside,
therefore the schedules of steps are all the interleavings there are, and the same schedule gives the same run.

An actor may die where it stands (``crash_at``), or stay there (``freeze_at``) like a function that was suspended with
a number in its hands: for good, or until ``resume()`` and another ``run()``.
"""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from greenlet import GreenletExit, getcurrent, greenlet

from tests.faults.calls import Call, describe, process_name
from tests.faults.hooks import ClientHooks, Exchange, Reply
from tests.faults.plan import Crash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

State = Literal["ready", "frozen", "done", "raised", "crashed"]


@dataclass(slots=True)
class Outcome:
    """How far an actor came: ``value`` if it is done, ``error`` if it raised; ``calls`` it has done."""

    name: str
    state: State = "ready"
    value: Any = None
    error: Exception | None = None
    calls: int = 0

    def result(self) -> Any:
        """What the actor returned; raises what it raised, and ``AssertionError`` if it never ended."""
        if self.error is not None:
            raise self.error
        if self.state != "done":
            raise AssertionError(f"{self.name} is {self.state} after {self.calls} calls")
        return self.value


class Actor:
    """One actor and where it stands."""

    def __init__(self, name: str, work: Callable[[], object], crash_at: int | None, freeze_at: int | None) -> None:
        self.outcome = Outcome(name)
        self.crash_at = crash_at
        self.freeze_at = freeze_at
        self.dying = False
        self.reached = 0
        #: The call it stands before; None until it has come to the first.
        self.pending: Call | None = None
        self.home = getcurrent()
        self._work = work
        self.greenlet = greenlet(self._live)
        # A greenlet starts with an empty context; the actor shall see what its creator measures or pins.
        self.greenlet.gr_context = copy_context()

    def _live(self) -> None:
        process_name.set(self.outcome.name)
        try:
            self.outcome.value = self._work()
            self.outcome.state = "done"
        except Exception as error:  # noqa: BLE001  whatever it is, it is the outcome
            self.outcome.error = error
            self.outcome.state = "raised"
        except (Crash, GreenletExit):
            self.outcome.state = "crashed"

    def arrive(self, call: Call) -> None:
        """The actor stands before its next call."""
        self.reached += 1
        self.pending = call
        if self.reached == self.freeze_at:
            self.outcome.state = "frozen"

    def go_on(self) -> None:
        """One step, or death if that is due here."""
        self._come_from(getcurrent())
        if self.reached > 0 and self.reached == self.crash_at:
            self.die()
        else:
            self.greenlet.switch()

    def _come_from(self, home: greenlet) -> None:
        """Whoever runs the actor gets control back at its calls, and what ends it."""
        self.home = self.greenlet.parent = home

    def die(self) -> None:
        """End the actor where it stands; its ``finally`` blocks run and can call nothing."""
        self.dying = True
        if not self.greenlet:  # not started: throwing would end in the thrower
            self.outcome.state = "crashed"
            return
        self._come_from(getcurrent())
        self.greenlet.throw(Crash(f"{self.outcome.name} died before its call {self.reached}"))


class Interleaving(ClientHooks):
    """Runs actors step by step.

    Args:
        clients: every client the actors use.
        schedule: for each step a number; modulo the actors that are ready, in order of their making, it picks one.
            When the numbers are used up the actors take turns.
        max_steps: more steps than this in one ``run()`` are taken for a livelock (``AssertionError``).
    """

    before_first: ClassVar[bool] = True

    def __init__(self, *clients: Any, schedule: Sequence[int] = (), max_steps: int = 10_000) -> None:
        self.trace: list[Call] = []
        self._schedule = list(schedule)
        self._max_steps = max_steps
        self._actors: dict[str, Actor] = {}
        self._running: Actor | None = None
        self._last = -1
        super().__init__(*clients)

    def actor(
        self, name: str, work: Callable[[], object], *, crash_at: int | None = None, freeze_at: int | None = None
    ) -> None:
        """Add an actor; ``crash_at`` and ``freeze_at`` are numbers of its calls, from 1, that it does not get to do."""
        if name in self._actors:
            raise ValueError(f"two actors named {name}")
        self._actors[name] = Actor(name, work, crash_at, freeze_at)

    def run(self) -> dict[str, Outcome]:
        """Step until no actor is ready, and give all outcomes by name."""
        for _ in range(self._max_steps):
            ready = [actor for actor in self._actors.values() if actor.outcome.state == "ready"]
            if not ready:
                return self.outcomes
            self._step(self._pick(ready))
        raise AssertionError(f"no end after {self._max_steps} steps:\n{self.story()}")

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Outcomes by actor name, as they stand."""
        return {name: actor.outcome for name, actor in self._actors.items()}

    def resume(self, name: str) -> None:
        """Let a frozen actor take part in the next ``run()``."""
        actor = self._actors[name]
        if actor.outcome.state != "frozen":
            raise ValueError(f"{name} is {actor.outcome.state}, not frozen")
        actor.outcome.state = "ready"

    def story(self) -> str:
        """The calls in the order they were done, for the message of a failing test."""
        return "\n".join(map(str, self.trace))

    def remove(self) -> None:
        """End the actors that still stand somewhere, and take the handlers off."""
        for actor in self._actors.values():
            if actor.outcome.state in ("ready", "frozen"):
                actor.die()
        super().remove()

    def before_call(self, exchange: Exchange) -> Reply | None:
        """Where an actor hands control back until its next step."""
        self._refuse_the_dead()
        actor = self._running
        if actor is None or getcurrent() is not actor.greenlet:
            return None
        actor.arrive(describe(len(self.trace) + 1, exchange.operation, exchange.params))
        actor.home.switch()
        actor.outcome.calls += 1
        self.trace.append(describe(len(self.trace) + 1, exchange.operation, exchange.params))
        return None

    def _refuse_the_dead(self) -> None:
        actor = self._actors.get(process_name.get())
        if actor is not None and actor.dying:
            raise Crash(f"{actor.outcome.name} is dead")

    def _step(self, actor: Actor) -> None:
        self._running = actor
        try:
            actor.go_on()
        finally:
            self._running = None

    def _pick(self, ready: list[Actor]) -> Actor:
        if self._schedule:
            return ready[self._schedule.pop(0) % len(ready)]
        self._last += 1
        return ready[self._last % len(ready)]
