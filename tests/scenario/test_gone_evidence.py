"""What somebody outside found goes with its evidence and with its words, whether they may still be asked or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.domain.events import FactEvent
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.policy import Policy
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.records import TermRow
from provenloop.domain.remark import remark_name
from provenloop.services import forget
from provenloop.services.forget_plan import Wanted
from provenloop.services.outside_port import NOBODY
from tests.builders import DAY_MS, MEMORY, Desk, make_fact
from tests.scenario.test_outside_findings import Finder, about_sam, finder, record_notes
from tests.scripted_model import ScriptedModel, items

__all__ = ["finder"]


def nobody_is_there(desk: Desk) -> None:
    desk.outside = NOBODY


def it_is_switched_off(desk: Desk) -> None:
    off = AnalyzerConfig(enabled=False)
    desk.plant(MemoryConfig(rev=1, analyzers={"loop.llm": off, "ext.finder": off}))


def it_is_denied(desk: Desk) -> None:
    desk.policy = Policy(deny=("llm", "command"))


ABSENCES = [nobody_is_there, it_is_switched_off, it_is_denied, lambda _desk: None]


def until(desk: Desk, value: str, days: int | None = None) -> FactEvent:
    return make_fact(value, relation="note", valid_to=desk.now + days * DAY_MS if days else None)


def found_by_a_model(desk: Desk, *facts: FactEvent) -> Recommendation:
    desk.outside = ScriptedModel(about_sam).outside()
    desk.record(*facts)
    desk.run()
    desk.outside = replace(ScriptedModel(()).outside(), analyzers=desk.outside.analyzers)
    return desk.recommendation(desk.only()["id"])


def ends(desk: Desk, rec: Recommendation) -> tuple[str, str | None]:
    found = desk.recommendation(rec.id)
    desk.verify()
    return found.status, found.reason


@pytest.mark.parametrize("absence", ABSENCES)
def test_a_finding_whose_evidence_has_all_lapsed_is_resolved(desk: Desk, absence: Callable[[Desk], None]) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser", 2), until(desk, "sleeps till noon", 5))
    absence(desk)
    desk.run(at=desk.now + 3 * DAY_MS)
    assert ends(desk, rec) == ("pending", None)
    desk.run(at=desk.now + 3 * DAY_MS)
    assert ends(desk, rec) == ("expired", "resolved")


def test_a_memory_to_which_nothing_is_added_wakes_when_the_evidence_lapses(desk: Desk) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser", 2))
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert heads.timer.due_at is not None
    desk.run(at=heads.timer.due_at)
    assert (desk.now - 3 * DAY_MS < rec.created_at, ends(desk, rec)) == (True, ("expired", "resolved"))


def test_a_finding_of_which_some_evidence_stays_stays(desk: Desk) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser", 2), until(desk, "sleeps till noon"))
    desk.run(at=desk.now + 60 * DAY_MS)
    assert ends(desk, rec) == ("pending", None)


def test_evidence_that_is_found_later_lets_a_finding_last_as_long_as_it_does(desk: Desk) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser", 2), until(desk, "sleeps till noon", 2))
    desk.outside = ScriptedModel(about_sam).outside()
    desk.record(until(desk, "naps", 9))
    desk.run()
    desk.outside = NOBODY
    desk.run(at=desk.now + 3 * DAY_MS)
    assert ends(desk, rec) == ("pending", None)
    desk.run(at=desk.now + 7 * DAY_MS)
    assert ends(desk, rec) == ("expired", "resolved")


@pytest.mark.parametrize("absence", ABSENCES)
def test_a_finding_whose_evidence_is_all_forgotten_is_resolved(desk: Desk, absence: Callable[[Desk], None]) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser"), until(desk, "sleeps till noon"))
    absence(desk)
    for address in rec.evidence:
        forget.forget(desk.store, desk.call(), Wanted(address=address), "asked for")
    desk.run()
    assert ends(desk, rec) == ("expired", "resolved")
    assert "[forgotten]" not in str(desk.queue())


@pytest.mark.parametrize("absence", ABSENCES)
def test_what_an_external_analyzer_found_goes_with_the_grain_whatever_became_of_the_analyzer(
    desk: Desk, finder: Finder, absence: Callable[[Desk], None]
) -> None:
    desk.record(make_fact("secret 1"))
    desk.run()
    rec = desk.recommendation(desk.only()["id"])
    absence(desk)
    finder.value = "nothing"
    forget.forget(desk.store, desk.call(), Wanted(address=rec.evidence[0]), "asked for")
    desk.run()
    assert ends(desk, rec) == ("expired", "resolved")


def test_a_finding_that_only_repeats_what_was_forgotten_is_resolved_by_the_next_scheduled_pass(desk: Desk) -> None:
    model = ScriptedModel(
        lambda request: [
            {"summary": "tea was asked for by Theodora", "target": "entity:shared/tea", "guidance": "", "confidence": 1,
             "evidence": [item["id"] for item in items(request, "evidence") if item["target"] == "entity:shared/tea"]}
        ]
    )  # fmt: skip
    desk.outside = model.outside()
    desk.record(make_fact("green", subject="tea", relation="is"), make_fact("x", subject="Theodora", relation="is"))
    desk.run()
    rec = desk.recommendation(desk.only()["id"])
    desk.outside = NOBODY
    forget.forget(desk.store, desk.call(), Wanted(namespace="shared", subject="Theodora"), "asked for")
    assert desk.only()["summary"] == "[forgotten]"
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert heads.timer.due_at is not None
    assert heads.timer.due_at <= desk.now
    desk.run(min_new=1)
    assert ends(desk, rec) == ("expired", "resolved")


def units_to_forget(desk: Desk, kept: int) -> tuple[float, int]:
    """Read and write units of forgetting one of two notes about sam, of which something was said, beside others."""
    [remark] = desk.remarks()
    others = (
        replace(
            remark, name=remark_name("loop.llm", desk.now + n, f"{n:032x}"), summary=f"kim left no trace {n}",
            target="shared/kim", guidance="look elsewhere", evidence=(f"{n:064x}",), at=desk.now + n,
        )
        for n in range(1, kept + 1)
    )  # fmt: skip
    desk.say(*others)
    wanted = Wanted(address=remark.evidence[0])
    with desk.store.metered() as used:
        forget.forget(desk.store, desk.call(), wanted, "asked for")
    return used.reads, used.writes


def test_forgetting_costs_what_is_forgotten_however_much_was_said_of_others(desk: Desk) -> None:
    desk.outside = ScriptedModel(about_sam).outside()
    used = []
    for name, kept in (("few", 0), ("many", 120)):
        other = Desk(desk.store, memory=MemoryId(MEMORY.tenant, name), outside=desk.outside).open()
        record_notes(other)
        other.run()
        used.append(units_to_forget(other, kept))
        assert [remark.is_erased for remark in other.remarks()] == [True, *[False] * kept]
    (few_reads, few_writes), (many_reads, many_writes) = used
    assert (many_reads <= few_reads, many_writes <= few_writes) == (True, True)


def test_nothing_tells_which_words_somebody_said_once_they_are_forgotten(desk: Desk) -> None:
    rec = found_by_a_model(desk, until(desk, "early riser"), until(desk, "sleeps till noon"))
    named = [row for row in index_rows(desk) if desk.remarks()[0].name in row.addresses]
    forget.forget(desk.store, desk.call(), Wanted(address=rec.evidence[0]), "asked for")
    left = [row for row in index_rows(desk) if desk.remarks()[0].name in row.addresses]
    assert len(named) > len(left) == len(rec.evidence)


def index_rows(desk: Desk) -> list[TermRow]:
    """What stands in the index of terms and of remarks."""
    rows = table.query(keys.partition(desk.memory, "INDEX"))
    return [row for row in map(entity_of, rows) if isinstance(row, TermRow)]
