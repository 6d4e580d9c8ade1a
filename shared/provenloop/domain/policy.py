"""The host policy: what the operator of an installation allows. It alone can grant that a change applies itself.

A policy is read whole or refused whole. Refused, or not there at all, the closed policy holds: it grants nothing,
denies nothing, and telemetry counts uses without keeping single ones. Analyzers are named by id or by family (the id
without its version); ``command`` and ``llm`` stand for all analyzers of that trust. Where policy and memory disagree,
the stricter of the two holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar, get_args

from provenloop.domain.canonical import StrictJsonError, canonical_json, parse_strict, sha256_hex
from provenloop.domain.recommendation import SEVERITIES, Severity, family_of, severity_rank

TelemetryMode = Literal["off", "aggregate", "full"]
TargetClass = Literal["memory", "query", "template", "doc", "prompt", "host"]
PolicyState = Literal["none", "in_force", "refused", "unreadable"]

Word = TypeVar("Word", bound=str)

TELEMETRY_MODES: tuple[TelemetryMode, ...] = get_args(TelemetryMode)
TARGET_CLASSES: tuple[TargetClass, ...] = get_args(TargetClass)
#: A grant may name every class of target; what concerns no memory is never applied by itself.
GRANTABLE_TARGETS: frozenset[TargetClass] = frozenset({"memory", "query"})
#: Analyzers from outside go by their trust: a policy may name all of them at once.
OUTSIDE_FAMILIES = frozenset({"command", "llm"})
MAX_POLICY_BYTES = 65_536
_MAX_DEPTH = 8
_DIGEST_CHARS = 16
_LONGEST_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to apply the findings of one analyzer, up to a severity, where they concern one of ``targets``."""

    analyzer: str
    targets: tuple[TargetClass, ...]
    max_severity: Severity

    def covers(self, severity: str) -> bool:
        """Whether it reaches as far as a severity."""
        return severity_rank(severity) <= severity_rank(self.max_severity)


@dataclass(frozen=True, slots=True)
class Review:
    """From which severity on a proposal starts the approval workflow; None where none does."""

    start_workflow_at: Severity | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy in force. Analyzers are families; the default is the closed policy."""

    auto_apply_enabled: bool = False
    auto_apply: tuple[Grant, ...] = ()
    deny: tuple[str, ...] = ()
    severity_floors: Mapping[str, Severity] = field(default_factory=dict)
    telemetry: TelemetryMode = "aggregate"
    review: Review = field(default_factory=Review)

    @property
    def digest(self) -> str:
        """16 hex digits that name exactly this policy."""
        return sha256_hex(canonical_json(asdict(self)))[:_DIGEST_CHARS]

    def denies(self, family: str, trust: str) -> bool:
        """Whether an analyzer may not run at all."""
        return family in self.deny or trust in self.deny

    def floor_of(self, family: str, trust: str) -> Severity:
        """The severity below which an analyzer's new findings are dropped."""
        floors = (self.severity_floors.get(name, "info") for name in (family, trust))
        return max(floors, key=severity_rank)

    def grants_to(self, family: str) -> tuple[Grant, ...]:
        """What one analyzer is granted; nothing while grants are switched off."""
        return tuple(grant for grant in self.auto_apply if self.auto_apply_enabled and grant.analyzer == family)


CLOSED = Policy()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a policy does not hold: the offending part (empty for the whole), a stable code, and the rule."""

    field: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The policy in force and how that came about. Where ``state`` is not ``in_force``, ``faults`` say why."""

    policy: Policy = CLOSED
    state: PolicyState = "none"
    faults: tuple[Fault, ...] = ()


def read_policy(text: str, analyzers: Collection[str]) -> HostPolicy:
    """Read a policy, whole or not at all.

    Args:
        analyzers: the ids of all analyzers there are.

    Returns:
        The policy in force, or the closed one with every fault that was found.
    """
    reading = _Reading(analyzers)
    policy = reading.policy(text)
    if reading.faults:
        return HostPolicy(state="refused", faults=tuple(reading.faults))
    return HostPolicy(policy, "in_force")


