"""Reviews that wait: whatever the order of events, a workflow hears what was decided, and grants nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.adapters.dynamodb.wait_rows import DynamoUntolds
from provenloop.domain.errors import (
    ConflictError,
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    ScopeDeniedError,
    UnauthenticatedError,
    UnavailableError,
)
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.names import MemoryId
from provenloop.domain.principal import Principal
from provenloop.domain.recommendation import Approval, Severity
from provenloop.domain.waiting import Callback, Wait
from provenloop.services import approval, review
from provenloop.services.approval import TaskCall, Ticket
from provenloop.services.review_port import Notice
from provenloop.services.start_review import Proposed, request_review, review_proposed
from provenloop.services.waiting import Teller, Wish
from tests.builders import ADMIN, MINUTE_MS, Desk, make_fact, make_principal
from tests.faults import Interleaving, assert_unchanged
from tests.faults.tables import TABLE
from tests.store_fixture import REGION, first_pass, fresh_store, prepared


@contextmanager
def unchanged(desk: Desk) -> Iterator[None]:
    """Insists that nothing is written inside."""
    before = desk.snapshot()
    yield
    assert_unchanged(before, desk.snapshot())


@dataclass
class Workflow:
    """Notes what it is asked for; ``is_up`` False for one that cannot be reached."""

    started: list[str] = field(default_factory=list)
    told: list[tuple[str, str, bool]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    is_up: bool = True

    def start(self, _memory: MemoryId, recommendation: str, execution: str) -> None:
        if not self.is_up:
            raise UnavailableError("the review could not be started")
        assert execution.startswith(recommendation)
        self.started.append(execution)

    def tell(self, token: str, outcome: str, *, then_apply: bool = False) -> bool:
        if self.is_up:
            self.told.append((token, outcome, then_apply))
        return self.is_up

    def send(self, notice: Notice) -> bool:
        self.notices.append(notice)
        return True


@dataclass
class Review:
    """One recommendation under review."""

    desk: Desk
    rec_id: str
    workflow: Workflow = field(default_factory=Workflow)

    def request(self, by: Principal = ADMIN) -> dict[str, Any]:
        return request_review(self.desk.store, self.workflow, self.desk.call(by=by), self.rec_id)

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.desk.memory, self.rec_id, f"{self.rec_id}-1")

    def wait(self, token: str, waited_for: Any = "decision", kind: Any = "review") -> dict[str, Any]:
        desk = approval.Desk(self.desk.store, self.workflow, self.workflow)
        return approval.begin_wait(desk, self.ticket, token, waited_for, kind, self.desk.now)

    def approve(self, by: Principal = ADMIN, **more: Any) -> dict[str, Any]:
        return review.approve(self.desk.store, self.desk.call(by=by), self.rec_id, "looks right", **more)

    def apply(self, decider: Principal = ADMIN) -> str:
        call = TaskCall(self.desk.now, "task", bytes)
        return approval.apply_as_approved(self.desk.store, self.ticket, lambda _given: decider, call)

    def expire(self, waited_for: Any = "decision") -> dict[str, Any]:
        return approval.expire(self.desk.store, self.ticket, waited_for, self.desk.now)

    @property
    def waits(self) -> tuple[Wait, ...]:
        return self.desk.store.waits(self.desk.memory, self.rec_id)

    def sweep(self) -> int:
        """What a tick does, an hour later."""
        untolds = DynamoUntolds(TABLE, REGION, pause=lambda _attempt: None)
        teller = Teller(lambda: self.desk.store, lambda: self.workflow)
        return teller.sweep(untolds, self.desk.now + 60 * MINUTE_MS)


@pytest.fixture
def waiting(found: Desk) -> Review:
    """A review whose workflow waits for a decision, with the token ``first``."""
    return begun(found)


def begun(found: Desk) -> Review:
    started = Review(found, found.finding("contradiction_sweep"))
    started.request()
    started.wait("first")
    return started


def test_asking_for_a_review_starts_one_execution_however_often_it_is_asked_for(found: Desk) -> None:
    asked = Review(found, found.finding("tool_failure"))
    first, second = asked.request(), asked.request()
    assert first == {"id": asked.rec_id, "status": "pending", "execution": f"{asked.rec_id}-1", "started": True}
    assert second == {**first, "started": False}
    assert set(asked.workflow.started) == {first["execution"]}
    assert found.recommendation(asked.rec_id).reviews == 1
    found.verify()


def test_an_execution_that_could_not_be_started_is_started_under_its_name_by_asking_again(found: Desk) -> None:
    asked = Review(found, found.finding("tool_failure"), Workflow(is_up=False))
    with pytest.raises(UnavailableError):
        asked.request()
    asked.workflow.is_up = True
    assert asked.request()["execution"] == f"{asked.rec_id}-1"
    assert asked.workflow.started == [f"{asked.rec_id}-1"]


def test_only_reviewers_ask_for_reviews_and_only_of_what_is_pending(found: Desk) -> None:
    asked = Review(found, found.finding("tool_failure"))
    with unchanged(found), pytest.raises(ScopeDeniedError):
        asked.request(by=make_principal("agent", "read", "write", "apply"))
    found.approve(asked.rec_id)
    with unchanged(found), pytest.raises(IllegalTransitionError):
        asked.request()


def test_reviewers_are_told_once_the_workflow_waits_and_reminded_with_figures_and_ids_alone(waiting: Review) -> None:
    waiting.wait("second", kind="reminder")
    assert [notice.kind for notice in waiting.workflow.notices] == ["review", "reminder"]
    told = waiting.workflow.notices[0]
    assert (told.recommendation, told.severity, told.analyzer) == (
        waiting.rec_id, "medium", "loop.contradiction_sweep/1",
    )  # fmt: skip
    assert "Berlin" not in str(told)


@pytest.mark.parametrize("decision", ["approve", "reject", "approve_and_apply"])
def test_a_decision_tells_the_token_that_waits_and_no_other_one(waiting: Review, decision: str) -> None:
    waiting.wait("second", kind="reminder")
    status = getattr(waiting.desk, decision)(waiting.rec_id)["status"]
    assert (waiting.sweep(), waiting.sweep()) == (1, 0)
    assert waiting.workflow.told == [("second", status, False)]
    [row] = waiting.waits
    assert (row.token, row.outcome) == (None, None if status == "approved" else status)
    waiting.desk.verify()


def test_a_refused_decision_tells_nobody(waiting: Review) -> None:
    with unchanged(waiting.desk), pytest.raises(LoopError):
        waiting.desk.approve(waiting.rec_id, proposal_digest="0" * 64)
    assert waiting.sweep() == 0


def test_what_was_decided_before_the_workflow_waits_ends_the_wait_at_once_and_no_notice_goes_out(found: Desk) -> None:
    late = Review(found, found.finding("contradiction_sweep"))
    late.request()
    found.reject(late.rec_id)
    assert late.wait("first") == {"waiting": False, "noticed": False}
    assert late.workflow.told == [("first", "rejected", False)]
    assert late.workflow.notices == []


def test_a_workflow_that_cannot_be_told_of_an_earlier_decision_has_its_task_repeated(found: Desk) -> None:
    late = Review(found, found.finding("contradiction_sweep"))
    late.request()
    found.reject(late.rec_id)
    late.workflow.is_up = False
    with pytest.raises(UnavailableError):
        late.wait("first")


@given(schedule=st.lists(st.integers(0, 1), max_size=14), decision=st.sampled_from(["approve", "reject"]))
def test_a_decision_at_the_moment_a_wait_begins_is_never_lost(schedule: list[int], decision: str) -> None:
    with fresh_store() as store:
        desk, _ = prepared(store, first_pass)
        racing = Review(desk, desk.finding("contradiction_sweep"))
        racing.request()
        race = Interleaving(desk.client, schedule=schedule)
        race.actor("workflow", lambda: racing.wait("first"))
        race.actor("reviewer", lambda: getattr(desk, decision)(racing.rec_id))
        try:
            outcomes = race.run()
        finally:
            race.remove()
        outcomes["workflow"].result()
        if isinstance(outcomes["reviewer"].error, ConflictError):
            assert getattr(desk, decision)(racing.rec_id)
        racing.sweep()
        assert {(token, status) for token, status, _ in racing.workflow.told} == {
            ("first", desk.recommendation(racing.rec_id).status)
        }


def test_a_workflow_that_could_not_be_told_is_told_by_a_later_sweep_and_then_no_more(waiting: Review) -> None:
    waiting.workflow.is_up = False
    waiting.desk.approve(waiting.rec_id)
    assert waiting.sweep() == 0
    waiting.workflow.is_up = True
    assert (waiting.sweep(), waiting.sweep()) == (1, 0)


def test_what_is_younger_than_a_minute_is_left_to_whoever_decided(waiting: Review) -> None:
    waiting.desk.approve(waiting.rec_id)
    untolds = DynamoUntolds(TABLE, REGION, pause=lambda _attempt: None)
    [left] = untolds.untold(waiting.desk.now + 1, 10)
    assert isinstance(left.callback, Callback)
    teller = Teller(lambda: waiting.desk.store, lambda: waiting.workflow)
    assert teller.sweep(untolds, waiting.desk.now + MINUTE_MS - 1) == 0


# what the workflow applies


def test_an_approval_that_asks_for_it_is_applied_with_what_the_decider_may_do(waiting: Review) -> None:
    waiting.approve(wish=Wish())
    waiting.sweep()
    assert waiting.workflow.told == [("first", "approved", True)]
    assert waiting.apply() == "applied"
    assert set(waiting.desk.facts()) == {"Tokyo"}
    assert waiting.desk.recommendation(waiting.rec_id).status == "applied"
    [row] = waiting.waits
    assert row.outcome == "applied"
    waiting.desk.verify()


def test_applying_once_more_after_a_lost_reply_changes_nothing(waiting: Review) -> None:
    waiting.approve(wish=Wish())
    waiting.apply()
    with unchanged(waiting.desk):
        assert waiting.apply() == "applied"


def test_what_was_approved_without_asking_for_it_is_not_applied(waiting: Review) -> None:
    waiting.approve()
    with unchanged(waiting.desk), pytest.raises(IllegalTransitionError):
        waiting.apply()


def test_a_decider_who_may_not_apply_leaves_the_approval_to_somebody_who_may(waiting: Review) -> None:
    reviewer = make_principal("rita", "review")
    waiting.approve(by=reviewer, wish=Wish())
    with unchanged(waiting.desk), pytest.raises(ScopeDeniedError):
        waiting.apply(decider=reviewer)
    assert waiting.wait("second", "apply", None)["waiting"]
    waiting.desk.apply(waiting.rec_id)
    waiting.workflow.told.clear()
    waiting.sweep()
    assert ("second", "applied", False) in waiting.workflow.told


def test_nobody_elses_rights_are_used_and_none_of_another_tenant(waiting: Review) -> None:
    waiting.approve(wish=Wish())
    with unchanged(waiting.desk), pytest.raises(UnauthenticatedError):
        waiting.apply(decider=make_principal("mallory"))


def test_a_decider_whose_token_is_gone_applies_nothing(waiting: Review) -> None:
    waiting.approve(wish=Wish())

    def gone(_given: Approval) -> Principal:
        raise UnauthenticatedError("this token is not valid")

    call = TaskCall(waiting.desk.now, "task", bytes)
    with unchanged(waiting.desk), pytest.raises(UnauthenticatedError):
        approval.apply_as_approved(waiting.desk.store, waiting.ticket, gone, call)


def test_asking_for_an_apply_where_no_review_waits_is_refused(found: Desk) -> None:
    alone = Review(found, found.finding("contradiction_sweep"))
    with unchanged(found), pytest.raises(InvalidInputError) as refused:
        alone.approve(wish=Wish())
    assert refused.value.field == "then_apply"


def test_a_withdrawn_approval_ends_the_wait_for_its_apply(waiting: Review) -> None:
    waiting.approve()
    waiting.wait("second", "apply", None)
    waiting.desk.reject(waiting.rec_id)
    waiting.sweep()
    assert waiting.workflow.told == [("first", "approved", False), ("second", "rejected", False)]


def test_a_proposal_that_changed_after_its_approval_goes_back_to_review_in_the_same_execution(waiting: Review) -> None:
    waiting.approve()
    waiting.wait("second", "apply", None)
    waiting.desk.record(make_fact("Oslo"))
    waiting.desk.run()
    assert waiting.desk.recommendation(waiting.rec_id).status == "pending"
    waiting.sweep()
    assert waiting.workflow.told[-1] == ("second", "pending", False)
    assert waiting.wait("third")["waiting"]
    assert not waiting.request()["started"]


def test_a_finding_whose_cause_is_gone_ends_its_review(waiting: Review) -> None:
    berlin = waiting.desk.facts()["Berlin"]
    waiting.desk.record(SupersedeEvent(berlin.address, make_fact("Tokyo")))
    waiting.desk.run()
    assert waiting.desk.recommendation(waiting.rec_id).status == "expired"
    waiting.sweep()
    assert waiting.workflow.told == [("first", "expired", False)]


# what takes too long


def test_a_review_that_nobody_answers_ends_and_its_recommendation_can_be_decided_and_reviewed_again(
    waiting: Review,
) -> None:
    assert waiting.expire() == {"outcome": "expired", "then_apply": False}
    assert waiting.desk.recommendation(waiting.rec_id).status == "pending"
    again = waiting.request()
    assert (again["execution"], again["started"]) == (f"{waiting.rec_id}-2", True)
    assert waiting.approve()["status"] == "approved"


def test_a_decision_the_workflow_was_never_told_of_is_found_when_its_time_is_over(waiting: Review) -> None:
    waiting.approve(wish=Wish())
    assert waiting.expire() == {"outcome": "approved", "then_apply": True}


def test_an_approval_that_nobody_applies_ends_its_review_and_stays_approved(waiting: Review) -> None:
    waiting.approve()
    waiting.wait("second", "apply", None)
    assert waiting.expire("apply")["outcome"] == "expired"
    assert waiting.desk.apply(waiting.rec_id)["status"] == "applied"


def test_a_workflow_that_broke_down_leaves_the_way_free_for_another(waiting: Review) -> None:
    assert approval.give_up(waiting.desk.store, waiting.ticket, waiting.desk.now)["outcome"] == "failed"
    assert waiting.request()["execution"] == f"{waiting.rec_id}-2"


def test_a_task_of_a_review_that_is_not_there_is_refused(found: Desk) -> None:
    stray = Review(found, found.finding("tool_failure"))
    with unchanged(found), pytest.raises(NotFoundError):
        stray.wait("first")


# what the policy asks for


def proposed(found: Desk, rec_id: str, severity: Severity = "high", n: int = 1) -> Callable[..., str | None]:
    what = Proposed(found.memory, rec_id, severity, n)
    return lambda workflow, at_least: review_proposed(found.store, workflow, what, at_least, found.now)


@pytest.mark.parametrize(
    ("severity", "at_least", "is_started"),
    [("high", None, False), ("low", "medium", False), ("medium", "medium", True), ("high", "medium", True)],
)
def test_what_is_grave_enough_for_the_policy_is_reviewed(
    found: Desk, severity: Severity, at_least: Severity | None, is_started: bool
) -> None:
    workflow, rec_id = Workflow(), found.finding("tool_failure")
    execution = proposed(found, rec_id, severity)(workflow, at_least)
    assert execution == (f"{rec_id}-1" if is_started else None)
    assert workflow.started == ([execution] if is_started else [])


def test_an_event_that_comes_again_starts_no_second_review_even_after_the_first_has_ended(found: Desk) -> None:
    grave = Review(found, found.finding("tool_failure"))
    start = proposed(found, grave.rec_id)
    start(grave.workflow, "low")
    assert start(grave.workflow, "low") == f"{grave.rec_id}-1"
    grave.expire()
    assert start(grave.workflow, "low") is None
    assert proposed(found, grave.rec_id, n=2)(grave.workflow, "low") == f"{grave.rec_id}-2"


def test_what_was_decided_or_never_was_is_not_reviewed(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.reject(rec_id)
    workflow = Workflow()
    with unchanged(found):
        assert proposed(found, rec_id)(workflow, "info") is None
        assert proposed(found, "a" * 26)(workflow, "info") is None
    assert workflow.started == []
