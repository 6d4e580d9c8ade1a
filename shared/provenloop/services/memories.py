"""Memories: made explicitly, so that a misspelt name is a 404 and never a second memory."""

from __future__ import annotations

from provenloop.domain.commit import Heads
from provenloop.domain.errors import MemoryErasedError, NotFoundError
from provenloop.domain.names import DEFAULT_NAMESPACE, MemoryId, require_name
from provenloop.domain.principal import Principal, require_scope
from provenloop.domain.records import MemoryRecord
from provenloop.services.call import Call
from provenloop.services.ports import Store
from provenloop.services.tenant_trail import memory_chain, step

KEY_BYTES = 32


def create_memory(store: Store, call: Call) -> tuple[bool, MemoryRecord]:
    """Make the memory unless it is there; (whether it was made now, its record).

    Raises:
        InvalidInputError: the name is not allowed.
        ScopeDeniedError: the principal lacks admin, or may not use a memory of that name.
        MemoryErasedError: there was one of that name, and it was erased.
    """
    call.require("admin")
    require_name(call.memory.name, field="memory")
    record = MemoryRecord(call.memory.name, call.now, call.principal.label)
    told = step(memory_chain(record.name), None, "created", call.principal, call.now, {})
    if store.create_memory(call.memory, record, call.entropy(KEY_BYTES), told):
        return True, record
    known = {row.name: row for row in store.memories(call.memory.tenant)}
    found = known.get(call.memory.name, record)
    if found.erased_at is not None:
        raise MemoryErasedError("a memory of that name was erased; take another name", field="memory")
    return False, found


def list_memories(store: Store, principal: Principal) -> tuple[MemoryRecord, ...]:
    """The tenant's memories that the principal may use, by name.

    Raises:
        ScopeDeniedError: the principal lacks admin.
    """
    require_scope(principal, "admin")
    there = (record for record in store.memories(principal.tenant) if record.erased_at is None)
    return tuple(record for record in there if principal.may_use(record.name))


def require_heads(store: Store, memory: MemoryId) -> Heads:
    """The heads of a memory that must exist.

    Raises:
        NotFoundError: it does not.
    """
    heads = store.heads(memory)
    if heads is None:
        raise unknown_memory()
    return heads


def require_namespace(heads: Heads, namespace: str) -> None:
    """Refuse a namespace that nothing was ever written into; ``shared`` is always there.

    Raises:
        NotFoundError: there is no such namespace.
    """
    if namespace != DEFAULT_NAMESPACE and namespace not in heads.log.namespaces:
        raise NotFoundError("no such namespace", field="namespace")


def unknown_memory() -> NotFoundError:
    """The error for a memory that was never made."""
    return NotFoundError("no such memory; PUT /v1/memories/{memory} makes one", field="memory")
