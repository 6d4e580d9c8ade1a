"""What is made of the answers of each stage, whatever shape they have: only what is plainly said counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.outside import MAX_GUIDANCE_CHARS, MAX_SUMMARY_CHARS
from provenloop.domain.recommendation import Target
from provenloop.reflection.bundle import MAX_EVIDENCE, Brief, Bundle, Evidence, Known
from provenloop.reflection.draft import ModelDraft
from provenloop.reflection.reading import guided, kept, read_drafts, supported

ADDRESSES = [f"{number:064x}" for number in range(1, 5)]
FOREIGN = "f" * 64
EVIDENCE = tuple(
    Evidence(f"e{number}", address, "fact", "entity:shared/ann", f"text {number}")
    for number, address in enumerate(ADDRESSES[:3], start=1)
)
SHOWN = Bundle(briefs=(Brief("loop.staleness/1", "is past", f"grain:{ADDRESSES[3]}", "low"),), evidence=EVIDENCE)
ANN = Target("entity", ("shared", "ann"))
DRAFT: dict[str, Any] = {"summary": "odd", "target": "entity:shared/ann", "guidance": "look", "evidence": ["e1", "e2"]}
TWO = (ModelDraft("f1", ANN, "first", EVIDENCE[:1]), ModelDraft("f2", ANN, "second", EVIDENCE[1:2], "as said"))


def drafts(*given: Any) -> Sequence[ModelDraft]:
    found = read_drafts({"recommendations": list(given)}, SHOWN)
    assert found is not None
    return found


def changed(**fields: Any) -> dict[str, Any]:
    return {name: told for name, told in {**DRAFT, **fields}.items() if told is not ...}


def test_a_draft_is_read_with_what_it_cites() -> None:
    assert drafts(DRAFT) == (ModelDraft("f1", ANN, "odd", EVIDENCE[:2], "look"),)


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (["e2", "e1"], ["e2", "e1"]),
        (["e1", "e1", "e1"], ["e1"]),
        (["e1", "evidence:e1"], ["e1"]),
        (["e9", "e3", "E1", FOREIGN, ADDRESSES[0], "", 3, None, ["e1"], {"e1": "e1"}], ["e3"]),
        (["brief:1", "e01", " e1", "e1\n", "evidence:evidence:e1", "e2"], ["e2"]),
    ],
)
def test_only_labels_that_were_shown_are_cited_each_once(given: list[Any], labels: list[str]) -> None:
    [draft] = drafts(changed(evidence=given))
    assert [item.label for item in draft.evidence] == labels


@pytest.mark.parametrize("cited", [[], ["e9"], ["e"], [1], "e1", {"e1": 1}, None, 1, ...])
def test_a_draft_that_cites_nothing_that_was_shown_is_dropped(cited: Any) -> None:
    assert drafts(changed(evidence=cited)) == ()


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("query:where is the key?", Target("query", ("where is the key?",))),
        ("entity:other/ann", Target("entity", ("other", "ann"))),
        (f"grain:{ADDRESSES[0]}", Target("grain", (ADDRESSES[0],))),
        (f"grain:{ADDRESSES[3]}", Target("grain", (ADDRESSES[3],))),
    ],
)
def test_a_target_is_inside_of_the_memory(text: str, target: Target) -> None:
    [draft] = drafts(changed(target=text))
    assert draft.target == target


@pytest.mark.parametrize(
    "target",
    ["host:cron", "doc:prompt", "template:x", "ann", "", "entity:", "entity:ann", "grain:e1", f"grain:{FOREIGN}",
     "x" * 5_000, None, 3, ["entity:shared/ann"], {"entity": "ann"}, ...],
)  # fmt: skip
def test_a_draft_about_anything_else_is_dropped(target: Any) -> None:
    assert drafts(changed(target=target)) == ()


@pytest.mark.parametrize("summary", ["", " \n", None, 3, ["odd"], {"text": "odd"}, ...])
def test_a_draft_that_says_nothing_is_dropped(summary: Any) -> None:
    assert drafts(changed(summary=summary)) == ()


def test_texts_are_one_line_of_so_many_characters() -> None:
    [draft] = drafts(changed(summary="a\n" * 900, guidance="b " * 900))
    assert (len(draft.finding.summary), len(draft.guidance)) == (MAX_SUMMARY_CHARS - 1, MAX_GUIDANCE_CHARS - 1)
    [draft] = drafts(changed(summary="pay\u202e load", guidance=["run"]))
    assert (draft.summary, draft.guidance) == ("pay\\u{202e} load", "")


@pytest.mark.parametrize(
    ("target", "evidence", "may_grow", "is_known"),
    [
        ("entity:shared/ann", [0, 1], False, True),
        ("entity:shared/ＡNN", [0, 1], False, True),
        ("entity:shared/ann", [0], False, True),
        ("entity:shared/ann", [0, 1, 2], False, True),
        ("entity:shared/ann", [2], False, False),
        ("entity:shared/bob", [0, 1], False, False),
        ("entity:shared/ann", [0, 1, 2], True, True),
        ("entity:shared/ann", [0], True, False),
    ],
)
def test_a_draft_that_says_what_is_known_is_dropped(
    target: str, evidence: list[int], may_grow: bool, is_known: bool
) -> None:
    known = Known(target, frozenset(ADDRESSES[number] for number in evidence), may_grow)
    found = read_drafts({"recommendations": [DRAFT, changed(target="query:why")]}, replace(SHOWN, known=(known,)))
    assert [draft.id for draft in found or ()] == (["f1"] if is_known else ["f1", "f2"])


def test_the_first_eight_usable_drafts_are_read() -> None:
    many = [changed(summary=f"finding {number}") for number in range(10_000)]
    found = drafts(changed(target="host:cron"), *many)
    assert [draft.id for draft in found] == [f"f{number}" for number in range(1, 9)]
    assert [draft.summary for draft in found] == [f"finding {number}" for number in range(8)]


def test_one_target_may_have_several_findings_and_the_same_one_once() -> None:
    found = drafts(DRAFT, changed(summary="even"), changed(guidance="other"), changed(target="entity:shared/bob"))
    assert [(draft.summary, draft.target_text) for draft in found] == [
        ("odd", "entity:shared/ann"),
        ("even", "entity:shared/ann"),
        ("odd", "entity:shared/bob"),
    ]


def test_what_the_author_says_of_itself_counts_nowhere() -> None:
    claimed = changed(confidence=1.0, id="f9", severity="high", origin="builtin", proposal={"op": "FORGET"})
    assert drafts(claimed) == drafts(DRAFT)


@pytest.mark.parametrize("answer", [{}, {"recommendations": None}, {"recommendations": {"0": DRAFT}}, [DRAFT], "[]", 3])
def test_an_answer_without_its_list_is_unreadable(answer: Any) -> None:
    assert read_drafts(answer, SHOWN) is None
    assert (supported(answer, TWO), kept(answer, TWO, 0.75), guided(answer, TWO)) == (None, None, None)


def test_what_is_no_object_in_a_list_is_left_out() -> None:
    assert drafts(None, 1, "odd", [DRAFT], DRAFT) == drafts(DRAFT)


def ids(found: Sequence[ModelDraft] | None) -> list[str]:
    assert found is not None
    return [draft.id for draft in found]


def results(*given: Any) -> dict[str, Any]:
    return {"results": list(given)}


def says(name: Any, told: Any) -> dict[str, Any]:
    return {"id": name, "supported": told, "reason": "so"}


@pytest.mark.parametrize(
    ("given", "grounded"),
    [
        ([says("f1", True), says("f2", True)], ["f1", "f2"]),
        ([says("f2", True), says("f1", False)], ["f2"]),
        ([says("f2", True)], ["f2"]),
        ([says("f3", True), says("", True), says("F1", True), says(1, True), says(None, True), says(["f1"], True)], []),
        ([says("claim:f1", True), says("finding:f2", True)], ["f1"]),
        ([says("f1", True), says("f1", True)], ["f1"]),
        ([says("f1", True), says("f1", False)], []),
        ([says("f1", False), says("f1", True)], []),
        ([says("f1", True), says("f1", False), says("f1", True)], []),
        ([says("f1", True), says("claim:f1", False)], []),
        ([{"id": "f1"}, {"supported": True}, "f1", None, says("f2", True)], ["f2"]),
    ],
)
def test_only_ids_that_are_plainly_supported_go_on(given: list[Any], grounded: list[str]) -> None:
    assert ids(supported(results(*given), TWO)) == grounded


@pytest.mark.parametrize("told", ["true", "yes", 1, 1.0, [True], {"supported": True}, None])
def test_what_is_not_plainly_yes_is_no(told: Any) -> None:
    assert ids(supported(results(says("f1", told), says("f2", True)), TWO)) == ["f2"]


def judges(name: Any, keep: Any = True, sure: Any = 0.9) -> dict[str, Any]:
    return {"id": name, "keep": keep, "confidence": sure, "reason": "so"}


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([judges("f1"), judges("f2", sure=0.75)], {"f1": 0.9, "f2": 0.75}),
        ([judges("f1", keep=False, sure=1), judges("f2", sure=0.7499)], {}),
        ([judges("f1", sure=7), judges("f2", sure=1)], {"f1": 1.0, "f2": 1.0}),
        ([judges("f1", sure=10**400), judges("f2", sure=-3)], {"f1": 1.0}),
        ([judges("f1", sure=math.nan), judges("f2", sure=math.inf)], {}),
        ([judges("f1", sure=True), judges("f2", sure="0.9")], {}),
        ([judges("f1", sure=None), judges("f2", sure=[0.9])], {}),
        ([judges("f1", keep="true"), judges("f2", keep=1)], {}),
        ([{"id": "f1", "keep": True}, {"id": "f2", "confidence": 1}], {}),
        ([judges("f1"), judges("f1")], {"f1": 0.9}),
        ([judges("f1"), judges("f1", sure=0.8)], {}),
        ([judges("f1", keep=False), judges("f1")], {}),
        ([judges("f3"), judges("finding:f2")], {"f2": 0.9}),
    ],
)
def test_only_findings_that_are_kept_surely_enough_go_on(given: list[Any], left: dict[str, float]) -> None:
    found = kept(results(*given), TWO, 0.75)
    assert found is not None
    assert {draft.id: draft.confidence for draft in found} == left


@pytest.mark.parametrize(
    ("limit", "sure", "is_kept"),
    [(0.9, 0.89, False), (0.9, 0.9, True), (0.1, 0.74, False), (0, 0.75, True), (math.nan, 0.74, False)],
)
def test_a_limit_may_raise_the_floor_and_not_lower_it(limit: float, sure: float, is_kept: bool) -> None:
    assert bool(kept(results(judges("f1", sure=sure)), TWO, limit)) == is_kept


def notes(*given: Any) -> Sequence[str]:
    found = guided({"notes": [{"id": name, "guidance": text} for name, text in given]}, TWO)
    assert found is not None
    assert [replace(draft, guidance="") for draft in found] == [replace(draft, guidance="") for draft in TWO]
    return [draft.guidance for draft in found]


@pytest.mark.parametrize(
    ("given", "guidance"),
    [
        ([("f1", "ask ann")], ["ask ann", "as said"]),
        ([("f2", "ask bob")], ["", "as said"]),
        ([("finding:f1", "ask ann")], ["ask ann", "as said"]),
        ([("f1", "ask ann"), ("f1", "ask bob")], ["", "as said"]),
        ([("f1", ["ask"]), ("f9", "x"), (None, "x"), ("entity:shared/ann", "x")], ["", "as said"]),
        ([("f1", "x" * 601)], ["x" * 600, "as said"]),
        ([], ["", "as said"]),
    ],
)
def test_what_to_do_is_filled_in_where_it_is_missing(given: list[Any], guidance: list[str]) -> None:
    assert notes(*given) == guidance


WORDS = ["f1", "f2", "e1", "e2", "entity:shared/ann", "host:x", f"grain:{FOREIGN}", "\ud800", "supported"]
FIELDS = ["id", "summary", "target", "guidance", "evidence", "confidence", "supported", "keep", "notes"]
SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), part, max_size=6),
    max_leaves=15,
)
GOOD_FIELDS: Mapping[str, Any] = {**DRAFT, **judges("f1"), **says("f1", True)}
ITEMS = st.dictionaries(st.sampled_from(FIELDS), VALUES).map(lambda given: {**GOOD_FIELDS, **given}) | VALUES


@given(st.dictionaries(st.sampled_from(["recommendations", "results", "notes"]), st.lists(ITEMS) | VALUES) | VALUES)
def test_no_answer_breaks_the_reading_or_gets_more_than_the_rules_allow(answer: Any) -> None:
    found = read_drafts(answer, SHOWN) or ()
    assert len(found) <= 8
    for draft in found:
        assert draft.target.scheme in ("entity", "grain", "query")
        assert FOREIGN not in draft.target.parts
        assert 1 <= len(draft.evidence) <= MAX_EVIDENCE
        assert set(draft.evidence) <= set(EVIDENCE)
        assert 1 <= len(draft.finding.summary) <= MAX_SUMMARY_CHARS
        assert len(draft.guidance) <= MAX_GUIDANCE_CHARS
        assert draft.confidence == 0
    assert set(supported(answer, TWO) or ()) <= set(TWO)
    for draft in kept(answer, TWO, 0.1) or ():
        assert replace(draft, confidence=0.0) in TWO
        assert 0.75 <= draft.confidence <= 1
    assert [draft.summary for draft in guided(answer, TWO) or TWO] == ["first", "second"]
