"""What becomes of a request: served, offered to the composer, or missed."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.recipes.decide import REASONS, Band, Candidate, Decision, decide
from tests.unit.recipes.odd_texts import ODD_TEXTS

BAND = Band(threshold=0.85, floor=0.6, margin=0.08)


def candidate(request: str, similarity: float = 0.97, *, recipe_id: str = "r1", answer: str = "") -> Candidate:
    return Candidate(recipe_id, request, answer or recipe_id, similarity)


def judged(request: str, stored: str, similarity: float = 0.97) -> tuple[str, tuple[str, ...]]:
    """The outcome for one candidate, and its reasons."""
    decision = decide(request, [candidate(stored, similarity)], BAND)
    return decision.outcome, decision.offered[0].reasons if decision.offered else ()


@pytest.mark.parametrize(
    ("request_", "stored"),
    [
        ("How can I reset my password?", "how do I reset my password"),
        ("please cancel my subscription", "I want to cancel my subscription"),
        ("utilise the parser to read the file", "use the parser to read the file"),
        ("where is my order", "can you tell me where my order is"),
        ("remove the file report.txt", "delete the file report.txt"),
    ],
)
def test_the_same_request_in_other_words_is_served(request_: str, stored: str) -> None:
    assert judged(request_, stored) == ("served", ())
    assert judged(stored, request_) == ("served", ())


@pytest.mark.parametrize(
    ("request_", "stored", "reason"),
    [
        ("buy 10 shares", "buy 12 shares", "number"),
        ("lock the account", "unlock the account", "opposite"),
        ("merge dev into main", "merge main into dev", "order"),
        ("list the commits of the branch", "list the commits of the repository", "kind"),
        ("open the billing dashboard", "open the search dashboard", "wording"),
        ("show the mails from support", "show the mails to support", "extra"),
        ("cancel his order", "cancel my order", "extra"),
        (
            "copy the nightly backup of the billing database to the archive bucket",
            "copy the nightly backup of the billing database from the archive bucket",
            "extra",
        ),
        ("list the orders", "list the pending orders", "extra"),
        ("reset my password", "reset my admin password", "extra"),
        ("delete the users of the group", "delete all the users of the group", "extra"),
    ],
)
def test_a_look_alike_goes_to_the_composer_with_its_reason(request_: str, stored: str, reason: str) -> None:
    for one, other in ((request_, stored), (stored, request_)):
        outcome, reasons = judged(one, other, 0.999)
        assert (outcome, reason in reasons) == ("composer", True)


def test_between_floor_and_threshold_the_composer_is_asked_and_below_nobody() -> None:
    text = "where is my order"
    assert judged(text, f"{text} please", 0.85) == ("served", ())
    assert judged(text, f"{text} please", 0.84) == ("composer", ("similarity",))
    assert judged(text, f"{text} please", 0.60) == ("composer", ("similarity",))
    assert judged(text, f"{text} please", 0.59) == ("miss", ())


def test_another_answer_nearly_as_close_keeps_the_nearest_from_being_served() -> None:
    near = candidate("where is my order", 0.95)
    rival = candidate("where is my order now", 0.90, recipe_id="r2")
    decision = decide("where's my order?", [rival, near], BAND)
    assert decision.outcome == "composer"
    assert [each.candidate.recipe_id for each in decision.offered] == ["r1", "r2"]
    assert decision.offered[0].reasons == ("rival",)

    agrees = replace(rival, answer=near.answer)
    assert decide("where's my order?", [agrees, near], BAND) == Decision("served", near)
    assert decide("where's my order?", [replace(rival, similarity=0.86), near], BAND).served == near


def test_what_a_guard_keeps_apart_does_not_keep_the_right_one_from_being_served() -> None:
    other = candidate("show the top 5 customers", 0.96)
    right = candidate("show the top 10 customers", 0.95, recipe_id="r2", answer="r1")
    assert decide("please show the top 10 customers", [other, right], BAND).served == right


@pytest.mark.parametrize(
    ("request_", "stored"),
    [
        ("取消我的订阅", "我想取消订阅"),
        ("東京の天気を教えて", "東京の天気は？"),
        ("Как сбросить пароль", "как мне сбросить пароль"),
    ],
)
def test_a_text_outside_latin_script_is_offered_by_its_pairs_of_characters_and_never_served(
    request_: str, stored: str
) -> None:
    for similarity in (0.0, 0.99):
        outcome, reasons = judged(request_, stored, similarity)
        assert (outcome, reasons[-1]) == ("composer", "script")
    assert judged(request_, "完全に別のこと", 0.99)[0] == "miss"


def test_nothing_is_made_of_no_candidates_or_of_a_similarity_that_is_no_number() -> None:
    assert decide("where is my order", [], BAND) == Decision("miss")
    assert judged("where is my order", "where is my order then", math.nan) == ("miss", ())


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_an_odd_text_is_judged_in_time_and_never_served_for_another(name: str) -> None:
    text = ODD_TEXTS[name]
    stored = [candidate("reset my password"), candidate("42 1337 0.6", recipe_id="r2"), candidate("🙃", recipe_id="r3")]
    begun = time.perf_counter()
    decision = decide(text, stored, BAND)
    assert time.perf_counter() - begun < 2
    assert decision.served is None


@given(
    st.lists(st.tuples(st.sampled_from(list(ODD_TEXTS.values())), st.floats(-1, 1)), max_size=4),
    st.sampled_from(list(ODD_TEXTS.values())),
)
def test_the_order_of_candidates_makes_no_difference(found: list[tuple[str, float]], text: str) -> None:
    candidates = [candidate(stored[:200], near, recipe_id=f"r{n}") for n, (stored, near) in enumerate(found)]
    decision = decide(text, candidates, BAND)
    assert decide(text, candidates[::-1], BAND) == decision
    assert {reason for each in decision.offered for reason in each.reasons} <= set(REASONS)
