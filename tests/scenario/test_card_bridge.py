"""Where cards meet the loop and their past: applied lessons offered as cards, replays, and outcomes of rules."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import (
    IllegalTransitionError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    PrincipalKindError,
    ScopeDeniedError,
)
from provenloop.lessons.outcome import outcome_of
from provenloop.services import outcomes
from provenloop.services.offer_lesson import offer_lesson
from provenloop.services.replay_card import replay_card
from tests.builders import DAY_MS, NOW, Desk, make_calls, make_fact, make_principal
from tests.faults import assert_unchanged
from tests.lessons import Guards, make_card


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def taught(guards: Guards) -> str:
    """An applied lesson of a tool that failed."""
    guards.desk.record(*make_calls(5, 2))
    guards.desk.run()
    rec = guards.desk.finding("tool_failure")
    guards.desk.approve_and_apply(rec)
    return rec


def offer(guards: Guards, rec: str, project: str = "shop", **more: Any) -> dict[str, Any]:
    call = guards.desk.call(by=more.pop("by", guards.reviewer))
    return offer_lesson(guards.desk.store, call, rec, project, more.pop("because", "agents keep doing it"), **more)


# offers


def test_an_applied_lesson_becomes_a_candidate_card_with_its_evidence_linked_and_audited(guards: Guards) -> None:
    rec = taught(guards)
    answer = offer(guards, rec[:8], statement="Check the card before a refund.")
    card = guards.card(answer["card"])
    assert (card.status, card.project, card.category, card.reports) == ("candidate", "shop", "tool-failure", 1)
    assert card.signature == "refund: card declined"
    assert card.wording == "Check the card before a refund."
    [row] = guards.desk.store.card_evidence(guards.desk.memory, card.id)
    assert row.target == rec
    assert all(address in row.detail for address in guards.desk.recommendation(rec).evidence)
    assert guards.chain(card.id) == [("", "candidate")]
    [entry] = guards.desk.store.audit_entries(guards.desk.memory, card.chain)
    assert f'"recommendation":"{rec}"' in entry.text
    guards.desk.verify()


def test_offering_again_is_one_line_and_another_project_is_another_card(guards: Guards) -> None:
    rec = taught(guards)
    first = offer(guards, rec)
    assert offer(guards, rec, because="once more") == first
    assert guards.card(first["card"]).reports == 1
    assert offer(guards, rec, "harbour")["card"] != first["card"]
    guards.desk.verify()


def test_an_offer_that_makes_a_card_ready_says_so_in_its_entry(guards: Guards) -> None:
    guards.set(promote_threshold=1)
    rec = taught(guards)
    answer = offer(guards, rec)
    assert answer["just_ready"] is True
    [entry] = guards.desk.store.audit_entries(guards.desk.memory, f"card:{answer['card']}")
    assert f'"recommendation":"{rec}"' in entry.text
    guards.desk.verify()


def test_an_offer_breaks_no_rule(guards: Guards) -> None:
    rec = taught(guards)
    card = offer(guards, rec)["card"]
    guards.act(card, "arm", "Look.")
    offer(guards, rec, by=make_principal("rob", "review"))
    assert guards.counts(card)[0] == 0


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"by": make_principal("bot", "admin", kind="agent")}, PrincipalKindError),
        ({"by": make_principal("ann", "write", "read")}, ScopeDeniedError),
        ({"because": " "}, InvalidInputError),
        ({"project": " "}, InvalidInputError),
    ],
)
def test_a_refused_offer_writes_nothing(guards: Guards, more: dict[str, Any], error: type[LoopError]) -> None:
    rec = taught(guards)
    before = guards.desk.snapshot()
    with pytest.raises(error):
        offer(guards, rec, **more)
    assert_unchanged(before, guards.desk.snapshot())


def test_only_an_applied_tool_failure_can_be_offered(guards: Guards) -> None:
    guards.desk.record(*make_calls(5, 2), make_fact("Berlin"), make_fact("Tokyo"))
    guards.desk.run()
    with pytest.raises(IllegalTransitionError):
        offer(guards, guards.desk.finding("tool_failure"))
    with pytest.raises(InvalidInputError):
        offer(guards, guards.desk.finding("contradiction_sweep"))
    with pytest.raises(NotFoundError):
        offer(guards, "zzzz")


# replay


def replay(guards: Guards, card: str, **more: Any) -> dict[str, Any]:
    return replay_card(guards.desk.store, guards.desk.call(by=guards.reviewer), card, **more)


def test_a_replay_shows_what_the_key_matches_as_lines_fold_now(guards: Guards) -> None:
    card = guards.report(category="deploys", detail="one", session="s1")["card"]
    guards.report(category="deploys", detail="asked first", evidence={"needs_user_confirmation": True})
    guards.report(category="deploys", kind="gate_not_run", detail="no gate")
    guards.report(category="releases", detail="folds into it later")
    guards.report(category="deploys", project="harbour")
    guards.start("s1")
    guards.start("s2")
    for session in ("s1", "s2", "s1"):
        assert guards.passes(session, category="deploys") == {"ok": True, "pass_of": None}
    seen = replay(guards, card)
    assert [(row["detail"], row["would_count"]) for row in seen["lessons"]] == [
        ("no gate", "environment"),
        ("asked first", "report"),
        ("one", "violation"),
    ]
    assert (seen["looked_at"], len(seen["passes"]), seen["more_passes"], seen["cursor"]) == (4, 2, False, None)
    guards.set(folds={"releases": "deploys", "deploys": "deploys"})
    merged = guards.report(category="deploys")["card"]
    assert len(replay(guards, merged)["lessons"]) == 5


def test_a_replay_reads_long_lines_a_few_at_a_time(guards: Guards) -> None:
    card = guards.reports(21)["card"]
    asked, grains = [], guards.desk.store.grains

    def read(memory: Any, addresses: Any, now: int) -> Any:
        asked.append(len(addresses))
        return grains(memory, addresses, now)

    guards.desk.store.grains = read  # type: ignore[method-assign]
    assert (len(replay(guards, card)["lessons"]), asked) == (21, [10, 10, 1])


def test_a_replay_comes_in_pages(guards: Guards) -> None:
    card = guards.reports(5)["card"]
    first = replay(guards, card, limit=2)
    second = replay(guards, card, limit=2, cursor=first["cursor"])
    last = replay(guards, card, limit=2, cursor=second["cursor"])
    assert [len(page["lessons"]) for page in (first, second, last)] == [2, 2, 1]
    assert last["cursor"] is None
    seqs = [row["seq"] for page in (first, second, last) for row in page["lessons"]]
    assert seqs == sorted(seqs, reverse=True)


@pytest.mark.parametrize(("more", "field"), [({"limit": 0}, "limit"), ({"cursor": "x"}, "cursor")])
def test_a_wrong_page_of_a_replay_is_named(guards: Guards, more: dict[str, Any], field: str) -> None:
    card = guards.report()["card"]
    with pytest.raises(InvalidInputError) as caught:
        replay(guards, card, **more)
    assert caught.value.field == field


def test_a_pass_before_arming_does_not_count_and_one_after_does(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.start()
    guards.passes()
    guards.act(card, "arm", "Look.")
    guards.end()
    assert guards.counts(card) == (0, 0, 0)
    guards.start("s2")
    guards.passes("s2")
    guards.end("s2")
    assert guards.counts(card) == (0, 1, 1)
    assert len(replay(guards, card)["passes"]) == 2


def test_a_pass_is_taken_again_once_the_card_is_armed(guards: Guards) -> None:
    card = guards.report()["card"]
    guards.start()
    guards.passes()
    guards.act(card, "arm", "Look.")
    assert guards.passes()["pass_of"] == card
    guards.end()
    assert guards.counts(card)[1] == 1


# outcomes


@pytest.mark.parametrize(
    ("before", "violations", "suppressed", "samples", "verdict", "reduced"),
    [
        (10, 0, 0, 0, "inconclusive", False),
        (10, 0, 0, 1, "held", False),
        (10, 0, 1, 0, "held", False),
        (10, 4, 0, 0, "held", True),
        (10, 5, 0, 0, "regressed", False),
        (10, 20, 9, 9, "regressed", False),
        (0, 1, 0, 9, "regressed", False),
    ],
)
def test_rules_are_measured_with_the_words_of_the_loop(
    before: int, violations: int, suppressed: int, samples: int, verdict: str, *, reduced: bool
) -> None:
    card = make_card(
        status="armed",
        created_at=NOW,
        armed_at=NOW + 10 * DAY_MS,
        reports=before + violations,
        violations=violations,
        suppressed=suppressed,
        samples=samples,
    )
    outcome = outcome_of(card, NOW + 20 * DAY_MS)
    assert outcome is not None
    assert (outcome.verdict, outcome.reduced, outcome.reports_before) == (verdict, reduced, before)
    assert outcome.exposure == violations + suppressed + samples


def test_outcomes_show_the_cards_that_were_armed(guards: Guards) -> None:
    rule = guards.armed(category="a")
    guards.armed(category="b")
    guards.report(category="c")
    guards.start()
    guards.end()
    guards.report(category="a")
    guards.act(rule.id, "demote")
    told = outcomes.outcomes(guards.desk.store, guards.desk.call())
    assert [(row["status"], row["verdict"], row["samples"]) for row in told["rules"]] == [
        ("armed", "held", 1),
        ("demoted", "regressed", 1),
    ]
    assert told["rules_cut"] is False
    assert outcome_of(make_card(), NOW) is None
