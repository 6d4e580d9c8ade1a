"""Applying a proposal that puts a new fact in the place of one, and undoing it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError
from provenloop.domain.proposal import NewFact, Operation, Proposal, digest_of
from tests.builders import Desk, make_fact


def proposed(desk: Desk, target: str, value: str = "Rome", namespace: str = "shared") -> str:
    """The pending contradiction, as if an analyzer had proposed to supersede ``target``."""
    rec_id = desk.finding("contradiction_sweep")
    fact = NewFact(namespace, "sam", "lives_in", value, 0.9)
    loser = desk.facts()[target]
    step = Operation("SUPERSEDE", target=loser.address, fact=fact, expects={loser.address: loser.head_rev})
    proposal = Proposal(operations=(step,))
    desk.plant(replace(desk.recommendation(rec_id), proposal=proposal, proposal_digest=digest_of(proposal)))
    return rec_id


def states(desk: Desk) -> dict[str, Any]:
    return {g.body["object"]: (g.state, g.superseded_by) for g in desk.grains().values() if g.kind == "fact"}


def test_the_new_fact_is_current_and_the_old_one_leads_to_it(found: Desk) -> None:
    answer = found.approve_and_apply(proposed(found, "Berlin"))
    rome = found.facts()["Rome"]
    assert states(found) == {
        "Berlin": ("superseded", rome.address), "Tokyo": ("current", None), "Rome": ("current", None),
    }  # fmt: skip
    assert (answer["created"], answer["changed"]) == (
        [rome.address],
        [found.facts(state="superseded")["Berlin"].address],
    )
    [entry] = found.store.log_entries(found.memory, answer["seq"] - 1, answer["seq"])
    assert [change.op for change in entry.changes] == ["add", "point"]


def test_undoing_it_brings_the_old_fact_back_and_takes_the_new_one_away(found: Desk) -> None:
    rec_id = proposed(found, "Berlin")
    before = {a: g for a, g in found.grains().items() if g.kind == "fact"}
    found.approve_and_apply(rec_id)
    found.roll_back(rec_id)
    after = {a: g for a, g in found.grains().items() if g.kind == "fact"}
    assert {a: replace(g, head_rev=0, seq=0, changed_at=None) for a, g in after.items()} == {
        a: replace(g, head_rev=0, seq=0, changed_at=None) for a, g in before.items()
    }
    found.verify()


def test_a_fact_that_is_there_already_takes_the_place_as_it_is(found: Desk) -> None:
    tokyo = found.facts()["Tokyo"]
    found.approve_and_apply(proposed(found, "Berlin", value="Tokyo"))
    assert found.facts()["Tokyo"] == tokyo
    assert states(found)["Berlin"] == ("superseded", tokyo.address)


def test_a_fact_of_another_namespace_cannot_take_the_place(found: Desk) -> None:
    rec_id = proposed(found, "Berlin", namespace="team")
    before = found.snapshot()
    with pytest.raises(InvalidInputError, match="same namespace"):
        found.approve_and_apply(rec_id)
    unchanged = found.snapshot()
    assert {key: row for key, row in unchanged.items() if "GRAIN" in str(key)} == {
        key: row for key, row in before.items() if "GRAIN" in str(key)
    }


def test_a_later_statement_of_the_old_fact_is_a_conflict_that_names_it(found: Desk) -> None:
    rec_id = proposed(found, "Berlin")
    found.approve_and_apply(rec_id)
    found.record(make_fact("Berlin"))
    with pytest.raises(Exception, match=r"[0-9a-f]{64}"):
        found.roll_back(rec_id)
