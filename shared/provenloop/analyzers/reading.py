"""How analyzers read grains: values by their meaning, numbers whatever the body holds, and what is shown of values.

Bodies come from outside: a field may be missing or of any type, and nothing here refuses one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from provenloop.analyzers.contract import AppliedMark
from provenloop.domain.canonical import StrictJsonError, canonical_json, parse_strict
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.proposal import Operation, OperationName, TextRef
from provenloop.domain.recommendation import Argument
from provenloop.domain.text import normalise, normalise_relation

SHOWN_VALUES = 8
#: The field of a body that is there where its text was stored cut: the digest of the whole.
CUT_DIGEST = "full_sha256"

#: Namespace, subject and relation in the forms under which their spellings meet; the namespace is exact.
ClusterKey = tuple[str, str, str]


def value_key(text: str) -> str:
    """The form under which spellings of one value meet; JSON objects and arrays are one whatever their order of keys
    and blanks.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return normalise(text)
    try:
        return normalise(canonical_json(parse_strict(text.encode())))
    except (StrictJsonError, ValueError):
        return normalise(text)


def facts_by_cluster(grains: Iterable[Grain]) -> Mapping[ClusterKey, Sequence[Grain]]:
    """The facts that have a subject, a relation and an object, grouped; prefixes of addresses may collide."""
    groups: dict[ClusterKey, list[Grain]] = {}
    for grain in grains:
        if grain.kind == "fact" and all(text_of(grain, name) for name in ("subject", "relation", "object")):
            subject, relation = normalise(text_of(grain, "subject")), normalise_relation(text_of(grain, "relation"))
            groups.setdefault((grain.namespace, subject, relation), []).append(grain)
    return {key: groups[key] for key in sorted(groups)}


def value_of(fact: Grain) -> str:
    """The form of a fact's object under which its spellings meet. Of one that was stored cut, the rest is told apart by
    its digest: two long values of one beginning are not one value.
    """
    return value_key(text_of(fact, "object")) + text_of(fact, CUT_DIGEST)


def by_value(facts: Iterable[Grain]) -> Mapping[str, Sequence[Grain]]:
    """Facts grouped by the meaning of their objects, each group in the order given."""
    values: dict[str, list[Grain]] = {}
    for grain in facts:
        values.setdefault(value_of(grain), []).append(grain)
    return values


def number_in(grain: Grain, name: str) -> float | None:
    """A number of a grain's body; None where it has none."""
    value = grain.body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def earliest_first(grain: Grain) -> tuple[int, str]:
    """Sort key: when a grain was recorded, then its address."""
    return grain.recorded_at, grain.address


def was_read_before(grains: Iterable[Grain], mark: AppliedMark | None) -> bool:
    """Whether grains were read before an apply that changed some of them: then what they show is settled already.

    What an apply changes carries its number, so grains that do carry it, or a later one, show what is so since then.
    """
    return mark is not None and all(grain.seq < mark.seq for grain in grains)


def next_validity(grains: Iterable[Grain], now: int) -> int | None:
    """The next begin or end of validity (epoch ms) among the current ones, at which time alone changes what is live."""
    instants = (
        at for grain in grains if grain.is_current for at in (grain.valid_from, grain.valid_to) if at is not None
    )
    return min((at for at in instants if at > now), default=None)


def earliest(*instants: int | None) -> int | None:
    """The first of some instants (epoch ms), of which any may be missing."""
    return min((at for at in instants if at is not None), default=None)


def shown_values(values: Iterable[Sequence[Grain]]) -> Iterator[tuple[str, Argument]]:
    """Of each value (latest last): its text, confidence, how often it was stated, and when it holds (epoch ms)."""
    latest_last = sorted(values, key=lambda grains: max(grain.recency() for grain in grains))
    for place, grains in enumerate(latest_last[-SHOWN_VALUES:], start=1):
        latest = max(grains, key=Grain.recency)
        confidence = number_in(latest, "confidence")
        yield f"value_{place}", TextRef(latest.address, "object")
        yield f"confidence_{place}", 1.0 if confidence is None else confidence
        yield f"stated_{place}", sum(grain.stated for grain in grains)
        yield f"since_{place}", latest.recency()[0]
        if latest.valid_to is not None:
            yield f"until_{place}", latest.valid_to


def step(op: OperationName, target: Grain, into: Grain | None = None) -> Operation:
    """An operation on a grain, into another one or none, both as they are now."""
    named = [target] if into is None else [target, into]
    return Operation(
        op,
        target=target.address,
        into=None if into is None else into.address,
        expects={grain.address: grain.head_rev for grain in named},
    )
