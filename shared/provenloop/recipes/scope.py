"""The scope in which a recipe answers, as a part of its key: nothing is found outside it, however similar.

An ``answer`` is shared by all who ask its agent, so it needs the agent. A ``procedure`` depends on a state, of which
the opening sentence says nothing, so it needs the state's hash. Neither is ever filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import InvalidInputError
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import DIGEST_CHARS, RecipeKind, RecipeScope

MAX_PART_CHARS = 256
PARTS: tuple[str, ...] = tuple(field.name for field in fields(RecipeScope))


def parse_scope(given: Mapping[str, object] | None, *, field: str = "scope") -> RecipeScope:
    """The scope that a caller declares; at least the agent or the state's hash.

    Raises:
        InvalidInputError: it is missing or empty, names an unknown part, or a part is no text of 1 to 256 characters.
    """
    if not given:
        raise InvalidInputError("say in which scope: a recipe answers only inside its own", field=field)
    for part, value in given.items():
        if part not in PARTS:
            raise InvalidInputError(f"a scope has {', '.join(PARTS)}", field=f"{field}.{part}")
        if value is not None and not _is_part(value):
            raise InvalidInputError(f"a text of 1 to {MAX_PART_CHARS} characters", field=f"{field}.{part}")
    scope = RecipeScope(**{part: str(value) for part, value in given.items() if value is not None})
    if scope.agent is None and scope.state_hash is None:
        raise InvalidInputError("name the agent, or the hash of the state", field=field)
    return scope


def require_scope_of(kind: RecipeKind, scope: RecipeScope, *, field: str = "scope") -> None:
    """Refuse a recipe whose scope says too little for its kind.

    Raises:
        InvalidInputError: an answer without its agent, or a procedure without the hash of its state.
    """
    if kind == "answer" and scope.agent is None:
        raise InvalidInputError("an answer is kept for one agent: name it", field=f"{field}.agent")
    if kind == "procedure" and scope.state_hash is None:
        raise InvalidInputError("a procedure is kept for one state: give its hash", field=f"{field}.state_hash")


def scope_key(memory: MemoryId, scope: RecipeScope) -> str:
    """32 hex digits that stand for tenant, memory and every part of the scope; a part not given differs from all."""
    parts = [memory.tenant, memory.name, *(getattr(scope, part) for part in PARTS)]
    return sha256_hex(canonical_json(parts))[:DIGEST_CHARS]


def _is_part(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_PART_CHARS and bool(value.strip()) and value.isprintable()
