"""All orders in which the calls of some actors can come, but one of those that make no difference.

Two calls that follow each other commute when neither writes what the other touches. Of the orders that arise from each
other by exchanging such neighbours one is run: an actor sleeps as long as it would only do later what it did, in an
order that was run before, earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.faults.interleaving import Actor, Interleaving, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.faults.calls import Call


@dataclass(frozen=True, slots=True)
class Order:
    """How a run begins: whose call comes first, second ...; and who sleeps when the last of them is done."""

    names: tuple[str, ...] = ()
    asleep: frozenset[str] = frozenset()


def commute(one: Call, other: Call) -> bool:
    """Whether two calls have the same effect and the same answers in either order."""
    if not (one.writes or other.writes):
        return True
    if one.keys and other.keys:
        return not set(one.keys) & set(other.keys)
    return not _partitions(one) & _partitions(other)


class _KnownError(Exception):
    """Everybody sleeps: what is left was run before."""


class Ordered(Interleaving):
    """Runs its actors as an order begins, and then on; ``others`` are the orders to run as well.

    Args:
        clients: every client the actors use.
        order: how the run begins.
        commuting: tells of two calls whether their order makes no difference.

    ``is_known`` says that what came after the beginning was run before, in another order.
    """

    def __init__(self, *clients: Any, order: Order, commuting: Callable[[Call, Call], bool] = commute) -> None:
        self.others: list[Order] = []
        self.is_known = False
        self._begins = list(order.names)
        self._asleep = set(order.asleep)
        self._commuting = commuting
        self._taken: list[str] = []
        super().__init__(*clients)

    def run(self) -> dict[str, Outcome]:
        """As every interleaving; what is known is not run to its end."""
        try:
            return super().run()
        except _KnownError:
            self.is_known = True
            return self.outcomes

    def _pick(self, ready: list[Actor]) -> Actor:
        starting = [actor for actor in ready if actor.pending is None]
        if starting:
            return starting[0]
        begins = len(self._begins)
        chosen = self._given(ready) if begins else self._first(ready)
        self._taken.append(chosen.outcome.name)
        if begins <= 1:
            self._asleep = {name for name in self._asleep if self._sleeps_on(name, chosen)}
        return chosen

    def _given(self, ready: list[Actor]) -> Actor:
        wanted = self._begins.pop(0)
        [chosen] = [actor for actor in ready if actor.outcome.name == wanted]
        return chosen

    def _first(self, ready: list[Actor]) -> Actor:
        awake = [actor for actor in ready if actor.outcome.name not in self._asleep]
        if not awake:
            raise _KnownError
        earlier = {awake[0].outcome.name}
        for actor in awake[1:]:
            self.others.append(Order((*self._taken, actor.outcome.name), frozenset(self._asleep | earlier)))
            earlier.add(actor.outcome.name)
        return awake[0]

    def _sleeps_on(self, name: str, chosen: Actor) -> bool:
        sleeper, call = self._actors[name].pending, chosen.pending
        return sleeper is not None and call is not None and self._commuting(sleeper, call)


def every_order(run: Callable[[Order], Ordered]) -> Iterator[tuple[str, ...]]:
    """Run in one order after the other until there is none left, those that differ early first; each as the names of
    those who called.

    Args:
        run: runs the same actors from the same start in an order.
    """
    left = [Order()]
    while left:
        done = run(left.pop(0))
        left += done.others
        if not done.is_known:
            yield tuple(call.process for call in done.trace)


def _partitions(call: Call) -> frozenset[Any]:
    """The partitions a call is about; of a query everything that may be one."""
    values = call.params.get("ExpressionAttributeValues", {}).values()
    return frozenset(key[0] for key in call.keys) or frozenset(text for value in values for text in value.values())
