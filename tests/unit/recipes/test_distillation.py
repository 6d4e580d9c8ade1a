"""What a run may teach: the gate, the envelope, the prompt, and the reading of answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InvalidInputError, TooLargeError
from provenloop.recipes.distillation import (
    INSTRUCTIONS,
    NEGATIVE,
    POSITIVE,
    SCHEMA,
    SCHEMA_VERSION,
    Envelope,
    Taught,
    parse_envelope,
    passes_gate,
    quoted,
    read_taught,
)

GIVEN: dict[str, Any] = {
    "problem": "How do I reset my password?",
    "final_message": "Open settings.",
    "signals": ["user_accepted"],
}
GOOD: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "category": "accounts",
    "problem": "resetting a password",
    "positive_response": "Open settings, then choose Reset.",
    "principles": ["name the menu", " "],
    "confidence": 0.9,
    "safety_concern": False,
}


def read(**changed: Any) -> Any:
    return read_taught({name: told for name, told in {**GOOD, **changed}.items() if told is not ...})


def test_a_good_answer_teaches_its_response() -> None:
    assert read() == Taught("accounts", "Open settings, then choose Reset.", ("name the menu",), 0.9)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"safety_concern": True}, "safety_concern"),
        ({"safety_concern": True, "positive_response": "", "confidence": 0.1}, "safety_concern"),
        ({"positive_response": " \n"}, "empty_response"),
        ({"confidence": 0.69}, "low_confidence"),
        ({"schema_version": "provenloop.distillation/2"}, "validation_error"),
        ({"schema_version": SCHEMA_VERSION.upper()}, "validation_error"),
        ({"schema_version": ...}, "validation_error"),
        ({"more": 1}, "validation_error"),
        ({"category": ""}, "validation_error"),
        ({"category": "x" * 101}, "validation_error"),
        ({"category": None}, "validation_error"),
        ({"problem": 3}, "validation_error"),
        ({"positive_response": ["x"]}, "validation_error"),
        ({"positive_response": "x" * 200_001}, "validation_error"),
        ({"principles": "x"}, "validation_error"),
        ({"principles": [1]}, "validation_error"),
        ({"principles": ["x"] * 21}, "validation_error"),
        ({"confidence": "high"}, "validation_error"),
        ({"confidence": True}, "validation_error"),
        ({"confidence": 1.5}, "validation_error"),
        ({"safety_concern": "no"}, "validation_error"),
        ({"safety_concern": None}, "validation_error"),
    ],
)
def test_anything_else_teaches_nothing_and_says_why(changed: dict[str, Any], reason: str) -> None:
    assert read(**changed) == reason


def test_confidence_at_the_floor_is_enough() -> None:
    assert isinstance(read(confidence=0.7), Taught)


def test_the_version_is_asked_for_in_words_and_by_the_schema() -> None:
    assert f'"{SCHEMA_VERSION}"' in INSTRUCTIONS
    assert SCHEMA["properties"]["schema_version"]["enum"] == [SCHEMA_VERSION]
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == set(GOOD)


@pytest.mark.parametrize("signal", sorted(POSITIVE))
def test_one_good_signal_opens_the_gate(signal: str) -> None:
    assert passes_gate([signal])


@given(st.lists(st.sampled_from(sorted(POSITIVE | NEGATIVE))))
def test_the_gate_wants_something_that_speaks_for_the_run_and_nothing_against_it(signals: list[str]) -> None:
    assert passes_gate(signals) == (bool(POSITIVE & set(signals)) and not NEGATIVE & set(signals))


def test_an_envelope_is_read_and_told_again() -> None:
    whole = parse_envelope({**GIVEN, "trace": "searched", "session": "s-1"})
    assert whole == Envelope(GIVEN["problem"], "Open settings.", ("user_accepted",), "searched", "s-1")
    assert parse_envelope(whole.as_json()) == whole
    assert [each.label for each in quoted(whole)] == ["problem", "final_message", "trace"]
    assert [each.label for each in quoted(parse_envelope(GIVEN))] == ["problem", "final_message"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"problem": ""}, "problem"),
        ({"problem": " \t"}, "problem"),
        ({"problem": None}, "problem"),
        ({"problem": 7}, "problem"),
        ({"final_message": ""}, "final_message"),
        ({"trace": 7}, "trace"),
        ({"session": []}, "session"),
        ({"session": "s" * 257}, "session"),
        ({"signals": None}, "signals"),
        ({"signals": "thumbs_up"}, "signals"),
        ({"signals": ["thumbs_up", "liked"]}, "signals[1]"),
        ({"signals": [7]}, "signals[0]"),
        ({"signals": [[]]}, "signals[0]"),
        ({"signals": ["thumbs_up"] * 51}, "signals"),
        ({"prompt": "x"}, "prompt"),
    ],
)
def test_a_wrong_field_of_an_envelope_is_named(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_envelope({**GIVEN, **changed})
    assert refused.value.field == f"envelope.{field}"


def test_a_problem_too_large_for_a_recipe_is_refused() -> None:
    with pytest.raises(TooLargeError):
        parse_envelope({**GIVEN, "problem": "ü" * 50_001})
