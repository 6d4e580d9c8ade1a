"""The acceptance checklist of the loop, line by line, over HTTP and the functions of the template.

A line that other tests prove as a whole is held by ``PROVEN_ELSEWHERE``, which names them. One line is left out: that
the library, the command line and MCP give the same ids and errors as HTTP (there are none yet).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from provenloop.analyzers import ANALYZERS
from provenloop.domain.lifecycle import OPEN, STATUSES, STEPS, steps_from
from provenloop.entry.local.stack import LocalStack
from tests.functions.api import Api
from tests.functions.programs import analyzer_that_finds, model_that_finds
from tests.functions.requests import ADMIN, ROOT
from tests.scenario.golden_memory import DAY_MS, GOLDEN_NOW, MEMORY, fact, run, tell_golden
from tests.scenario.reported.test_coverage import TESTS, names_in

BECAUSE = {"because": "looked at"}
Row = Mapping[str, Any]

NO_TOKEN_WITHOUT_ENTRY = "test_no_fault_at_any_call_leaves_a_token_without_its_entry_or_an_entry_without_its_token"
ENDED_BY_ANOTHER = "test_a_review_by_the_workflow_is_ended_by_the_decision_of_another_and_not_by_the_triggers"
#: Lines of the checklist, or parts of one, and the tests that prove them.
PROVEN_ELSEWHERE = {
    "thresholds of failing tools with hundreds of calls": [
        "unit/analyzers/test_tool_failure.py::test_a_cluster_fires_by_count_and_rate_or_by_count_alone",
    ],
    "a crash between any two writes leaves no orphan": [
        "scenario/test_exactly_once.py::test_a_fault_at_any_write_of_a_pass_loses_and_doubles_nothing",
        "scenario/test_exactly_once.py::test_a_fault_at_any_call_of_ingest_loses_and_doubles_nothing",
        "scenario/test_bus.py::test_no_fault_at_any_call_of_a_sweep_loses_an_event",
        "scenario/test_forget_job.py::test_a_crash_at_any_write_of_a_job_loses_and_repeats_nothing",
        "scenario/test_erase_memory.py::test_a_crash_at_any_write_loses_and_counts_nothing_twice",
        f"scenario/test_tenant_trail.py::{NO_TOKEN_WITHOUT_ENTRY}",
    ],
    "every refusal of the gates but those of the lifecycle": [
        "scenario/test_decisions.py::test_every_refused_decision_writes_nothing_and_leaves_the_item_decidable",
        "functions/test_access.py::test_all_other_scopes_together_do_not_stand_in_for_one",
        "functions/test_bad_requests.py::test_every_decision_needs_a_reason",
    ],
    "a trigger accepts nothing of models and commands on any surface": [
        "functions/test_self_approval.py::test_the_trigger_accepts_it_in_no_way_nor_does_a_token_that_it_minted",
        f"functions/test_self_approval.py::{ENDED_BY_ANOTHER}",
    ],
    "whatever is granted, no field is lost": [
        "scenario/test_auto_apply.py::test_whatever_was_said_no_field_is_ever_lost_by_itself",
    ],
}


def test_what_is_proven_elsewhere_is() -> None:
    named = [test.partition("::") for tests in PROVEN_ELSEWHERE.values() for test in tests]
    assert [test for test in named if test[2] not in names_in(TESTS / test[0])] == []


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=GOLDEN_NOW, policy_file=policy) as stack:
        yield stack


@pytest.fixture
def api(served: LocalStack) -> Api:
    """The whole system, empty, under a policy that grants nothing."""
    served.reset()
    grant(served, {})
    served.use_commands()
    served.set_clock(GOLDEN_NOW)
    return Api(served)


def grant(stack: LocalStack, policy: dict[str, Any]) -> None:
    assert stack.policy_file is not None
    stack.policy_file.write_text(json.dumps(policy), encoding="utf-8")


def family(row: Row) -> str:
    return str(row["analyzer"].removeprefix("loop.").removesuffix("/1"))


def queue(api: Api, status: str = "pending") -> list[Row]:
    """All rows of a status."""
    rows: list[Row] = []
    query = {"status": status, "limit": "100"}
    while True:
        page = api.done("list_recommendations", MEMORY, query=query)
        rows += page["recommendations"]
        if page["cursor"] is None:
            return rows
        query = {**query, "cursor": page["cursor"]}


def found(api: Api, status: str = "pending") -> list[tuple[str, str]]:
    return sorted((family(row), row["severity"]) for row in queue(api, status))


def path(rec_id: str) -> dict[str, str]:
    return {**MEMORY, "id": rec_id}


def opened(api: Api, *events: dict[str, Any]) -> None:
    """The memory, with these events in it."""
    api.done("create_memory", MEMORY)
    tell(api, *events)


def tell(api: Api, *events: dict[str, Any]) -> None:
    for start in range(0, len(events), 90):
        api.done("record_events", MEMORY, {"events": events[start : start + 90]})


def calls(tool: str, errors: int, good: int = 0, *, text: str = "card declined", **more: Any) -> list[dict[str, Any]]:
    failing = [{"kind": "tool_call", "tool": tool, "is_error": True, "result": text, **more} for _ in range(errors)]
    return failing + [{"kind": "tool_call", "tool": tool, "is_error": False, "result": "ok"} for _ in range(good)]


# the golden memory

#: Other than in the loop that this one began from, a fork of values that contradict each other is one finding, and so
#: are three spellings of one value; what is told through the API is recalled or not, so that facts can be cold.
GOLDEN = [
    ("cold_grains", "low"),
    ("contradiction_sweep", "medium"),
    ("contradiction_sweep", "medium"),
    ("duplicate_sweep", "info"),
    ("duplicate_sweep", "low"),
    ("skill_stall", "medium"),
    ("staleness", "low"),
    ("staleness", "medium"),
    ("tool_failure", "high"),
]


def test_the_golden_memory_is_counted_and_found_as_pinned(api: Api) -> None:
    tell_golden(api)
    first = run(api)
    counted = {name: first[name] for name in ("outcome", "new_grains", "new_error_events", "stored", "auto_applied")}
    assert counted == {"outcome": "ran", "new_grains": 21, "new_error_events": 5, "stored": 9, "auto_applied": 0}
    assert (first["proposed"], first["deduped"], first["suppressed"]) == (9, 0, 0)
    assert found(api) == GOLDEN
    assert [row["severity"] for row in queue(api)] == ["high", *["medium"] * 4, *["low"] * 3, "info"]
    skipped = {each["id"]: each["reason"] for each in first["analyzers_skipped"]}
    assert set(skipped) == {"loop.goal_stagnation/1", "loop.retention_sweep/1"}
    assert len(first["analyzers_run"]) == 10


def test_a_second_pass_a_full_sweep_and_a_gated_one_store_nothing(api: Api) -> None:
    tell_golden(api)
    run(api)
    before = queue(api)
    again, sweep = run(api), run(api, full_sweep=True)
    assert (again["stored"], again["new_grains"], again["new_error_events"]) == (0, 0, 0)
    assert sweep["stored"] == 0
    assert sweep["proposed"] == sweep["deduped"] >= 8
    gated = run(api, min_new=1)
    assert (gated["outcome"], gated["skip_reason"]) == ("skipped", "gate")
    assert queue(api) == before
    assert api.done("verify_audit", MEMORY)["ok"]


def test_a_maximal_policy_applies_the_exact_duplicates_by_itself_and_loses_no_field(api: Api) -> None:
    everything = [
        {"analyzer": known.manifest.id.partition("/")[0], "targets": ["memory", "query"], "max_severity": "high"}
        for known in ANALYZERS
    ]
    grant(api.stack, {"auto_apply_enabled": True, "auto_apply": everything})
    tell_golden(api)
    outcome = run(api)
    assert (outcome["stored"], outcome["auto_applied"]) == (9, 1)
    assert found(api, "applied") == [("duplicate_sweep", "low")]
    assert found(api) == [each for each in GOLDEN if each != ("duplicate_sweep", "low")]
    about = api.done("show_entity", {**MEMORY, "namespace": "agent", "subject": "acme"})["facts"]
    [kept] = [each for each in about if each["state"] == "current"]
    assert (kept["object"], kept["source"]) == ("Gold", "import")
    assert sorted(kept["tags"]) == ["call", "crm", "mail"]


# thresholds


def test_failing_tools_are_found_by_count_and_rate(api: Api) -> None:
    cases = {
        (2, 0): None,
        (3, 0): "medium",
        (3, 4): "low",
        (3, 5): None,
        (4, 6): "low",
        (5, 2): "high",
        (5, 5): "medium",
    }
    opened(api, *(event for errors, good in cases for event in calls(f"t{errors}of{errors + good}", errors, good)))
    run(api)
    severities = {row["target"].rpartition("/")[2]: row["severity"] for row in queue(api)}
    assert severities == {f"t{errors}of{errors + good}": wanted for (errors, good), wanted in cases.items() if wanted}


def test_validity_that_ends_now_is_not_stale_and_one_that_ended_is(api: Api) -> None:
    ends = {"now": 0, "just": 1, "90 days": 90 * DAY_MS, "longer": 91 * DAY_MS}
    opened(api, *(fact(name, "promo", "x", valid_to=GOLDEN_NOW - ago) for name, ago in ends.items()))
    run(api)
    shown = {row["severity"]: api.done("show_recommendation", path(row["id"])) for row in queue(api)}
    assert [row["severity"] for row in queue(api)] == ["medium", "low", "low"]
    assert shown["medium"]["evidence"][0]["body"]["subject"] == "longer"
    api.stack.set_clock(GOLDEN_NOW + 1)
    run(api)
    assert len(queue(api)) == 4


def test_skills_and_goals_are_found_at_their_bounds_and_not_beyond(api: Api) -> None:
    skills = {"at": (5, 0.4), "green": (4, 0.4), "good": (5, 0.41)}
    goals = {"at": 0.1, "on its way": 0.11}
    api.stack.set_clock(GOLDEN_NOW - 30 * DAY_MS)
    opened(
        api,
        *({"kind": "skill", "name": name, "practice_count": count, "proficiency": level}
          for name, (count, level) in skills.items()),
        *({"kind": "goal", "name": name, "progress": progress} for name, progress in goals.items()),
    )  # fmt: skip
    api.done("configure", MEMORY, {"analyzer": "loop.goal_stagnation", "enabled": True, "because": "wanted"})
    api.stack.set_clock(GOLDEN_NOW - 1)
    run(api)
    assert found(api) == [("skill_stall", "medium")]
    api.stack.set_clock(GOLDEN_NOW)
    run(api)
    assert found(api) == [("goal_stagnation", "low"), ("skill_stall", "medium")]
    assert {row["target"] for row in queue(api)} == {"entity:skills/at", "entity:goals/at"}


def ask(api: Api, question: str, *, fits: bool) -> dict[str, Any]:
    """A report of one recall, with or without an answer."""
    [known] = api.done("record_events", MEMORY, {"events": [fact("kai", "prefers", "tea")]})["events"]
    return {"kind": "recall_report", "question": question, "returned": [known["address"]] if fits else []}


def test_gaps_and_budgets_are_found_at_their_bounds_and_not_beyond(api: Api) -> None:
    opened(api)
    asked = {"where is the key?": (4, 5), "who is mia?": (2, 2), "what is tea?": (3, 4)}
    for question, (empty, runs) in asked.items():
        tell(api, *(ask(api, question, fits=number >= empty) for number in range(runs)))
    full = {"kind": "assembly_report", "budget": 100, "used": 100, "unit": "tokens"}
    tell(api, *({**full, "dropped": int(number < 10)} for number in range(19)))
    run(api)
    assert found(api) == [("coverage_gap", "medium")]
    tell(api, {**full, "dropped": 0})
    run(api)
    assert found(api) == [("budget_pressure", "medium"), ("coverage_gap", "medium")]


def test_a_fact_is_cold_after_thirty_days_without_a_recall(api: Api) -> None:
    opened(api, fact("kai", "prefers", "tea"), fact("mia", "prefers", "milk"))
    about = {**MEMORY, "namespace": "agent", "subject": "mia"}
    api.stack.set_clock(GOLDEN_NOW + 9 * DAY_MS)
    api.done("show_entity", about, token=api.mint("bot", "read"))
    api.stack.set_clock(GOLDEN_NOW + 30 * DAY_MS - 1)
    run(api)
    assert queue(api) == []
    api.stack.set_clock(GOLDEN_NOW + 31 * DAY_MS)
    run(api)
    [cold] = queue(api)
    evidence = api.done("show_recommendation", path(cold["id"]))["evidence"]
    assert (family(cold), [each["body"]["subject"] for each in evidence]) == ("cold_grains", ["kai"])


# who let the pass run


def test_a_trigger_accepts_what_the_analyzers_found_and_nothing_that_models_and_commands_found(api: Api) -> None:
    finding = {"target": "entity:agent/sam", "summary": "sam is in two towns"}
    # What a model only repeats is dropped.
    own = {"target": "entity:agent/kai", "summary": "kai drinks tea"}
    api.stack.use_commands(llm=model_that_finds(**own), analyzers=[analyzer_that_finds("towns", **finding)])
    trigger, other = (api.mint(name, "read", "write", "review", "apply") for name in ("runner", "reviewer"))
    told = (fact("sam", "lives_in", "Berlin"), fact("sam", "lives_in", "Tokyo"), fact("kai", "prefers", "tea"))
    opened(api, *told)
    api.done("run_pass", MEMORY, {}, token=trigger)
    api.stack.tick()
    ids = {row["analyzer"]: row["id"] for row in queue(api)}
    assert sorted(ids) == ["ext.towns/1", "loop.contradiction_sweep/1", "loop.llm/1"]
    for analyzer in ("ext.towns/1", "loop.llm/1"):
        refused = api.call("acknowledge", path(ids[analyzer]), BECAUSE, token=trigger)
        assert api.refused(refused) == (403, "PVL-E021")
        api.done("acknowledge", path(ids[analyzer]), BECAUSE, token=other)
    api.done("approve_and_apply", path(ids["loop.contradiction_sweep/1"]), BECAUSE, token=trigger)


# refusals and their quiet time


def test_each_rejection_is_quiet_for_longer_up_to_ninety_days(api: Api) -> None:
    opened(api, fact("sam", "lives_in", "Berlin"), fact("sam", "lives_in", "Tokyo"))
    now = GOLDEN_NOW
    for days in (7, 14, 28, 56, 90, 90):
        api.stack.set_clock(now)
        run(api)
        [conflict] = [row["id"] for row in queue(api) if family(row) == "contradiction_sweep"]
        api.done("reject", path(conflict), BECAUSE)
        api.stack.set_clock(now + days * DAY_MS - 1)
        run(api)
        assert "contradiction_sweep" not in {family(row) for row in queue(api)}, days
        now += days * DAY_MS
    api.stack.set_clock(now)
    run(api)
    assert [family(row) for row in queue(api)].count("contradiction_sweep") == 1


def decide(name: str, **more: Any) -> Callable[[Api, str], Any]:
    return lambda api, rec_id: api.call(name, path(rec_id), {**BECAUSE, **more})


#: Every way of acting on one recommendation, and the status that it wants.
ACTIONS: dict[str, tuple[str, Callable[[Api, str], Any]]] = {
    "approve": ("approved", decide("approve")),
    "reject": ("rejected", decide("reject")),
    "acknowledge": ("acknowledged", decide("acknowledge")),
    "snooze": ("snoozed", decide("snooze", until=GOLDEN_NOW + 5 * DAY_MS)),
    "wake": ("pending", decide("wake")),
    "apply": ("applied", decide("apply")),
    "approve_and_apply": ("approved", decide("approve_and_apply")),
    "roll_back": ("rolled_back", decide("roll_back")),
    "request_review": ("pending", lambda api, rec_id: api.call("request_review", path(rec_id))),
}
ROLES = {"apply": "applier", "roll_back": "applier"}
#: What leads to each status from pending; expired is reached by what else is told.
WAYS: dict[str, tuple[str, ...]] = {
    "pending": (), "snoozed": ("snooze",), "approved": ("approve",), "rejected": ("reject",),
    "acknowledged": ("acknowledge",), "applied": ("approve_and_apply",),
    "rolled_back": ("approve_and_apply", "roll_back"), "expired": (),
}  # fmt: skip


def is_allowed(status: str, action: str) -> bool:
    """Whether the lifecycle's table has the step, for a change that can be applied."""
    wanted, _ = ACTIONS[action]
    if action == "acknowledge":
        return False
    if action in ("approve_and_apply", "request_review"):
        return status == "pending" or (action == "approve_and_apply" and status == "snoozed")
    return ROLES.get(action, "reviewer") in STEPS.get((status, wanted), frozenset())


