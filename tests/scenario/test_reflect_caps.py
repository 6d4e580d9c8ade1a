"""No pass uses more of models than it may, whatever they answer and whatever they say that they used."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenloop.analyzers.model_findings import LLM
from provenloop.domain.model_cost import NANO_USD, Usage, cost_nano_usd
from provenloop.domain.model_prices import PRICES
from provenloop.domain.policy import Policy, Pseudonymize
from provenloop.reflection.bundle import MAX_BRIEFS, MAX_EVIDENCE, MAX_TASTE, TEXT_CHARS, Bundle, Decided, Limits
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from provenloop.services.pseudonymous_model import pseudonymous
from tests.scenario.reflections import BUNDLE, MAIN, Clock, draft, evidence, models, reflected

ANSWERS: dict[str, dict[str, Any]] = {
    "discover": {"recommendations": [draft(summary=f"finding {n}", evidence=["e1", "e2"]) for n in range(8)]},
    "ground": {"results": [{"id": f"f{n}", "supported": True} for n in range(1, 9)]},
    "verify": {"results": [{"id": f"f{n}", "keep": True, "confidence": 0.9} for n in range(1, 9)]},
    "enrich": {"notes": [{"id": f"f{n}", "guidance": "look"} for n in range(1, 9)]},
}
LARGE = replace(BUNDLE, evidence=tuple(evidence(n, "Ω" * TEXT_CHARS) for n in range(1, MAX_EVIDENCE + 1)))


def most_of(request: ModelRequest) -> int:
    """Bytes of all that is sent, and the longest answer."""
    sent = [request.instructions, json.dumps(request.schema), *(part.block for part in request.quoted)]
    return sum(len(text.encode()) for text in sent) + request.max_tokens


#: What ``max_cost_usd`` has to be at least, by shared/MODELS.md.
PAGE = (Path(__file__).parents[2] / "shared" / "MODELS.md").read_text(encoding="utf-8")
LEAST_USD = {name: float(usd) for usd, name in re.findall(r"\$([0-9.]+) with `(claude-[a-z0-9-]+)`", PAGE)}
LEAST = {each.name: each.low for each in LLM.parameters}
ONE_DRAFT = {"recommendations": [draft(evidence=["e1"], guidance="")]}


def one_grain_of(letter: str) -> Bundle:
    """The large bundle with one piece of evidence, a text of nothing but that letter."""
    return replace(LARGE, evidence=(replace(LARGE.evidence[0], text=letter * TEXT_CHARS),))


@dataclass
class Meter:
    """A provider that counts what it really used, up to the most that is possible, and tells something of it.

    Each call is a share of the most that it can use, and what is told: the truth, or something else.
    """

    calls: list[tuple[float, Usage | str | None]]
    fails: bool = False
    model: str = ""
    used: list[Usage] = field(default_factory=list)
    told: list[Usage | None] = field(default_factory=list)
    asked: list[ModelRequest] = field(default_factory=list)

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        del key
        share, told = self.calls[len(self.asked) % len(self.calls)]
        prompt = most_of(request) - request.max_tokens
        answer = ANSWERS[request.op]
        used = Usage(round(prompt * (0.2 + 0.8 * share)), round(request.max_tokens * (0.4 + 0.6 * share)))
        self.asked.append(request)
        self.used.append(used)
        self.told.append(used if told == "truth" else told)  # type: ignore[arg-type]
        if self.fails:
            return ModelFailure("parse", self.told[-1])
        return ModelAnswer(answer, json.dumps(answer), self.told[-1] or Usage(), self.model or request.model)


NUMBERS = st.integers(0, 10**9) | st.integers(0, 50) | st.integers(0, 20_000)
LIES = st.builds(Usage, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
SILENT = st.sampled_from([None, Usage(), Usage(1, 1), Usage(3, 0)])
SHARES = st.floats(0, 1)
CAPS = st.builds(Limits, max_tokens=st.integers(2_000, 150_000), max_cost_nano_usd=st.integers(10**6, 3 * 10**8))


@given(
    st.lists(st.tuples(SHARES, st.just("truth") | SILENT), min_size=1, max_size=4), CAPS, st.booleans(), st.booleans()
)
@example([(1.0, "truth")], Limits(max_tokens=120_000), False, True)
@example([(1.0, None)], Limits(max_tokens=120_000), False, True)
def test_who_tells_the_truth_or_nothing_never_uses_more_than_a_pass_may(
    calls: list[tuple[float, Usage | str | None]], limits: Limits, fails: bool, is_large: bool
) -> None:
    meter = Meter(calls, fails)
    found = reflected(meter, LARGE if is_large else BUNDLE, limits)
    assert sum(used.input_tokens + used.output_tokens for used in meter.used) <= limits.max_tokens
    costs = [cost_nano_usd(used, row.model) or 0 for used, row in zip(meter.used, found.rows, strict=True)]
    assert sum(costs) <= limits.max_cost_nano_usd
    assert len(meter.asked) == found.counts["calls"] <= 4


@pytest.mark.parametrize("max_tokens", [40_000, 60_000, 120_000])
def test_placeholders_that_are_longer_than_the_names_they_stand_for_are_counted(max_tokens: int) -> None:
    names = [f"{first}{second}" for first in "bdfghklm" for second in "uv"]
    policy = Policy(pseudonymize=Pseudonymize(enabled=True, names=tuple(names)))
    text = " ".join(names * 4)
    full = replace(LARGE, evidence=tuple(replace(each, text=text) for each in LARGE.evidence))
    meter = Meter([(1.0, "truth")])
    found = reflected(meter, full, Limits(max_tokens=max_tokens), models=pseudonymous(models(meter), policy, ()))
    assert sum(used.input_tokens + used.output_tokens for used in meter.used) <= max_tokens
    assert not [part for request in meter.asked for part in request.quoted if names[0] in part.text.split()]
    assert len(found.rows) == len(meter.asked)


@given(st.lists(st.tuples(SHARES, LIES | SILENT), min_size=1, max_size=4), CAPS, st.sampled_from(["", "cheap", "dear"]))
def test_no_call_is_made_beyond_what_the_provider_says_it_used(
    calls: list[tuple[float, Usage | str | None]], limits: Limits, model: str
) -> None:
    names = {"cheap": "claude-haiku-5-5", "dear": "claude-fable-5"}
    meter = Meter(calls, model=names.get(model, ""))
    found = reflected(meter, limits=limits)
    told_tokens = told_cost = 0
    for request, told in zip(meter.asked, meter.told, strict=True):
        assert told_tokens + most_of(request) <= limits.max_tokens
        assert told_cost <= limits.max_cost_nano_usd
        used = told or Usage()
        told_tokens += used.prompt_tokens + used.output_tokens
        told_cost += cost_nano_usd(used, meter.model or request.model) or 0
    assert [row.usage for row in found.rows] == [told or Usage() for told in meter.told]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_provider_that_says_more_than_can_be_is_asked_no_more_in_that_pass(at: int) -> None:
    calls: list[tuple[float, Usage | str | None]] = [(0.0, "truth")] * at + [(0.0, Usage(10**8, 1))]
    meter = Meter(calls)
    found = reflected(meter)
    assert (len(meter.asked), found.stopped, found.rows[-1].usage) == (at + 1, "budget", Usage(10**8, 1))
    assert len(found.findings) == (8 if at == 2 else 0)


@pytest.mark.parametrize(("max_tokens", "others"), [(400_000, 3), (120_000, 3), (60_000, 0), (30_000, 0)])
def test_what_is_too_large_is_shown_in_part_so_that_half_is_left_to_judge_it(max_tokens: int, others: int) -> None:
    meter = Meter([(0.2, "truth")])
    found = reflected(meter, LARGE, Limits(max_tokens=max_tokens))
    shown = [part for part in meter.asked[0].quoted if part.label.startswith("evidence:")]
    assert [part.label for part in shown] == [f"evidence:e{n}" for n in range(1, len(shown) + 1)]
    assert len(meter.asked[0].quoted) - len(shown) == others
    one_more = most_of(meter.asked[0]) + len(shown[-1].block.encode()) + 1_000
    assert len(shown) == MAX_EVIDENCE or most_of(meter.asked[0]) <= max_tokens / 2 < one_more
    assert len(found.findings) >= 1
    assert found.counts["left_out"] == LARGE.pieces - len(meter.asked[0].quoted)


@pytest.mark.parametrize("letter", ["a", "ж", "語"])
def test_what_people_decided_last_is_shown_by_default_in_every_script(letter: str) -> None:
    text = letter * TEXT_CHARS
    decided = tuple(Decided(text[:200], f"{number}{text[:200]}") for number in range(MAX_TASTE))
    full = replace(
        LARGE,
        evidence=tuple(replace(each, text=text) for each in LARGE.evidence),
        briefs=BUNDLE.briefs * MAX_BRIEFS,
        approved=decided,
        rejected=decided,
    )
    meter = Meter([(0.2, "truth")])
    left_out = reflected(meter, full).counts["left_out"]
    labels = {part.label for part in meter.asked[0].quoted}
    assert {"brief:1", "approved:1", "rejected:1", f"evidence:e{MAX_EVIDENCE // 2}"} <= labels
    assert left_out == full.pieces - len(labels) > 0


@pytest.mark.parametrize("letter", ["a", "ж", "語", "\U0001f600", "\x00"])
def test_the_least_that_a_memory_may_allow_takes_one_finding_about_one_grain_through_all_stages(
    letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "discover", ONE_DRAFT)
    meter = Meter([(1.0, "truth")])
    found = reflected(meter, one_grain_of(letter), Limits(max_tokens=int(LEAST["max_tokens"] or 0)))
    assert [request.op for request in meter.asked] == ["discover", "ground", "verify", "enrich"]
    assert len(found.findings) == 1


@pytest.mark.parametrize("model", sorted(LEAST_USD))
def test_the_money_that_one_finding_needs_at_least_is_what_is_written_of_it(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "discover", ONE_DRAFT)
    for share, stopped in ((1.0, None), (0.5, "budget")):
        meter = Meter([(1.0, "truth")])
        limits = Limits(max_cost_nano_usd=round(LEAST_USD[model] * share * NANO_USD))
        found = reflected(meter, one_grain_of("\x00"), limits, models=models(meter, model, model))
        assert (len(meter.asked) == len(ANSWERS), found.stopped) == (stopped is None, stopped)


def test_a_memory_may_allow_no_less_money_than_the_cheapest_model_needs() -> None:
    assert LEAST["max_cost_usd"] == min(LEAST_USD.values())
    cheapest = min(PRICES, key=lambda name: PRICES[name].rates.output)
    assert LEAST_USD[cheapest] == min(LEAST_USD.values())


@pytest.mark.parametrize("max_tokens", [9_000, 12_000])
def test_where_half_is_not_enough_for_anything_all_is_used(max_tokens: int) -> None:
    meter = Meter([(0.0, "truth")])
    reflected(meter, LARGE, Limits(max_tokens=max_tokens))
    assert [part.label for part in meter.asked[0].quoted] == ["evidence:e1"]


def test_a_model_cites_only_what_it_was_shown_of_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "discover", {"recommendations": [draft(evidence=["e64"]), draft(evidence=["e1"])]})
    found = reflected(Meter([(0.2, "truth")]), LARGE, Limits(max_tokens=60_000))
    assert [finding.evidence for finding in found.findings] == [(LARGE.evidence[0].address,)]


def test_findings_that_cannot_be_judged_within_the_budget_are_dropped_and_the_others_stay() -> None:
    meter = Meter([(0.0, "truth")])
    found = reflected(meter, LARGE, Limits(max_tokens=30_000))
    judged = len(meter.asked[2].quoted)
    assert 1 <= judged < 8
    assert len(found.findings) == judged


@pytest.mark.parametrize(
    ("left", "max_ms", "took", "timeouts"),
    [
        (100_000, 75_000, 0, [45_000, 45_000, 45_000, 45_000]),
        (100_000, 75_000, 20_000, [45_000, 45_000, 35_000, 15_000]),
        (40_000, 75_000, 0, [37_000, 37_000, 37_000, 37_000]),
        (40_000, 75_000, 10_000, [37_000, 27_000, 17_000, 7_000]),
        (100_000, 2_000, 0, [2_000, 2_000, 2_000, 2_000]),
        (5_000, 75_000, 0, [2_000, 2_000, 2_000, 2_000]),
        (100_000, 1_999, 0, []),
        (4_999, 75_000, 0, []),
        (-1, 75_000, 0, []),
    ],
)
def test_a_call_may_take_no_longer_than_the_pass_has_left(
    left: int, max_ms: int, took: int, timeouts: list[int]
) -> None:
    meter = Meter([(0.0, "truth")])
    reflected(meter, limits=Limits(max_ms=max_ms), left_ms=Clock(left, [0, 0, took, took, took]))
    assert [request.timeout_ms for request in meter.asked] == timeouts


@pytest.mark.parametrize(
    ("told", "shown"),
    [("other-model", "other-model"), (" ", MAIN), ("m\u202e\n" * 9_000, ("m\\u{202e} " * 10).rstrip())],
)
def test_the_model_that_answered_is_named_in_one_short_line(told: str, shown: str) -> None:
    assert reflected(Meter([(0.0, "truth")], model=told)).model == shown
