"""The host policy is read strictly: whole, with every fault named, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.policy import (
    CLOSED,
    MAX_POLICY_BYTES,
    UNKNOWN,
    Grant,
    HostPolicy,
    Policy,
    Pseudonymize,
    Review,
)
from provenloop.domain.policy_reading import name_lists, read_policy
from provenloop.domain.registered import RegisteredAnalyzer

KNOWN = ("loop.duplicate_sweep/1", "loop.tool_failure/1", "loop.fork_surfacing/1")
GRANT = {"analyzer": "loop.duplicate_sweep", "targets": ["memory"], "max_severity": "low"}


def read(value: Any) -> HostPolicy:
    return read_policy(value if isinstance(value, str) else json.dumps(value), KNOWN)


def faults(value: Any) -> list[str]:
    """The fields at fault of a policy that is refused whole."""
    host = read(value)
    assert host.state == "refused"
    assert replace(host.policy, pseudonymize=UNKNOWN.pseudonymize) == UNKNOWN
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
        ({"auto_apply": [{**GRANT, "analyzer": "command"}]}, "auto_apply[0].analyzer"),
        ({"review": []}, "review"),
        ({"review": {"start_workflow_at": None}}, "review.start_workflow_at"),
        ({"review": {"quorum": 2}}, "review.quorum"),
        ({"pseudonymize": True}, "pseudonymize"),
        ({"pseudonymize": {}}, "pseudonymize.enabled"),
        ({"pseudonymize": {"enabled": "yes"}}, "pseudonymize.enabled"),
        ({"pseudonymize": {"enabled": False, "kinds": []}}, "pseudonymize.kinds"),
        ({"pseudonymize": {"enabled": False, "names": "ann"}}, "pseudonymize.names"),
        ({"pseudonymize": {"enabled": False, "names": [1]}}, "pseudonymize.names[0]"),
        ({"pseudonymize": {"enabled": False, "names": ["!?"]}}, "pseudonymize.names[0]"),
        ({"pseudonymize": {"enabled": False, "names": ["x" * 101]}}, "pseudonymize.names[0]"),
    ],
)
def test_what_is_wrong_is_named_and_refuses_the_whole(policy: dict[str, Any], field: str) -> None:
    assert faults({"deny": ["llm"], **policy}) == [field]


def test_what_models_may_see_of_people_is_one_object_with_names_each_once() -> None:
    policy = read({"pseudonymize": {"enabled": True, "names": ["Ann", "Bo", "Ann"]}}).policy
    assert policy.pseudonymize == Pseudonymize(enabled=True, names=("Ann", "Bo"))
    assert read({"pseudonymize": {"enabled": False}}).policy == CLOSED
    many = [f"name {number}" for number in range(1_001)]
    refused = read({"pseudonymize": {"enabled": True, "names": many}})
    assert [fault.field for fault in refused.faults] == ["pseudonymize.names"]


def test_a_policy_that_is_refused_for_another_part_keeps_people_from_models_and_the_names_it_lists() -> None:
    host = read({"telemetry": "on", "pseudonymize": {"enabled": False, "names": ["Ann"]}})
    assert host.state == "refused"
    assert host.policy.pseudonymize == Pseudonymize(enabled=True, names=("Ann",))


def listing(lists: Any, *texts: str, **more: Any) -> HostPolicy:
    """A policy that says how many lists of names are beside it, read with some."""
    masked = {"enabled": True, "names": ["Ann"], "name_lists": lists}
    return read_policy(json.dumps({"pseudonymize": masked, **more}), KNOWN, names=texts)


def test_names_that_have_no_room_in_the_policy_are_in_lists_beside_it() -> None:
    assert name_lists(json.dumps({"pseudonymize": {"enabled": True, "name_lists": 9}})) == 9
    host = listing(2, '["Bo", "Ann"]', '["Cy", "Bo"]')
    assert (host.state, host.policy.pseudonymize.names) == ("in_force", ("Ann", "Bo", "Cy"))
    assert listing(0) == listing(1, "[]")


@pytest.mark.parametrize("lists", [-1, 10, True, False, "1", 1.0, None, [1]])
def test_lists_are_told_by_a_whole_number_that_is_not_too_large(lists: Any) -> None:
    policy = json.dumps({"pseudonymize": {"enabled": True, "names": ["Ann"], "name_lists": lists}})
    assert name_lists(policy) == 0
    assert faults(policy) == ["pseudonymize.name_lists"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "pseudonymize.name_lists[0]"),
        ("Bo", "pseudonymize.name_lists[0]"),
        ('{"Bo": 1}', "pseudonymize.name_lists[0]"),
        ('["Bo", 1]', "pseudonymize.name_lists[0][1]"),
        ('["Bo", "!?"]', "pseudonymize.name_lists[0][1]"),
        ("[]" + " " * MAX_POLICY_BYTES, "pseudonymize.name_lists[0]"),
        (json.dumps([f"name {number}" for number in range(1_000)]), "pseudonymize.names"),
    ],
)
def test_a_list_of_names_is_right_in_every_part_or_refuses_the_whole(text: str, field: str) -> None:
    host = listing(1, text)
    assert (host.state, [fault.field for fault in host.faults]) == ("refused", [field])
    assert not host.policy.pseudonymize.is_known


def test_a_list_that_was_not_read_is_not_taken_for_an_empty_one() -> None:
    assert [fault.field for fault in listing(2, '["Bo"]').faults] == ["pseudonymize.name_lists"]


def test_a_policy_that_is_refused_for_another_part_keeps_the_names_of_its_lists_from_models() -> None:
    host = listing(1, '["Bo"]', telemetry="on")
    assert host.state == "refused"
    assert host.policy.pseudonymize == Pseudonymize(enabled=True, names=("Ann", "Bo"))


ANY_JSON = st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=3).map(json.dumps)


@given(st.text() | ANY_JSON)
def test_whatever_a_policy_is_it_has_no_lists_beside_it_unless_it_says_so(text: str) -> None:
    assert name_lists(text) == 0
    assert name_lists(f'{{"pseudonymize": {{"name_lists": {text}}}}}') in range(10)


@pytest.mark.parametrize(
    "masked",
    [{}, {"pseudonymize": {"enabled": True, "names": ["Ann", 1]}}, {"pseudonymize": {"enabled": True, "nams": ["Bo"]}}],
)
def test_of_a_refused_policy_whose_names_are_not_surely_all_there_it_is_not_known_whom_it_names(masked: Any) -> None:
    host = read({"telemetry": "on", **masked})
    assert not host.policy.pseudonymize.is_known
    digest = replace(host.policy, pseudonymize=replace(host.policy.pseudonymize, is_known=True)).digest
    assert host.policy.digest == digest


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


ARN = "arn:aws:lambda:eu-central-1:123456789012:function:provenloop-analyzer-pii"
PII = {"id": "ext.pii/1", "endpoint": ARN, "needs": ["fact"]}


def test_external_analyzers_are_registered_with_what_they_are_shown_and_their_limits() -> None:
    policy = read(
        {
            "deny": ["ext.style"],
            "severity_floors": {"ext.pii/1": "medium"},
            "analyzers": [
                {**PII, "needs": ["tool_call", "fact", "fact"]},
                {
                    "id": "ext.style/12",
                    "endpoint": "https://style.example/analyze?code=abc",
                    "needs": ["observation"],
                    "timeout_ms": 2_000,
                    "max_bytes": 50_000,
                },
            ],
        }
    ).policy
    style = RegisteredAnalyzer(
        "ext.style/12", "https://style.example/analyze?code=abc", ("observation",), 2_000, 50_000
    )
    assert policy.analyzers == (RegisteredAnalyzer("ext.pii/1", ARN, ("fact", "tool_call"), 10_000, 1_000_000), style)
    assert policy.denies("ext.style", "command")
    assert policy.floor_of("ext.pii", "command") == "medium"
    assert style.shown_endpoint == "https://style.example"
    assert policy.digest != replace(policy, analyzers=()).digest


@pytest.mark.parametrize(
    "id_",
    ["pii", "ext.pii", "ext.pii/", "ext.pii/0", "ext.pii/x", "ext.Pii/1", "ext.1pii/1", "ext./1", "ext.a b/1",
     "loop.pii/1", "command.pii/1", "ext.loop.pii/1", f"ext.{'x' * 42}/1", " ext.pii/1", "ext.pii/1\n", None, 3,
     ["ext.pii/1"]],
)  # fmt: skip
def test_an_external_analyzer_has_an_id_of_its_own_kind(id_: Any) -> None:
    assert faults({"analyzers": [{**PII, "id": id_}]}) == ["analyzers[0].id"]


NEVER_ENDPOINTS = [
    "", "https://", "https:///x", "ftp://a.example", "http://a.example", "https://ann:secret@a.example", "https://a.example/#x",
    "https://a.example/ b", "https://a.example:0/", "https://a.example:port/", "https://[::1/", "//a.example",
    "command:", "command: ", ARN.replace("lambda", "iam"), ARN.replace("123456789012", "12"), f"{ARN}:", f"{ARN}:a b",
    f" {ARN}", f"{ARN}\n", None, 3, [ARN],
]  # fmt: skip
LOCAL_ENDPOINTS = [
    "command:finder.py",
    "command:python3 'my finder.py'",
    "http://127.0.0.1:9000/x",
    "http://localhost/",
]


@pytest.mark.parametrize("endpoint", NEVER_ENDPOINTS)
def test_an_external_analyzer_is_a_lambda_function_or_behind_https(endpoint: Any) -> None:
    text = json.dumps({"analyzers": [{**PII, "endpoint": endpoint}]})
    for is_local in (False, True):
        host = read_policy(text, KNOWN, is_local=is_local)
        assert [fault.field for fault in host.faults] == ["analyzers[0].endpoint"]


@pytest.mark.parametrize("endpoint", LOCAL_ENDPOINTS)
def test_commands_and_addresses_of_this_machine_are_for_local_stacks_only(endpoint: str) -> None:
    policy = {"analyzers": [{**PII, "endpoint": endpoint}]}
    assert faults(policy) == ["analyzers[0].endpoint"]
    [read_locally] = read_policy(json.dumps(policy), KNOWN, is_local=True).policy.analyzers
    assert read_locally.endpoint == endpoint


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [("https://a.example/hook/s3cr3t", "https://a.example"), ("https://a.example?code=x", "https://a.example"),
     ("https://a.example:8443/x?y", "https://a.example:8443"), (ARN, ARN)],
)  # fmt: skip
def test_of_an_address_only_its_host_is_shown(endpoint: str, shown: str) -> None:
    assert RegisteredAnalyzer("ext.a/1", endpoint, ("fact",)).shown_endpoint == shown


def test_the_digest_proves_no_guess_of_what_is_not_shown() -> None:
    def policy(name: str, code: str) -> Policy:
        analyzer = RegisteredAnalyzer("ext.a/1", f"https://a.example/x?code={code}", ("fact",))
        return Policy(analyzers=(analyzer,), pseudonymize=Pseudonymize(enabled=True, names=(name,)))

    assert policy("Maria", "1").digest == policy("Nadia", "2").digest
    assert policy("Maria", "1").digest != Policy().digest


def test_of_a_command_only_its_program_is_shown() -> None:
    assert (
        RegisteredAnalyzer("ext.a/1", "command: finder.py --key abc", ("fact",)).shown_endpoint == "command:finder.py"
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"needs": []}, "needs"),
        ({"needs": "fact"}, "needs"),
        ({"needs": ["fact", "facts"]}, "needs[1]"),
        ({"needs": ["question"]}, "needs[0]"),
        ({"timeout_ms": 10_001}, "timeout_ms"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": "1000"}, "timeout_ms"),
        ({"timeout_ms": None}, "timeout_ms"),
        ({"timeout_ms": True}, "timeout_ms"),
        ({"max_bytes": 1_000_001}, "max_bytes"),
        ({"max_bytes": 1.5}, "max_bytes"),
        ({"key": "abc"}, "key"),
        ({"auto_apply": True}, "auto_apply"),
    ],
)
def test_what_is_wrong_with_an_external_analyzer_is_named(change: dict[str, Any], field: str) -> None:
    assert faults({"analyzers": [PII, {**PII, "id": "ext.b/1", **change}]}) == [f"analyzers[1].{field}"]


@pytest.mark.parametrize("missing", ["id", "endpoint", "needs"])
def test_an_external_analyzer_says_all_three(missing: str) -> None:
    assert faults({"analyzers": [{name: value for name, value in PII.items() if name != missing}]}) == [
        f"analyzers[0].{missing}"
    ]


def test_the_field_is_a_list_of_at_most_eight_with_names_of_their_own() -> None:
    assert faults({"analyzers": {"ext.pii/1": PII}}) == ["analyzers"]
    assert faults({"analyzers": [[PII["id"], ARN, ["fact"]]]}) == ["analyzers[0]"]
    assert faults({"analyzers": [PII, {**PII, "id": "ext.pii/2"}]}) == ["analyzers[1].id"]
    many = [{**PII, "id": f"ext.a{number}/1"} for number in range(9)]
    assert faults({"analyzers": many}) == ["analyzers"]
    assert len(read({"analyzers": many[:8]}).policy.analyzers) == 8


def test_no_policy_has_findings_of_external_analyzers_applied_without_a_person() -> None:
    for name in ("ext.pii", "ext.pii/1"):
        policy = {"auto_apply": [{**GRANT, "analyzer": name}], "analyzers": [PII]}
        assert faults(policy) == ["auto_apply[0].analyzer"]
        assert read(policy).faults[0].detail == "what it finds is never applied without a person"
    assert read({"auto_apply": [{**GRANT, "analyzer": "ext.pii"}]}).faults[0].detail == "there is no such analyzer"
    assert faults({"deny": ["ext.pii"]}) == ["deny[0]"]


def test_commands_that_a_local_stack_was_begun_with_stand_beside_those_of_its_policy() -> None:
    own = RegisteredAnalyzer("ext.finder/1", "command:finder", ("fact",))
    host = read_policy(json.dumps({"analyzers": [PII], "deny": ["ext.finder"]}), KNOWN, is_local=True, commands=[own])
    assert [each.id for each in host.policy.analyzers] == ["ext.finder/1", "ext.pii/1"]
    assert host.policy.denies("ext.finder", "command")
    assert read_policy("{}", KNOWN, is_local=True, commands=[own]).policy.analyzers == (own,)
    clash = read_policy(json.dumps({"analyzers": [{**PII, "id": "ext.finder/2"}]}), KNOWN, commands=[own])
    assert [fault.field for fault in clash.faults] == ["analyzers[0].id"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["memory", "low", "llm", "loop.tool_failure", "x", "fact", "ext.a/1", ARN]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["analyzer", "targets", "max_severity", "start_workflow_at", "llm", *PII, "timeout_ms"]),
            inner,
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["auto_apply_enabled", "auto_apply", "deny", "severity_floors", "telemetry",
                                        "review", "analyzers", "y"]), JSON))  # fmt: skip
def test_any_object_is_in_force_as_it_is_or_refused_whole_with_a_reason(value: dict[str, Any]) -> None:
    host = read(value)
    assert (host.state == "in_force") == (host.faults == ())
    assert host.state in ("in_force", "refused")
    assert host.policy in (CLOSED, UNKNOWN) or host.state == "in_force"
