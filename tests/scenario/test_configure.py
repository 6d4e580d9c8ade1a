"""What an admin may set for a memory: it restricts, it is checked whole, and it is on record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from provenloop.domain.errors import InvalidInputError, LoopError, NotFoundError, ParameterError, ScopeDeniedError
from provenloop.services.audit_export import export_page
from provenloop.services.configure import CHAIN, ConfigChange, configure
from provenloop.services.loop_state import analyzers
from tests.builders import Desk, make_calls, make_principal, make_tool_call


def setting(desk: Desk, analyzer: str) -> dict[str, Any]:
    rows = analyzers(desk.store, desk.call())["analyzers"]
    return next(row for row in rows if row["id"] == f"loop.{analyzer}/1")


def set_up(desk: Desk, because: str | None = None, **change: Any) -> dict[str, Any]:
    return configure(desk.store, desk.call(), ConfigChange(**change), because)


def test_what_is_set_is_what_a_pass_runs_with(desk: Desk) -> None:
    set_up(desk, analyzer="loop.tool_failure/1", parameters={"min_count": 2}, severity_floor="low", namespaces=["b"])
    row = setting(desk, "tool_failure")
    assert row["effective"] == {"min_count": 2, "min_rate": 0.4, "min_abs": 50, "window_days": 30}
    assert (row["severity_floor"], row["namespaces"], row["enabled"]) == ("low", ["b"], True)
    desk.record(*(make_tool_call(f"{ns}{n}", error="no", namespace=ns) for ns in "ab" for n in range(2)))
    desk.run()
    assert [rec.namespace for rec in desk.store.all_recommendations(desk.memory)] == ["b"]


def test_parameters_set_one_by_one_are_laid_over_each_other(desk: Desk) -> None:
    set_up(desk, analyzer="loop.tool_failure", parameters={"min_count": 2})
    set_up(desk, analyzer="loop.tool_failure", parameters={"min_rate": 1})
    assert setting(desk, "tool_failure")["effective"] == {
        "min_count": 2, "min_rate": 1.0, "min_abs": 50, "window_days": 30,
    }  # fmt: skip
    set_up(desk, analyzer="loop.tool_failure", parameters={"min_abs": 9}, clear_parameters=True)
    assert setting(desk, "tool_failure")["effective"]["min_count"] == 3


def test_a_floor_and_namespaces_can_be_taken_back(desk: Desk) -> None:
    set_up(desk, analyzer="loop.staleness", severity_floor="high", namespaces=["a"], enabled=False)
    set_up(desk, analyzer="loop.staleness", clear_floor=True, namespaces=[], enabled=True)
    row = setting(desk, "staleness")
    assert (row["severity_floor"], row["namespaces"], row["enabled"]) == ("info", [], True)


def test_the_next_pass_comes_by_itself_and_looks_at_everything_anew(desk: Desk) -> None:
    desk.record(*(make_tool_call(f"c{n}", error="no") for n in range(2)))
    desk.run()
    set_up(desk, analyzer="loop.tool_failure", parameters={"min_count": 2})
    assert desk.run(min_new=1)["stored"] == 1
    assert desk.run(min_new=1)["outcome"] == "skipped"


def test_switched_off_passes_are_skipped_until_they_are_switched_on(desk: Desk) -> None:
    desk.record(*make_calls(5))
    set_up(desk, passes_enabled=False)
    assert desk.run()["skip_reason"] == "disabled"
    set_up(desk, passes_enabled=True)
    assert desk.run()["stored"] == 1


def test_every_change_has_its_entry_in_the_trail_and_none_of_its_words(desk: Desk) -> None:
    set_up(desk, "too noisy", analyzer="loop.contradiction_sweep", parameters={"extra_relations": "favourite_song"})
    set_up(desk, analyzer="loop.contradiction_sweep", enabled=False)
    entries = [json.loads(line) for line in export_page(desk.store, desk.call(), subject=CHAIN).lines]
    assert [(entry["n"], entry["from"], entry["to"]) for entry in entries] == [
        (1, "", "configured"), (2, "configured", "configured"),
    ]  # fmt: skip
    assert [note.because for note in desk.store.notes(desk.memory, CHAIN).values()] == ["too noisy"]
    assert [entry["because"] is None for entry in entries] == [False, True]
    assert [entry["effects"]["rev"] for entry in entries] == [1, 2]
    assert "favourite" not in str([entry.text for entry in desk.store.audit_entries(desk.memory)])
    desk.verify()


def test_a_change_that_changes_nothing_writes_nothing(desk: Desk) -> None:
    set_up(desk, analyzer="loop.staleness", parameters={"grace_days": 3})
    before = desk.snapshot()
    set_up(desk, analyzer="loop.staleness", parameters={"grace_days": 3})
    assert desk.snapshot() == before


@pytest.mark.parametrize(
    ("change", "refusal", "field"),
    [
        ({"analyzer": "loop.nonsense"}, NotFoundError, "analyzer"),
        ({"enabled": True}, InvalidInputError, "analyzer"),
        ({"parameters": {"min_count": 2}}, InvalidInputError, "analyzer"),
        ({"analyzer": "loop.tool_failure", "parameters": {"min_cuont": 2}}, ParameterError, "parameters.min_cuont"),
        ({"analyzer": "loop.tool_failure", "parameters": {"min_count": 0}}, ParameterError, "parameters.min_count"),
        ({"analyzer": "loop.tool_failure", "parameters": {"min_count": 2.0}}, ParameterError, "parameters.min_count"),
        ({"analyzer": "loop.tool_failure", "parameters": {"min_count": True}}, ParameterError, "parameters.min_count"),
        (
            {"analyzer": "loop.retention_sweep", "parameters": {"grain_type": "blob"}},
            ParameterError,
            "parameters.grain_type",
        ),
    ],
)
def test_what_is_wrong_is_refused_by_name_and_changes_nothing(
    desk: Desk, change: dict[str, Any], refusal: type[LoopError], field: str
) -> None:
    before = desk.snapshot()
    with pytest.raises(refusal) as refused:
        set_up(desk, **change)
    assert refused.value.field == field
    assert desk.snapshot() == before


def test_only_an_admin_configures(desk: Desk) -> None:
    everything_else = make_principal("bob", "read", "write", "review", "apply")
    with pytest.raises(ScopeDeniedError):
        configure(desk.store, desk.call(by=everything_else), ConfigChange(passes_enabled=False))
