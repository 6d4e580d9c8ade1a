"""Export: everything held for a person or an auditor, in pages that go on exactly where the last one ended."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, NotFoundError, ScopeDeniedError
from provenloop.domain.policy import Policy
from provenloop.services import export
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.export import Page, export_page
from tests.builders import Desk, make_fact, make_goal, make_principal, make_skill
from tests.scenario.test_forget import forgotten


def page(desk: Desk, cursor: str | None = None, **how: Any) -> Page:
    return export_page(desk.store, desk.call(**how), cursor, lambda: False)


def told(*pages: Page) -> list[tuple[str, Any]]:
    """(field, value) of every line but the cursors."""
    lines = [json.loads(line) for page in pages for line in page.lines[:-1]]
    assert all(len(line) == 1 for line in lines)
    return [item for line in lines for item in line.items()]


def all_pages(desk: Desk) -> list[Page]:
    pages = [page(desk)]
    while pages[-1].cursor is not None:
        pages.append(page(desk, pages[-1].cursor))
    return pages


@pytest.fixture
def held(found: Desk) -> Desk:
    """Two findings, one of them decided, a skill of two revisions, and a goal."""
    found.record(make_skill("sail", proficiency=0.1), make_goal("ship"))
    found.record(make_skill("sail", proficiency=0.2))
    found.approve_and_apply(found.finding("tool_failure"), "seen often")
    return found


def test_everything_is_told_with_versions_and_reasons(held: Desk) -> None:
    only = page(held)
    assert json.loads(only.lines[-1]) == {"cursor": None}
    assert only.cursor is None
    lines = told(only)
    counted = Counter(name for name, _ in lines)
    entries = list(held.store.audit_entries(held.memory))
    assert counted == {
        "config": 1,
        "grain": len(held.grains()),
        "version": 1,
        "recommendation": 2,
        "audit": len(entries),
    }
    assert {value["address"] for name, value in lines if name == "grain"} == set(held.grains())
    [version] = [value for name, value in lines if name == "version"]
    assert (version["name"], version["proficiency"]) == ("sail", 0.1)
    assert "seen often" in [value["because"] for name, value in lines if name == "audit"]
    assert {value["id"] for name, value in lines if name == "audit"} == {entry.id for entry in entries}
    statuses = sorted(value["status"] for name, value in lines if name == "recommendation")
    assert statuses == ["applied", "pending"]


def test_the_configuration_in_force_is_told_first_with_what_the_policy_leaves_of_it(held: Desk) -> None:
    [(name, unset), *_] = told(page(held))
    assert (name, unset["rev"], unset["lessons"]["promote_threshold"]) == ("config", 0, 3)
    change = ConfigChange(analyzer="loop.staleness", severity_floor="low", lessons={"promote_threshold": 2})
    policy = Policy(severity_floors={"loop.staleness": "high"})
    answer = configure(held.store, held.call(), change, policy=policy)
    [(name, config), *_] = told(export_page(held.store, held.call(), None, lambda: False, policy))
    assert (name, config) == ("config", json.loads(json.dumps(answer, default=dict)))
    [row] = [row for row in config["analyzers"] if row["id"] == "loop.staleness/1"]
    assert (row["severity_floor"], config["lessons"]["promote_threshold"]) == ("high", 2)
    assert Counter(name for name, _ in told(*all_pages(held)))["config"] == 1


def test_pages_together_are_the_whole_in_the_same_order(held: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(page(held))
    for size in (1, 700, 3_000):
        monkeypatch.setattr(export, "PAGE_BYTES", size)
        pages = all_pages(held)
        assert len(pages) > 1
        assert told(*pages) == whole
        assert all(json.loads(each.lines[-1]) == {"cursor": each.cursor} for each in pages)
        assert all(
            len(each.lines) == 2 or sum(len(f"{x}\n".encode()) for x in each.lines[:-1]) <= size for each in pages
        )


def test_a_page_ends_when_its_time_is_spent_and_still_goes_on(held: Desk) -> None:
    whole, cursor, lines = told(page(held)), None, []
    for _ in range(len(whole)):
        short = export_page(held.store, held.call(), cursor, lambda: True)
        lines += told(short)
        cursor = short.cursor
        if cursor is None:
            break
    assert lines == whole


def test_what_was_forgotten_is_a_tombstone_without_text(held: Desk) -> None:
    [address] = [grain.address for grain in held.grains().values() if grain.body.get("name") == "sail"]
    forgotten(held, address)
    lines = told(page(held))
    assert "sail" not in json.dumps(lines)
    assert ("forgotten", address) in [(value["state"], value["address"]) for name, value in lines if name == "grain"]


def test_what_was_added_behind_the_cursor_comes_on_a_later_page(held: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PAGE_BYTES", 1)
    first = page(held)
    before = len(told(*all_pages(held)))
    held.record(make_fact("Oslo", subject="mia"))
    assert len(told(*all_pages(held))) == before + 1
    assert page(held, first.cursor).lines[0] != first.lines[0]


@pytest.mark.parametrize("cursor", ["x", "!", "bm9uZS9h", "Z3JhaW5zLw", "Z3JhaW5z", "\u00e9"])
def test_what_is_no_cursor_of_an_export_is_refused(held: Desk, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        page(held, cursor)
    assert caught.value.field == "cursor"


def test_only_an_admin_of_a_memory_that_is_there_exports(held: Desk) -> None:
    with pytest.raises(ScopeDeniedError):
        page(held, by=make_principal("bob", "read"))
    with pytest.raises(NotFoundError):
        page(Desk(held.store, memory=held.memory._replace(name="nowhere")))
