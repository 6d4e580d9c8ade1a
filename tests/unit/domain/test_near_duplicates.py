"""Near-duplicates: postings find every pair, every two of a group qualify, and a part decides like the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.near_duplicates import (
    TOO_MANY_CANDIDATES,
    Group,
    Item,
    component,
    groups,
    postings,
    qualifies,
    similarity,
)
from provenloop.domain.near_duplicates import grouping as near_duplicates_grouping

LONG = "the nightly export of the orders table runs after the price sync and writes parquet files into the archive"

#: Few words, so that sets collide; some that guards part, some that only spelling parts.
_WORDS = "red kite Kite lamp sand 7 seven not 茶水 茶 🙂".split()
collisions = st.lists(st.sampled_from(_WORDS), max_size=6).map(" ".join)
#: Longer texts of one stem, so that the higher thresholds have something to join.
variants = st.lists(st.sampled_from("alfa bravo delta echo golf hotel kilo lima oscar papa".split()), max_size=3).map(
    lambda extra: " ".join([LONG, *extra])
)
thresholds = st.sampled_from([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0])


@st.composite
def populations(draw: st.DrawFn) -> list[Item]:
    texts = draw(st.lists(collisions | variants, max_size=12))
    times = draw(st.lists(st.sampled_from(["t1", "t2", "t3"]), min_size=len(texts), max_size=len(texts)))
    return [Item(at, f"a{index:02}", text) for index, (at, text) in enumerate(zip(times, texts, strict=True))]


def of_all_pairs(items: Sequence[Item], threshold: float) -> tuple[Group, ...]:
    """The groups as they are defined, by comparing everything with everything."""
    unused = sorted(items)
    found: list[Group] = []
    while unused:
        joined = [unused[0]]
        for item in unused[1:]:
            if all(qualifies(item.text, member.text, threshold) for member in joined):
                joined.append(item)
        unused = [item for item in unused if item not in joined]
        if len(joined) > 1:
            found.append(Group(joined[0], tuple(joined[1:])))
    return tuple(found)


def stored(items: Iterable[Item], threshold: float) -> Callable[[Item], list[Item]]:
    """Looks candidates up as a store does: by block and prefix token, one row each."""
    rows: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        written = postings(item.text, threshold)
        for token in written.prefix_tokens:
            rows.setdefault((written.block, token), []).append(item)

    def candidates(item: Item) -> list[Item]:
        asked = postings(item.text, threshold)
        return [found for token in asked.prefix_tokens for found in rows.get((asked.block, token), ())]

    return candidates


def items_of(*texts: str) -> list[Item]:
    return [Item(f"t{index:04}", f"a{index:04}", text) for index, text in enumerate(texts)]


def texts_of(found: Iterable[Group]) -> list[list[str]]:
    return [[group.seed.text, *(member.text for member in group.members)] for group in found]


@given(populations(), thresholds)
def test_groups_found_by_postings_are_those_of_all_pairs(items: list[Item], threshold: float) -> None:
    assert groups(items, threshold).groups == of_all_pairs(items, threshold)


@given(populations(), thresholds)
def test_every_two_of_a_group_qualify_and_no_item_is_in_two(items: list[Item], threshold: float) -> None:
    found = groups(items, threshold).groups
    for group in found:
        every = [group.seed, *group.members]
        assert every == sorted(every)
        assert all(qualifies(left.text, right.text, threshold) for left, right in combinations(every, 2))
    grouped = [item for group in found for item in (group.seed, *group.members)]
    assert len(grouped) == len(set(grouped))


@given(populations(), thresholds)
def test_the_part_that_an_item_is_joined_to_decides_like_the_whole(items: list[Item], threshold: float) -> None:
    candidates = stored(items, threshold)
    whole = groups(items, threshold).groups
    for item in items:
        part = component(item, candidates, threshold)
        around = set(part.items)
        assert item in around
        assert groups(part.items, threshold).groups == tuple(group for group in whole if group.seed in around)


@given(populations(), thresholds, thresholds)
def test_pairs_that_qualify_are_admitted_by_postings_of_any_lower_threshold(
    items: list[Item], one: float, other: float
) -> None:
    lower, higher = sorted((one, other))
    for left, right in combinations(items, 2):
        if qualifies(left.text, right.text, higher):
            assert postings(left.text, higher).admits(postings(right.text, lower))


@given(st.permutations(items_of(LONG, LONG + " alfa", LONG, LONG + " bravo", "7 kites", "seven kites", "7 kites")))
def test_the_answer_does_not_depend_on_the_order_of_the_input(items: list[Item]) -> None:
    assert groups(items, 0.9) == groups(sorted(items), 0.9)


def test_a_chain_is_no_group() -> None:
    first, middle, last = LONG, f"{LONG} alfa bravo", f"{LONG} alfa bravo delta echo"
    assert min(similarity(first, middle), similarity(middle, last)) > Fraction("0.85") > similarity(first, last)
    found = groups(items_of(first, middle, last), 0.85)
    assert texts_of(found.groups) == [[first, middle]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (LONG, LONG.replace("orders", "ORDERS")),
        (LONG, LONG + "."),
        (LONG, LONG.replace("writes", "also writes")),
        ("🙂", "🙂"),
        ("部署之后必须清空缓存然后重新启动所有的工作进程", "部署之后必须清空缓存然后重新启动所有的工作进程。"),
    ],
)
def test_texts_that_say_the_same_qualify(left: str, right: str) -> None:
    assert qualifies(left, right, 0.9)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (f"{LONG} on port 8090", f"{LONG} on port 8091"),
        (f"{LONG} and does keep them", f"{LONG} and does not keep them"),
        ("🙂", "🙃"),
        ("???", "!!!"),
        ("", "?"),
        ("喝茶 水", "喝 茶水"),
    ],
)
def test_texts_that_only_look_alike_do_not_qualify(left: str, right: str) -> None:
    assert not qualifies(left, right, 0.9)


def test_the_threshold_is_exact_and_inclusive() -> None:
    nine, ten = "a1 b2 c3 d4 e5 f6 g7 h8 i9".translate({ord(digit): "x" for digit in "123456789"}), " jx"
    assert similarity(nine, nine + ten) == Fraction(9, 10)
    for threshold in (0.9, Decimal("0.9"), Fraction(9, 10)):
        assert qualifies(nine, nine + ten, threshold)
        assert postings(nine, threshold).admits(postings(nine + ten, threshold))
    assert not qualifies(nine, nine + ten, Decimal("0.9000000000000001"))


def test_postings_hold_few_tokens_at_a_high_threshold_and_the_sizes_that_may_match() -> None:
    written = postings(LONG, 0.9)
    assert (written.size, len(written.prefix_tokens), written.sizes) == (16, 2, (15, 17))
    assert len(postings(LONG, 0.5).prefix_tokens) == 9
    assert "the" not in written.prefix_tokens
    assert postings(LONG, 1.0).prefix_tokens == written.prefix_tokens[:1]


def test_what_guards_part_lies_in_another_block() -> None:
    assert postings("keep 5 backups", 0.9).block != postings("keep 6 backups", 0.9).block
    assert postings("keep 5 backups", 0.9).block == postings("Keep five backups!", 0.9).block


def test_full_width_copies_are_copies() -> None:
    assert postings("ＡＢ c", 0.9) == postings("AB c", 0.9)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, Decimal("0.0")])
def test_a_threshold_outside_0_and_1_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        postings(LONG, threshold)


def test_copies_are_one_candidate_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates_grouping, "MAX_CANDIDATES", 3)
    items = items_of(*[LONG] * 9, f"{LONG} alfa")
    found = groups(items, 0.9)
    assert (found.groups, found.skipped) == ((Group(items[0], tuple(items[1:])),), ())
    assert component(items[4], stored(items, 0.9), 0.9).items == tuple(items)


def test_an_item_with_too_many_candidates_is_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates_grouping, "MAX_CANDIDATES", 3)
    crowd = [f"{LONG} {word}" for word in "alfa bravo delta echo golf".split()]
    items = items_of(*crowd, "red kite", "Red kite")
    found = groups(items, 0.8)
    assert texts_of(found.groups) == [["red kite", "Red kite"]]
    assert [skipped.item for skipped in found.skipped] == items[:5]
    assert {skipped.reason for skipped in found.skipped} == {TOO_MANY_CANDIDATES}
    part = component(items[2], stored(items, 0.8), 0.8)
    assert (part.items, [skipped.item for skipped in part.skipped]) == ((), [items[2]])


def test_many_texts_that_share_only_frequent_words_are_hardly_compared() -> None:
    names = ("".join(letters) for letters in product("bcdfghjklm", repeat=3))
    items = items_of(*(f"the report of the {name} team is in this file" for name in names))
    candidates = stored(items, 0.9)
    assert sum(len(set(candidates(item))) for item in items[:50]) == 50
    assert groups(items, 0.9) == ((), ())
