"""Asking models about a memory, with a provider on this machine: what each stage is shown, what may come of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.domain.model_cost import cost_nano_usd
from provenloop.domain.outside import OutsideFinding
from provenloop.domain.quoting import Quoted
from provenloop.domain.recommendation import Target
from provenloop.reflection.bundle import Bundle, Limits
from provenloop.reflection.stages import STAGES
from provenloop.services.reflect_port import ReflectionModels
from tests import model_server as server_
from tests.builders import NOW
from tests.model_server import ModelServer, Play, Seen, says
from tests.scenario.reflections import (
    ADDRESSES,
    BUNDLE,
    GROUND,
    MAIN,
    Clock,
    asked,
    discovers,
    draft,
    enriches,
    grounds,
    models,
    reflected,
    summaries,
    verifies,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GOOD = (discovers(), grounds(), verifies(), enriches())


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with server_.model_server() as made:
        yield made


def items(seen: Seen) -> dict[str, Any]:
    """The quoted items of a request by their label; each block holds one and nothing else."""
    found = {}
    for block in seen.blocks:
        first, inner, last = block.split("\n")
        assert (first[:13], last) == ('<data label="', "</data>")
        found[first[13:-2]] = json.loads(json.loads(inner))
    return found


def test_what_is_proposed_grounded_and_verified_comes_out_with_what_to_do(server: ModelServer) -> None:
    found = asked(server, *GOOD)
    target = Target("entity", ("shared", "ann"))
    summary = "ann cannot be in Berlin daily and live in Lisbon"
    assert found.findings == (OutsideFinding(target, summary, ADDRESSES[:2], 0.9, "low", "ask ann"),)
    assert found.counts == {"calls": 4, "left_out": 0, "drafts": 1, "grounded": 1, "kept": 1}
    assert (found.stopped, found.retry, found.model) == (None, False, MAIN)


def test_four_stages_are_four_requests_that_hold_instructions_and_quoted_texts_apart(server: ModelServer) -> None:
    asked(server, *GOOD)
    assert [seen.instructions for seen in server.seen] == [stage.instructions for stage in STAGES]
    assert [seen.body["output_config"]["format"]["schema"] for seen in server.seen] == [s.schema for s in STAGES]
    assert all(seen.body["system"][0]["cache_control"] == {"type": "ephemeral"} for seen in server.seen)
    assert [(seen.body["model"], seen.key or seen.headers["x-api-key"]) for seen in server.seen] == [
        (MAIN, "sk-main"),
        (GROUND, "sk-ground"),
        (MAIN, "sk-main"),
        (MAIN, "sk-main"),
    ]


def test_each_stage_is_shown_what_it_needs_and_no_more(server: ModelServer) -> None:
    asked(server, *GOOD)
    discover, ground, verify, enrich = (items(seen) for seen in server.seen)
    assert list(discover) == ["brief:1", "evidence:e1", "evidence:e2", "evidence:e3", "approved:1", "rejected:1"]
    assert discover["evidence:e1"] == {
        "grain_type": "fact",
        "target": "entity:shared/ann",
        "text": "ann works_in Berlin office, five days a week",
    }
    assert discover["rejected:1"] == {"summary": "ann likes soup and bread", "because": "both are fine"}
    texts = [item.text for item in BUNDLE.evidence[:2]]
    summary = draft()["summary"]
    assert ground == {"claim:f1": {"id": "f1", "claim": summary, "evidence": texts}}
    finding = {"id": "f1", "summary": summary, "target": "entity:shared/ann", "evidence": texts}
    assert verify == enrich == {"finding:f1": finding}


def test_every_call_is_a_row_of_the_ledger(server: ModelServer) -> None:
    rows = asked(server, *GOOD).rows
    assert [row.component for row in rows] == ["loop.discover", "loop.ground", "loop.verify", "loop.enrich"]
    assert [row.id for row in rows] == ["pass-1.discover", "pass-1.ground", "pass-1.verify", "pass-1.enrich"]
    assert [row.usage for row in rows] == server.charged
    assert [row.model for row in rows] == [MAIN, GROUND, MAIN, MAIN]
    assert [row.cost_nano_usd for row in rows] == [cost_nano_usd(row.usage, row.model) for row in rows]
    assert {(row.at, row.kind) for row in rows} == {(NOW, "")}


@pytest.mark.parametrize(
    ("plays", "stopped", "counts"),
    [
        ([says({"recommendations": []})], "abstained", (1, 0, 0, 0)),
        ([discovers(draft(evidence=["e9"]))], "dropped", (1, 0, 0, 0)),
        ([discovers(), says({"results": []})], "ungrounded", (2, 1, 0, 0)),
        ([discovers(), grounds("f2")], "ungrounded", (2, 1, 0, 0)),
        ([discovers(), grounds(), says({"results": []})], "dropped", (3, 1, 1, 0)),
        ([discovers(), grounds(), verifies({"f1": 0.74})], "dropped", (3, 1, 1, 0)),
    ],
)
def test_a_stage_that_leaves_nothing_is_the_last(
    server: ModelServer, plays: list[Play], stopped: str, counts: tuple[int, ...]
) -> None:
    found = asked(server, *plays)
    assert (found.findings, found.stopped, found.retry) == ((), stopped, False)
    told = tuple(found.counts[name] for name in ("calls", "drafts", "grounded", "kept"))
    assert told == counts
    assert len(server.seen) == len(found.rows) == counts[0]


def test_without_evidence_nobody_is_asked(server: ModelServer) -> None:
    found = asked(server, *GOOD, bundle=replace(BUNDLE, evidence=()))
    assert (found.findings, found.rows, found.stopped, found.model) == ((), (), "no_evidence", MAIN)
    assert not server.seen


def test_what_to_do_is_asked_where_it_is_missing_only(server: ModelServer) -> None:
    two = (draft(guidance="move the desk"), draft(summary="Lisbon is no office"))
    notes = enriches({"f1": "other", "f2": "x" * 900, "f3": "?"})
    found = asked(server, discovers(*two), grounds("f1", "f2"), verifies({"f1": 0.8, "f2": 0.9}), notes)
    assert [finding.guidance for finding in found.findings] == ["move the desk", "x" * 600]
    assert list(items(server.seen[3])) == ["finding:f2"]
    judged = items(server.seen[2])
    assert (judged["finding:f1"]["guidance"], "guidance" in judged["finding:f2"]) == ("move the desk", False)
    assert summaries(found) == [two[0]["summary"], two[1]["summary"]]
    asked(server, discovers(two[0]), *GOOD[1:])
    assert len(server.seen) == 3


def test_time_that_is_nearly_over_ends_the_stages(server: ModelServer) -> None:
    for steps, calls in (([0, 98_000], 0), ([0, 0, 96_000], 1), ([0, 0, 0, 73_001], 2)):
        found = asked(server, *GOOD, left_ms=Clock(steps=steps))
        assert (found.findings, found.stopped, found.retry, len(server.seen)) == ((), "time", True, calls)
    found = asked(server, *GOOD, left_ms=Clock(steps=[0, 0, 0, 0, 73_001]))
    assert (len(found.findings), found.stopped, found.retry, len(server.seen)) == (1, "time", False, 3)


@pytest.mark.parametrize(("tokens", "calls"), [(2_000, 0), (10_000, 1)])
def test_a_call_that_may_use_more_than_is_left_is_not_made(server: ModelServer, tokens: int, calls: int) -> None:
    found = asked(server, *GOOD, limits=Limits(max_tokens=tokens))
    assert (found.findings, found.stopped, found.retry, len(server.seen)) == ((), "budget", False, calls)


def test_a_provider_that_raises_all_the_same_has_failed() -> None:
    class Broken(AnthropicModel):
        def ask(self, request: Any, key: str) -> Any:
            raise RuntimeError(request, key)

    found = reflected(Broken())
    assert (found.findings, found.stopped, found.counts["calls"]) == ((), "discover:unknown", 1)


def test_where_nobody_can_tell_what_would_be_sent_nothing_is(server: ModelServer) -> None:
    def breaks(quoted: Sequence[Quoted]) -> Sequence[Quoted]:
        raise RuntimeError(quoted[0].text)

    whole = models(AnthropicModel(server.url))
    found = asked(server, *GOOD, models=ReflectionModels(replace(whole.main, shown=breaks), whole.ground))
    assert (found.findings, found.stopped, found.counts["calls"]) == ((), "discover:unknown", 0)
    assert server.seen == []


def test_an_empty_bundle_is_no_evidence(server: ModelServer) -> None:
    assert asked(server, *GOOD, bundle=Bundle()).stopped == "no_evidence"
