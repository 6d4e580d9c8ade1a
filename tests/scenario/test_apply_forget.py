"""Applying a removal: as gated, whole and lasting as forgetting by hand, and never undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.rows import unpack
from provenloop.domain.errors import (
    DestructiveGateError,
    IllegalTransitionError,
    InvalidInputError,
    TargetChangedError,
    UnavailableError,
)
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_OPERATIONS, Operation, Proposal, digest_of
from tests.builders import Desk, make_fact, make_observation, make_principal, make_tool_call
from tests.faults import Fault, FaultLayer, Kind, assert_unchanged

SECRET = "Quetzalcoatl Straße 7"


def proposed(desk: Desk, *targets: Grain) -> str:
    """The pending contradiction, as if an analyzer had proposed to forget these grains."""
    rec_id = desk.finding("contradiction_sweep")
    steps = (Operation("FORGET", target=grain.address, expects={grain.address: grain.head_rev}) for grain in targets)
    return planted(desk, rec_id, Proposal(operations=tuple(steps)))


def planted(desk: Desk, rec_id: str, proposal: Proposal) -> str:
    rec = desk.recommendation(rec_id)
    desk.plant(
        replace(
            rec,
            proposal=proposal,
            proposal_digest=digest_of(proposal),
            destructive=proposal.is_destructive,
            rollbackable=proposal.is_rollbackable,
        )
    )
    return rec_id


def forget_all(desk: Desk, rec_id: str, **more: Any) -> dict[str, Any]:
    return desk.approve_and_apply(rec_id, allow_destructive=True, **more)


def stored_texts(desk: Desk) -> str:
    """Every attribute of every item, documents unpacked; and the same folded."""
    items = desk.snapshot().values()
    text = "\n".join(f"{unpack(v) if name == 'doc' else v!r}" for item in items for name, v in item.items())
    return f"{text}\n{text.casefold()}"


@pytest.fixture
def secret(found: Desk) -> Desk:
    """A fact that was restated with other fields, so that an earlier version of it is kept."""
    found.record(make_fact(SECRET, relation="keeps", confidence=0.4))
    found.record(make_fact(SECRET, relation="keeps", confidence=0.9))
    return found


def test_a_removal_leaves_a_tombstone_and_nothing_of_the_content_anywhere(secret: Desk) -> None:
    grain = secret.facts()[SECRET]
    rec_id = proposed(secret, grain)
    answer = forget_all(secret, rec_id)
    assert (answer["status"], answer["rollbackable"], answer["changed"]) == ("applied", False, [grain.address])
    stone = secret.grains()[grain.address]
    assert (stone.state, stone.body, stone.head_rev) == ("forgotten", {}, grain.head_rev + 1)
    [earlier] = secret.store.history(secret.memory, grain.address)
    assert (earlier.state, earlier.body) == ("forgotten", {})
    for word in (SECRET, SECRET.casefold(), "Quetzalcoatl"):
        assert word not in stored_texts(secret)
    [entry] = secret.store.log_entries(secret.memory, answer["seq"] - 1, answer["seq"])
    assert [(change.op, change.address) for change in entry.changes] == [("forget", grain.address)]
    secret.verify()


def test_a_reason_that_repeats_what_is_forgotten_goes_with_it_but_not_the_reason_why(secret: Desk) -> None:
    lesson = secret.finding("tool_failure")
    secret.reject(lesson, f"{SECRET} again")
    rec_id = proposed(secret, secret.facts()[SECRET])
    forget_all(secret, rec_id, because="its time is over")
    assert SECRET not in stored_texts(secret)
    assert "its time is over" in stored_texts(secret)
    secret.verify()


def test_a_removal_needs_admin_and_the_word_for_it(secret: Desk) -> None:
    rec_id = proposed(secret, secret.facts()[SECRET])
    before = secret.snapshot()
    with pytest.raises(DestructiveGateError):
        secret.approve_and_apply(rec_id)
    secret.principal = make_principal("ben", "review", "apply")
    with pytest.raises(DestructiveGateError):
        forget_all(secret, rec_id)
    assert_unchanged(before, secret.snapshot())


def test_a_removal_has_no_inverse(secret: Desk) -> None:
    rec_id = proposed(secret, secret.facts()[SECRET])
    forget_all(secret, rec_id)
    before = secret.snapshot()
    with pytest.raises(IllegalTransitionError):
        secret.roll_back(rec_id)
    assert_unchanged(before, secret.snapshot())


def test_a_grain_that_was_healed_since_is_not_removed(secret: Desk) -> None:
    rec_id = proposed(secret, secret.facts()[SECRET])
    secret.approve(rec_id)
    secret.record(make_fact(SECRET, relation="keeps", valid_to=secret.now + 90_000))
    before = secret.snapshot()
    with pytest.raises(TargetChangedError):
        secret.apply(rec_id, allow_destructive=True)
    assert_unchanged(before, secret.snapshot())


def test_a_grain_cannot_be_forgotten_and_kept_in_one_proposal(secret: Desk) -> None:
    facts = secret.facts()
    forget = Operation("FORGET", target=facts[SECRET].address, expects={facts[SECRET].address: 2})
    merge = Operation(
        "MERGE", target=facts["Berlin"].address, into=facts[SECRET].address, expects={facts[SECRET].address: 2}
    )
    rec_id = planted(secret, secret.finding("contradiction_sweep"), Proposal(operations=(forget, merge)))
    before = secret.grains()
    with pytest.raises(InvalidInputError, match="twice"):
        forget_all(secret, rec_id)
    assert secret.grains() == before


def test_every_kind_is_removed_and_the_loop_is_told_of_its_tool(secret: Desk) -> None:
    secret.record(make_observation(SECRET), make_tool_call("c9", error={"message": SECRET}, tool="ship"))
    grains = [g for g in secret.grains().values() if g.kind == "observation" or g.body.get("call_id") == "c9"]
    answer = forget_all(secret, proposed(secret, *grains))
    assert {secret.grains()[grain.address].state for grain in grains} == {"forgotten"}
    [entry] = secret.store.log_entries(secret.memory, answer["seq"] - 1, answer["seq"])
    assert {change.tool_key is not None for change in entry.changes if change.kind == "tool_call"} == {True}
    secret.run()
    secret.verify()


def many(desk: Desk) -> list[Grain]:
    """As many facts as one proposal may name, each with an earlier version: more than one transaction holds."""
    for confidence in (0.1, 0.2):
        facts = [make_fact(f"{SECRET} {n}", relation="keeps", confidence=confidence) for n in range(MAX_OPERATIONS)]
        for start in (0, 40):
            desk.record(*facts[start : start + 40])
    return [grain for grain in desk.grains().values() if grain.body.get("relation") == "keeps"]


def test_a_full_batch_that_was_stopped_before_all_was_erased_is_finished_when_it_is_sent_again(found: Desk) -> None:
    grains = many(found)
    assert len(grains) == MAX_OPERATIONS
    rec_id = proposed(found, *grains)
    with FaultLayer(found.client) as layer:
        layer.arm(Fault(Kind.THROTTLE, 2, operation="TransactWriteItems", times=None))
        with pytest.raises(UnavailableError):
            forget_all(found, rec_id, key="k1")
    assert found.recommendation(rec_id).status == "applied"
    assert {found.grains()[grain.address].state for grain in grains} == {"forgotten"}
    assert "Quetzalcoatl" in stored_texts(found)
    assert forget_all(found, rec_id, key="k1")["status"] == "applied"
    assert "Quetzalcoatl" not in stored_texts(found)
