"""What analyzers find in a stored memory, what applying it leaves, and that the next pass has nothing to add."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.events import SupersedeEvent
from provenloop.domain.grain import Grain
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.services import findings_read
from tests.builders import DAY_MS, Desk, make_fact, make_goal, make_observation, make_skill
from tests.faults import Snapshot, assert_unchanged

LONG = "the customer asked for a refund because the parcel arrived broken and late again"


def likes(value: str, **more: Any) -> Any:
    return make_fact(value, relation="likes", **more)


def record_one(desk: Desk, event: Any) -> Grain:
    [answer] = desk.record(event)["events"]
    return desk.grains()[answer["address"]]


def stored_grains(desk: Desk) -> Snapshot:
    return {key: item for key, item in desk.snapshot().items() if key[0].endswith("#GRAIN")}


def pending(desk: Desk) -> list[str]:
    return sorted(row["analyzer"].removeprefix("loop.").removesuffix("/1") for row in desk.queue())


# duplicates


def test_spellings_of_one_fact_are_merged_and_stay_one(desk: Desk) -> None:
    for value in ("tea", "Tea", "TEA "):
        desk.record(likes(value))
    desk.run()
    assert pending(desk) == ["duplicate_sweep"]
    [row] = desk.queue()
    assert (row["severity"], row["summary"]) == ("low", "3 facts say sam likes tea in different spellings")
    before = stored_grains(desk)
    rec_id = row["id"]
    desk.approve_and_apply(rec_id)
    assert list(desk.facts()) == ["tea"]
    desk.run()
    desk.run(full_sweep=True)
    assert pending(desk) == []
    desk.roll_back(rec_id)
    assert_unchanged(before, stored_grains(desk))


def test_a_later_copy_after_an_apply_is_found_again(desk: Desk) -> None:
    desk.record(likes("tea"))
    desk.record(likes("Tea"))
    desk.run()
    desk.approve_and_apply(desk.finding("duplicate_sweep"))
    desk.record(likes("TEA"))
    desk.run()
    assert desk.finding("duplicate_sweep")


def test_two_groups_of_one_subject_are_both_found(desk: Desk) -> None:
    desk.record(likes("tea"), likes("Tea"), make_fact("cat", relation="has"), make_fact("CAT", relation="has"))
    desk.run()
    assert pending(desk) == ["duplicate_sweep", "duplicate_sweep"]


def test_near_duplicate_observations_are_merged_into_the_earliest(desk: Desk) -> None:
    first = record_one(desk, make_observation(LONG))
    other = record_one(desk, make_observation(f"{LONG} yes", session="s1"))
    desk.record(make_observation(LONG.replace("a refund", "2 refunds")))
    desk.run()
    assert pending(desk) == ["duplicate_sweep"]
    before = stored_grains(desk)
    rec_id = desk.only()["id"]
    desk.approve_and_apply(rec_id)
    grains = desk.grains()
    assert grains[other.address].superseded_by == first.address
    assert grains[first.address].body == {"text": LONG, "session": "s1"}
    desk.run()
    assert pending(desk) == []
    desk.roll_back(rec_id)
    assert_unchanged(before, stored_grains(desk))


# contradictions and forks


def test_resolving_a_contradiction_leaves_one_live_value_and_no_duplicate(desk: Desk) -> None:
    for value in ("Berlin", "Tokyo", "tokyo", "Rome"):
        desk.record(make_fact(value))
    desk.run()
    desk.approve_and_apply(desk.finding("contradiction_sweep"))
    assert list(desk.facts()) == ["Rome"]
    desk.run()
    assert pending(desk) == []


def forked(desk: Desk, relation: str, *values: str) -> Grain:
    """A fact that several writers have replaced, each without knowing of the others."""
    root = record_one(desk, make_fact("water", relation=relation))
    for value in values:
        desk.record(SupersedeEvent(root.address, make_fact(value, relation=relation), allow_fork=True))
    return desk.grains()[root.address]


def test_a_fork_is_one_finding_that_keeps_the_latest_and_an_undo_brings_it_back(desk: Desk) -> None:
    root = forked(desk, "likes", "tea", "coffee")
    assert len(root.successors) == 2
    desk.run()
    assert pending(desk) == ["fork_surfacing"]
    before = stored_grains(desk)
    rec_id = desk.only()["id"]
    desk.approve_and_apply(rec_id)
    assert list(desk.facts()) == ["coffee"]
    desk.run()
    assert pending(desk) == []
    desk.roll_back(rec_id)
    assert_unchanged(before, stored_grains(desk))


@pytest.mark.parametrize(
    ("relation", "values", "family"),
    [("lives_in", ("Berlin", "Tokyo"), "contradiction_sweep"), ("likes", ("tea", "Tea"), "duplicate_sweep")],
)
def test_a_fork_that_another_analyzer_tells_of_is_one_finding(
    desk: Desk, relation: str, values: tuple[str, str], family: str
) -> None:
    forked(desk, relation, *values)
    desk.run()
    assert pending(desk) == [family]
    desk.approve_and_apply(desk.finding(family))
    assert len(desk.facts()) == 1
    desk.run()
    assert pending(desk) == []


# staleness, skills, goals


def advice_of(desk: Desk, rec_id: str) -> Any:
    return findings_read.show_recommendation(desk.store, desk.call(), rec_id)["proposal"]["advice"]


def test_a_fact_whose_validity_ended_is_found_when_its_time_has_come_and_removed(desk: Desk) -> None:
    ends = desk.now + 3 * DAY_MS
    fact = record_one(desk, likes("summer sale", valid_to=ends))
    desk.run()
    assert pending(desk) == []
    assert desk.run(at=ends + 60_000, min_new=9)["outcome"] == "ran"
    assert pending(desk) == ["staleness"]
    desk.approve_and_apply(desk.only()["id"], allow_destructive=True)
    assert desk.grains()[fact.address].state == "forgotten"
    desk.run()
    assert pending(desk) == []


def test_a_stale_fact_that_is_given_more_time_is_resolved(desk: Desk) -> None:
    fact = likes("summer sale", valid_to=desk.now + DAY_MS)
    desk.record(fact)
    desk.run(at=desk.now + 2 * DAY_MS)
    assert pending(desk) == ["staleness"]
    desk.record(likes("summer sale", valid_to=desk.now + 9 * DAY_MS))
    desk.run()
    assert pending(desk) == []


def test_a_stale_finding_grows_graver_after_ninety_days(desk: Desk) -> None:
    ends = desk.now + DAY_MS
    desk.record(likes("summer sale", valid_to=ends))
    desk.run(at=ends + 80 * DAY_MS)
    assert desk.only()["severity"] == "low"
    desk.run(at=ends + 91 * DAY_MS + 60_000, min_new=9)
    assert desk.only()["severity"] == "medium"


def test_a_stalled_skill_is_advice_until_it_rises(desk: Desk) -> None:
    desk.record(make_skill("triage", proficiency=0.25, practice_count=12))
    desk.run()
    [row] = desk.queue()
    assert (row["analyzer"], row["summary"]) == (
        "loop.skill_stall/1", "triage was practised 12 times and stands at 0.25",
    )  # fmt: skip
    assert advice_of(desk, row["id"]) == {"skill": "triage", "proficiency": 0.25, "practice_count": 12}
    desk.record(make_skill("triage", proficiency=0.25, practice_count=13))
    desk.run()
    [later] = desk.queue()
    assert advice_of(desk, later["id"])["practice_count"] == 13
    assert (later["revision"], later["proposal_digest"]) == (1, row["proposal_digest"])
    desk.record(make_skill("triage", revision=2, proficiency=0.35, practice_count=20))
    desk.run()
    assert pending(desk) == []


def enable(desk: Desk, family: str, **parameters: Any) -> None:
    """Switch an analyzer on that is off by default."""
    desk.plant(MemoryConfig(rev=1, analyzers={f"loop.{family}": AnalyzerConfig(enabled=True, parameters=parameters)}))


def test_a_goal_that_does_not_get_on_is_advice_and_a_finished_one_is_not(desk: Desk) -> None:
    enable(desk, "goal_stagnation")
    desk.record(make_goal("ship it", progress=0.05), make_goal("ship that", state="done", progress=1.0))
    desk.run()
    assert desk.run(at=desk.now + 31 * DAY_MS, min_new=9)["outcome"] == "ran"
    [row] = desk.queue()
    assert (row["analyzer"], row["summary"]) == (
        "loop.goal_stagnation/1", "ship it has been active for 31 days and stands at 0.05",
    )  # fmt: skip
    desk.record(make_goal("ship it", progress=0.5))
    desk.run()
    assert pending(desk) == []


# retention


def test_what_is_left_of_a_retention_batch_is_proposed_once_the_batch_is_gone(desk: Desk) -> None:
    enable(desk, "retention_sweep", max_age_days=60, max_grains=2)
    for number in range(3):
        desk.record(make_observation(f"the lift made noise number {number}"))
    desk.run()
    desk.run(at=desk.now + 70 * DAY_MS)
    [row] = desk.queue()
    assert (row["details"]["named"], row["details"]["rest"]) == (2, 1)
    desk.approve_and_apply(row["id"], allow_destructive=True)
    desk.run()
    [row] = desk.queue()
    assert (row["details"]["named"], row["details"]["rest"]) == (1, 0)
    desk.approve_and_apply(row["id"], allow_destructive=True)
    desk.run()
    assert pending(desk) == []
    assert {grain.state for grain in desk.grains().values()} == {"forgotten"}