def one_of_each(api: Api) -> dict[str, str]:
    """A memory with one recommendation of every status; their ids."""
    changes = [status for status in STATUSES if status != "acknowledged"]
    conflicts = [fact(status, "lives_in", town) for status in changes for town in ("Berlin", "Tokyo")]
    opened(api, *conflicts, {"kind": "skill", "name": "refunds", "practice_count": 9, "proficiency": 0.1})
    run(api)
    ids: dict[str, str] = {}
    for row in queue(api):
        subject = row["target"].rpartition("/")[2] if family(row) == "contradiction_sweep" else "acknowledged"
        ids[subject] = row["id"]
    for status, way in WAYS.items():
        for action in way:
            answer = ACTIONS[action][1](api, ids[status])
            assert answer.status == 200, (status, action, answer.text)
    for each in api.done("show_entity", {**MEMORY, "namespace": "agent", "subject": "expired"})["facts"][:1]:
        api.done("forget", MEMORY, {"address": each["address"], "because": "gone"})
    run(api)
    assert {status: api.done("show_recommendation", path(ids[status]))["status"] for status in STATUSES} == {
        status: status for status in STATUSES
    }
    return ids


def test_every_step_that_the_lifecycle_does_not_have_is_refused_by_its_code_and_changes_nothing(api: Api) -> None:
    ids = one_of_each(api)
    before = api.stack.items()
    refused = {
        (status, action): act(api, rec_id)
        for status, rec_id in ids.items()
        for action, (_, act) in ACTIONS.items()
        if not is_allowed(status, action)
    }
    codes = {step: api.refused(answer) for step, answer in refused.items()}
    not_advice = {(status, "acknowledge") for status in ("pending", "snoozed")}
    assert {step: code for step, code in codes.items() if step not in not_advice} == {
        step: (409, "PVL-E020") for step in codes if step not in not_advice
    }
    assert {codes[step] for step in not_advice} == {(400, "PVL-E011")}
    assert len(codes) == len(STATUSES) * len(ACTIONS) - 12
    assert api.stack.items() == before
    assert api.done("verify_audit", MEMORY)["ok"]
    # After all of these refusals whatever is open can still be closed.
    for status in sorted(OPEN):
        assert api.done("reject", path(ids[status]), BECAUSE)["status"] == "rejected"


