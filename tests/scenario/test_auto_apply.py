"""What applies itself under a policy, and all that does not: it waits for a person, with the reason beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.analyzers import ANALYZERS
from provenloop.domain.errors import UnavailableError
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.policy import CLOSED, TARGET_CLASSES, Grant, Policy, TargetClass
from provenloop.domain.proposal import Operation, Proposal, digest_of
from provenloop.domain.recommendation import Recommendation, Severity, Target, family_of
from provenloop.domain.same_value import altered_by_merging
from provenloop.services.audit_export import export_page
from provenloop.services.auto_apply import forbidden
from provenloop.services.pass_settings import CAPABILITIES, Setting, settings_of
from provenloop.services.ports import Put, Write, WriteRefusedError
from tests.builders import DAY_MS, NOW, Desk, make_calls, make_fact, make_observation
from tests.store_fixture import fresh_store

DUPLICATES = "loop.duplicate_sweep"
GRANTED = Policy(auto_apply_enabled=True, auto_apply=(Grant(DUPLICATES, ("memory",), "low"),))
EVERYTHING = Policy(
    auto_apply_enabled=True,
    auto_apply=tuple(Grant(family_of(known.manifest.id), TARGET_CLASSES, "high") for known in ANALYZERS),
)


def granting(family: str, target: TargetClass, severity: Severity) -> Policy:
    return Policy(auto_apply_enabled=True, auto_apply=(Grant(family, (target,), severity),))


def likes(value: str, **more: Any) -> Any:
    return make_fact(value, relation="likes", **more)


def duplicate(desk: Desk, status: str = "all") -> Recommendation:
    [row] = desk.queue(status, analyzer=DUPLICATES)
    return desk.recommendation(row["id"])


def entries(desk: Desk, rec_id: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export_page(desk.store, desk.call(), subject=rec_id).lines]


@pytest.fixture
def twice(desk: Desk) -> Desk:
    """One fact in two spellings, each with something of its own."""
    desk.policy = GRANTED
    desk.record(likes("tea", confidence=0.9, tags=("a",)))
    desk.record(likes("Tea", source="mail", tags=("b",)))
    return desk


def test_an_exact_duplicate_applies_itself_and_loses_nothing(twice: Desk) -> None:
    outcome = twice.run()
    assert (outcome["stored"], outcome["auto_applied"]) == (1, 1)
    rec = duplicate(twice)
    assert (rec.status, rec.approval, rec.held_back) == ("applied", None, None)
    [kept] = twice.facts().values()
    assert {name: kept.body[name] for name in ("object", "confidence", "source", "tags")} == {
        "object": "tea", "confidence": 0.9, "source": "mail", "tags": ["a", "b"],
    }  # fmt: skip
    assert kept.stated == 2
    twice.verify()


def test_it_is_on_record_as_an_act_of_the_policy(twice: Desk) -> None:
    twice.run()
    proposed, applied = entries(twice, duplicate(twice).id)
    assert (proposed["from"], proposed["to"]) == ("", "pending")
    assert (applied["from"], applied["to"], applied["by"]["label"]) == ("pending", "applied", "policy:auto")
    assert applied["effects"]["policy"] == GRANTED.digest
    assert applied["because"]


def test_the_passes_after_it_have_nothing_to_say(twice: Desk) -> None:
    twice.run()
    after = twice.run()
    assert (after["new_grains"], after["stored"], after["auto_applied"]) == (0, 0, 0)
    assert twice.run(min_new=1)["outcome"] == "skipped"


def test_a_person_can_undo_it_and_it_does_not_come_again_at_once(twice: Desk) -> None:
    before = twice.facts()
    twice.run()
    twice.roll_back(duplicate(twice).id)
    assert {value: grain.body for value, grain in twice.facts().items()} == {
        value: grain.body for value, grain in before.items()
    }
    assert twice.run(full_sweep=True)["auto_applied"] == 0
    assert duplicate(twice).status == "rolled_back"


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (CLOSED, None),
        (replace(GRANTED, auto_apply_enabled=False), None),
        (granting("loop.staleness", "memory", "high"), None),
        (
            replace(GRANTED, auto_apply=(Grant(DUPLICATES, ("query",), "high"),)),
            "the policy does not grant changes of a memory",
        ),
        (
            replace(GRANTED, auto_apply=(Grant(DUPLICATES, ("memory",), "info"),)),
            "the policy does not grant severity low",
        ),
    ],
    ids=["closed", "switched off", "another analyzer", "another target", "a lower severity"],
)
def test_without_a_grant_that_reaches_so_far_it_waits(twice: Desk, policy: Policy, reason: str | None) -> None:
    twice.policy = policy
    assert twice.run()["auto_applied"] == 0
    rec = duplicate(twice)
    assert (rec.status, rec.held_back) == ("pending", reason)


def test_what_is_denied_is_not_applied_whatever_is_granted(twice: Desk) -> None:
    twice.policy = replace(GRANTED, deny=(DUPLICATES,))
    outcome = twice.run()
    assert (outcome["stored"], outcome["auto_applied"]) == (0, 0)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ({"confidence": 0.2}, {"confidence": 1.0}, "they differ in confidence"),
        ({}, {"valid_to": NOW + 9 * DAY_MS}, "they differ in valid_to"),
        ({"valid_to": NOW + 9 * DAY_MS}, {}, "they differ in valid_to"),
        ({"source": "mail"}, {"source": "call"}, "they differ in source"),
    ],
)
def test_where_a_value_would_be_altered_it_waits_with_the_reason(
    desk: Desk, first: dict[str, Any], second: dict[str, Any], reason: str
) -> None:
    desk.policy = GRANTED
    desk.record(likes("tea", **first), likes("Tea", **second))
    assert desk.run()["auto_applied"] == 0
    rec = duplicate(desk)
    assert (rec.status, rec.held_back) == ("pending", reason)
    assert len(desk.facts()) == 2
    desk.approve_and_apply(rec.id)


def test_the_case_of_an_identifier_is_a_value(desk: Desk) -> None:
    desk.policy = GRANTED
    desk.record(likes("ticket AB12"), likes("ticket ab12"))
    desk.run()
    assert duplicate(desk).held_back == "they differ in object"


def test_a_policy_given_later_applies_to_what_already_waits(twice: Desk) -> None:
    twice.policy = CLOSED
    twice.run()
    twice.run()
    twice.policy = GRANTED
    assert twice.run()["auto_applied"] == 1
    assert duplicate(twice).status == "applied"


def test_a_policy_taken_away_takes_the_reason_with_it(desk: Desk) -> None:
    desk.policy = GRANTED
    desk.record(likes("tea", confidence=0.2), likes("Tea", confidence=1.0))
    desk.run()
    desk.policy = CLOSED
    desk.run()
    assert duplicate(desk).held_back is None


def test_the_reason_is_written_once(desk: Desk) -> None:
    desk.policy = GRANTED
    desk.record(likes("tea", confidence=0.2), likes("Tea", confidence=1.0))
    desk.run()
    rev = duplicate(desk).rev
    desk.run(full_sweep=True)
    assert duplicate(desk).rev == rev


def test_what_a_person_has_taken_up_is_left_to_them(twice: Desk) -> None:
    twice.policy = CLOSED
    twice.run()
    twice.approve(duplicate(twice).id)
    twice.policy = GRANTED
    assert twice.run()["auto_applied"] == 0
    assert duplicate(twice).status == "approved"


def everything(desk: Desk) -> None:
    """Something for most analyzers."""
    said = "the parcel for the north gate was left at the door of the depot this morning"
    desk.record(
        *make_calls(5),
        likes("tea", tags=("a",)),
        likes("Tea", tags=("b",)),
        make_fact("Berlin"),
        make_fact("Tokyo"),
        make_fact("old", relation="code", valid_to=desk.now - 9 * DAY_MS),
        make_observation(said),
        make_observation(f"{said} again"),
        make_observation("Nothing new in the depot of the north gate as of today"),
        make_observation("nothing new in the depot of the north gate as of today"),
    )


def test_granting_everything_applies_exactly_the_exact_duplicates(desk: Desk) -> None:
    desk.policy = EVERYTHING
    everything(desk)
    outcome = desk.run()
    assert outcome["stored"] >= 6
    assert outcome["auto_applied"] == 1
    assert [row["summary"] for row in desk.queue("applied")] == [
        desk.queue("applied", analyzer=DUPLICATES)[0]["summary"]
    ]
    held = {row["analyzer"]: desk.recommendation(row["id"]).held_back for row in desk.queue()}
    never = "findings of this analyzer are never applied without a person"
    assert held == {
        "loop.tool_failure/1": never,
        "loop.contradiction_sweep/1": never,
        "loop.staleness/1": never,
        "loop.duplicate_sweep/1": "only facts are compared word by word",
    }


SPELLINGS = st.sampled_from(
    ["tea", "Tea", "TEA ", " tea", "green  tea", "Green tea", "tea 1A", "Tea 1a", "ｔｅａ", "TEA 1A"]
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "confidence": st.sampled_from([0.2, 1.0]),
        "source": st.sampled_from(["mail", "call"]),
        "tags": st.sampled_from([("a",), ("b", "c")]),
        "valid_to": st.just(NOW + 9 * DAY_MS),
    },
)


@given(st.lists(st.tuples(SPELLINGS, FIELDS), min_size=2, max_size=6))
def test_whatever_was_said_no_field_is_ever_lost_by_itself(said: list[tuple[str, dict[str, Any]]]) -> None:
    with fresh_store() as store:
        desk = Desk(store, policy=EVERYTHING).open()
        for value, fields in said:
            desk.record(likes(value, **fields))
        before = desk.grains()
        desk.run()
        after = desk.grains()
        desk.verify()
    for address, grain in before.items():
        kept = after[after[address].superseded_by or address]
        assert altered_by_merging(kept, [grain]) is None
        assert set(grain.body.get("tags") or ()) <= set(kept.body.get("tags") or ())
    assert sum(grain.stated for grain in after.values() if grain.is_current) == sum(
        grain.stated for grain in before.values()
    )


# one that fails


class Failing:
    """A store that refuses to apply to one memory of grains, as long as it is told to."""

    def __init__(self, store: DynamoStore, error: Exception) -> None:
        self._store, self._error = store, error
        self.is_failing = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def transact(self, memory: Any, writes: list[Write], now: int, **how: Any) -> None:
        is_apply = any(isinstance(write, Put) and type(write.entity).__name__ == "Undo" for write in writes)
        if is_apply and self.is_failing:
            self.is_failing = False
            raise self._error
        self._store.transact(memory, writes, now, **how)


@pytest.mark.parametrize("error", [UnavailableError("not now"), WriteRefusedError([])], ids=["outside", "race"])
def test_one_that_fails_fails_neither_the_pass_nor_the_others_and_comes_again(desk: Desk, error: Exception) -> None:
    desk.policy = GRANTED
    for subject in ("ann", "bob"):
        desk.record(likes("tea", subject=subject), likes("Tea", subject=subject))
    desk.store = Failing(desk.store, error)  # type: ignore[assignment]
    outcome = desk.run()
    assert (outcome["outcome"], outcome["auto_applied"]) == ("ran", 1 if isinstance(error, UnavailableError) else 2)
    desk.run(at=desk.now + 10 * 60_000, min_new=1)
    assert {row["status"] for row in desk.queue("all")} == {"applied"}
    desk.verify()


def test_a_proposal_that_is_out_of_date_is_brought_up_to_date_before_it_is_applied(desk: Desk) -> None:
    rec = merging(desk)
    [merge] = rec.proposal.operations
    later = replace(merge, expects={address: rev + 1 for address, rev in merge.expects.items()})
    proposal = Proposal(operations=(later,))
    desk.plant(replace(rec, proposal=proposal, proposal_digest=digest_of(proposal)))
    desk.policy = GRANTED
    assert desk.run()["auto_applied"] == 1
    assert duplicate(desk).proposal == rec.proposal
    desk.verify()


# the engine's own ceilings


def setting_of(family: str, policy: Policy = EVERYTHING) -> Setting:
    return next(each for each in settings_of(ANALYZERS, MemoryConfig(), CAPABILITIES, policy) if each.family == family)


def merging(desk: Desk) -> Recommendation:
    desk.record(likes("tea"), likes("Tea"))
    desk.run()
    return duplicate(desk)


def test_no_grant_reaches_beyond_the_engines_own_ceilings(desk: Desk) -> None:
    rec, setting = merging(desk), setting_of(DUPLICATES)
    [merge] = rec.proposal.operations
    assert forbidden(rec, setting) is None

    def with_operations(*operations: Operation) -> Recommendation:
        return replace(rec, proposal=Proposal(operations=operations))

    more = "it does more than merge grains into one"
    assert forbidden(replace(rec, origin="llm:x"), setting) == "it does not come from a builtin analyzer"
    assert forbidden(replace(rec, origin="command:x"), setting) == "it does not come from a builtin analyzer"
    assert forbidden(replace(rec, destructive=True), setting) == "it removes content"
    assert forbidden(replace(rec, target=Target("host", ("x",))), setting) == "it is about a host"
    assert forbidden(with_operations(), setting) == more
    assert forbidden(with_operations(replace(merge, op="POINT")), setting) == more
    assert (
        forbidden(with_operations(merge, replace(merge, into="other", expects={**merge.expects, "other": 1})), setting)
        == more
    )
    assert forbidden(with_operations(replace(merge, expects={})), setting) == more


@pytest.mark.parametrize("family", ["loop.fork_surfacing", "loop.tool_failure", "loop.contradiction_sweep"])
def test_an_analyzer_whose_findings_are_for_people_is_never_granted(desk: Desk, family: str) -> None:
    reason = forbidden(merging(desk), setting_of(family))
    assert reason == "findings of this analyzer are never applied without a person"


def test_a_memory_can_keep_an_analyzer_from_running_and_so_from_applying(twice: Desk) -> None:
    off = MemoryConfig(1, analyzers={DUPLICATES: AnalyzerConfig(enabled=False)})
    twice.store.transact(twice.memory, [Put(off)], twice.now)
    assert twice.run()["auto_applied"] == 0
    assert len(twice.facts()) == 2
