"""Which facts are spellings of one fact, which observations nearly say the same, and what merging them keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.analyzers.contract import AppliedMark, ClusterView, Examination, Marks, NearView, no_marks
from provenloop.analyzers.duplicate_sweep import DuplicateSweep
from provenloop.analyzers.reading import SHOWN_VALUES
from provenloop.domain.grain import Grain
from provenloop.domain.proposal import MAX_MERGES, TextRef
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft
from tests.builders import DAY_MS, NOW, make_grain
from tests.grains import make_note

ANALYZER = DuplicateSweep()


def examined(*grains: Grain, now: int = NOW, marks: Marks = no_marks) -> Examination:
    return ANALYZER.examine(ClusterView("g", grains), ANALYZER.manifest.defaults(), now, marks)


def found(*grains: Grain, **more: Any) -> Draft | None:
    drafts = examined(*grains, **more).drafts
    assert len(drafts) <= 1
    return drafts[0] if drafts else None


def merges(draft: Draft | None) -> dict[str | None, str | None]:
    assert draft is not None
    assert {step.op for step in draft.proposal.operations} == {"MERGE"}
    return {step.target: step.into for step in draft.proposal.operations}


FIRST = make_grain("Berlin", at=NOW - 3 * DAY_MS)
SECOND = make_grain("berlin ", at=NOW - 2 * DAY_MS)
THIRD = make_grain("BERLIN", subject="Sam", at=NOW - DAY_MS)


def test_spellings_of_one_fact_are_merged_into_the_earliest() -> None:
    draft = found(THIRD, FIRST, SECOND)
    assert merges(draft) == {SECOND.address: FIRST.address, THIRD.address: FIRST.address}
    assert draft is not None
    assert (draft.parts, draft.namespace, draft.severity) == (("sam", "lives_in", "berlin"), "shared", "low")
    assert (draft.target.scheme, draft.target.parts) == ("entity", ("shared", TextRef(FIRST.address, "subject")))
    assert draft.evidence == (FIRST.address, SECOND.address, THIRD.address)
    assert draft.count == 3
    assert draft.proposal.is_rollbackable
    assert draft.metric is not None
    assert (draft.metric.name, draft.metric.subject_key, draft.metric.baseline_errors) == (
        "duplicate_recurrence", "g", 2,
    )  # fmt: skip


def test_of_two_recorded_at_once_the_lower_address_is_kept() -> None:
    left, right = make_grain("a", address="1" * 64), make_grain("A", address="2" * 64)
    assert merges(found(right, left)) == {right.address: left.address}


def test_the_spellings_are_shown_the_kept_one_first() -> None:
    draft = found(SECOND, FIRST)
    assert draft is not None
    shown = draft.summary.args
    assert (shown["object_1"], shown["object_2"]) == (
        TextRef(FIRST.address, "object"), TextRef(SECOND.address, "object"),
    )  # fmt: skip
    assert {"subject_2", "relation_2"} <= shown.keys()


@pytest.mark.parametrize(
    "pair",
    [
        ("Straße 1", "STRASSE 1"),
        ("１２", "12"),
        ("ﬁne", "fine"),
        ("İstanbul", "istanbul"),
        ("ΟΔΟΣ", "οδος"),
        ("New  York", " new\u00a0york "),
        ("a\u200bb", "ab"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}'),
    ],
)
def test_width_case_blanks_and_the_order_of_json_keys_are_spelling(pair: tuple[str, str]) -> None:
    left, right = pair
    assert found(make_grain(left, address="1" * 64), make_grain(right, address="2" * 64)) is not None


@pytest.mark.parametrize("pair", [("Żubr", "Zubr"), ("1", "1.0"), ("Berlin", "Berlin."), ("“a”", '"a"')])
def test_values_that_a_reader_tells_apart_are_no_spellings(pair: tuple[str, str]) -> None:
    assert found(*(make_grain(value) for value in pair)) is None


@pytest.mark.parametrize("relations", [("livesIn", "lives_in"), ("Lives-In", "lives in")])
def test_spellings_of_a_relation_are_one(relations: tuple[str, str]) -> None:
    assert found(*(make_grain("Berlin", relation=name) for name in relations)) is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(SECOND, namespace="team"),
        replace(SECOND, namespace="Shared"),
        replace(SECOND, body={**SECOND.body, "subject": "kim"}),
        replace(SECOND, body={**SECOND.body, "relation": "works_in"}),
        replace(SECOND, body={**SECOND.body, "object": "Tokyo"}),
        replace(SECOND, body={"subject": "sam", "relation": "lives_in"}),
        replace(SECOND, state="superseded", superseded_by=FIRST.address),
        replace(SECOND, state="forgotten", body={}),
        replace(SECOND, valid_to=NOW),
        replace(SECOND, valid_from=NOW + 1),
    ],
    ids=["namespace", "spelling of the namespace", "subject", "relation", "object", "no object", "superseded",
         "forgotten", "expired", "future"],
)  # fmt: skip
def test_what_differs_in_anything_or_does_not_hold_is_no_duplicate(other: Grain) -> None:
    assert found(FIRST, other) is None


def test_facts_without_a_text_are_left_alone() -> None:
    bare = [replace(FIRST, address=letter * 64, body={}) for letter in "ab"]
    assert examined(*bare).drafts == ()


def test_long_values_that_were_stored_cut_are_one_only_when_the_whole_was_one() -> None:
    left, right = (make_grain("x" * 90, address=letter * 64, body={"full_sha256": "1" * 64}) for letter in "ab")
    assert found(left, right) is not None
    assert found(left, replace(right, body={**right.body, "full_sha256": "2" * 64})) is None


def test_two_groups_of_one_subject_are_findings_of_their_own() -> None:
    drafts = examined(FIRST, SECOND, make_grain("tea", relation="likes"), make_grain("TEA", relation="likes")).drafts
    assert [draft.parts for draft in drafts] == [("sam", "likes", "tea"), ("sam", "lives_in", "berlin")]


def test_what_the_kept_fact_gains_and_where_the_others_differ_is_shown() -> None:
    kept = replace(FIRST, body={**FIRST.body, "confidence": 0.9, "tags": ["a"]}, stated=2)
    other = replace(SECOND, body={**SECOND.body, "confidence": 0.3, "source": "mail", "tags": ["b"]}, stated=5)
    draft = found(kept, other)
    assert draft is not None
    args = draft.summary.args
    assert (args["taken"], args["differing"], args["stated"]) == ("source, tags", "confidence", 7)


def test_an_end_of_validity_that_only_one_of_them_has_is_shown_as_differing() -> None:
    draft = found(FIRST, replace(SECOND, valid_to=NOW + DAY_MS))
    assert draft is not None
    assert (draft.summary.args["taken"], draft.summary.args["differing"]) == ("", "valid_to")


def test_the_instant_at_which_one_of_several_spellings_begins_or_ends_is_due() -> None:
    ends, begins = replace(SECOND, valid_to=NOW + 5), replace(THIRD, valid_from=NOW + 3)
    assert examined(FIRST, ends, begins).next_due_at == NOW + 3
    assert examined(FIRST, ends, now=NOW + 5).next_due_at is None
    alone = make_grain("Oslo", valid_to=NOW + 1)
    assert examined(FIRST, alone).next_due_at is None


def test_more_copies_than_one_transaction_holds_are_merged_the_earliest_first_and_the_rest_after_that() -> None:
    copies = [make_grain("x" + " " * n + "y", at=NOW - 1000 + n) for n in range(1, MAX_MERGES + 12)]
    draft = found(*copies)
    assert draft is not None
    gone = merges(draft)
    assert list(gone) == [grain.address for grain in copies[1 : MAX_MERGES + 1]]
    assert (draft.count, len(draft.evidence)) == (len(copies), MAX_EVIDENCE)
    assert f"object_{SHOWN_VALUES}" in draft.summary.args
    assert f"object_{SHOWN_VALUES + 1}" not in draft.summary.args
    left = [replace(grain, seq=8, state="superseded" if grain.address in gone else "current") for grain in copies]
    rest = found(*left, marks=lambda *_key: AppliedMark(NOW, 8))
    assert len(merges(rest)) == 10


SPELLINGS = st.lists(
    st.builds(
        make_grain,
        st.sampled_from(["Berlin", "berlin", "BERLIN ", "Tokyo", "tokyo"]),
        subject=st.sampled_from(["sam", "Sam"]),
        relation=st.sampled_from(["likes", "Likes"]),
        namespace=st.sampled_from(["shared", "team"]),
        at=st.integers(NOW - 3, NOW),
        valid_to=st.none() | st.integers(NOW - 1, NOW + 2),
    ),
    unique_by=lambda grain: grain.address,
    max_size=12,
)


@given(SPELLINGS)
def test_after_merging_one_live_fact_is_left_of_each_group_and_nothing_is_found(grains: list[Grain]) -> None:
    drafts = examined(*grains).drafts
    gone = {target for draft in drafts for target in merges(draft)}
    assert not gone & {into for draft in drafts for into in merges(draft).values()}
    after = [replace(grain, state="superseded") if grain.address in gone else grain for grain in grains]
    assert examined(*after).drafts == ()


@given(SPELLINGS)
def test_time_alone_changes_the_answer_only_when_it_was_said_to_be_due(grains: list[Grain]) -> None:
    first = examined(*grains)
    due = first.next_due_at if first.next_due_at is not None else NOW + 4
    for now in range(NOW, due):
        assert examined(*grains, now=now).drafts == first.drafts


# near-duplicates

LONG = "the customer asked for a refund because the parcel arrived broken and late again"
OLDER = make_note(LONG, at=NOW - 2 * DAY_MS)
NEWER = make_note(f"{LONG} yes", at=NOW - DAY_MS)


def near(own: Grain, *texts: Grain, skipped: int = 0, marks: Marks = no_marks, **parameters: Any) -> Examination:
    view = NearView(own.address, texts, skipped)
    return ANALYZER.examine(view, {**ANALYZER.manifest.defaults(), **parameters}, NOW, marks)


def test_observations_that_nearly_say_the_same_are_merged_into_the_earliest() -> None:
    [draft] = near(OLDER, NEWER, OLDER, skipped=3).drafts
    assert merges(draft) == {NEWER.address: OLDER.address}
    assert (draft.parts, draft.severity, draft.count) == ((OLDER.address,), "info", 2)
    assert (draft.target.scheme, draft.target.parts) == ("grain", (OLDER.address,))
    assert draft.evidence == (OLDER.address, NEWER.address)
    assert draft.metric is None
    args = draft.summary.args
    assert (args["count"], args["threshold"], args["not_compared"]) == (2, 0.9, 3)
    assert (args["text_1"], args["text_2"]) == (TextRef(OLDER.address, "text"), TextRef(NEWER.address, "text"))


def test_a_group_is_the_finding_of_its_earliest_observation_alone() -> None:
    assert near(NEWER, OLDER, NEWER).drafts == ()


def test_the_threshold_is_inclusive() -> None:
    # 13 different words, of which the other text has all and one more: 13 of 14.
    assert near(OLDER, OLDER, NEWER, jaccard=13 / 14).drafts == ()
    assert near(OLDER, OLDER, NEWER, jaccard=0.9285).drafts != ()
    assert near(OLDER, OLDER, NEWER, jaccard=0.93).drafts == ()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("the meeting is on October 15th in the big room", "the meeting is on October 16th in the big room"),
        ("she did want a refund for the blue parcel today", "she did not want a refund for the blue parcel today"),
        ("PR #260 was merged into main after the review", "PR #480 was merged into main after the review"),
        ("Alice called Bob about the contract this morning", "Bob called Alice about the contract this morning"),
        ("???", "!!!"),
        ("😀", "😡"),
    ],
)
def test_texts_that_differ_in_a_number_a_negation_a_name_or_their_order_are_no_duplicates(
    left: str, right: str
) -> None:
    texts = make_note(left, at=NOW - 2), make_note(right, at=NOW - 1)
    assert near(texts[0], *texts, jaccard=0.5).drafts == ()


def test_every_pair_of_a_group_qualifies_not_a_chain() -> None:
    words = [f"word{chr(97 + n)}" for n in range(20)]
    first, second, third = (make_note(" ".join(words[n : n + 18]), at=NOW - 10 + n) for n in (0, 1, 2))
    [draft] = near(first, first, second, third, jaccard=0.85).drafts
    assert set(merges(draft)) == {second.address}


@pytest.mark.parametrize(
    "other",
    [
        replace(NEWER, namespace="team"),
        replace(NEWER, valid_to=NOW),
        replace(NEWER, state="superseded"),
        replace(NEWER, body={}),
        replace(NEWER, body={**NEWER.body, "full_sha256": "1" * 64}),
    ],
    ids=["namespace", "expired", "superseded", "no text", "stored cut"],
)
def test_what_is_elsewhere_or_does_not_hold_is_no_near_duplicate(other: Grain) -> None:
    assert near(OLDER, OLDER, other).drafts == ()


def test_an_observation_that_is_gone_has_no_finding() -> None:
    assert near(OLDER).drafts == ()
    assert near(OLDER, NEWER).drafts == ()


def test_the_end_of_a_near_duplicate_is_due() -> None:
    assert near(OLDER, OLDER, replace(NEWER, valid_to=NOW + 7)).next_due_at == NOW + 7


def test_texts_that_were_read_before_they_were_merged_are_not_found_again() -> None:
    def marks(namespace: str, parts: Sequence[str]) -> AppliedMark | None:
        return AppliedMark(NOW, 5) if (namespace, parts) == ("shared", (OLDER.address,)) else None

    assert near(OLDER, OLDER, NEWER, marks=marks).drafts == ()
    again = replace(OLDER, seq=5)
    assert near(again, again, replace(NEWER, seq=6), marks=marks).drafts != ()