def test_every_step_that_the_lifecycle_has_is_taken_by_somebody(api: Api) -> None:
    steps = [(status, action) for status in ("pending", "snoozed", "approved", "applied") for action in ACTIONS
             if is_allowed(status, action)]  # fmt: skip
    opened(api, *(fact(f"s{n}", "lives_in", town) for n in range(len(steps)) for town in ("Berlin", "Tokyo")))
    run(api)
    ids = {row["target"].rpartition("/")[2]: row["id"] for row in queue(api)}
    for number, (status, action) in enumerate(steps):
        rec_id = ids[f"s{number}"]
        for way in WAYS[status]:
            ACTIONS[way][1](api, rec_id)
        answer = ACTIONS[action][1](api, rec_id)
        assert answer.status == 200, (status, action, answer.text)
        wanted = "applied" if action == "approve_and_apply" else ACTIONS[action][0]
        assert api.done("show_recommendation", path(rec_id))["status"] == wanted
    assert len(steps) == 12
    assert api.done("verify_audit", MEMORY)["ok"]


def test_no_status_that_is_open_is_a_dead_end_and_every_other_frees_its_finding() -> None:
    for status in STATUSES:
        assert ("rejected" in steps_from(status)) == (status in OPEN)
    assert {after for _, after in STEPS} == set(STATUSES)


