"""What the machine itself is called in addresses."""

from __future__ import annotations

#: Hosts that plain HTTP may go to: nothing of it leaves the machine.
THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})
