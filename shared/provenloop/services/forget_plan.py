"""What forgetting has to erase: the grains, their earlier versions, and questions and reasons that repeat them.

What outside analyzers said goes where it rests on one of the grains, or repeats it. Everything else that is derived
(recommendations, rollups, run outcomes, replays, inverses, log, audit) holds addresses, digests and figures only, and
joins texts when it is read: a tombstone hides them everywhere at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from provenloop.analyzers.tool_failure import LESSON_RELATION
from provenloop.domain.address import Addresses
from provenloop.domain.audit import ChainEnd, new_chain
from provenloop.domain.errors import InvalidInputError, NotFoundError, TooLargeError
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.text import normalise
from provenloop.services.call import Call
from provenloop.services.change_set import LESSON_SOURCE
from provenloop.services.erasing import Erasures, erasures_of
from provenloop.services.grain_read import require_grain
from provenloop.services.memories import require_heads, require_namespace
from provenloop.services.ports import Store

MAX_GRAINS = 50
#: Kinds with a topic, and the field of their bodies that holds it.
TOPIC_FIELDS: Mapping[str, str] = {"fact": "subject", "tool_call": "tool", "skill": "name", "goal": "name"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall be forgotten: one grain, or all that is held about a subject of a namespace."""

    address: str | None = None
    namespace: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be erased now.

    ``end`` is where the audit chain ends. ``with_them`` is also of grains that are forgotten
    already. ``lessons`` are facts of their own that repeat a call's error; they stay until they are forgotten.
    """

    end: ChainEnd
    grains: tuple[Grain, ...]
    with_them: Erasures
    lessons: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all of it was forgotten already, but for what an interrupted request may have left."""
        return not self.grains and not self.with_them.questions


class TooManyGrainsError(TooLargeError):
    """More grains are held about a subject than one transaction forgets; ``chain`` names its audit chain."""

    def __init__(self, count: int, chain: str) -> None:
        super().__init__(
            f"{count} grains are held about that and {MAX_GRAINS} can be forgotten at once; name them one by one",
            field="subject",
        )
        self.chain = chain


def plan_of(store: Store, call: Call, wanted: Wanted, *, however_many: bool = False) -> Plan:
    """Look for everything that has to be erased.

    Args:
        however_many: also of more grains than one transaction forgets.

    Raises:
        InvalidInputError: neither one grain nor a subject of a namespace is named.
        NotFoundError: no such memory, namespace, grain or subject.
        TooManyGrainsError: over 50 grains.
    """
    chain, found = _found(store, call, wanted)
    grains = tuple(grain for grain in found if grain.state != "forgotten")
    if not however_many and len(grains) > MAX_GRAINS:
        raise TooManyGrainsError(len(grains), chain)
    said = frozenset[str]() if wanted.subject is None else frozenset({normalise(wanted.subject)})
    with_them = erasures_of(store, call, found, said=said, chain=chain)
    if not found and not with_them.questions:
        raise NotFoundError("nothing is held about that subject", field="subject")
    lessons = tuple(sorted(lessons_of(store, call, grains)))
    return Plan(store.chain_end(call.memory, chain) or new_chain(chain), grains, with_them, lessons)


def lessons_of(store: Store, call: Call, grains: Sequence[Grain]) -> Iterator[str]:
    """Addresses of facts that an apply made of the error of one of these calls, and of calls like it."""
    errors: dict[tuple[str, str], set[str]] = {}
    for grain in grains:
        if grain.kind == "tool_call" and text_of(grain, "signature"):
            errors.setdefault((grain.namespace, text_of(grain, "tool")), set()).add(text_of(grain, "signature"))
    if not errors:
        return
    addresses = Addresses(require_heads(store, call.memory).log.key)
    gone = {grain.address for grain in grains}
    for (namespace, tool), texts in errors.items():
        prefix = addresses.cluster_prefix("fact", namespace, tool, LESSON_RELATION)
        for fact in store.grains_by_prefix(call.memory, prefix, call.now):
            is_lesson = (fact.namespace, text_of(fact, "source")) == (namespace, LESSON_SOURCE)
            if is_lesson and text_of(fact, "object") in texts and fact.address not in gone:
                yield fact.address


def _found(store: Store, call: Call, wanted: Wanted) -> tuple[str, list[Grain]]:
    """The chain's name and the grains, forgotten ones among them."""
    if wanted.address is not None and (wanted.namespace, wanted.subject) == (None, None):
        return f"grain:{wanted.address}", [require_grain(store, call, wanted.address)]
    if wanted.address is not None:
        raise InvalidInputError("one grain, or a subject of a namespace, not both", field="address")
    for name, value in (("namespace", wanted.namespace), ("subject", wanted.subject)):
        if value is None:
            raise InvalidInputError("give an address, or namespace and subject", field=name)
    return _about(store, call, wanted.namespace or "", wanted.subject or "")


def _about(store: Store, call: Call, namespace: str, subject: str) -> tuple[str, list[Grain]]:
    heads = require_heads(store, call.memory)
    require_namespace(heads, namespace)
    addresses = Addresses(heads.log.key)
    found = [
        grain
        for kind in TOPIC_FIELDS
        for grain in store.grains_by_prefix(call.memory, addresses.entity_prefix(kind, namespace, subject), call.now)
        if (grain.kind, grain.namespace) == (kind, namespace) and is_about(grain, subject)
    ]
    return f"entity:{addresses.short('entity', namespace, normalise(subject))}", found


def is_about(grain: Grain, subject: str) -> bool:
    """Whether a grain is about the subject. One that is forgotten does not tell: its prefix has to do."""
    return grain.state == "forgotten" or normalise(text_of(grain, TOPIC_FIELDS[grain.kind])) == normalise(subject)
