"""Forgetting leaves nothing behind of how a grain was recalled, nor of questions that named a subject."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.domain.records import RecallRow, TermRow
from provenloop.domain.rollup import AskDay, ReadDays
from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted as Forgotten
from provenloop.services.recall import Wanted, recall
from provenloop.services.record_use import Telemetry
from provenloop.services.telemetry_read import show_telemetry
from tests.builders import MEMORY, Desk, addresses, make_fact, make_goal
from tests.faults import Fault, FaultLayer, Kind
from tests.scenario.test_apply_forget import forget_all, proposed
from tests.scenario.test_forget import assert_gone, everything_stored

NAME = "Quetzalcoatl"
COUNTED, EACH = Telemetry("aggregate"), Telemetry("full")


def ask(desk: Desk, question: str | None = None, telemetry: Telemetry = COUNTED, **wanted: Any) -> int:
    query = Wanted(**{"namespace": "shared", "question": question, **wanted})
    return len(recall(desk.store, desk.call(), query, telemetry)["results"])


def forgotten(desk: Desk, *, address: str | None = None, subject: str | None = None, **how: Any) -> dict[str, Any]:
    wanted = Forgotten(address, "shared" if subject else None, subject)
    return forget(desk.store, desk.call(**how), wanted, "was asked to")


def naming(address: str) -> list[str]:
    """Types of the index rows that name a grain."""
    rows = [entity_of(row) for row in table.query(keys.partition(MEMORY, "INDEX"))]
    return sorted({type(row).__name__ for row in rows if address in repr(row)} & KINDS)


KINDS = {kind.__name__ for kind in (TermRow, RecallRow, ReadDays, AskDay)}


def test_a_forgotten_grain_leaves_the_index_of_terms_and_every_count_of_it(desk: Desk) -> None:
    [mine, other] = addresses(desk.record(make_fact("opal lighthouse"), make_fact("opal harbour", subject="mia")))
    said_at = desk.now
    desk.run()
    for telemetry in (COUNTED, EACH):
        ask(desk, "opal", telemetry)
    desk.run()
    assert naming(mine) == ["ReadDays", "RecallRow", "TermRow"]
    forgotten(desk, address=mine)
    assert naming(mine) == []
    assert naming(other) == ["ReadDays", "RecallRow", "TermRow"]
    assert ask(desk, "opal") == 1
    assert ask(desk, "lighthouse") == ask(desk, subject="sam") == 0
    assert ask(desk, relation="lives_in", as_of=said_at) == 1


def test_a_grain_that_a_decision_forgets_leaves_the_index_too(found: Desk) -> None:
    grain = found.facts()["Berlin"]
    ask(found, subject="sam")
    found.run()
    assert naming(grain.address) == ["ReadDays", "TermRow"]
    forget_all(found, proposed(found, grain))
    assert naming(grain.address) == []


def test_earlier_texts_of_a_grain_leave_the_index_too(desk: Desk) -> None:
    [goal] = addresses(desk.record(make_goal("sail", description="opal")))
    desk.run()
    desk.record(make_goal("sail", description="amber"))
    desk.run()
    assert ask(desk, "amber") == 1
    forgotten(desk, address=goal)
    assert naming(goal) == []


@pytest.mark.parametrize("is_counted", [True, False])
def test_questions_that_name_a_forgotten_subject_go_with_it(desk: Desk, is_counted: bool) -> None:
    desk.record(make_fact("Berlin", subject=NAME))
    for question in (f"Where does {NAME} live?", f"what is {NAME.upper()}'s plan", "where is the lighthouse"):
        ask(desk, question)
    ask(desk, subject=NAME, relation="plan")
    if is_counted:
        desk.run()
    answer = forgotten(desk, subject=NAME)
    assert (answer["forgotten"], answer["questions"]) == (1, 3)
    desk.run()
    assert_gone(desk, NAME)
    told = show_telemetry(desk.store, desk.call(), "aggregate")
    assert [row["text"] for row in told["questions"]] == ["where is the lighthouse"]
    assert forgotten(desk, subject=NAME)["questions"] == 0
    desk.verify()


def test_a_subject_of_which_only_questions_are_held_is_forgotten_as_well(desk: Desk) -> None:
    ask(desk, f"where is {NAME}")
    answer = forgotten(desk, subject=NAME)
    assert (answer["forgotten"], answer["questions"]) == (0, 1)
    assert_gone(desk, NAME)


def test_more_questions_than_a_transaction_holds_go_in_several(desk: Desk) -> None:
    for number in range(95):
        ask(desk, f"{NAME} number {number}")
    assert forgotten(desk, subject=NAME)["questions"] == 95
    assert_gone(desk, NAME)


def test_questions_of_another_name_stay(desk: Desk) -> None:
    desk.record(make_fact("Berlin", subject=NAME))
    ask(desk, f"where are the {NAME}s")
    assert forgotten(desk, subject=NAME)["questions"] == 0


def test_a_question_is_forgotten_by_its_address_with_its_counts(desk: Desk) -> None:
    ask(desk, f"where is {NAME}")
    desk.run()
    [row] = show_telemetry(desk.store, desk.call(), "aggregate")["questions"]
    forgotten(desk, address=row["address"])
    assert_gone(desk, NAME)
    assert naming(row["address"]) == []
    assert show_telemetry(desk.store, desk.call(), "aggregate")["questions"] == []


@pytest.mark.parametrize("nth", range(1, 5))
def test_what_an_interruption_leaves_holds_no_text_once_it_is_sent_again(desk: Desk, nth: int) -> None:
    desk.record(make_fact("Berlin", subject=NAME))
    ask(desk, f"where is {NAME}")
    ask(desk, subject=NAME)
    desk.run()
    with FaultLayer(desk.client) as layer:
        layer.survives(
            lambda: forgotten(desk, subject=NAME, key="k"), Fault(Kind.CRASH_AFTER, nth, "TransactWriteItems")
        )
    forgotten(desk, subject=NAME, key="k")
    assert_gone(desk, NAME)
    assert "Berlin" not in everything_stored(desk)
    assert ask(desk, subject=NAME) == 0
