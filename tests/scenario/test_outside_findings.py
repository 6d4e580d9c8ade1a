"""What models and external analyzers find, in passes: stored as advice, decided by others, forgotten with its cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from provenloop.domain.errors import SelfApprovalError
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.names import MemoryId
from provenloop.domain.policy import Policy
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.domain.remark import remark_name
from provenloop.services import batch_review, findings_read, forget, look_outside, news, review, snooze
from provenloop.services.external_port import ExternalFailure
from provenloop.services.forget_plan import Wanted
from provenloop.services.lease import LEASE_MS
from provenloop.services.model_port import ModelRequest
from provenloop.services.outside_port import Outside
from tests.builders import DAY_MS, MEMORY, Desk, grain_of, make_calls, make_fact, make_observation, make_principal
from tests.faults import Crash
from tests.scripted_model import ScriptedModel, items

SUMMARY = "two notes about sam disagree"
TRIGGER = make_principal("runner", "write", "review", "read")
OTHER = make_principal("other", "write", "review", "read")


def about_sam(request: ModelRequest, **more: Any) -> list[dict[str, Any]]:
    """A finding about sam that cites whatever is shown of him."""
    cited = [item["id"] for item in items(request, "evidence") if item["target"] == "entity:shared/sam"]
    draft = {"summary": SUMMARY, "target": "entity:shared/sam", "guidance": "", "evidence": cited, "confidence": 0.9}
    return [{**draft, **more}] if cited else []


def record_notes(desk: Desk) -> None:
    desk.record(make_fact("early riser", relation="note"), make_fact("sleeps till noon", relation="note"))


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(about_sam)


@pytest.fixture
def noted(desk: Desk, model: ScriptedModel) -> Desk:
    """A memory with two notes that a model finds to disagree, in a pass that somebody asked for."""
    desk.outside = model.outside()
    record_notes(desk)
    desk.run(by=TRIGGER)
    return desk


def shown(desk: Desk, status: str = "pending") -> dict[str, Any]:
    return findings_read.show_recommendation(desk.store, desk.call(), desk.only(status)["id"])


def test_what_a_model_finds_waits_as_advice_with_its_words_its_origin_and_the_grains_it_cites(noted: Desk) -> None:
    found = shown(noted)
    assert (found["analyzer"], found["origin"], found["severity"]) == ("loop.llm/1", "llm:scripted-1", "low")
    assert (found["summary"], found["target"]) == (SUMMARY, "entity:shared/sam")
    assert found["proposal"]["advice"] == {"source": "llm", "guidance": "look at both"}
    assert not found["rollbackable"]
    assert not found["destructive"]
    assert {grain["body"]["object"] for grain in found["evidence"]} == {"early riser", "sleeps till noon"}
    assert found["verified"]


def test_a_pass_tells_that_models_were_asked_and_what_it_cost_and_the_ledger_has_each_call(noted: Desk) -> None:
    record = noted.record(make_fact("naps", relation="note"))
    assert record["events"]
    outcome = noted.run()
    assert outcome["analyzers_run"][-1] == "loop.llm/1"
    assert outcome["model"]["calls"] == 4
    assert (outcome["proposed"], outcome["deduped"], outcome["stored"]) == (1, 1, 0)
    rows = noted.store.ledger(MEMORY, 0, noted.now + 1, after=None, limit=100)
    assert sorted(row.component for row in rows) == sorted(
        ["loop.discover", "loop.ground", "loop.verify", "loop.enrich"] * 2
    )


@pytest.mark.parametrize(
    ("action", "status"),
    [("approve", "pending"), ("acknowledge", "pending"), ("approve", "snoozed"), ("acknowledge", "snoozed")],
)
def test_whoever_asked_for_the_pass_can_refuse_what_a_model_found_but_not_accept_it(
    noted: Desk, action: str, status: str
) -> None:
    rec_id = noted.only()["id"]
    if status == "snoozed":
        snooze.snooze(noted.store, noted.call(by=OTHER), rec_id, "later", until=noted.now + DAY_MS)
    for decider in (TRIGGER, make_principal("child", "review", minted_by=("p-runner",)), make_principal("runner")):
        with pytest.raises(SelfApprovalError):
            getattr(review, action)(noted.store, noted.call(by=decider), rec_id, "it is right")
    getattr(review, action)(noted.store, noted.call(by=OTHER), rec_id, "it is right")


def test_whoever_asked_for_the_pass_cannot_accept_it_among_others_in_one_review_either(noted: Desk) -> None:
    rec_id = noted.only()["id"]
    answer = batch_review.batch_review(noted.store, noted.call(by=TRIGGER), [rec_id], "approve", "all fine")
    assert [result["error"]["code"] for result in answer["results"]] == [SelfApprovalError.code]
    answer = batch_review.batch_review(noted.store, noted.call(by=TRIGGER), [rec_id], "reject", "not so")
    assert answer["decided"] == 1


def test_who_asks_for_the_pass_that_finds_it_once_more_cannot_accept_it_either(noted: Desk) -> None:
    noted.record(make_fact("naps", relation="note"))
    noted.run(by=OTHER)
    for decider in (TRIGGER, OTHER):
        with pytest.raises(SelfApprovalError):
            review.approve(noted.store, noted.call(by=decider), noted.only()["id"], "it is right")
    noted.approve(noted.only()["id"])


def test_a_pass_with_too_little_time_leaves_the_asking_to_a_later_one_and_remembers_who_wanted_it(
    desk: Desk, model: ScriptedModel
) -> None:
    desk.outside = model.outside(left_ms=lambda: 20_000)
    record_notes(desk)
    outcome = desk.run(by=TRIGGER)
    assert {"id": "loop.llm/1", "reason": "left to a later pass: too little time"} in outcome["analyzers_skipped"]
    assert model.seen == []
    heads = desk.store.heads(MEMORY)
    assert heads is not None
    assert heads.timer.due_at is not None
    assert heads.timer.due_at <= desk.now + 1

    desk.outside = model.outside()
    desk.run(by=OTHER)
    for decider in (TRIGGER, OTHER):
        with pytest.raises(SelfApprovalError):
            review.approve(desk.store, desk.call(by=decider), desk.only()["id"], "it is right")


def test_a_scheduled_pass_has_nobody_who_could_not_decide(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    record_notes(desk)
    desk.run(by=make_principal("schedule", "write", kind="service"))
    engine = replace(make_principal("x", "write", kind="service"), id="engine:schedule", lineage=("engine:schedule",))
    desk.record(make_fact("naps", relation="note"))
    desk.run(by=engine)
    assert desk.recommendation(desk.only()["id"]).creators == ("engine:loop.llm/1", "p-schedule")


def test_the_same_thing_said_in_other_words_is_the_same_finding(noted: Desk, model: ScriptedModel) -> None:
    before = noted.only()
    noted.record(make_fact("naps", relation="note"))
    model.drafts = lambda request: about_sam(request, summary="sam cannot both rise early and sleep till noon")
    noted.run()
    after = noted.only()
    assert after["id"] == before["id"]
    assert after["summary"] == SUMMARY


def test_another_finding_about_the_same_target_stands_beside_it(noted: Desk, model: ScriptedModel) -> None:
    noted.record(make_observation("sam asked for tea twice"), make_fact("tea", relation="likes"))
    model.drafts = lambda request: about_sam(
        request, summary="sam likes tea", evidence=[i["id"] for i in items(request, "evidence") if "tea" in i["text"]]
    )
    noted.run()
    assert {row["summary"] for row in noted.queue()} == {SUMMARY, "sam likes tea"}


def test_what_was_rejected_is_quiet_however_it_is_put_and_models_are_told_the_reason(
    noted: Desk, model: ScriptedModel
) -> None:
    noted.reject(noted.only()["id"], "sam works in shifts")
    noted.record(make_fact("naps", relation="note"))
    model.drafts = lambda request: about_sam(request, summary="the notes about sam do not fit")
    outcome = noted.run()
    assert (outcome["suppressed"], outcome["stored"]) == (1, 0)
    asked = next(request for request in reversed(model.seen) if request.op == "discover")
    [told] = items(asked, "rejected")
    assert (told["summary"], told["because"]) == (SUMMARY, "sam works in shifts")
    assert items(asked, "approved") == []


def test_with_nothing_new_no_model_is_asked(noted: Desk, model: ScriptedModel) -> None:
    asked = len(model.seen)
    outcome = noted.run()
    assert len(model.seen) == asked
    assert "loop.llm/1" in outcome["analyzers_run"]
    assert "model" not in outcome


def test_a_model_that_fails_is_asked_about_the_same_again_an_hour_later(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    model.failing["ground"] = "server"
    record_notes(desk)
    outcome = desk.run()
    assert {"id": "loop.llm/1", "reason": "ground:server"} in outcome["analyzers_skipped"]
    assert desk.queue() == []
    model.failing.clear()
    desk.run(at=desk.now + 3_600_000)
    assert desk.only()["summary"] == SUMMARY


def test_what_cannot_succeed_is_not_asked_again(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    model.failing["discover"] = "refusal"
    record_notes(desk)
    desk.run()
    desk.run()
    assert [request.op for request in model.seen] == ["discover"]


@pytest.mark.parametrize("target", ["entity:shared/nobody", "entity:elsewhere/sam", "grain:" + "0" * 64, "query:why?"])
def test_a_finding_about_what_the_memory_does_not_know_is_dropped(
    desk: Desk, model: ScriptedModel, target: str
) -> None:
    desk.outside = model.outside()
    model.drafts = lambda request: about_sam(request, target=target)
    record_notes(desk)
    desk.run()
    assert desk.queue() == []


def test_models_are_shown_what_this_pass_found_and_the_grains_it_rests_on(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    model.drafts = ()
    desk.record(*make_calls(4, 4), make_observation("the deploy was slow"))
    desk.run()
    [asked] = model.seen
    [brief] = items(asked, "brief")
    assert brief["analyzer"] == "loop.tool_failure/1"
    kinds = [item["grain_type"] for item in items(asked, "evidence")]
    assert kinds == ["tool_call"] * 4 + ["observation"]


def test_forgetting_a_grain_takes_what_was_said_of_it_and_the_next_pass_closes_the_finding(
    noted: Desk, model: ScriptedModel
) -> None:
    rec_id = noted.only()["id"]
    for address in [fact.address for fact in noted.facts().values()]:
        forget.forget(noted.store, noted.call(), Wanted(address=address), "asked for")
        row = noted.only()
        assert (row["summary"], row["target"]) == ("[forgotten]", "entity:[forgotten]")
    model.drafts = ()
    noted.run()
    closed = noted.recommendation(rec_id)
    assert (closed.status, closed.reason) == ("expired", "resolved")
    assert SUMMARY not in repr(noted.snapshot())
    noted.verify()


def test_what_is_new_is_shown_however_far_it_is_from_what_this_pass_found(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    desk.record(*make_calls(5), make_observation("ann left the office for good"))
    assert desk.run()["stored"] == 1
    shown = items(model.seen[0], "evidence")
    assert "ann left the office for good" in [item["text"] for item in shown]


def test_a_new_fact_is_shown_beside_the_old_ones_of_its_subject(noted: Desk, model: ScriptedModel) -> None:
    noted.record(make_fact("naps", relation="note"), make_fact("b", subject="kim"))
    noted.run()
    asked = next(request for request in reversed(model.seen) if request.op == "discover")
    texts = [item["text"] for item in items(asked, "evidence")]
    assert texts == ["kim lives_in b", "sam note naps", "sam note sleeps till noon", "sam note early riser"]


def test_forgetting_a_subject_takes_words_that_name_it_elsewhere(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    model.drafts = lambda request: [
        {"summary": "tea was asked for by Theodora", "target": "entity:shared/tea", "guidance": "", "confidence": 1,
         "evidence": [item["id"] for item in items(request, "evidence") if item["target"] == "entity:shared/tea"]}
    ]  # fmt: skip
    desk.record(make_fact("green", subject="tea", relation="is"), make_fact("x", subject="Theodora", relation="is"))
    desk.run()
    forget.forget(desk.store, desk.call(), Wanted(namespace="shared", subject="Theodora"), "asked for")
    assert "Theodora" not in repr(desk.snapshot())


def test_a_denied_or_disabled_model_is_not_asked_and_the_reason_is_told(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    desk.policy = Policy(deny=("llm",))
    record_notes(desk)
    outcome = desk.run()
    assert {"id": "loop.llm/1", "reason": "denied by host policy"} in outcome["analyzers_skipped"]
    assert model.seen == []


def test_a_floor_above_low_keeps_what_models_find_out_of_the_queue(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    desk.policy = Policy(severity_floors={"llm": "medium"})
    record_notes(desk)
    assert desk.run()["suppressed"] == 1
    assert desk.queue() == []


def test_without_a_key_a_pass_does_and_says_exactly_what_it_does_without_models(desk: Desk) -> None:
    script = ScriptedModel(about_sam)
    record_notes(desk)
    bare, began = desk.run(), desk.snapshot()
    again = Desk(desk.store, memory=MemoryId(MEMORY.tenant, "again")).open()
    again.outside = script.outside(key="")
    record_notes(again)
    keyless = again.run()
    assert {**keyless, "run": ""} == {**bare, "run": ""}
    assert script.seen == []
    rows = [item for item in again.snapshot() if "#M#again#" in repr(item)]
    assert len(rows) == len([item for item in began if "#M#demo#" in repr(item)])


@dataclass
class Finder:
    """An external analyzer that flags every fact whose value it is told to."""

    value: str = "secret"
    answer: bytes | ExternalFailure | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    more: Mapping[str, Any] = field(default_factory=dict)

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        """See ``ExternalAnalyzer``."""
        assert timeout_ms <= 10_000
        assert max_bytes <= 1_000_000
        message = json.loads(request)
        if message["op"] == "probe":
            return b"{}"
        self.asked.append(message)
        if self.answer is not None:
            return self.answer
        return json.dumps(
            {"findings": [self._finding(grain) for grain in message["grains"] if self._is(grain)]}
        ).encode()

    def _is(self, grain: Mapping[str, Any]) -> bool:
        return self.value in str(grain["fields"].get("object"))

    def _finding(self, grain: Mapping[str, Any]) -> dict[str, Any]:
        target = f"entity:{grain['namespace']}/{grain['fields']['subject']}"
        found = {
            "target": target,
            "summary": "a value that looks private",
            "severity": "high",
            "evidence": [grain["hash"]],
        }
        return {**found, **self.more}


FINDER = RegisteredAnalyzer("ext.finder/1", "https://finder.example/ask", ("fact",))


@pytest.fixture
def finder(desk: Desk) -> Finder:
    finder = Finder()
    desk.policy = Policy(analyzers=(FINDER,))
    desk.outside = Outside(analyzers=lambda _registered: finder)
    return finder


def test_what_an_external_analyzer_finds_waits_for_somebody_else_than_who_asked(desk: Desk, finder: Finder) -> None:
    desk.record(make_fact("secret 1"), make_observation("a secret"))
    outcome = desk.run(by=TRIGGER)
    assert outcome["analyzers_run"][-1] == "ext.finder/1"
    row = desk.only()
    assert (row["analyzer"], row["origin"], row["severity"]) == ("ext.finder/1", "command:ext.finder/1", "high")
    assert [grain["grain_type"] for grain in finder.asked[0]["grains"]] == ["fact"]
    with pytest.raises(SelfApprovalError):
        review.approve(desk.store, desk.call(by=TRIGGER), row["id"], "it is right")
    desk.approve(row["id"])


def test_an_external_analyzer_is_sent_what_is_new_and_in_a_full_sweep_everything(desk: Desk, finder: Finder) -> None:
    desk.record(make_fact("secret 1"))
    desk.run()
    desk.record(make_fact("b", subject="kim"))
    desk.run()
    assert [len(message["grains"]) for message in finder.asked] == [1, 1]
    assert desk.only()["summary"] == "a value that looks private"
    desk.run(full_sweep=True)
    assert len(finder.asked[-1]["grains"]) == 2


def test_what_an_external_analyzer_does_not_find_any_more_in_a_full_sweep_is_resolved(
    desk: Desk, finder: Finder
) -> None:
    desk.record(make_fact("secret 1"))
    desk.run()
    finder.value = "nothing of the sort"
    desk.run(full_sweep=True)
    assert desk.queue() == []
    assert desk.recommendation(desk.only("expired")["id"]).reason == "resolved"


@pytest.mark.parametrize("kind", ["timeout", "too_large", "unreachable", "failed"])
def test_an_external_analyzer_that_fails_is_skipped_with_the_reason_and_the_rest_of_the_pass_stands(
    desk: Desk, finder: Finder, kind: Any
) -> None:
    finder.answer = ExternalFailure(kind)
    desk.record(*make_calls(4, 4), make_fact("secret 1"))
    outcome = desk.run()
    assert {"id": "ext.finder/1", "reason": kind} in outcome["analyzers_skipped"]
    assert [row["analyzer"] for row in desk.queue()] == ["loop.tool_failure/1"]
    finder.answer = None
    desk.run(at=desk.now + 3_600_000)
    assert len(desk.queue()) == (1 if kind == "too_large" else 2)


def test_a_later_version_of_an_external_analyzer_is_sent_everything_from_the_start(desk: Desk, finder: Finder) -> None:
    desk.record(make_fact("secret 1"))
    desk.run()
    desk.policy = Policy(analyzers=(replace(FINDER, id="ext.finder/2"),))
    desk.run()
    assert [len(message["grains"]) for message in finder.asked] == [1, 1]


@pytest.mark.usefixtures("finder")
def test_no_policy_makes_what_comes_from_outside_apply_itself(desk: Desk) -> None:
    desk.record(make_fact("secret 1"))
    desk.policy = replace(desk.policy, auto_apply_enabled=True)
    assert desk.run()["auto_applied"] == 0
    assert desk.only()["status"] == "pending"


def test_nothing_of_a_namespace_that_the_memory_keeps_from_them_is_shown_to_models_or_external_analyzers(
    desk: Desk, finder: Finder, model: ScriptedModel
) -> None:
    desk.outside = replace(desk.outside, models=model.outside().models)
    only = AnalyzerConfig(namespaces=("shared",))
    desk.plant(MemoryConfig(rev=1, analyzers={"loop.llm": only, "ext.finder": only}))
    private = [make_fact(value, namespace="private", subject="eva") for value in ("Berlin", "Rome")]
    desk.record(make_fact("secret 1"), make_fact("secret 2", namespace="private", subject="kim"), *private)
    for full_sweep in (False, True):
        desk.run(full_sweep=full_sweep)
    shown = json.dumps(finder.asked) + "".join(block.text for request in model.seen for block in request.quoted)
    assert "secret 1" in shown
    assert not any(text in shown for text in ("secret 2", "private", "kim", "eva", "Rome"))


def test_models_are_not_told_of_decisions_that_rest_on_a_namespace_kept_from_them(
    noted: Desk, model: ScriptedModel
) -> None:
    noted.reject(noted.only()["id"], "eva was never in Rome")
    [remark] = noted.store.newest_remarks(MEMORY, "loop.llm", 1)
    noted.plant(replace(remark, namespaces=("private", "shared")))
    noted.plant(MemoryConfig(rev=1, analyzers={"loop.llm": AnalyzerConfig(namespaces=("shared",))}))
    noted.record(make_fact("naps", relation="note"))
    noted.run()
    asked = next(request for request in reversed(model.seen) if request.op == "discover")
    assert items(asked, "rejected") == []


def test_evidence_that_is_gone_by_the_time_it_is_stored_counts_no_more(desk: Desk, finder: Finder) -> None:
    grain = grain_of(desk, make_fact("secret 1"))
    finder.more = {"evidence": [grain.address, "0" * 64]}
    desk.run()
    assert desk.recommendation(desk.only()["id"]).evidence == (grain.address,)


def test_an_open_finding_keeps_its_words_however_much_was_said_since(noted: Desk) -> None:
    rec = noted.recommendation(noted.only()["id"])
    old = noted.store.remarks(MEMORY, [rec.target.parts[0].grain])  # type: ignore[union-attr]
    [remark] = old.values()
    later = (
        replace(remark, name=remark_name("loop.llm", noted.now + n, f"{n:032x}"), group=f"g{n}") for n in range(1, 260)
    )
    noted.plant(*later)
    noted.record(make_fact("naps", relation="note"))
    noted.run()
    assert noted.only()["summary"] == SUMMARY
    assert noted.recommendation(rec.id).target == rec.target


def test_another_analyzers_words_push_none_out_of_sight(noted: Desk) -> None:
    rec = noted.recommendation(noted.only()["id"])
    [remark] = noted.store.newest_remarks(MEMORY, "loop.llm", 10)
    others = (
        replace(remark, name=remark_name("ext.a", noted.now + n, f"{n:032x}"), family="ext.a") for n in range(260)
    )
    noted.plant(*others)
    assert [said.recommendation for said in noted.store.newest_remarks(MEMORY, "loop.llm", 10)] == [rec.id]


@pytest.mark.parametrize("value", ["early riser", "a secret of kim"])
def test_what_is_forgotten_while_a_model_is_asked_leaves_nothing_of_what_it_said(
    desk: Desk, model: ScriptedModel, value: str
) -> None:
    def forgetting(request: ModelRequest) -> list[dict[str, Any]]:
        [fact] = [grain for grain in desk.grains().values() if grain.body.get("object") == value]
        forget.forget(desk.store, desk.call(), Wanted(address=fact.address), "asked for")
        return about_sam(request, summary=f"sam and {value}")

    desk.outside = model.outside()
    model.drafts = forgetting
    record_notes(desk)
    desk.record(make_fact("a secret of kim", subject="kim"))
    outcome = desk.run()
    assert {"id": "loop.llm/1", "reason": "forgotten meanwhile"} in outcome["analyzers_skipped"]
    assert desk.queue() == []
    assert value not in repr(desk.snapshot())


def test_whoever_asked_for_a_pass_that_died_cannot_accept_what_a_later_one_finds(
    desk: Desk, model: ScriptedModel
) -> None:
    def dying(_request: ModelRequest) -> list[dict[str, Any]]:
        raise Crash

    desk.outside = model.outside()
    model.drafts = dying
    record_notes(desk)
    with pytest.raises(Crash):
        desk.run(by=TRIGGER)
    model.drafts = about_sam
    desk.now += LEASE_MS
    desk.record(make_fact("naps", relation="note"))
    desk.run(by=OTHER)
    with pytest.raises(SelfApprovalError):
        review.approve(desk.store, desk.call(by=TRIGGER), desk.only()["id"], "it is right")


def test_who_lets_a_snoozed_finding_be_found_again_cannot_accept_it(noted: Desk) -> None:
    rec_id = noted.only()["id"]
    snooze.snooze(noted.store, noted.call(), rec_id, "later", until=noted.now + DAY_MS)
    noted.record(make_fact("naps", relation="note"))
    noted.run(by=OTHER)
    with pytest.raises(SelfApprovalError):
        review.approve(noted.store, noted.call(by=OTHER), rec_id, "it is right")


def test_a_model_that_keeps_failing_is_asked_ever_more_seldom_and_then_left(desk: Desk, model: ScriptedModel) -> None:
    desk.outside = model.outside()
    model.failing["verify"] = "server"
    record_notes(desk)
    for _ in range(5):
        desk.run()
    assert [request.op for request in model.seen].count("discover") == 1
    for _ in range(200):
        desk.now += 3_600_000
        desk.run()
    assert [request.op for request in model.seen].count("discover") == 6


def test_more_grains_than_fit_are_shown_in_several_passes_and_a_cut_sweep_resolves_nothing(
    desk: Desk, finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "MAX_GRAINS", 3)
    for number in range(6):
        desk.record(make_fact(f"secret {number}", subject=f"s{number}"))
    for _ in range(3):
        desk.run()
    assert sorted(len(message["grains"]) for message in finder.asked) == [3, 3]
    assert len(desk.queue()) == 6
    desk.run(full_sweep=True)
    assert len(desk.queue()) == 6


def test_a_finding_whose_words_were_forgotten_takes_no_new_one_in(noted: Desk, model: ScriptedModel) -> None:
    address = next(iter(noted.facts().values())).address
    forget.forget(noted.store, noted.call(), Wanted(address=address), "asked for")
    noted.record(make_fact("naps", relation="note"))
    model.drafts = lambda request: about_sam(request, summary="sam naps and sleeps")
    noted.run()
    assert noted.only()["summary"] == "sam naps and sleeps"


def test_a_sweep_that_had_no_time_for_models_is_made_up_for(noted: Desk, model: ScriptedModel) -> None:
    asked = len(model.seen)
    noted.outside = model.outside(left_ms=lambda: 20_000)
    noted.run(full_sweep=True)
    noted.outside = model.outside()
    noted.run()
    assert len(model.seen) > asked


def test_an_error_nobody_expected_leaves_no_text_of_the_memory_in_the_log(
    desk: Desk, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_args: Any, **_more: Any) -> None:
        raise ValueError("cannot read 'sleeps till noon'")

    monkeypatch.setattr(look_outside, "gather", broken)
    desk.outside = model.outside()
    record_notes(desk)
    assert desk.run()["outcome"] == "ran"
    assert "ValueError" in repr([vars(record) for record in caplog.records])
    assert "noon" not in caplog.text


def verified(model: ScriptedModel) -> int:
    """How often somebody was asked to judge."""
    return [request.op for request in model.seen].count("verify")


def test_what_a_model_says_again_by_the_same_evidence_is_judged_no_second_time(
    noted: Desk, model: ScriptedModel
) -> None:
    before = noted.recommendation(noted.only()["id"])
    model.drafts = lambda request: about_sam(
        request, evidence=[i["id"] for i in items(request, "evidence") if "riser" in i["text"] or "noon" in i["text"]]
    )
    noted.record(make_fact("naps", relation="note"))
    outcome = noted.run(by=OTHER)
    assert (outcome["model"]["calls"], outcome["model"]["drafts"], verified(model)) == (1, 0, 1)
    assert noted.recommendation(before.id) == before
    review.approve(noted.store, noted.call(by=OTHER), before.id, "it is right")


@pytest.mark.parametrize("decide", ["", "reject", "acknowledge"])
def test_what_was_decided_is_not_judged_again_without_more_evidence(
    noted: Desk, model: ScriptedModel, decide: str
) -> None:
    if decide:
        getattr(review, decide)(noted.store, noted.call(by=OTHER), noted.only()["id"], "sam works in shifts")
    noted.run(full_sweep=True, at=noted.now + 200 * DAY_MS if decide else noted.now)
    assert verified(model) == 1


@pytest.mark.parametrize("decide", [False, True])
def test_what_a_program_found_earlier_or_a_person_refused_then_is_no_finding_of_a_model(
    desk: Desk, model: ScriptedModel, decide: bool
) -> None:
    desk.record(make_fact("Berlin"), make_fact("Lisbon"))
    desk.run()
    found = desk.only()
    assert found["analyzer"] == "loop.contradiction_sweep/1"
    if decide:
        desk.reject(found["id"])
    desk.outside = model.outside()
    model.drafts = lambda request: about_sam(
        request, evidence=[i["id"] for i in items(request, "evidence") if "lives_in" in i["text"]]
    )
    desk.record(make_fact("naps", relation="note"))
    outcome = desk.run()
    assert (outcome["model"]["drafts"], outcome["model"]["stopped"], verified(model)) == (0, "dropped", 0)


def test_another_finding_about_the_target_of_a_known_one_is_judged(desk: Desk, model: ScriptedModel) -> None:
    desk.record(make_fact("Berlin"), make_fact("Lisbon"))
    desk.run()
    desk.outside = model.outside()
    model.drafts = lambda request: about_sam(
        request, evidence=[i["id"] for i in items(request, "evidence") if "Lisbon" in i["text"] or "note" in i["text"]]
    )
    desk.record(make_fact("walks to the office in Berlin", relation="note"))
    desk.run()
    assert verified(model) == 1
    assert SUMMARY in {row["summary"] for row in desk.queue()}
