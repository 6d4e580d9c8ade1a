"""What a pass writes to its own sets and indexes: on condition that it still has its lease, and as often as it takes.

Nobody but a pass writes there. So a refusal means that another pass has taken over, or that a request which seemed lost
was carried out after all: then what is left to write is planned anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from provenloop.domain.commit import PassHead
from provenloop.domain.errors import BusyError
from provenloop.domain.names import MemoryId
from provenloop.services.lease import LeaseLostError
from provenloop.services.ports import Require, Store, Write, WriteRefusedError

_WRITES_AT_ONCE = 90
_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class PassWrites:
    """Writes of one pass at time ``now`` (epoch ms).

    Args:
        folds: gives the pass's head as it is now; every write requires its revision.
    """

    store: Store
    memory: MemoryId
    now: int
    folds: Callable[[], PassHead]

    def make(self, plan: Callable[[], Iterable[Write]]) -> None:
        """Make the planned writes, in order, up to 90 at once; plan them anew where some were made already.

        Raises:
            LeaseLostError: another pass took over.
            BusyError: they kept being refused.
        """
        for _ in range(_MAX_ROUNDS):
            writes = list(plan())
            try:
                for start in range(0, len(writes), _WRITES_AT_ONCE):
                    self._send(writes[start : start + _WRITES_AT_ONCE])
            except WriteRefusedError as refused:
                if any(isinstance(failure.write, Require) for failure in refused.failures):
                    raise LeaseLostError from refused
            else:
                return
        raise BusyError("what a pass keeps for itself keeps moving")

    def _send(self, writes: list[Write]) -> None:
        head = self.folds()
        self.store.transact(self.memory, [Require(head, expected=head.rev), *writes], self.now)
