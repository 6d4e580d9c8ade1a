"""Proposals: the concrete change inside a recommendation, as operations that name grains.

Stored proposals and summaries hold references into grains instead of their text (``TextRef``). The text is joined when
it is read or applied, so one tombstone hides a forgotten text everywhere at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal

from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import AnalyzerError

OperationName = Literal["ADD", "SUPERSEDE", "POINT", "FORGET", "MERGE"]
DESTRUCTIVE_OPERATIONS: frozenset[str] = frozenset({"FORGET"})
#: An apply and its undo each fit into one transaction, whatever else belongs to it.
MAX_OPERATIONS = 80
#: The undo of a merge also gives the kept grain's earlier version back, which takes the room of two.
MAX_MERGES = MAX_OPERATIONS - 2
#: Whether each operation has a target, a grain that it is pointed at, and a fact.
_NEEDED: Mapping[OperationName, tuple[bool, bool, bool]] = {
    "ADD": (False, False, True),
    "SUPERSEDE": (True, False, True),
    "POINT": (True, True, False),
    "MERGE": (True, True, False),
    "FORGET": (True, False, False),
}
FORGOTTEN_TEXT = "[forgotten]"


@dataclass(frozen=True, slots=True)
class TextRef:
    """A text that lives in a grain's body: the grain's address and the body's field."""

    grain: str
    field: str


Text = str | TextRef
Resolve = Callable[[TextRef], str]


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact that an ADD creates."""

    namespace: str
    subject: Text
    relation: Text
    object: Text
    confidence: float


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a proposal.

    ``target`` is the grain that changes, ``into`` the one it is pointed at. ``expects`` maps each grain that must be
    unchanged (target and into) to the ``head_rev`` it had when the proposal was made.
    """

    op: OperationName
    target: str | None = None
    into: str | None = None
    fact: NewFact | None = None
    expects: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What applying would do: operations, or advice that only the host can follow, or a revert of an earlier apply."""

    operations: tuple[Operation, ...] = ()
    advice: Mapping[str, str | int | float | TextRef] | None = None
    revert_of: str | None = None

    @property
    def is_destructive(self) -> bool:
        """Whether applying removes content for good."""
        return any(operation.op in DESTRUCTIVE_OPERATIONS for operation in self.operations)

    @property
    def is_rollbackable(self) -> bool:
        """Whether an exact inverse exists."""
        return bool(self.operations) and not self.is_destructive

    @property
    def is_applicable(self) -> bool:
        """Whether there is anything to apply: advice can only be acknowledged."""
        return bool(self.operations) or self.revert_of is not None


def require_sound_proposal(proposal: Proposal) -> None:
    """Refuse a proposal that is more than one thing, or whose apply or undo would not fit into one transaction, or an
    operation that does not say what it needs.

    Raises:
        AnalyzerError: which a pass reports, and stores nothing of.
    """
    operations = proposal.operations
    kinds = (bool(operations), proposal.advice is not None, proposal.revert_of is not None)
    if kinds.count(True) != 1:
        raise AnalyzerError("a proposal is operations, or advice, or a revert")
    merges = sum(operation.op == "MERGE" for operation in operations)
    if len(operations) > MAX_OPERATIONS or merges > MAX_MERGES:
        raise AnalyzerError(f"a proposal has at most {MAX_OPERATIONS} operations, and {MAX_MERGES} merges")
    if not all(map(_is_sound, operations)):
        raise AnalyzerError("an operation does not name what it changes")


def _is_sound(operation: Operation) -> bool:
    """Whether it names the grains and the fact that its kind needs, no others, and what it expects of each grain."""
    grains = {grain for grain in (operation.target, operation.into) if grain is not None}
    needed = _NEEDED[operation.op]
    given = (operation.target is not None, operation.into is not None, operation.fact is not None)
    return given == needed and len(grains) == sum(needed[:2]) and grains <= set(operation.expects)


def digest_of(proposal: Proposal) -> str:
    """64 hex digits that name exactly this proposal; a decision may quote it. Of advice they name what it says, not its
    figures: nothing is carried out by those, and they move with every piece of evidence.
    """
    return sha256(canonical_json(_with_lasting_advice(asdict(proposal))).encode()).hexdigest()


def shape_of(proposal: Proposal) -> str:
    """The proposal without what moves with every piece of evidence: a lesson's confidence, and which of several
    grains that say the same its texts are joined from.
    """
    plain = _with_lasting_advice(asdict(proposal))
    for operation in plain["operations"]:
        fact = operation["fact"]
        if fact:
            del fact["confidence"]
            fact |= {name: {"field": text["field"]} for name, text in fact.items() if isinstance(text, dict)}
    return canonical_json(plain)


def _with_lasting_advice(plain: dict[str, Any]) -> dict[str, Any]:
    """A proposal's fields, where those of advice keep their names and texts, but no numbers, and no grains that texts
    are joined from.
    """
    if plain["advice"] is not None:
        plain["advice"] = {name: _lasting(value) for name, value in plain["advice"].items()}
    return plain


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {"field": value["field"]}
    return value if isinstance(value, str) else None


def refs_in(*texts: Text) -> Iterator[TextRef]:
    """The references among texts."""
    return (text for text in texts if isinstance(text, TextRef))


def refs_of(proposal: Proposal) -> Iterator[TextRef]:
    """Every reference a proposal holds."""
    yield from (value for value in (proposal.advice or {}).values() if isinstance(value, TextRef))
    for operation in proposal.operations:
        if operation.fact:
            yield from refs_in(operation.fact.subject, operation.fact.relation, operation.fact.object)


def plain(text: Text, resolve: Resolve) -> str:
    """The text itself."""
    return resolve(text) if isinstance(text, TextRef) else text
