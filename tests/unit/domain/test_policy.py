"""The host policy is read strictly: whole, with every fault named, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.policy import (
    CLOSED,
    MAX_POLICY_BYTES,
    Grant,
    HostPolicy,
    Policy,
    Review,
    read_policy,
)

KNOWN = ("loop.duplicate_sweep/1", "loop.tool_failure/1", "loop.fork_surfacing/1")
GRANT = {"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}


def read(value: Any) -> HostPolicy:
    return read_policy(value if isinstance(value, str) else json.dumps(value), KNOWN)


def faults(value: Any) -> list[str]:
    """The fields at fault of a policy that is refused whole."""
    host = read(value)
    assert host.state == "refused"
    assert host.policy == CLOSED
    assert {fault.code for fault in host.faults} == {"PVL-E011"}
    return [fault.field for fault in host.faults]


def test_a_whole_policy_is_read_as_it_is_written() -> None:
    host = read(
        {
            "auto_apply_enabled": True,
            "auto_apply": [GRANT],
            "deny": ["llm", "loop.tool_failure/1"],
            "severity_floors": {"loop.fork_surfacing": "medium", "command": "high"},
            "telemetry": "full",
            "review": {"start_workflow_at": "high"},
        }
    )
    assert host.state == "in_force"
    assert host.faults == ()
    assert host.policy == Policy(
        auto_apply_enabled=True,
        auto_apply=(Grant("loop.duplicate_sweep", ("memory",), "low"),),
        deny=("llm", "loop.tool_failure"),
        severity_floors={"loop.fork_surfacing": "medium", "command": "high"},
        telemetry="full",
        review=Review("high"),
    )


def test_an_empty_object_is_the_closed_policy_in_force() -> None:
    assert read({}) == HostPolicy(CLOSED, "in_force")


@pytest.mark.parametrize("text", ["", "{nope", "[]", "null", "1", '"{}"', "[true, []]", "{} {}", "\ud800"])
def test_anything_but_one_object_is_refused(text: str) -> None:
    assert faults(text)


def test_positional_values_never_grant() -> None:
    assert faults([True, [["loop.duplicate_sweep", ["memory"], "low"]]]) == [""]
    assert faults({"auto_apply_enabled": True, "auto_apply": [["loop.duplicate_sweep", ["memory"], "low"]]}) == [
        "auto_apply[0]"
    ]


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"auto_aply": []}, "auto_aply"),
        ({"auto_apply_enabled": 1}, "auto_apply_enabled"),
        ({"auto_apply_enabled": "true"}, "auto_apply_enabled"),
        ({"auto_apply": {}}, "auto_apply"),
        ({"auto_apply": [{**GRANT, "why": "x"}]}, "auto_apply[0].why"),
        ({"auto_apply": [{**GRANT, "analyzer": "loop.duplicates"}]}, "auto_apply[0].analyzer"),
        ({"auto_apply": [{**GRANT, "analyzer": "loop.duplicate_sweep/2"}]}, "auto_apply[0].analyzer"),
        ({"auto_apply": [{**GRANT, "analyzer": "llm"}]}, "auto_apply[0].analyzer"),
        ({"auto_apply": [{**GRANT, "analyzer": None}]}, "auto_apply[0].analyzer"),
        ({"auto_apply": [{**GRANT, "targets": "memory"}]}, "auto_apply[0].targets"),
        ({"auto_apply": [{**GRANT, "targets": []}]}, "auto_apply[0].targets"),
        ({"auto_apply": [{**GRANT, "targets": ["memroy"]}]}, "auto_apply[0].targets[0]"),
        ({"auto_apply": [{**GRANT, "max_severity": "critical"}]}, "auto_apply[0].max_severity"),
        ({"auto_apply": [{**GRANT, "max_severity": "Low"}]}, "auto_apply[0].max_severity"),
        ({"deny": "loop.tool_failure"}, "deny"),
        ({"deny": ["loop.tool_failures"]}, "deny[0]"),
        ({"deny": [["loop.tool_failure"]]}, "deny[0]"),
        ({"severity_floors": []}, "severity_floors"),
        ({"severity_floors": {"loop.tool_failures": "low"}}, "severity_floors.loop.tool_failures"),
        ({"severity_floors": {"loop.tool_failure": 2}}, "severity_floors.loop.tool_failure"),
        ({"telemetry": "on"}, "telemetry"),
        ({"telemetry": None}, "telemetry"),
        ({"review": []}, "review"),
        ({"review": {"start_workflow_at": None}}, "review.start_workflow_at"),
        ({"review": {"quorum": 2}}, "review.quorum"),
    ],
)
def test_what_is_wrong_is_named_and_refuses_the_whole(policy: dict[str, Any], field: str) -> None:
    assert faults({"deny": ["llm"], **policy}) == [field]


@pytest.mark.parametrize("missing", sorted(GRANT))
def test_a_grant_says_all_three(missing: str) -> None:
    assert faults({"auto_apply": [{name: value for name, value in GRANT.items() if name != missing}]}) == [
        f"auto_apply[0].{missing}"
    ]


def test_a_key_twice_is_refused() -> None:
    assert faults('{"telemetry": "off", "telemetry": "full"}')


def test_every_fault_is_told_at_once() -> None:
    assert faults({"telemetry": "on", "deny": ["a", "b"], "x": 1}) == ["x", "deny[0]", "deny[1]", "telemetry"]


def test_a_policy_has_a_limit() -> None:
    assert faults(json.dumps({"deny": ["llm"]}) + " " * MAX_POLICY_BYTES) == [""]


def test_an_id_and_its_family_are_one_and_the_higher_floor_holds() -> None:
    policy = read({"severity_floors": {"loop.tool_failure/1": "low", "loop.tool_failure": "high"}}).policy
    assert policy.severity_floors == {"loop.tool_failure": "high"}
    assert read({"auto_apply": [{**GRANT, "analyzer": "loop.duplicate_sweep/1"}]}).policy.auto_apply[0].analyzer == (
        "loop.duplicate_sweep"
    )


def test_the_families_of_outside_analyzers_are_denied_and_floored_as_a_whole() -> None:
    policy = read({"deny": ["llm"], "severity_floors": {"command": "medium"}}).policy
    assert policy.denies("acme.finder", "llm")
    assert not policy.denies("acme.finder", "command")
    assert policy.floor_of("acme.finder", "command") == "medium"
    assert policy.floor_of("acme.finder", "builtin") == "info"


def test_nothing_is_granted_while_grants_are_switched_off() -> None:
    grant = Grant("loop.duplicate_sweep", ("memory",), "low")
    assert Policy(auto_apply=(grant,)).grants_to("loop.duplicate_sweep") == ()
    switched_on = Policy(auto_apply_enabled=True, auto_apply=(grant,))
    assert switched_on.grants_to("loop.duplicate_sweep") == (grant,)
    assert switched_on.grants_to("loop.tool_failure") == ()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["memory", "low", "llm", "loop.tool_failure", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["analyzer", "targets", "max_severity", "start_workflow_at", "llm"]), inner)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["auto_apply_enabled", "auto_apply", "deny", "severity_floors", "telemetry",
                                        "review", "y"]), JSON))  # fmt: skip
def test_any_object_is_in_force_as_it_is_or_refused_whole_with_a_reason(value: dict[str, Any]) -> None:
    host = read(value)
    assert (host.state == "in_force") == (host.faults == ())
    assert host.state in ("in_force", "refused")
    assert host.policy == CLOSED or host.state == "in_force"