def test_a_refused_removal_can_be_applied_by_who_may_or_be_rejected(api: Api) -> None:
    opened(api, *(fact(name, "promo", "x", valid_to=GOLDEN_NOW - 5 * DAY_MS) for name in ("a", "b")))
    run(api)
    first, second = (row["id"] for row in queue(api))
    applier = api.mint("applier", "review", "apply", kind="human")
    before = api.stack.items()
    for body in (BECAUSE, {**BECAUSE, "allow_destructive": True}):
        answer = api.call("approve_and_apply", path(first), body, token=applier)
        assert api.refused(answer)[0] == 403
    assert api.refused(api.call("approve_and_apply", path(first), BECAUSE)) == (403, "PVL-E023")
    assert api.stack.items() == before
    assert api.done("approve_and_apply", path(first), {**BECAUSE, "allow_destructive": True})["status"] == "applied"
    assert api.done("reject", path(second), BECAUSE)["status"] == "rejected"


# apply, undo, again


def read(api: Api) -> list[str]:
    """Everything that is recalled about the subject, as it comes over the wire."""
    about = {"namespace": "agent", "subject": "sam"}
    return [
        api.call("recall", MEMORY, query=about).text,
        api.call("recall", MEMORY, query={"namespace": "agent", "question": "where does sam live in Berlin?"}).text,
        api.call("show_entity", {**MEMORY, **about}).text,
    ]