class _Reading:
    """Reads one policy and collects everything that is wrong with it."""

    def __init__(self, analyzers: Collection[str]) -> None:
        self.faults: list[Fault] = []
        self._families = {name: family_of(each) for each in analyzers for name in (each, family_of(each))}

    def policy(self, text: str) -> Policy:
        fields = self._object(self._json(text), "", _POLICY_FIELDS)
        read: dict[str, Any] = {
            name: reader(self, fields[name], name) for name, reader in _POLICY_FIELDS.items() if name in fields
        }
        return Policy(**read)

    def refuse(self, place: str, detail: str) -> None:
        self.faults.append(Fault(place, "PVL-E011", detail))

    def _json(self, text: str) -> object:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > MAX_POLICY_BYTES:
            self.refuse("", f"a policy holds at most {MAX_POLICY_BYTES} bytes")
            return {}
        try:
            return parse_strict(data, max_depth=_MAX_DEPTH)
        except StrictJsonError as error:
            self.refuse(error.path, error.reason)
            return {}

    def _object(self, value: object, place: str, known: Collection[str]) -> Mapping[str, object]:
        if not isinstance(value, dict):
            self.refuse(place, "a JSON object is needed")
            return {}
        for name in value:
            if name not in known:
                self.refuse(_within(place, name), f"unknown; one of {', '.join(sorted(known))}")
        return value

    def switch(self, value: object, place: str) -> bool:
        if not isinstance(value, bool):
            self.refuse(place, "true or false is needed")
        return value is True

    def severity(self, value: object, place: str) -> Severity:
        return self._one_of(value, place, SEVERITIES)

    def telemetry(self, value: object, place: str) -> TelemetryMode:
        return self._one_of(value, place, TELEMETRY_MODES)

    def _one_of(self, value: object, place: str, known: Sequence[Word]) -> Word:
        for word in known:
            if word == value:
                return word
        self.refuse(place, f"one of {', '.join(known)} is needed")
        return known[0]

    def _list(self, value: object, place: str) -> Iterator[tuple[object, str]]:
        if not isinstance(value, list):
            self.refuse(place, "a list is needed")
            return iter(())
        return ((item, f"{place}[{number}]") for number, item in enumerate(value))

    def _family(self, value: object, place: str, *, outside: bool) -> str:
        """The family of an analyzer that is named by it or by its id."""
        name = value if isinstance(value, str) else ""
        if outside and name in OUTSIDE_FAMILIES:
            return name
        if name not in self._families:
            self.refuse(place, "there is no such analyzer")
        return self._families.get(name, "")

    def grants(self, value: object, place: str) -> tuple[Grant, ...]:
        return tuple(self._grant(item, at) for item, at in self._list(value, place))

    def _grant(self, value: object, place: str) -> Grant:
        fields = self._object(value, place, _GRANT_FIELDS)
        missing = [name for name in _GRANT_FIELDS if name not in fields]
        if missing:
            for name in missing if isinstance(value, dict) else ():
                self.refuse(_within(place, name), "missing")
            return _NOTHING
        return Grant(
            self._family(fields["analyzer"], _within(place, "analyzer"), outside=False),
            self._targets(fields["targets"], _within(place, "targets")),
            self.severity(fields["max_severity"], _within(place, "max_severity")),
        )

    def _targets(self, value: object, place: str) -> tuple[TargetClass, ...]:
        if value == []:
            self.refuse(place, f"at least one of {', '.join(TARGET_CLASSES)} is needed")
        return tuple(self._one_of(item, at, TARGET_CLASSES) for item, at in self._list(value, place))

    def deny(self, value: object, place: str) -> tuple[str, ...]:
        denied = {self._family(item, at, outside=True) for item, at in self._list(value, place)}
        return tuple(sorted(denied))

    def floors(self, value: object, place: str) -> Mapping[str, Severity]:
        """Floors by family; where one analyzer is named twice, the higher one holds."""
        if not isinstance(value, dict):
            self.refuse(place, "a JSON object is needed")
            return {}
        found: dict[str, Severity] = {}
        for name, floor in value.items():
            at = _within(place, name)
            family, severity = self._family(name, at, outside=True), self.severity(floor, at)
            found[family] = max(found.get(family, "info"), severity, key=severity_rank)
        return found

    def review(self, value: object, place: str) -> Review:
        fields = self._object(value, place, ("start_workflow_at",))
        at = fields.get("start_workflow_at")
        is_given = "start_workflow_at" in fields
        return Review(self.severity(at, _within(place, "start_workflow_at")) if is_given else None)


_GRANT_FIELDS = ("analyzer", "targets", "max_severity")
_NOTHING = Grant("", (), "info")
_POLICY_FIELDS: Mapping[str, Callable[[_Reading, object, str], object]] = {
    "auto_apply_enabled": _Reading.switch,
    "auto_apply": _Reading.grants,
    "deny": _Reading.deny,
    "severity_floors": _Reading.floors,
    "telemetry": _Reading.telemetry,
    "review": _Reading.review,
}


def _within(place: str, name: str) -> str:
    shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."
    return f"{place}.{shown}" if place else shown
