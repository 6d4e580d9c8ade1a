"""The bench: its figures are those of the code, its tables those of the page, and what it is for holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.domain.outside import OutsideFinding, read_target
from provenloop.reflection.bundle import Limits
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.model_server import BROKEN, ModelServer, Play, says
from tests.reflection import figures, real
from tests.reflection.__main__ import main
from tests.reflection.bundles import Shown, shown
from tests.reflection.corpus import memories
from tests.reflection.judge import Judge
from tests.reflection.measures import Quality, area, fates_of, quality
from tests.reflection.run import Key, Outcome, match, run
from tests.reflection.script import Script

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

PAGE = Path(__file__).parents[2] / "shared/REFLECTION.md"
MEMORIES = memories()
#: Of tokens, so that a word more in the instructions changes no figure.
NEAR = 0.1

Outcomes = Mapping[str, Sequence[Outcome]]


@pytest.fixture(scope="module")
def outcomes(running: ModelServer) -> Outcomes:
    return figures.outcomes_of(running)


def qualities(rows: Sequence[Mapping[str, int]]) -> list[Quality]:
    return [Quality(**row) for row in rows]


def test_the_page_shows_the_figures_that_were_measured() -> None:
    text, found = PAGE.read_text(encoding="utf-8"), figures.committed()
    for made in figures.SHOWN:
        assert made(found) in text


def test_the_figures_are_those_of_the_code_as_it_is(outcomes: Outcomes) -> None:
    measured, found = json.loads(json.dumps(figures.of_outcomes(outcomes))), figures.committed()
    assert [row["error"] for row in found.pop("errors")] == list(figures.ERRORS)
    assert measured.pop("used") == pytest.approx(found.pop("used"), rel=NEAR)
    assert measured == found


def test_what_comes_out_is_more_precise_and_more_reliable_with_the_verifier(outcomes: Outcomes) -> None:
    whole, without = quality(outcomes["as it is"]), quality(outcomes["without VERIFY"])
    assert whole.precision > without.precision
    assert whole.reliability > 0 > without.reliability
    for row in figures.committed()["errors"]:
        for judged, unjudged in zip(qualities(row["with"]), qualities(row["without"]), strict=True):
            assert judged.precision > unjudged.precision
            assert judged.reliability > unjudged.reliability


def test_proposals_without_their_premises_are_fewer_with_ground(outcomes: Outcomes) -> None:
    def ungrounded(pipeline: str) -> int:
        return sum(fate.out for fate in fates_of(outcomes[pipeline]) if fate.draft.label == "premise")

    assert ungrounded("without VERIFY") < ungrounded("without either") / 4


def require_rules_kept(outcome: Outcome) -> None:
    """Everything that came out is labelled, about the memory, sure enough, and cites what was shown."""
    assert not outcome.unknown
    addresses = set(shown(outcome.memory).addresses.values())
    for finding in outcome.reflected.findings:
        assert finding.confidence >= figures.IN_USE == Limits().min_confidence == 0.75
        assert addresses.issuperset(finding.evidence)
        assert finding.evidence
        assert read_target(f"{finding.target.scheme}:{'/'.join(map(str, finding.target.parts))}") == finding.target
        assert finding.target.scheme in ("entity", "grain", "query")


def test_nothing_that_breaks_a_rule_comes_out_whoever_judges(server: ModelServer, outcomes: Outcomes) -> None:
    for found in (*outcomes.values(), run(server, Judge(wrong_yes=1.0, wrong_no=1.0))):
        assert sum(outcome.broken["offered"] for outcome in found) == 2 * len(MEMORIES)
        for outcome in found:
            assert outcome.broken["claimed"] == 0
            require_rules_kept(outcome)


def test_what_would_be_kept_at_the_threshold_in_use_is_what_comes_out(outcomes: Outcomes) -> None:
    found = figures.of_outcomes(outcomes)
    [row] = [row for row in found["thresholds"] if row["threshold"] == figures.IN_USE]
    whole = found["pipelines"]["as it is"]
    assert (row["kept"], row["wrong"]) == (whole["right"] + whole["wrong"], whole["wrong"])


def test_what_the_judge_is_sure_of_is_less_often_wrong(outcomes: Outcomes) -> None:
    rows = figures.of_outcomes(outcomes)["thresholds"]
    assert area(outcomes["as it is"]) < rows[0]["wrong"] / rows[0]["kept"]


def test_a_judge_that_never_errs_lets_out_only_what_is_sound(server: ModelServer) -> None:
    fates = fates_of(run(server, Judge(wrong_yes=0.0, wrong_no=0.0)))
    assert {fate.draft.label for fate in fates if fate.out} == {"sound", "repeat"}
    claims = [fate for fate in fates if fate.claimed]
    assert all(fate.grounded == (fate.draft.label != "premise") for fate in claims)
    assert all(fate.kept == (fate.draft.label in ("sound", "repeat")) for fate in claims)


def test_the_rules_drop_repeats_and_nothing_else_that_is_labelled(outcomes: Outcomes) -> None:
    dropped = Counter(fate.draft.label for fate in fates_of(outcomes["as it is"]) if not fate.claimed)
    assert dropped == {"repeat": 8}


def test_a_judge_says_the_same_whatever_it_was_asked_before() -> None:
    first, again = Judge(seed=3), Judge(seed=3)
    first.says_yes("ground", "one", rightly=True)
    assert first.confidence("two", is_sound=True) == again.confidence("two", is_sound=True)
    told = [Judge(seed, 0.2, 0.2).says_yes("ground", "one", rightly=True) for seed in range(500)]
    assert 0.75 < sum(told) / len(told) < 0.85


# a real model


def models(server: ModelServer) -> ReflectionModels:
    one = ReflectionModel(AnthropicModel(server.url), Key("key"), "claude-opus-5-5")
    return ReflectionModels(one, one)


def test_findings_of_a_real_model_are_told_apart_by_what_they_cite(server: ModelServer) -> None:
    memory = MEMORIES[0]
    script = Script(shown(memory), Judge(), grounds=False, verifies=False)
    server.plays(script.play)
    [outcome] = real.reflect_on(models(server), [memory])
    lines = list(real.told(outcome))
    assert lines[0] == memory.name
    assert {line.split(":")[0].split(",")[0].strip() for line in lines[1:]} == {"right", "wrong"}
    assert len(lines) == 1 + len(memory.drafts)
    assert real.summed([outcome]).startswith("1 right, 2 wrong (0 unlabelled); precision 0.333, recall 1.000")


@pytest.mark.parametrize(("play", "said"), [(says({"recommendations": []}), "abstained"), (BROKEN, "discover:server")])
def test_a_real_model_that_finds_nothing_is_told_what_is_missing(server: ModelServer, play: Play, said: str) -> None:
    server.plays(play)
    [outcome] = real.reflect_on(models(server), MEMORIES[:1])
    [head, line] = real.told(outcome)
    assert head.endswith(f"({said})")
    assert line.startswith("  missing: ")
    failed = int(said != "abstained")
    assert real.summed([outcome]).endswith(f"{failed} memories failed")


def finding(given: Shown, target: str, *labels: str) -> OutsideFinding:
    named = read_target(target)
    assert named is not None
    return OutsideFinding(named, "so it is", tuple(given.addresses[label] for label in labels), 0.9)


def test_a_finding_is_what_needs_most_of_the_evidence_it_cites_and_else_unlabelled() -> None:
    [memory] = [memory for memory in MEMORIES if memory.name == "On call while away"]
    given = shown(memory)

    def label(target: str, *labels: str) -> str | None:
        found = match(given, finding(given, target, *labels))
        return None if found is None else found.label

    assert label("entity:shared/pager", "a", "b") == "sound"
    assert label("query:who is on call", "a", "b") == "sound"
    assert label("entity:shared/kim", "c") == "premise"
    assert label("entity:shared/pager", "a", "b", "c") == "conclusion"
    assert label("entity:shared/sam", "a") is None


def test_what_nobody_labelled_counts_as_wrong(server: ModelServer) -> None:
    def play(body: Mapping[str, Any]) -> Play:
        fields = str(body["output_config"])
        if "recommendations" in fields:
            draft = {"summary": "so", "target": "query:so", "guidance": "x", "evidence": ["e1"], "confidence": 1}
            return says({"recommendations": [draft]})
        return says({"results": [{"id": "f1", "reason": "", "supported": True, "keep": True, "confidence": 0.9}]})

    server.plays(play)
    [outcome] = real.reflect_on(models(server), MEMORIES[:1])
    assert list(real.told(outcome))[-1] == "  unlabelled: so"
    assert real.summed([outcome]).startswith("0 right, 1 wrong (1 unlabelled)")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("claude-opus-5-5", "no key in ANTHROPIC_API_KEY"),
        ("openai:some-model", "PROVENLOOP_GATEWAY_URL"),
        ("other:some-model", "no provider"),
        ("two words", "without blanks"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["--model", model]) == 2
    assert said in capsys.readouterr().err


def test_a_real_model_is_asked_about_every_memory(
    server: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.plays(says({"recommendations": []}))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-tests")
    monkeypatch.setenv("PROVENLOOP_MODEL_URL", server.url)
    assert main(["--model", "anthropic:claude-opus-5-5"]) == 0
    assert {seen.key for seen in server.seen} == {"key-of-tests"}
    assert len(server.seen) == len(MEMORIES)
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 right, 0 wrong")