def test_undoing_an_apply_restores_what_is_recalled_byte_for_byte_and_it_can_be_applied_again(api: Api) -> None:
    opened(api, fact("sam", "lives_in", "Berlin", confidence=0.2), fact("sam", "lives_in", "Tokyo", tags=["hr"]))
    run(api)
    [row] = queue(api)
    before = read(api)
    api.done("approve_and_apply", path(row["id"]), BECAUSE)
    assert read(api) != before
    api.done("roll_back", path(row["id"]), BECAUSE)
    assert read(api) == before
    api.stack.set_clock(GOLDEN_NOW + 7 * DAY_MS)
    run(api)
    [again] = queue(api)
    assert again["id"] != row["id"]
    assert api.done("approve_and_apply", path(again["id"]), BECAUSE)["status"] == "applied"
    api.done("roll_back", path(again["id"]), BECAUSE)
    assert read(api) == before
    assert api.done("verify_audit", MEMORY)["ok"]


def test_signatures_relations_and_namespaces_are_findings_of_their_own(api: Api) -> None:
    opened(
        api,
        *calls("refund", 3, text="card declined"),
        *calls("refund", 3, text="quota exceeded"),
        *(fact("sam", relation, town) for relation in ("lives_in", "region") for town in ("Berlin", "Tokyo")),
        *({**fact("sam", "lives_in", town), "namespace": "other"} for town in ("Berlin", "Tokyo")),
        *({**fact("tea", "likes", text), "namespace": name} for name in ("agent", "other") for text in ("Mia", "mia")),
    )
    run(api)
    families = [family(row) for row in queue(api)]
    assert {each: families.count(each) for each in families} == {
        "tool_failure": 2,
        "contradiction_sweep": 3,
        "duplicate_sweep": 2,
    }
    for row in queue(api):
        assert api.done("approve_and_apply", path(row["id"]), BECAUSE)["status"] == "applied"
    assert run(api, full_sweep=True)["stored"] == 0


