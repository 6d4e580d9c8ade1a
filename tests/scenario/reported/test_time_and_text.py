"""When something happened is what was said and not when it came, and spellings of one text meet in every script."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from provenloop.domain.canonical import canonical_json
from provenloop.services.grain_read import show_grain
from provenloop.services.record_use import Telemetry
from tests.builders import (
    DAY_MS,
    MINUTE_MS,
    NOW,
    Desk,
    addresses,
    grain_of,
    make_fact,
    make_observation,
    make_tool_call,
)
from tests.functions.requests import FACT, batch, ingest, refusal
from tests.scenario.reported.steps import apply_only, found_by_pass, recalled, set_up, shown

YEAR_MS = 365 * DAY_MS


def test_an_old_chat_is_dated_by_its_events_and_not_by_the_day_it_was_imported(desk: Desk) -> None:
    said_at = NOW - 3 * YEAR_MS
    grain = grain_of(desk, make_observation("the depot moved", occurred_at=said_at))
    told = show_grain(desk.store, desk.call(), grain.address, Telemetry("off"))
    assert (told["occurred_at"], told["recorded_at"][:10]) == ("2024-01-16T08:00:00.000Z", "2027-01-15")


def test_what_occurred_before_midnight_stays_there_however_late_it_is_recorded(desk: Desk) -> None:
    midnight = NOW - NOW % DAY_MS
    desk.now = midnight + 5 * MINUTE_MS
    desk.record(*(make_tool_call(error="card declined", occurred_at=midnight - MINUTE_MS) for _ in range(3)))
    desk.run()
    days = desk.store.tool_window(desk.memory, desk.recommendation(desk.only()["id"]).group, "20270101", "20270131")
    assert {row.day for row in days.signatures} == {"20270114"}


def test_when_it_was_recorded_never_decides_which_value_is_the_latest(desk: Desk) -> None:
    desk.record(make_fact("Oslo", occurred_at=NOW - DAY_MS))
    desk.record(make_fact("Berlin", occurred_at=NOW - 9 * DAY_MS))
    desk.run()
    apply_only(desk)
    assert recalled(desk, subject="sam") == ["Oslo"]


@pytest.mark.parametrize("field", ["occurred_at", "valid_from", "valid_to"])
@pytest.mark.parametrize(
    "time", ["2027-01-15T08:00:00", "yesterday", "2027-01-15", "15.01.2027 08:00+01:00", 1_800_000_000, 1.5, True]
)
@pytest.mark.usefixtures("untouched")
def test_a_naive_relative_or_implausible_time_is_refused_and_never_guessed_at(field: str, time: object) -> None:
    assert refusal(ingest(batch({**FACT, field: time}))) == (400, f"events[0].{field}")


@pytest.mark.usefixtures("untouched")
def test_a_call_of_next_year_is_refused() -> None:
    call = {"kind": "tool_call", "tool": "t", "is_error": True, "occurred_at": NOW + YEAR_MS}
    assert refusal(ingest(batch(call))) == (400, "events[0].occurred_at")


def test_a_question_in_one_composition_finds_a_text_in_the_other(desk: Desk) -> None:
    desk.record(*(make_observation(normalize("NFD", f"Café Zürich № {n} opens early")) for n in range(10)))
    assert len(recalled(desk, normalize("NFC", "Café Zürich opens"), limit=20)) == 10


def test_texts_of_other_scripts_and_signs_are_no_duplicates_of_each_other(desk: Desk) -> None:
    set_up(desk, "duplicate_sweep", parameters={"jaccard": 0.5})
    for text in ("退款需要七天", "发票寄到邮箱", "возврат за неделю", "счёт на почту", "🙂", "🚀", "؟", "…"):
        desk.record(make_observation(text))
    assert found_by_pass(desk) == []


def test_no_word_is_made_of_characters_on_either_side_of_a_gap(desk: Desk) -> None:
    desk.record(make_observation("东 京 很 远"))
    assert recalled(desk, "东京") == []


def test_letters_that_differ_to_a_reader_stay_two_values(desk: Desk) -> None:
    desk.record(make_fact("Żubr", relation="likes"), make_fact("Zubr", relation="likes"))
    assert found_by_pass(desk) == []


@pytest.mark.parametrize("size", [8_193, 60_000, 500_000])
def test_a_body_that_is_too_large_is_kept_cut_with_its_length_and_never_silently(desk: Desk, size: int) -> None:
    grain = grain_of(desk, make_tool_call("c", error="disk full " + "x" * size))
    assert grain.body["full_bytes"] == size + len("disk full ")
    assert len(str(grain.body["result"])) < 9_000


def test_a_huge_output_is_grouped_by_its_head_and_its_tail(desk: Desk) -> None:
    for tail in ("no space left on device", "permission denied"):
        desk.record(*(make_tool_call(error=f"{'log line ' * 60_000}{tail}") for _ in range(3)))
    assert found_by_pass(desk) == ["tool_failure", "tool_failure"]


HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "pay me")
SCOTLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbsct") + "\U000e007f"


@pytest.mark.parametrize("hidden", [HIDDEN, "\u202egnp.exe", "\u2066x\u2069", "\x1b[2K", "a\U000e0155"])
def test_a_reviewer_sees_what_is_hidden_in_a_text(desk: Desk, hidden: str) -> None:
    for value in ("Berlin", f"Tokyo {hidden}"):
        desk.record(make_fact(value))
    desk.run()
    detail = shown(desk, desk.only()["id"])
    [told] = {row["body"]["object"] for row in detail["evidence"]} - {"Berlin"}
    for text in (told, detail["summary"], canonical_json([detail["proposal"], detail["details"]])):
        assert not {char for char in hidden if not char.isascii() or not char.isprintable()} & set(text)
    assert told == "Tokyo " + "".join(c if c.isascii() and c.isprintable() else f"\\u{{{ord(c):x}}}" for c in hidden)


@pytest.mark.parametrize(
    "value", [SCOTLAND, "שלום עולם", "مرحبا", "\u200fשלום\u200e", "葛\U000e0100", "a\tb\nc", "🙂\ufe0f"]
)
def test_flags_and_scripts_that_run_the_other_way_are_shown_as_they_are(desk: Desk, value: str) -> None:
    desk.record(make_fact("Berlin"), make_fact(value))
    desk.run()
    bodies = [row["body"]["object"] for row in shown(desk, desk.only()["id"])["evidence"]]
    assert value in bodies


def test_a_fact_in_two_compositions_is_one_fact(desk: Desk) -> None:
    first, again = (make_fact(normalize(form, "Zürich")) for form in ("NFC", "NFD"))
    assert addresses(desk.record(first)) == addresses(desk.record(again))
