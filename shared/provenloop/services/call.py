"""One request as the use cases see it: who calls, about which memory, when."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal, Scope, require_memory, require_scope
from provenloop.services.ports import Entropy


def never_spent() -> bool:
    """Whether time is spent of work that has no limit of time."""
    return False


@dataclass(frozen=True, slots=True)
class Call:
    """A verified caller's request.

    ``request_id`` is the transport's; ``idempotency_key`` the caller's own, if any; ``body_digest`` names the body
    (SHA-256 of its canonical JSON). ``now`` is epoch ms; ``entropy(n)`` gives n random bytes.
    """

    principal: Principal
    memory: MemoryId
    now: int
    request_id: str
    idempotency_key: str | None
    entropy: Entropy
    body_digest: str = ""

    def require(self, scope: Scope) -> None:
        """Refuse unless the principal may use the memory and holds the scope.

        Raises:
            ScopeDeniedError: it may not.
        """
        require_memory(self.principal, self.memory.name)
        require_scope(self.principal, scope)
