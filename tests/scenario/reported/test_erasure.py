"""Erasing a subject leaves nothing of it in facts, index, telemetry, findings or reasons, and breaks nothing."""

from __future__ import annotations

from provenloop.domain.events import SupersedeEvent
from provenloop.services.audit_export import export_page
from provenloop.services.forget import forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.telemetry_read import show_telemetry
from tests.builders import DAY_MS, Desk, addresses, make_calls, make_fact, make_observation, make_tool_call
from tests.scenario.reported.steps import families, found_by_pass, recalled, shown
from tests.scenario.test_forget import assert_gone

NAME = "Quetzalcoatl"


def erase(desk: Desk, *, address: str | None = None, subject: str | None = None) -> dict[str, object]:
    wanted = Wanted(address, "shared" if subject else None, subject)
    return forget(desk.store, desk.call(), wanted, "was asked to")


def test_erasing_a_subject_clears_facts_index_findings_telemetry_and_reasons(desk: Desk) -> None:
    for value in ("Berlin", "Tokyo"):
        desk.record(make_fact(value, subject=NAME), make_fact("tea", subject=NAME, relation="likes"))
    desk.run()
    rec_id = desk.only()["id"]
    for _ in range(3):
        recalled(desk, subject=NAME)
        recalled(desk, f"where does {NAME} live")
    desk.approve(rec_id, f"{NAME} told me")
    desk.run()
    answer = erase(desk, subject=NAME)
    assert answer["forgotten"] == 3
    assert_gone(desk, NAME)
    assert NAME.lower() not in "".join(export_page(desk.store, desk.call()).lines).lower()
    desk.verify()
    assert recalled(desk, "where does anybody live") == []
    assert erase(desk, subject=NAME)["forgotten"] == 0


def test_questions_and_most_recalled_do_not_name_what_was_erased(desk: Desk) -> None:
    desk.record(make_fact("Berlin", subject=NAME), make_fact("Lima", subject="kim"))
    for subject in (NAME, "kim"):
        recalled(desk, subject=subject)
    desk.run()
    erase(desk, subject=NAME)
    told = show_telemetry(desk.store, desk.call(), "aggregate")
    assert [row["grain"]["subject"] for row in told["most_recalled"]] == ["kim"]
    assert NAME not in str(told)


def test_what_was_erased_comes_back_by_no_retry_and_no_pass(desk: Desk) -> None:
    [address] = addresses(desk.record(make_observation(f"{NAME} called"), key="k"))
    erase(desk, address=address)
    desk.record(make_observation(f"{NAME} called"), key="k")
    desk.run(full_sweep=True)
    assert desk.grains()[address].state == "forgotten"
    assert_gone(desk, NAME)


def test_erasing_the_latest_value_brings_no_older_one_back_to_life(desk: Desk) -> None:
    [old] = addresses(desk.record(make_fact("Berlin")))
    [new] = addresses(desk.record(SupersedeEvent(old, make_fact("Oslo"))))
    erase(desk, address=new)
    assert recalled(desk, subject="sam") == []
    assert {grain.state for grain in desk.grains().values() if grain.kind == "fact"} == {"superseded", "forgotten"}


def test_a_conflict_with_an_erased_value_is_closed_and_cannot_be_applied(desk: Desk) -> None:
    [berlin] = addresses(desk.record(make_fact("Berlin")))
    desk.record(make_fact("Tokyo"))
    desk.run()
    erase(desk, address=berlin)
    assert found_by_pass(desk) == []
    assert recalled(desk, subject="sam") == ["Tokyo"]


def test_a_lesson_that_was_erased_by_hand_can_still_be_undone(desk: Desk) -> None:
    desk.record(*make_calls(5))
    desk.run()
    rec_id = desk.only()["id"]
    [lesson] = desk.approve_and_apply(rec_id)["created"]
    erase(desk, address=lesson)
    assert desk.roll_back(rec_id)["already_undone"] == [lesson]


def test_the_text_of_erased_evidence_is_in_no_answer(desk: Desk) -> None:
    sent = addresses(desk.record(*(make_tool_call(f"c{n}", error=f"{NAME} declined") for n in range(3))))
    desk.run()
    rec_id = desk.only()["id"]
    for address in sent:
        erase(desk, address=address)
    assert NAME not in str(shown(desk, rec_id)["evidence"])
    assert families(desk) == ["tool_failure"]


def test_erasing_one_subject_touches_no_other_of_a_similar_name(desk: Desk) -> None:
    desk.record(make_fact("Berlin", subject="ann"), make_fact("Oslo", subject="anna"), make_fact("Rome", subject="ANN"))
    erase(desk, subject="Ann")
    survivors = [grain for grain in desk.grains().values() if grain.state == "current"]
    assert [grain.body["subject"] for grain in survivors] == ["anna"]


def test_what_has_expired_is_removed_for_good_with_its_earlier_versions(desk: Desk) -> None:
    for confidence in (0.2, 0.9):
        desk.record(make_fact(NAME, relation="knows", confidence=confidence, valid_to=desk.now + DAY_MS))
    desk.run(at=desk.now + 3 * DAY_MS)
    desk.approve_and_apply(desk.finding("staleness"), allow_destructive=True)
    assert_gone(desk, NAME)
