"""Approve, reject, apply, undo: what each writes, and that a refused one writes nothing and leaves all ways open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.tokens import DynamoTokens
from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS
from provenloop.domain.errors import (
    AmbiguousPrefixError,
    ConflictError,
    DestructiveGateError,
    IdempotencyMismatchError,
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    SelfApprovalError,
    StaleDecisionError,
    TargetChangedError,
)
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.principal import Principal
from provenloop.domain.proposal import Operation, Proposal, digest_of
from provenloop.services import apply_change, findings_read, review, roll_back
from provenloop.services.tokens import MintRequest, mint_token, principal_of
from tests.builders import (
    DAY_MS,
    NOW,
    Desk,
    make_calls,
    make_fact,
    make_grain,
    make_principal,
)
from tests.faults import Interleaving, assert_unchanged
from tests.faults.tables import TABLE
from tests.store_fixture import REGION, prepared

LONG = "x" * 501


@dataclass(frozen=True)
class Ids:
    """One recommendation in each status that a decision can meet, all of them contradictions."""

    pending: str
    approved: str
    applied: str
    rejected: str
    rolled_back: str
    lesson: str


SUBJECTS = ("pat", "amy", "bob", "cid", "dee")


def every_status(desk: Desk) -> Ids:
    """A memory with a recommendation in each status, and a pending lesson."""
    desk.record(*make_calls(5, 2), *(make_fact(value, subject=name) for name in SUBJECTS for value in ("x", "y")))
    desk.run()
    rows = desk.queue(analyzer="loop.contradiction_sweep")
    by_subject = {row["summary"].split()[0]: row["id"] for row in rows}
    ids = Ids(
        pending=by_subject["pat"],
        approved=by_subject["amy"],
        applied=by_subject["bob"],
        rejected=by_subject["cid"],
        rolled_back=by_subject["dee"],
        lesson=desk.finding("tool_failure"),
    )
    desk.approve(ids.approved)
    desk.reject(ids.rejected)
    desk.approve_and_apply(ids.applied)
    desk.approve_and_apply(ids.rolled_back)
    desk.roll_back(ids.rolled_back)
    return ids


@pytest.fixture
def office(store: DynamoStore) -> tuple[Desk, Ids]:
    return prepared(store, every_status)


# what a decision writes


def test_approving_changes_the_status_and_nothing_in_the_memory(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    grains = found.grains()
    answer = found.approve(rec_id, "  the newer one is right \n")
    rec = found.recommendation(rec_id)
    assert answer == {
        "id": rec_id, "status": "approved", "revision": 1, "proposal_digest": rec.proposal_digest,
        "audit": rec.chain.id,
    }  # fmt: skip
    assert rec.approval is not None
    assert (rec.approval.digest, rec.approval.at, rec.approval.lineage) == (rec.proposal_digest, found.now, ("p-ann",))
    assert found.grains() == grains
    assert found.store.notes(found.memory, rec_id)[2].because == "the newer one is right"
    assert [row["id"] for row in found.queue("approved")] == [rec_id]
    found.verify()


@pytest.mark.parametrize("because", ["x", "x" * 500, " " + "ä" * 500 + "\n"])
def test_a_reason_of_one_to_five_hundred_characters_will_do(found: Desk, because: str) -> None:
    assert found.reject(found.finding("tool_failure"), because)["status"] == "rejected"


def test_applying_points_the_losing_value_at_the_kept_one_and_plants_its_measurements(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin, tokyo = (found.facts()[name] for name in ("Berlin", "Tokyo"))
    found.approve(rec_id)
    answer = found.apply(rec_id)
    assert (answer["status"], answer["created"], answer["changed"]) == ("applied", [], [berlin.address])
    assert found.facts() == {"Tokyo": tokyo}
    gone = found.grains()[berlin.address]
    changed: dict[str, Any] = {
        "state": "superseded",
        "superseded_by": tokyo.address,
        "head_rev": 2,
        "changed_at": found.now,
    }
    assert gone == replace(berlin, **changed, seq=answer["seq"])
    assert found.store.predecessors(found.memory, tokyo.address) == (berlin.address,)
    rec = found.recommendation(rec_id)
    assert rec.applied_at == found.now
    checkpoints = found.store.checkpoints(found.memory, rec_id)
    assert [(c.horizon_ms, c.due_at, c.verdict) for c in checkpoints] == [
        (horizon, found.now + horizon + GRACE_MS, None) for horizon in HORIZONS_MS
    ]
    [watch] = found.store.watches(found.memory)
    assert (watch.recommendation, watch.of, watch.seq) == (rec_id, "subject", answer["seq"])
    [entry] = found.store.log_entries(found.memory, answer["seq"] - 1, answer["seq"])
    assert [(change.op, change.address) for change in entry.changes] == [("point", berlin.address)]
    assert (entry.grains, entry.errors) == (0, 0)
    found.verify()


def test_applying_a_lesson_adds_a_fact_and_watches_the_tool(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    answer = found.approve_and_apply(rec_id)
    [address] = answer["created"]
    lesson = found.grains()[address]
    assert (lesson.namespace, lesson.by, lesson.state) == ("shared", "ann", "current")
    assert lesson.body == {
        "subject": "refund", "relation": "fails_with", "object": "card declined", "confidence": 0.7143,
        "source": "provenloop",
    }  # fmt: skip
    [watch] = found.store.watches(found.memory)
    assert (watch.recommendation, watch.applied_at, watch.seq) == (rec_id, found.now, answer["seq"])
    assert dict(watch.calls) == {}
    found.record(*make_calls(2, 1, name="after"))
    found.run()
    [watch] = found.store.watches(found.memory)
    assert (dict(watch.calls), dict(watch.errors)) == (dict.fromkeys(HORIZONS_MS, 3), dict.fromkeys(HORIZONS_MS, 2))


def test_two_people_decide_one_after_the_other(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    reviewer, applier = make_principal("ria", "review"), make_principal("al", "apply")
    review.approve(found.store, found.call(by=reviewer), rec_id, "right")
    answer = apply_change.apply(found.store, found.call(by=applier), rec_id, "now")
    assert answer["status"] == "applied"
    shown = findings_read.show_recommendation(found.store, found.call(), rec_id)
    assert [entry["by"]["label"] for entry in shown["audit"]] == [
        "engine:loop.contradiction_sweep/1", "ria", "al",
    ]  # fmt: skip


def test_approving_and_applying_at_once_is_two_entries_in_one_transaction(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    with found.counted() as names:
        found.approve_and_apply(rec_id)
    assert names.count("TransactWriteItems") == 1
    shown = findings_read.show_recommendation(found.store, found.call(), rec_id)
    assert [(entry["from"], entry["to"]) for entry in shown["audit"]] == [
        ("", "pending"), ("pending", "approved"), ("approved", "applied"),
    ]  # fmt: skip
    assert shown["verified"]


def test_decisions_cost_few_round_trips(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    for decide, most in ((found.approve, 2), (found.apply, 4), (found.roll_back, 6)):
        with found.counted() as names:
            decide(rec_id)
        assert len(names) <= most, names


def test_a_withdrawn_approval_is_a_rejection(office: tuple[Desk, Ids]) -> None:
    desk, ids = office
    answer = desk.reject(ids.approved, "changed my mind")
    assert answer["status"] == "rejected"
    with pytest.raises(IllegalTransitionError):
        desk.apply(ids.approved)
    desk.verify()


# every refusal


def refusals(desk: Desk, ids: Ids) -> dict[str, tuple[Callable[[], object], type[LoopError], str | None]]:
    """By name: a decision that must be refused, the error, and the field it names."""
    reader, other_memory = make_principal("rob", "read", "write"), make_principal("tom", memories="team-*")
    reviewer, applier = make_principal("ria", "review"), make_principal("al", "apply")
    author = make_principal("eve", minted_by=("engine:loop.contradiction_sweep/1",))
    stale = {"proposal_digest": "0" * 64}
    store = desk.store

    def approve(rec: str, because: str = "yes", by: Principal | None = None, **more: Any) -> Callable[[], object]:
        return lambda: review.approve(store, desk.call(by=by), rec, because, **more)

    def reject(rec: str, because: str = "no", by: Principal | None = None, **more: Any) -> Callable[[], object]:
        return lambda: review.reject(store, desk.call(by=by), rec, because, **more)

    def apply(rec: str, because: str = "do", by: Principal | None = None, **more: Any) -> Callable[[], object]:
        return lambda: apply_change.apply(store, desk.call(by=by), rec, because, **more)

    def both(rec: str, because: str = "do", by: Principal | None = None, **more: Any) -> Callable[[], object]:
        return lambda: apply_change.approve_and_apply(store, desk.call(by=by), rec, because, **more)

    def undo(rec: str, because: str = "undo", by: Principal | None = None) -> Callable[[], object]:
        return lambda: roll_back.roll_back(store, desk.call(by=by), rec, because)

    cases: dict[str, tuple[Callable[[], object], type[LoopError], str | None]] = {}
    decisions: dict[str, tuple[Callable[..., Callable[[], object]], str, Principal]] = {
        "approve": (approve, ids.pending, applier),
        "reject": (reject, ids.pending, applier),
        "apply": (apply, ids.approved, reviewer),
        "approve_and_apply": (both, ids.pending, reviewer),
        "roll_back": (undo, ids.applied, reviewer),
    }
    for name, (decide, rec, wrong) in decisions.items():
        cases |= {
            f"{name}: without any scope of decision": (decide(rec, by=reader), ScopeDeniedError, None),
            f"{name}: with the scope of the other step": (decide(rec, by=wrong), ScopeDeniedError, None),
            f"{name}: in a memory the token does not cover": (decide(rec, by=other_memory), ScopeDeniedError, None),
            f"{name}: without a reason": (decide(rec, ""), InvalidInputError, "because"),
            f"{name}: with a blank reason": (decide(rec, " \n\t "), InvalidInputError, "because"),
            f"{name}: with too long a reason": (decide(rec, LONG), InvalidInputError, "because"),
            f"{name}: of nothing known": (decide("zzzzzz"), NotFoundError, "id"),
            f"{name}: of no id at all": (decide(""), NotFoundError, "id"),
            f"{name}: of what is no id": (decide("REC#1"), NotFoundError, "id"),
        }
        if name != "roll_back":
            cases[f"{name}: of another proposal"] = (decide(rec, **stale), StaleDecisionError, "proposal_digest")
    wrong_status = {
        "approve": (ids.approved, ids.applied, ids.rejected, ids.rolled_back),
        "reject": (ids.applied, ids.rejected, ids.rolled_back),
        "apply": (ids.pending, ids.applied, ids.rejected, ids.rolled_back),
        "approve_and_apply": (ids.approved, ids.applied, ids.rejected, ids.rolled_back),
        "roll_back": (ids.pending, ids.approved, ids.rejected, ids.rolled_back),
    }
    for name, recs in wrong_status.items():
        for rec in recs:
            status = next(field for field in Ids.__annotations__ if getattr(ids, field) == rec)
            cases[f"{name}: of one that is {status}"] = (decisions[name][0](rec), IllegalTransitionError, None)
    cases["approve: by its own author"] = (approve(ids.pending, by=author), SelfApprovalError, None)
    cases["approve_and_apply: by its own author"] = (both(ids.pending, by=author), SelfApprovalError, None)
    return cases


def test_every_refused_decision_writes_nothing_and_leaves_the_item_decidable(office: tuple[Desk, Ids]) -> None:
    desk, ids = office
    before = desk.snapshot()
    cases = refusals(desk, ids)
    assert len(cases) > 60
    for name, (decide, error, field) in cases.items():
        with desk.counted() as calls, pytest.raises(LoopError) as caught:
            decide()
        assert (type(caught.value), caught.value.field) == (error, field), name
        assert set(calls) <= {"Query", "GetItem", "BatchGetItem"}, name
    assert_unchanged(before, desk.snapshot())
    desk.approve(ids.pending)
    desk.apply(ids.pending)
    desk.apply(ids.approved)
    desk.roll_back(ids.applied)
    desk.reject(ids.lesson)
    desk.verify()


def with_proposal(desk: Desk, rec_id: str, proposal: Proposal, **fields: Any) -> None:
    """The stored recommendation with another proposal, as if an analyzer had made that one."""
    rec = desk.recommendation(rec_id)
    desk.plant(
        replace(
            rec,
            proposal=proposal,
            proposal_digest=digest_of(proposal),
            destructive=proposal.is_destructive,
            rollbackable=proposal.is_rollbackable,
            **fields,
        )
    )


def refused_of(desk: Desk, error: type[LoopError], decide: Callable[[], object]) -> LoopError:
    before = desk.snapshot()
    with pytest.raises(error) as caught:
        decide()
    assert type(caught.value) is error
    assert_unchanged(before, desk.snapshot())
    return caught.value


def test_advice_is_not_applied_and_can_still_be_rejected(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    with_proposal(found, rec_id, Proposal(advice={"do": "ask sam"}))
    refused_of(found, InvalidInputError, lambda: found.approve_and_apply(rec_id))
    found.approve(rec_id)
    refused_of(found, InvalidInputError, lambda: found.apply(rec_id))
    assert found.reject(rec_id)["status"] == "rejected"


def test_a_removal_needs_admin_and_the_flag(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin = found.facts()["Berlin"]
    with_proposal(
        found, rec_id, Proposal(operations=(Operation("FORGET", target=berlin.address, expects={berlin.address: 1}),))
    )
    found.approve(rec_id)
    applier = make_principal("al", "apply", "review")
    refused_of(found, DestructiveGateError, lambda: found.apply(rec_id))
    call = found.call(by=applier)
    refused_of(
        found, DestructiveGateError, lambda: apply_change.apply(found.store, call, rec_id, "x", allow_destructive=True)
    )
    assert found.reject(rec_id)["status"] == "rejected"


def test_an_operation_without_execution_is_refused_and_leaves_no_hole(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin = found.facts()["Berlin"]
    with_proposal(
        found, rec_id, Proposal(operations=(Operation("MERGE", target=berlin.address, expects={berlin.address: 1}),))
    )
    found.approve(rec_id)
    with pytest.raises(InvalidInputError):
        found.apply(rec_id)
    assert found.recommendation(rec_id).status == "approved"
    assert found.grains()[berlin.address] == berlin
    found.run()
    heads = found.store.heads(found.memory)
    assert heads is not None
    assert dict(heads.folds.holes) == {}


@pytest.mark.parametrize("moved", ["target superseded", "target changed", "winner superseded", "target gone"])
def test_a_target_that_changed_since_it_was_proposed_is_a_conflict_that_names_it(found: Desk, moved: str) -> None:
    rec_id = found.finding("contradiction_sweep")
    berlin, tokyo = (found.facts()[name] for name in ("Berlin", "Tokyo"))
    found.approve(rec_id)
    named = tokyo if moved.startswith("winner") else berlin
    if moved == "target changed":
        found.record(make_fact("Berlin", confidence=0.1))
    elif moved == "target gone":
        key = {"pk": {"S": "T#acme#M#demo#GRAIN"}, "sk": {"S": berlin.address}}
        found.client.delete_item(TableName=TABLE, Key=key)
    else:
        found.record(SupersedeEvent(named.address, make_fact("Rome")))
    error = refused_of(found, TargetChangedError, lambda: found.apply(rec_id))
    assert named.address in error.message
    found.run(full_sweep=moved == "target gone")
    after = found.recommendation(rec_id)
    assert after.status in ("pending", "expired")
    found.verify()


def test_a_target_that_was_only_stated_again_is_as_it_was(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve(rec_id)
    found.record(make_fact("Berlin"), make_fact("Tokyo"))
    assert found.apply(rec_id)["status"] == "applied"


def test_a_lesson_whose_text_is_gone_is_not_applied(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve(rec_id)
    found.now += 91 * DAY_MS
    error = refused_of(found, TargetChangedError, lambda: found.apply(rec_id))
    assert found.recommendation(rec_id).evidence[0] in error.message
    assert found.reject(rec_id)["status"] == "rejected"


# races


def at_once(desk: Desk, *works: Callable[[], object]) -> list[object]:
    """Results or errors of decisions that all read before any writes."""
    both = Interleaving(desk.client, schedule=[*range(len(works))] * 8)
    for n, work in enumerate(works):
        both.actor(f"actor {n}", work)
    try:
        outcomes = both.run()
    finally:
        both.remove()
    return [outcome.error or outcome.value for outcome in outcomes.values()]


@pytest.mark.parametrize("second", ["approve", "reject", "approve_and_apply"])
def test_of_two_decisions_at_once_one_holds_and_the_other_is_told(found: Desk, second: str) -> None:
    rec_id = found.finding("contradiction_sweep")
    outcomes = at_once(found, lambda: found.approve(rec_id), lambda: getattr(found, second)(rec_id))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "dict"]
    [won] = [outcome for outcome in outcomes if isinstance(outcome, dict)]
    assert found.recommendation(rec_id).status == won["status"]
    found.verify()


def test_two_applies_at_once_change_the_memory_once(office: tuple[Desk, Ids]) -> None:
    desk, ids = office
    outcomes = at_once(desk, lambda: desk.apply(ids.approved), lambda: desk.apply(ids.approved))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "dict"]
    desk.run()
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    assert dict(heads.folds.holes) == {}
    desk.verify()


def test_a_write_to_a_target_between_check_and_apply_is_a_conflict_that_names_it(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve(rec_id)
    berlin = found.facts()["Berlin"]
    race = Interleaving(found.client, schedule=[0, 0, 1, 1, 1, 1, 0, 0, 0, 0])
    race.actor("applier", lambda: found.apply(rec_id))
    race.actor("writer", lambda: found.record(SupersedeEvent(berlin.address, make_fact("Rome"))))
    try:
        outcomes = race.run()
    finally:
        race.remove()
    error = outcomes["applier"].error
    assert isinstance(error, TargetChangedError)
    assert berlin.address in error.message
    assert found.recommendation(rec_id).status == "approved"
    assert found.grains()[berlin.address].superseded_by == found.facts()["Rome"].address


def test_a_lesson_that_somebody_wrote_between_check_and_apply_is_kept(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    same = make_fact("card declined", subject="refund", relation="fails_with", confidence=0.2)
    race = Interleaving(found.client, schedule=[0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    race.actor("applier", lambda: found.approve_and_apply(rec_id))
    race.actor("writer", lambda: found.record(same))
    try:
        answer = race.run()["applier"].result()
    finally:
        race.remove()
    assert answer["created"] == []
    [lesson] = found.facts("refund").values()
    assert (lesson.body["confidence"], lesson.stated) == (0.2, 1)


# sent again


def test_a_decision_sent_again_with_its_key_is_answered_as_before_and_writes_nothing(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    steps = (found.approve, found.apply, found.roll_back)
    for n, decide in enumerate(steps):
        first = decide(rec_id, key=f"k{n}")
        before = found.snapshot()
        assert decide(rec_id, key=f"k{n}") == first
        assert_unchanged(before, found.snapshot())
    rejected = found.reject(found.finding("tool_failure"), key="k0")
    assert rejected["status"] == "rejected"


def test_a_key_that_comes_back_with_another_body_is_refused(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    review.approve(found.store, found.call(key="k", body={"because": "a"}), rec_id, "a")
    before = found.snapshot()
    with pytest.raises(IdempotencyMismatchError):
        review.approve(found.store, found.call(key="k", body={"because": "b"}), rec_id, "b")
    assert_unchanged(before, found.snapshot())


def test_a_key_is_remembered_for_a_day_and_belongs_to_its_principal(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve(rec_id, key="k")
    with pytest.raises(IllegalTransitionError):
        review.approve(found.store, found.call(by=make_principal("bob"), key="k"), rec_id, "looks right")
    found.now += DAY_MS + 1000
    with pytest.raises(IllegalTransitionError):
        found.approve(rec_id, key="k")


# ids


def test_any_unique_prefix_in_any_case_names_a_recommendation(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    assert found.approve(rec_id[:6].upper())["id"] == rec_id
    assert findings_read.show_recommendation(found.store, found.call(), rec_id[:6])["id"] == rec_id


def test_an_ambiguous_prefix_says_how_many_it_matches(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    rec = found.recommendation(rec_id)
    found.plant(*(replace(rec, id=rec_id[:20] + letter * 6) for letter in "abc"))
    error = refused_of(found, AmbiguousPrefixError, lambda: found.approve(rec_id[:20]))
    assert error.message.startswith("4 recommendations")
    assert found.approve(rec_id)["status"] == "approved"


# who may approve


def test_nobody_approves_what_they_brought_up_not_even_through_tokens_they_minted(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    rec = found.recommendation(rec_id)
    creator = make_principal("ann")
    found.plant(replace(rec, creators=(*rec.creators, creator.id)))
    tokens = DynamoTokens(TABLE, REGION, pause=lambda _attempt: None)

    def minted(minter: Principal, label: str) -> Principal:
        request = MintRequest(label, "human", "*", ("admin",))
        secret = mint_token(found.store, tokens, found.call(by=minter), request).secret
        return principal_of(tokens, secret or "", NOW)

    child = minted(creator, "child")
    grandchild = minted(child, "grandchild")
    assert grandchild.lineage == (grandchild.id, child.id, creator.id)
    for principal in (creator, child, grandchild):
        call = found.call(by=principal)
        refused_of(found, SelfApprovalError, lambda call=call: review.approve(found.store, call, rec_id, "mine"))  # type: ignore[misc]
    stranger = minted(make_principal("zoe"), "other")
    assert review.approve(found.store, found.call(by=stranger), rec_id, "right")["status"] == "approved"
    review.reject(found.store, found.call(by=child), rec_id, "withdrawing one's own is fine")


# the queue


def test_the_queue_is_filtered_by_status_severity_and_analyzer(office: tuple[Desk, Ids]) -> None:
    desk, ids = office
    assert [row["id"] for row in desk.queue("all", analyzer="loop.tool_failure/1")] == [ids.lesson]
    assert {row["status"] for row in desk.queue("all")} == {"pending", "approved", "applied", "rejected", "rolled_back"}
    assert {row["id"] for row in desk.queue("open")} == {ids.pending, ids.approved, ids.lesson}
    assert [row["id"] for row in desk.queue(severity="high")] == [ids.lesson]
    assert [row["id"] for row in desk.queue("applied", severity="medium")] == [ids.applied]
    assert desk.queue("applied", severity="low") == []


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "Pending"}, {"status": ""}, {"severity": "urgent"}, {"analyzer": "tool_failures"}, {"analyzer": ""},
        {"limit": 0}, {"limit": 101}, {"cursor": "nonsense"},
    ],
)  # fmt: skip
def test_a_filter_that_means_nothing_is_refused_by_name(found: Desk, filters: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        found.queue(**filters)
    assert caught.value.field in filters


def test_the_queue_of_an_unknown_memory_is_not_found(found: Desk) -> None:
    elsewhere = replace(found.call(), memory=found.memory._replace(name="missing"))
    with pytest.raises(NotFoundError):
        findings_read.list_recommendations(found.store, elsewhere)


def test_a_finding_is_shown_with_its_proposal_evidence_and_what_may_follow(found: Desk) -> None:
    shown = findings_read.show_recommendation(found.store, found.call(), found.finding("contradiction_sweep"))
    berlin, tokyo = (found.facts()[name] for name in ("Berlin", "Tokyo"))
    assert shown["target"] == "entity:shared/sam"
    assert [(step["op"], step["target"], step["into"]) for step in shown["proposal"]["operations"]] == [
        ("POINT", berlin.address, tokyo.address)
    ]
    assert [(row["address"], row["body"]["object"]) for row in shown["evidence"]] == [
        (berlin.address, "Berlin"), (tokyo.address, "Tokyo"),
    ]  # fmt: skip
    assert (shown["details"]["keep"], shown["details"]["values"]) == ("Tokyo", 2)
    assert shown["next"] == ["acknowledged", "applied", "approved", "expired", "rejected", "snoozed"]


def test_the_text_of_evidence_that_is_gone_shows_as_forgotten_everywhere(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    tokyo = found.facts()["Tokyo"]
    found.plant(replace(tokyo, state="forgotten", body={}))
    shown = findings_read.show_recommendation(found.store, found.call(), rec_id)
    assert "Tokyo" not in str(shown)
    assert shown["details"]["keep"] == "[forgotten]"
    assert shown["evidence"][1] == {"address": tokyo.address, "state": "forgotten"}
    assert "Tokyo" not in str(found.queue())


# large proposals


def test_a_contradiction_of_more_values_than_one_transaction_holds_is_resolved_as_far_as_there_is_room(
    found: Desk,
) -> None:
    cluster = found.facts()["Tokyo"].address[:16]
    found.plant(*(make_grain(f"town {n}", address=f"{cluster}{n:048x}", at=NOW - 500 + n) for n in range(82)))
    before = found.grains()
    found.run(full_sweep=True)
    rec_id = found.finding("contradiction_sweep")
    answer = found.approve_and_apply(rec_id, key="k1")
    assert len(answer["changed"]) == 80
    assert len(found.facts()) == 84 - 80
    found.roll_back(rec_id, key="k2")
    assert found.grains() == before
    found.verify()


def test_a_conflict_says_that_trying_again_may_help_and_a_changed_target_does_not() -> None:
    assert ConflictError.retryable
    assert not TargetChangedError.retryable
