"""What the client raises: one class, with the service's own code wherever the service answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: No answer came: the address is wrong, the service is down, or the connection broke.
UNREACHABLE = "unreachable"
#: What answered was not the service: a proxy, another program.
NOT_THE_SERVICE = "not_the_service"
#: The client itself cannot be used so: no memory named, a token that no header can hold.
MISUSED = "misused"
#: The background has as many events waiting as it may hold.
TOO_MANY_WAITING = "too_many_waiting"


class ProvenloopError(Exception):
    """A call that did not succeed.

    Attributes:
        status: HTTP status of the answer; None where none came.
        code: the service's stable code, such as ``PVL-E011``, or one of this module.
        detail: the rule that was broken.
        field: the field at fault, such as ``events[3].object``; None where it is none.
        unsent: events that the service does not have and the client no longer holds.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        status: int | None = None,
        field: str | None = None,
        unsent: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        at = f" ({field})" if field else ""
        lost = f"; {len(unsent)} events were not sent" if unsent else ""
        super().__init__(f"{code}{at}: {detail}{lost}")
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.unsent = tuple(unsent)

    def problem(self) -> dict[str, Any]:
        """The same as a JSON object, with the names of the service's problem details."""
        told = {"status": self.status, "code": self.code, "detail": self.detail}
        return told if self.field is None else {**told, "field": self.field}
