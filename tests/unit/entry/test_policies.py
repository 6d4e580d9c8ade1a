"""The policy in a process: how long one reading holds, and what holds while there is none."""

from __future__ import annotations

import json

import pytest

from provenloop.domain.errors import LoopError, NotFoundError, UnavailableError
from provenloop.domain.policy import CLOSED, UNKNOWN
from provenloop.entry.policies import CACHE_MS, Policies

NOW = 1_800_000_000_000
GRANTING = json.dumps(
    {
        "auto_apply_enabled": True,
        "auto_apply": [{"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}],
        "deny": ["loop.tool_failure"],
        "telemetry": "off",
    }
)


class Source:
    """Answers what it is told to, and counts how often."""

    def __init__(self, answer: str | LoopError, *lists: str) -> None:
        self.answer = answer
        self.lists = lists
        self.read_times = 0

    def read(self) -> str:
        self.read_times += 1
        if isinstance(self.answer, LoopError):
            raise self.answer
        return self.answer

    def read_names(self, number: int) -> str:
        self.read_times += 1
        if number > len(self.lists):
            raise NotFoundError(f"list {number} is not there")
        return self.lists[number - 1]


def test_without_a_source_the_closed_policy_holds_and_nothing_is_at_fault() -> None:
    host = Policies(None).current(NOW)
    assert (host.policy, host.state, host.faults) == (CLOSED, "none", ())


def test_one_reading_holds_for_a_minute() -> None:
    source = Source(GRANTING)
    policies = Policies(source)
    first = policies.current(NOW)
    assert policies.current(NOW + CACHE_MS - 1) is first
    assert source.read_times == 1
    source.answer = "{}"
    assert policies.current(NOW + CACHE_MS).policy == CLOSED
    assert source.read_times == 2


def test_a_clock_that_was_stepped_back_makes_no_reading_younger() -> None:
    source = Source(GRANTING)
    policies = Policies(source)
    policies.current(NOW)
    policies.current(NOW - 1)
    assert source.read_times == 2


def test_a_policy_that_became_wrong_grants_and_denies_nothing_and_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Tests")
    source = Source(GRANTING)
    policies = Policies(source, cache_ms=0)
    policies.current(NOW)
    source.answer = '{"deny": ["loop.tool_failures"]}'
    host = policies.current(NOW)
    assert (host.policy, host.state) == (UNKNOWN, "refused")
    assert [fault.field for fault in host.faults] == ["deny[0]"]
    assert '"PolicyFaults"' in capsys.readouterr().out


def test_while_the_source_is_away_what_was_forbidden_stays_so_and_what_was_granted_does_not() -> None:
    source = Source(GRANTING)
    policies = Policies(source, cache_ms=0)
    before = policies.current(NOW).policy
    source.answer = UnavailableError("not now")
    host = policies.current(NOW)
    assert host.state == "unreadable"
    assert [(fault.code, fault.detail) for fault in host.faults] == [("PVL-E001", "not now")]
    assert host.policy.deny == before.deny
    assert host.policy.telemetry == "off"
    assert host.policy.pseudonymize == before.pseudonymize
    assert host.policy.grants_to("loop.duplicate_sweep") == ()


def test_a_source_that_was_never_there_leaves_the_closed_policy_and_keeps_people_from_models() -> None:
    host = Policies(Source(UnavailableError("not now"))).current(NOW)
    assert (host.policy, host.state) == (UNKNOWN, "unreadable")


LISTING = '{"pseudonymize": {"enabled": true, "names": ["Ann"]}}'


def test_names_that_were_read_once_stay_known_while_what_follows_is_refused_or_away() -> None:
    source = Source(LISTING)
    policies = Policies(source, cache_ms=0)
    policies.current(NOW)
    for answer in ('{"pseudonymize": true}', UnavailableError("not now"), "{nope"):
        source.answer = answer
        masked = policies.current(NOW).policy.pseudonymize
        assert (masked.names, masked.is_known, masked.enabled) == (("Ann",), True, True)


def test_a_thousand_names_are_known_from_lists_that_parameters_have_room_for() -> None:
    names = [f"Person Number {number:04}" for number in range(1_000)]
    lists = [json.dumps(names[at : at + 180]) for at in range(0, 1_000, 180)]
    assert max(map(len, lists)) <= 4_096
    source = Source(json.dumps({"pseudonymize": {"enabled": True, "name_lists": len(lists)}}), *lists)
    policies = Policies(source)
    for _ in range(2):
        assert policies.current(NOW).policy.pseudonymize.names == tuple(names)
    assert source.read_times == 1 + len(lists)


def test_while_a_list_of_names_is_not_there_those_that_were_read_before_are_kept_from_models() -> None:
    listing = '{"pseudonymize": {"enabled": true, "name_lists": %d}}'
    source = Source(listing % 1, '["Ann"]')
    policies = Policies(source, cache_ms=0)
    before = policies.current(NOW).policy.pseudonymize
    source.answer = listing % 2
    host = policies.current(NOW)
    assert (host.state, host.policy.pseudonymize) == ("unreadable", before)
    assert [fault.detail for fault in host.faults] == ["list 2 is not there"]
    assert Policies(source).current(NOW).policy == UNKNOWN


def test_a_policy_that_is_refused_at_first_is_unknown_until_one_holds() -> None:
    source = Source("{nope")
    policies = Policies(source, cache_ms=0)
    for answer in ("{nope", UnavailableError("not now"), "{}", LISTING):
        source.answer = answer
        assert policies.current(NOW).policy.pseudonymize.is_known == (answer in ("{}", LISTING))
