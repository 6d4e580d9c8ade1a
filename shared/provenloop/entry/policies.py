"""The host policy in this process: read when first needed, and again a minute later.

A policy that does not hold is logged and counted at every reading, so that an alarm can stand on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenloop.domain.policy import HostPolicy
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.services.policy import load_policy, told
from provenloop.services.ports import PolicySource

CACHE_MS = 60_000


class Policies:
    """Gives the policy in force.

    Args:
        source: where it is; None where the installation has none.
        cache_ms: how long one reading holds.
        is_local: whether this is a local stack, where external analyzers may be commands.
        commands: gives those that it was begun with.
    """

    def __init__(
        self,
        source: PolicySource | None,
        *,
        cache_ms: int = CACHE_MS,
        is_local: bool = False,
        commands: Callable[[], Sequence[RegisteredAnalyzer]] = tuple,
    ) -> None:
        self._source = source
        self._cache_ms = cache_ms
        self._is_local = is_local
        self._commands = commands
        self._current = HostPolicy()
        self._read_at: int | None = None

    def current(self, now: int) -> HostPolicy:
        """The policy in force at ``now`` (epoch ms). A clock that was stepped back makes no reading younger."""
        if self._read_at is not None and (self._source is None or 0 <= now - self._read_at < self._cache_ms):
            return self._current
        commands = self._commands()
        self._current = load_policy(self._source, self._current, is_local=self._is_local, commands=commands)
        self._read_at = now
        if self._current.faults:
            _say(self._current)
        return self._current


def _say(host: HostPolicy) -> None:
    # Logs go where the function's environment says, which is not known yet when a local stack imports this.
    from provenloop.entry.telemetry import count, log_warning

    count("PolicyFaults", len(host.faults))
    log_warning("the host policy does not hold", **told(host))
