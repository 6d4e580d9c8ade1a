"""Names of tenants, memories and namespaces, and the pair that addresses one memory."""

from __future__ import annotations

import re
from typing import NamedTuple

from provenloop.domain.errors import InvalidInputError

_NAME = re.compile(r"[a-z0-9._-]{1,64}\Z")
MAX_NAMESPACE_CHARS = 64
DEFAULT_NAMESPACE = "shared"


class MemoryId(NamedTuple):
    """One memory of one tenant: the unit of learning and of erasure."""

    tenant: str
    name: str

    @property
    def is_tenant(self) -> bool:
        """Whether it stands for the tenant itself, see :func:`tenant_itself`."""
        return not self.name


def tenant_itself(tenant: str) -> MemoryId:
    """Where things stand that belong to a tenant and to none of its memories: no memory has an empty name."""
    return MemoryId(tenant, "")


def require_name(value: str, *, field: str) -> str:
    """A tenant's or memory's name as it is, or a refusal.

    Raises:
        InvalidInputError: it is not 1 to 64 characters of ``a-z 0-9 . _ -``.
    """
    if not _NAME.match(value):
        raise InvalidInputError("1 to 64 characters out of a-z, 0-9, '.', '_' and '-'", field=field)
    return value
