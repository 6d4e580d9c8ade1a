"""Reading a host policy: whole, with every fault named, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.policy import (
    MAX_POLICY_BYTES,
    OUTSIDE_FAMILIES,
    TARGET_CLASSES,
    TELEMETRY_MODES,
    UNKNOWN,
    Grant,
    HostPolicy,
    Policy,
    Pseudonymize,
    Review,
    TargetClass,
    TelemetryMode,
)
from provenloop.domain.policy_analyzers import PolicyAnalyzers
from provenloop.domain.policy_parts import PolicyParts, within
from provenloop.domain.recommendation import Severity, family_of, severity_rank
from provenloop.domain.registered import RegisteredAnalyzer

MAX_LISTED_NAMES = 1_000
#: Lists of names beside the policy, for those that have no room in it.
MAX_NAME_LISTS = 9
_MIN_NAME_LETTERS = 2
_MAX_NAME_CHARS = 100
_MAX_DEPTH = 8
_UNKNOWN = "there is no such analyzer"


def read_policy(
    text: str,
    analyzers: Collection[str],
    *,
    models: Collection[str] = (),
    is_local: bool = False,
    commands: Sequence[RegisteredAnalyzer] = (),
    names: Sequence[str] = (),
) -> HostPolicy:
    """Read a policy, whole or not at all.

    Args:
        analyzers: the ids of all analyzers of ours.
        models: the ids under which models are known; a policy may deny them, and grants them nothing.
        is_local: whether this is a local stack, where analyzers of others may be commands.
        commands: those that this local stack was begun with; they are in force beside the ones of the policy.
        names: the lists of names beside it, as many as ``name_lists`` says.

    Returns:
        The policy in force, or with every fault that was found the closed one, under which models see placeholders
        for people, and for the names that the policy lists; where these cannot be read, no model is asked.
    """
    reading = _Reading(_by_name(analyzers), _by_name(models), commands, names, is_local=is_local)
    policy = reading.policy(text)
    if reading.faults:
        listed = policy.pseudonymize.names
        is_known = bool(listed) and not any(fault.field.startswith("pseudonymize") for fault in reading.faults)
        masked = replace(UNKNOWN.pseudonymize, names=listed, is_known=is_known)
        return HostPolicy(replace(UNKNOWN, pseudonymize=masked), "refused", tuple(reading.faults))
    return HostPolicy(policy, "in_force")


def name_lists(text: str) -> int:
    """How many lists of names a policy has beside it; 0 where it does not say so rightly."""
    try:
        policy = _parsed(text)
    except StrictJsonError:
        return 0
    masked = policy.get("pseudonymize") if isinstance(policy, dict) else None
    parts = PolicyParts()
    count = parts.count(masked.get("name_lists") if isinstance(masked, dict) else None, "", MAX_NAME_LISTS)
    return 0 if parts.faults else count


class _Reading(PolicyAnalyzers):
    """Reads one policy."""

    def __init__(
        self,
        grantable: Mapping[str, str],
        models: Mapping[str, str],
        commands: Sequence[RegisteredAnalyzer],
        lists: Sequence[str],
        *,
        is_local: bool,
    ) -> None:
        super().__init__(commands, is_local=is_local)
        self._grantable = grantable
        self._lists = lists
        self._outside = {
            **models,
            **_by_name(each.id for each in commands),
            **{name: name for name in OUTSIDE_FAMILIES},
        }

    def policy(self, text: str) -> Policy:
        fields = self.fields(self._json(text, "", {}), "", _POLICY_FIELDS)
        read: dict[str, Any] = {
            name: reader(self, fields[name], name) for name, reader in _POLICY_FIELDS.items() if name in fields
        }
        return Policy(**{"analyzers": self.commands, **read})

    def registered(self, value: object, place: str) -> tuple[RegisteredAnalyzer, ...]:
        """Read before all that may name one of them."""
        found = self.analyzers(value, place)
        self._outside |= _by_name(each.id for each in found)
        return found

    def _json(self, text: str, place: str, otherwise: object) -> object:
        try:
            return _parsed(text)
        except StrictJsonError as error:
            self.refuse(f"{place}{error.path}", error.reason)
            return otherwise

    def telemetry(self, value: object, place: str) -> TelemetryMode:
        return self.one_of(value, place, TELEMETRY_MODES)

    def _family(self, value: object, place: str, *, outside: bool) -> str:
        """The family of an analyzer that is named by it or by its id."""
        name = value if isinstance(value, str) else ""
        known = {**self._grantable, **self._outside} if outside else self._grantable
        if name not in known:
            is_outside = name in self._outside
            self.refuse(place, "what it finds is never applied without a person" if is_outside else _UNKNOWN)
        return known.get(name, "")

    def grants(self, value: object, place: str) -> tuple[Grant, ...]:
        return tuple(self._grant(item, at) for item, at in self.items(value, place))

    def _grant(self, value: object, place: str) -> Grant:
        fields = self.fields(value, place, _GRANT_FIELDS)
        if not self.has_all(value, place, _GRANT_FIELDS):
            return _NOTHING
        return Grant(
            self._family(fields["analyzer"], within(place, "analyzer"), outside=False),
            self._targets(fields["targets"], within(place, "targets")),
            self.severity(fields["max_severity"], within(place, "max_severity")),
        )

    def _targets(self, value: object, place: str) -> tuple[TargetClass, ...]:
        if value == []:
            self.refuse(place, f"at least one of {', '.join(TARGET_CLASSES)} is needed")
        return tuple(self.one_of(item, at, TARGET_CLASSES) for item, at in self.items(value, place))

    def deny(self, value: object, place: str) -> tuple[str, ...]:
        denied = {self._family(item, at, outside=True) for item, at in self.items(value, place)}
        return tuple(sorted(denied))

    def floors(self, value: object, place: str) -> Mapping[str, Severity]:
        """Floors by family; where one analyzer is named twice, the higher one holds."""
        if not isinstance(value, dict):
            self.refuse(place, "a JSON object is needed")
            return {}
        found: dict[str, Severity] = {}
        for name, floor in value.items():
            at = within(place, name)
            family, severity = self._family(name, at, outside=True), self.severity(floor, at)
            found[family] = max(found.get(family, "info"), severity, key=severity_rank)
        return found

    def review(self, value: object, place: str) -> Review:
        fields = self.fields(value, place, ("start_workflow_at",))
        at = fields.get("start_workflow_at")
        is_given = "start_workflow_at" in fields
        return Review(self.severity(at, within(place, "start_workflow_at")) if is_given else None)

    def pseudonymize(self, value: object, place: str) -> Pseudonymize:
        fields = self.fields(value, place, ("enabled", "name_lists", "names"))
        if not self.has_all(value, place, ("enabled",)):
            return Pseudonymize()
        at = within(place, "names")
        beside = self._names_beside(fields.get("name_lists", 0), within(place, "name_lists"))
        found = tuple(dict.fromkeys((*self._names(fields.get("names", []), at), *beside)))
        if len(found) > MAX_LISTED_NAMES:
            self.refuse(at, f"at most {MAX_LISTED_NAMES}, with those of all lists")
        return Pseudonymize(self.switch(fields["enabled"], within(place, "enabled")), found)

    def _names_beside(self, value: object, place: str) -> list[str]:
        if type(value) is not int or value != len(self._lists):
            self.refuse(place, f"a whole number from 0 to {MAX_NAME_LISTS} is needed")
            return []
        places = (f"{place}[{number}]" for number in range(value))
        lists = [(self._json(text, at, []), at) for text, at in zip(self._lists, places, strict=True)]
        return [name for names, at in lists for name in self._names(names, at)]

    def _names(self, value: object, place: str) -> list[str]:
        return [name for item, at in self.items(value, place) if (name := self._name(item, at))]

    def _name(self, value: object, place: str) -> str:
        name = value if isinstance(value, str) else ""
        if len(name) <= _MAX_NAME_CHARS and sum(map(str.isalnum, name)) >= _MIN_NAME_LETTERS:
            return name
        self.refuse(place, f"{_MIN_NAME_LETTERS} letters or more are needed, and at most {_MAX_NAME_CHARS} characters")
        return ""


_GRANT_FIELDS = ("analyzer", "targets", "max_severity")
_NOTHING = Grant("", (), "info")
_POLICY_FIELDS: Mapping[str, Callable[[_Reading, object, str], object]] = {
    "analyzers": _Reading.registered,
    "auto_apply_enabled": _Reading.switch,
    "auto_apply": _Reading.grants,
    "deny": _Reading.deny,
    "severity_floors": _Reading.floors,
    "pseudonymize": _Reading.pseudonymize,
    "telemetry": _Reading.telemetry,
    "review": _Reading.review,
}


def _by_name(ids: Iterable[str]) -> dict[str, str]:
    """Families by id and by family."""
    return {name: family_of(each) for each in ids for name in (each, family_of(each))}


def _parsed(text: str) -> object:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_POLICY_BYTES:
        raise StrictJsonError(f"a policy holds at most {MAX_POLICY_BYTES} bytes, and so does a list beside it")
    return parse_strict(data, max_depth=_MAX_DEPTH)
