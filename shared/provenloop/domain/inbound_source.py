"""Sources of events that come without HTTP: who each of them is, as an operator wrote it down.

Whoever may send under a source's name is decided by the rights to the bus and to the prefix of the bucket. Nothing that
an event or a file says of itself changes which tenant, which memories or which principal it is taken for.

Invariants: a source may write and nothing else; its label begins with ``inbound:``, and no token can be labelled so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from provenloop.domain.errors import InternalError, LoopError, ScopeDeniedError
from provenloop.domain.memory_glob import require_glob
from provenloop.domain.names import require_name
from provenloop.domain.principal import Principal, PrincipalKind, is_reserved

LABEL_PREFIX = "inbound:"
MAX_LABEL_CHARS = 64
MAX_SOURCES = 100
#: A person is who says so, which no bus and no file can.
KINDS = tuple(kind for kind in get_args(PrincipalKind) if kind != "human")
_NEEDED = frozenset({"name", "tenant", "memories"})
_KNOWN = _NEEDED | {"kind", "label"}


@dataclass(frozen=True, slots=True)
class InboundSource:
    """One source: the tenant and the memories (a glob) it writes into, and who the audit trail says it is."""

    name: str
    tenant: str
    memories: str
    kind: PrincipalKind
    label: str

    @property
    def only_memory(self) -> str | None:
        """The one memory it writes into, where its glob is a plain name."""
        return None if set(self.memories) & {"*", "?"} else self.memories

    @property
    def principal(self) -> Principal:
        """Who writes what comes from here."""
        known_as = f"{LABEL_PREFIX}{self.name}"
        return Principal(
            id=known_as,
            label=self.label,
            kind=self.kind,
            tenant=self.tenant,
            memories=self.memories,
            scopes=frozenset({"write"}),
            token_id=known_as,
            lineage=(known_as,),
        )


def read_sources(text: str) -> Mapping[str, InboundSource]:
    """The table an operator wrote, as a JSON list of objects; the sources by their names. Empty text has none.

    Raises:
        InternalError: it is not one; the message says where.
    """
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        raise _fault("not JSON") from None
    if not isinstance(rows, list) or len(rows) > MAX_SOURCES:
        raise _fault(f"not a list of at most {MAX_SOURCES} rows")
    sources = [_source(number, row) for number, row in enumerate(rows, 1)]
    found = {source.name: source for source in sources}
    if len(found) != len(sources):
        raise _fault("a name stands twice")
    return found


def source_named(sources: Mapping[str, InboundSource], name: str) -> InboundSource:
    """The source of that name.

    Raises:
        ScopeDeniedError: there is none.
    """
    found = sources.get(name)
    if found is None:
        raise ScopeDeniedError("there is no source of that name", field="source")
    return found


def _source(number: int, row: Any) -> InboundSource:
    if not isinstance(row, dict) or not _NEEDED <= row.keys() <= _KNOWN:
        raise _fault(f"row {number} has not the members {', '.join(sorted(_NEEDED))}, and kind and label if wanted")
    if not all(isinstance(value, str) and value for value in row.values()):
        raise _fault(f"row {number}: all members must be texts")
    kind = row.get("kind", "service")
    if kind not in KINDS:
        raise _fault(f"row {number}, kind: one of {', '.join(KINDS)}")
    try:
        require_glob(row["memories"], field="memories")
        names = {name: require_name(row[name], field=name) for name in ("name", "tenant")}
    except LoopError as error:
        raise _fault(f"row {number}, {error.field}: {error.message}") from error
    return InboundSource(**names, memories=row["memories"], kind=kind, label=_label(number, row))


def _label(number: int, row: Mapping[str, str]) -> str:
    own = row.get("label", row["name"])
    label = f"{LABEL_PREFIX}{own}"
    if is_reserved(own) or not own.isprintable() or own != own.strip() or len(label) > MAX_LABEL_CHARS:
        raise _fault(f"row {number}, label: one line of at most {MAX_LABEL_CHARS - len(LABEL_PREFIX)} characters, "
                     "and none that is reserved")  # fmt: skip
    return label


def _fault(reason: str) -> InternalError:
    return InternalError(f"the table of inbound sources: {reason}")