# what does not hold


def outcomes(api: Api) -> dict[int, str]:
    """Verdict by horizon in days, of the one applied lesson."""
    [series] = [each["series"] for each in api.done("show_outcomes", MEMORY)["recommendations"]]
    return {point["horizon_ms"] // DAY_MS: point["verdict"] for point in series if point["verdict"]}


def test_a_late_failure_is_told_once_by_the_horizon_it_falls_into(api: Api) -> None:
    opened(api, *calls("refund", 5, 2))
    run(api)
    [lesson] = queue(api)
    api.done("approve_and_apply", path(lesson["id"]), BECAUSE)
    for day in (*range(1, 8), 20):
        api.stack.set_clock(GOLDEN_NOW + day * DAY_MS - DAY_MS // 2)
        tell(api, *(calls("refund", 3) if day == 20 else calls("refund", 0, 1)))
    api.stack.set_clock(GOLDEN_NOW + 31 * DAY_MS)
    assert run(api)["measured"] == 3
    assert outcomes(api) == {1: "held", 7: "held", 30: "regressed"}
    assert [family(row) for row in queue(api)].count("outcome_review") == 1
    assert run(api, full_sweep=True)["measured"] == 0
    assert [family(row) for row in queue(api)].count("outcome_review") == 1


def test_a_second_regression_is_proposed_for_undoing_again_though_the_first_time_it_was_rejected(api: Api) -> None:
    opened(api, *calls("refund", 5, 2))
    run(api)
    [lesson] = queue(api)
    api.done("approve_and_apply", path(lesson["id"]), BECAUSE)
    reverts: list[str] = []
    for day, look in ((0.5, 1.1), (6.0, 8.2)):
        api.stack.set_clock(GOLDEN_NOW + int(day * DAY_MS))
        tell(api, *calls("refund", 3))
        api.stack.set_clock(GOLDEN_NOW + int(look * DAY_MS))
        assert run(api)["measured"] == 1
        [revert] = [row["id"] for row in queue(api) if family(row) == "outcome_review"]
        if not reverts:
            api.done("reject", path(revert), BECAUSE)
        reverts.append(revert)
    assert outcomes(api) == {1: "regressed", 7: "regressed"}
    assert len(set(reverts)) == 2
    assert api.done("approve_and_apply", path(reverts[1]), BECAUSE)["status"] == "applied"
    assert api.done("show_recommendation", path(lesson["id"]))["status"] == "rolled_back"
