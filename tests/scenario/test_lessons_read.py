"""Lists of cards and lessons: pages, filters, limits, and what is shown where the settings cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError
from provenloop.domain.memory_config import MemoryConfig
from provenloop.services import cards_read, export, forget, lessons_read
from provenloop.services.forget_plan import Wanted
from tests.builders import Desk, make_principal
from tests.lessons import GUARD, REVIEWER, STATEMENT, Guards, make_card


@pytest.fixture
def guards(desk: Desk) -> Guards:
    return Guards(desk)


def cards(guards: Guards, **asked: Any) -> dict[str, Any]:
    return cards_read.list_cards(guards.desk.store, guards.desk.call(by=REVIEWER), **asked)


def lessons(guards: Guards, **asked: Any) -> dict[str, Any]:
    return lessons_read.list_lessons(guards.desk.store, guards.desk.call(by=REVIEWER), **asked)


def stats(guards: Guards) -> dict[str, Any]:
    return lessons_read.lesson_stats(guards.desk.store, guards.desk.call(by=REVIEWER))


def plant_cards(guards: Guards) -> None:
    """Five cards of two projects in four statuses."""
    rows = [("shop", "armed"), ("shop", "candidate"), ("shop", "rejected"), ("till", "armed"), ("till", "archived")]
    keys = {name: guards.report(project=name, kind="gate_not_run")["seq"] and name for name in ("shop", "till")}
    addresses = key_of(guards)
    planted = [
        make_card(id=f"{letter}" * 26, project=name, project_key=addresses[keys[name]], status=status, created_at=n)
        for n, (letter, (name, status)) in enumerate(zip("abcde", rows, strict=True))
    ]
    guards.desk.plant(*planted)


def key_of(guards: Guards) -> dict[str, str]:
    """The key of each project that has a lesson."""
    places = guards.desk.store.lesson_places(guards.desk.memory, None, limit=100)
    grains = guards.desk.grains()
    return {grains[place.lesson].body["lesson"]["project"]: place.project_key for place in places}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "abcde"),
        ({"project": "shop"}, "abc"),
        ({"project": " shop "}, "abc"),
        ({"project": "nowhere"}, ""),
        ({"status": "armed"}, "ad"),
        ({"project": "till", "status": "armed"}, "d"),
        ({"project": "till", "status": "rejected"}, ""),
    ],
)
def test_cards_are_listed_by_project_and_status(guards: Guards, asked: dict[str, Any], found: str) -> None:
    plant_cards(guards)
    answer = cards(guards, **asked)
    assert sorted(card["id"][0] for card in answer["cards"]) == list(found)
    assert answer["cursor"] is None
    pages, cursor = [], None
    for _ in range(6):
        page = cards(guards, **asked, limit=1, cursor=cursor)
        pages += [card["id"][0] for card in page["cards"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert pages == [card["id"][0] for card in answer["cards"]]
    assert not any("evidence" in card for card in answer["cards"])


def test_lessons_are_listed_whole_and_the_newest_first(guards: Guards) -> None:
    for n in range(5):
        guards.report(detail=f"line {n}", project=("shop", "till")[n % 2], session="s1")
    assert [line["detail"] for line in lessons(guards)["lessons"]] == [f"line {n}" for n in (4, 3, 2, 1, 0)]
    assert [line["detail"] for line in lessons(guards, project="shop")["lessons"]] == ["line 4", "line 2", "line 0"]
    first = lessons(guards, project="shop", limit=2)
    rest = lessons(guards, project="shop", limit=2, cursor=first["cursor"])
    assert [len(first["lessons"]), len(rest["lessons"]), rest["cursor"]] == [2, 1, None]
    first, rest = lessons(guards, limit=4), lessons(guards, limit=4, cursor=lessons(guards, limit=4)["cursor"])
    assert [line["seq"] for line in (*first["lessons"], *rest["lessons"])] == [5, 4, 3, 2, 1]
    assert (first["lessons"][0]["source"], first["lessons"][0]["session"]) == ("quality-gate", "s1")


def test_a_page_of_long_lessons_ends_before_it_is_too_large_to_answer(
    guards: Guards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons_read, "PAGE_BYTES", 5000)
    for n in range(4):
        guards.report(detail=f"{n}" * 3000)
    first = lessons(guards)
    rest = lessons(guards, cursor=first["cursor"])
    assert [line["detail"][0] for line in (*first["lessons"], *rest["lessons"])] == ["3", "2"]
    assert rest["cursor"] is not None


def test_a_forgotten_lesson_is_not_shown(guards: Guards) -> None:
    gone = guards.report(detail="gone")["lesson"]
    guards.report(detail="kept")
    forget.forget(guards.desk.store, guards.desk.call(), Wanted(address=gone), "asked to")
    assert [line["detail"] for line in lessons(guards)["lessons"]] == ["kept"]


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_limit_is_1_to_100(guards: Guards, limit: int) -> None:
    for read in (cards, lessons):
        with pytest.raises(InvalidInputError) as caught:
            read(guards, limit=limit)
        assert caught.value.field == "limit"


@pytest.mark.parametrize("cursor", ["x", "", "bGluZS8", "bGluZS94", "AAAA"])
def test_a_cursor_is_one_that_was_given_out(guards: Guards, cursor: str) -> None:
    for read in (cards, lessons):
        with pytest.raises(InvalidInputError) as caught:
            read(guards, cursor=cursor)
        assert caught.value.field == "cursor"


def test_a_filter_that_can_match_nothing_is_refused_by_name(guards: Guards) -> None:
    for asked, field in (({"status": "ready"}, "status"), ({"project": "  "}, "project")):
        with pytest.raises(InvalidInputError) as caught:
            cards(guards, **asked)
        assert caught.value.field == field


def test_stats_are_counters_and_the_settings_in_force(guards: Guards) -> None:
    guards.set(promote_threshold=2, folds={"deploys": "shipping"})
    guards.armed(category="a")
    guards.report(category="b")
    answer = stats(guards)
    assert answer["cards"] == {"candidate": 1, "armed": 1, "rejected": 0, "demoted": 0, "archived": 0}
    assert answer["lessons"]["lines"] == 2
    assert answer["lessons"]["bytes"] > 0
    assert (answer["settings"]["promote_threshold"], answer["settings"]["demote_threshold"]) == (2, 3)
    assert answer["folds"] == {"deploys": "shipping"}


def test_where_it_is_switched_off_reads_keep_working(guards: Guards) -> None:
    guards.armed()
    guards.set(enabled=False)
    assert len(cards(guards)["cards"]) == len(lessons(guards)["lessons"]) == 1
    assert stats(guards)["settings"]["enabled"] is False


def test_where_the_settings_cannot_be_read_reads_are_empty(guards: Guards) -> None:
    guards.armed()
    guards.desk.plant(MemoryConfig(rev=1, lessons={"decay_days": 0}))
    assert cards(guards) == {"cards": [], "cursor": None}
    assert lessons(guards) == {"lessons": [], "cursor": None}
    assert stats(guards) == {"cards": {}, "lessons": {}, "settings": None, "folds": {}}


def test_reads_need_read_and_a_memory(guards: Guards) -> None:
    elsewhere = guards.desk.memory._replace(name="nowhere")
    for read in (cards_read.list_cards, lessons_read.list_lessons, lessons_read.lesson_stats):
        with pytest.raises(ScopeDeniedError):
            read(guards.desk.store, guards.desk.call(by=GUARD))
        call = Desk(guards.desk.store, memory=elsewhere).call(by=make_principal("ann"))
        with pytest.raises(NotFoundError):
            read(guards.desk.store, call)


def test_hidden_characters_show_as_escapes(guards: Guards) -> None:
    guards.report(detail="a\u202eb", statement="c\u202ed")
    assert lessons(guards)["lessons"][0]["detail"] == "a\\u{202e}b"
    assert cards(guards)["cards"][0]["suggestion"] == "c\\u{202e}d"


def test_an_export_holds_cards_with_their_lessons_as_grains(guards: Guards) -> None:
    rule = guards.armed(STATEMENT, detail="the whole line")
    lines = export.export_page(guards.desk.store, guards.desk.call(), None, lambda: False).lines
    assert sum("the whole line" in line for line in lines) == 1
    assert sum(f'"card":{{"id":"{rule.id}"' in line for line in lines) == 1
    assert sum(f'"subject":"card:{rule.id}"' in line for line in lines) == 1
