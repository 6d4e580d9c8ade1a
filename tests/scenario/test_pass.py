"""A pass: when it runs, what it finds, and how findings live on while the evidence goes on moving."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import Examination
from provenloop.domain.commit import LogEntry
from provenloop.domain.errors import (
    AnalyzerError,
    IllegalTransitionError,
    InvalidInputError,
    NotFoundError,
    ScopeDeniedError,
)
from provenloop.domain.events import SupersedeEvent
from provenloop.domain.proposal import MAX_MERGES, MAX_OPERATIONS, NewFact, Operation, Proposal
from provenloop.domain.recommendation import FindingKey
from provenloop.domain.records import Due
from provenloop.services import analyze_memory, loop_state
from provenloop.services.analyze_memory import run_pass
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.findings import DUE_EXPIRY
from provenloop.services.fold import HOLE_CLOSES_AFTER_MS
from provenloop.services.ingest import record_events
from provenloop.services.lease import LEASE_MS, take_lease
from provenloop.services.pass_end import END_OF_TIME
from provenloop.services.pass_gate import PassOptions, parse_if_stale
from provenloop.services.ports import Put, Reservation
from provenloop.services.review import reject
from tests.builders import (
    DAY_MS,
    MINUTE_MS,
    NOW,
    Desk,
    addresses,
    make_calls,
    make_fact,
    make_principal,
    make_tool_call,
)
from tests.faults import Interleaving
from tests.faults.saved import SavedTable
from tests.faults.tables import TABLE
from tests.store_fixture import prepared

HOUR_MS = 3_600_000


OFF_BY_DEFAULT = [
    {"id": analyzer, "reason": "disabled"} for analyzer in ("loop.goal_stagnation/1", "loop.retention_sweep/1")
]


def outcome_of(run: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(run[name] for name in names)


def key_of(desk: Desk, rec_id: str) -> FindingKey:
    rec = desk.recommendation(rec_id)
    key = desk.store.finding_key(desk.memory, rec.family, rec.group, rec.dedup_key)
    assert key is not None
    return key


def entries_of(desk: Desk, rec_id: str) -> list[tuple[int, str]]:
    """(number, status after) of the audit entries of a recommendation."""
    shown = [entry.text for entry in desk.store.audit_entries(desk.memory, rec_id)]
    return [(n, text.rsplit('"to":"', 1)[1].rstrip('"}')) for n, text in enumerate(shown, start=1)]


# what is found


def test_the_first_pass_finds_the_failing_tool_and_the_contradiction(desk: Desk) -> None:
    desk.record(*make_calls(5, 2), make_fact("Berlin"), make_fact("Tokyo"))
    run = desk.run()
    names = ("outcome", "skip_reason", "new_grains", "new_error_events", "proposed", "deduped", "suppressed", "stored")
    assert outcome_of(run, *names) == ("ran", None, 9, 5, 2, 0, 0, 2)
    assert outcome_of(run, "refreshed", "expired", "analyzers_skipped", "watermark") == (0, 0, OFF_BY_DEFAULT, 1)
    assert run["analyzers_run"] == [a.manifest.id for a in ANALYZERS if a.manifest.default_on]
    assert loop_state.show_run(desk.store, desk.call(), run["run"]) == run
    rows = desk.queue()
    assert [(row["analyzer"], row["severity"], row["summary"]) for row in rows] == [
        ("loop.tool_failure/1", "high", "refund failed 5 of 7 calls (71 %) with: card declined"),
        ("loop.contradiction_sweep/1", "medium", "sam has 2 values of lives_in at once; the latest is Tokyo"),
    ]
    desk.verify()


def test_a_second_pass_over_the_same_finds_nothing_new(found: Desk) -> None:
    run = found.run()
    assert outcome_of(run, "new_grains", "proposed", "stored", "refreshed") == (0, 0, 0, 0)
    run = found.run(full_sweep=True)
    assert outcome_of(run, "new_grains", "proposed", "deduped", "stored", "refreshed") == (0, 2, 2, 0, 0)


def test_a_full_sweep_looks_once_at_what_is_new(desk: Desk) -> None:
    desk.record(*make_calls(5), make_fact("Oslo"), make_fact("Rome"))
    run = desk.run(full_sweep=True)
    assert outcome_of(run, "proposed", "deduped", "stored", "refreshed") == (2, 0, 2, 0)


def test_two_signatures_two_relations_and_two_namespaces_are_findings_of_their_own(desk: Desk) -> None:
    desk.record(
        *make_calls(3, name="a", error="card declined"),
        *make_calls(3, name="b", error="no such customer"),
        *make_calls(3, name="c", error="card declined", namespace="team"),
        *(make_fact(value, relation=relation) for relation in ("lives_in", "tier") for value in ("x", "y")),
        *(make_fact(value, namespace="team") for value in ("x", "y")),
    )
    assert desk.run()["stored"] == 6
    summaries = sorted((row["namespace"], row["summary"]) for row in desk.queue())
    assert len(set(summaries)) == 6
    assert sum(namespace == "team" for namespace, _ in summaries) == 2
    run = desk.run(full_sweep=True)
    assert outcome_of(run, "deduped", "stored") == (6, 0)


def test_spellings_of_a_tool_are_one_tool_and_of_a_namespace_two(desk: Desk) -> None:
    spellings = ("Refund", "refund ", "ＲＥＦＵＮＤ")
    desk.record(*(make_tool_call(f"c{n}", tool=tool, error="no") for n, tool in enumerate(spellings)))
    desk.record(
        *(make_tool_call(f"d{n}", namespace=name, error="no") for n, name in enumerate(("team", "Team", "TEAM")))
    )
    assert desk.run()["stored"] == 1


def test_errors_in_several_commits_add_up(desk: Desk) -> None:
    for n in range(3):
        desk.record(*make_calls(1, name=f"b{n}"))
        stored = desk.run()["stored"]
        assert stored == (n == 2)


# gates


CLOSED: list[dict[str, Any]] = [
    {"min_new": 4},
    {"min_new_errors": 2},
    {"min_new": 4, "min_new_errors": 2},
    {"min_new": 4, "if_stale_ms": HOUR_MS},
]


def test_a_pass_is_skipped_where_all_its_gates_are_closed_and_writes_nothing(found: Desk) -> None:
    found.record(*make_calls(1, 2, name="new"))
    before = found.snapshot()
    found.now += 40 * MINUTE_MS
    for options in CLOSED:
        run = found.run(**options)
        assert outcome_of(run, "outcome", "skip_reason") == ("skipped", "gate")
        assert outcome_of(run, "new_grains", "new_error_events", "analyzers_run") == (3, 1, [])
    assert found.snapshot() == before


@pytest.mark.parametrize(
    "options",
    [{}, {"min_new": 3}, {"min_new": 4, "min_new_errors": 1}, {"min_new": 4, "if_stale_ms": 30 * MINUTE_MS}],
)
def test_a_pass_runs_when_any_of_its_gates_is_open(found: Desk, options: dict[str, Any]) -> None:
    found.record(*make_calls(1, 2, name="new"))
    run = found.run(at=found.now + 40 * MINUTE_MS, **options)
    assert outcome_of(run, "outcome", "skip_reason", "new_grains", "new_error_events") == ("ran", None, 3, 1)


def test_a_memory_that_never_had_a_pass_is_stale(desk: Desk) -> None:
    assert desk.run(if_stale_ms=10**9)["outcome"] == "ran"
    assert desk.run(if_stale_ms=10**9)["outcome"] == "skipped"


def test_a_due_timer_opens_every_gate(desk: Desk) -> None:
    later = desk.now + HOUR_MS
    desk.record(make_fact("Berlin"), make_fact("Tokyo", valid_from=later))
    assert desk.run()["stored"] == 0
    assert desk.run(at=later - 10, min_new=1)["skip_reason"] == "gate"
    run = desk.run(at=later, min_new=1)
    assert outcome_of(run, "outcome", "stored") == ("ran", 1)
    assert desk.run(min_new=1)["skip_reason"] == "gate"


def test_the_counts_are_exact_where_duplicates_let_the_head_run_ahead(desk: Desk) -> None:
    calls = make_calls(3, 2)
    desk.record(*calls)
    desk.run()
    desk.record(*calls, make_tool_call("new"))
    run = desk.run(min_new=2, min_new_errors=1)
    assert outcome_of(run, "skip_reason", "new_grains", "new_error_events") == ("gate", 1, 0)
    run = desk.run(min_new=1)
    assert outcome_of(run, "outcome", "new_grains", "new_error_events") == ("ran", 1, 0)


def test_a_commit_that_came_after_its_number_was_missed_opens_the_gate(desk: Desk) -> None:
    head = desk.store.reserve(desk.memory, Reservation(1, 0, frozenset({"shared"}), desk.now, desk.now))
    assert head is not None
    desk.run()
    assert desk.run(min_new=1)["skip_reason"] == "gate"
    desk.store.transact(desk.memory, [Put(LogEntry(head.seq, "late", desk.now, "ann", grains=1))], desk.now)
    run = desk.run(min_new=1)
    assert outcome_of(run, "outcome", "new_grains") == ("ran", 1)


def test_a_number_that_is_never_written_is_given_up_and_reported(desk: Desk) -> None:
    desk.store.reserve(desk.memory, Reservation(1, 0, frozenset(), desk.now, desk.now))
    desk.run()
    health = loop_state.health(desk.store, desk.call())
    assert (health["holes"], health["holes_dropped"]) == ([1], 0)
    desk.run(at=desk.now + HOLE_CLOSES_AFTER_MS + 1)
    health = loop_state.health(desk.store, desk.call())
    assert (health["holes"], health["holes_dropped"], health["analyzed"]) == ([], 1, 1)


@pytest.mark.parametrize(("text", "ms"), [("1s", 1000), ("90m", 5_400_000), ("6h", 21_600_000), ("7d", 604_800_000)])
def test_a_duration_is_a_number_and_a_unit(text: str, ms: int) -> None:
    assert parse_if_stale(text) == ms


@pytest.mark.parametrize(
    "text", ["", "6", "h", "6hours", "1.5h", "-1h", "0h", "6H", " 6h", "6h ", "6h\n", "1h30m", "٦h", "9999999h"]
)
def test_what_is_no_duration_is_refused_and_never_means_no_gate(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_if_stale(text)
    assert caught.value.field == "if_stale"


# leases, requests


def test_a_pass_waits_for_nobody_and_takes_over_when_a_lease_has_run_out(desk: Desk) -> None:
    desk.record(*make_calls(3))
    heads = desk.store.heads(desk.memory)
    assert heads is not None
    take_lease(desk.store, desk.memory, heads.folds, "dead", desk.now)
    before = desk.snapshot()
    assert outcome_of(desk.run(), "outcome", "skip_reason") == ("skipped", "busy")
    assert desk.snapshot() == before
    run = desk.run(at=desk.now + LEASE_MS)
    assert outcome_of(run, "outcome", "stored") == ("ran", 1)


def test_a_pass_asked_for_again_with_its_key_answers_what_it_came_to(desk: Desk) -> None:
    desk.record(*make_calls(3))
    first = run_pass(desk.store, desk.call(key="k1"), PassOptions(), run_id="run-k1")
    desk.record(*make_calls(3, name="more"))
    assert run_pass(desk.store, desk.call(key="k1"), PassOptions(), run_id="run-k1") == first


def test_only_a_writer_of_an_existing_memory_may_ask_for_a_pass(desk: Desk) -> None:
    for principal in (make_principal("bob", "read", "review", "apply"), make_principal("bob", memories="team")):
        with pytest.raises(ScopeDeniedError):
            run_pass(desk.store, desk.call(by=principal), PassOptions(), run_id="r")
    elsewhere = replace(desk.call(), memory=desk.memory._replace(name="missing"))
    with pytest.raises(NotFoundError):
        run_pass(desk.store, elsewhere, PassOptions(), run_id="r")


class Failing:
    """An analyzer that fails on every group."""

    def __init__(self, error: Exception) -> None:
        self.manifest = replace(ANALYZERS[0].manifest, id="loop.failing/1")
        self._error = error

    def examine(self, *_: object) -> Examination:
        raise self._error


@pytest.mark.parametrize("error", [AnalyzerError("no"), KeyError("a bug"), ZeroDivisionError()], ids=repr)
def test_one_failing_analyzer_is_a_skip_entry_and_is_tried_again_soon(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    desk.record(*make_calls(3), make_fact("Berlin"), make_fact("Tokyo"))
    monkeypatch.setattr(analyze_memory, "ANALYZERS", (Failing(error), *ANALYZERS))
    run = desk.run()
    assert outcome_of(run, "outcome", "stored") == ("ran", 2)
    assert run["analyzers_skipped"] == [{"id": "loop.failing/1", "reason": "PVL-E030"}, *OFF_BY_DEFAULT]
    assert desk.run(at=desk.now + 6 * MINUTE_MS, min_new=10)["outcome"] == "ran"


TARGET, INTO = "a" * 64, "b" * 64
MERGE = Operation("MERGE", target=TARGET, into=INTO, expects={TARGET: 1, INTO: 1})
FORGET = Operation("FORGET", target=TARGET, expects={TARGET: 1})
LESSON = Operation("ADD", fact=NewFact("shared", "kim", "likes", "cake", 0.5))
UNSOUND: dict[str, Proposal] = {
    "nothing": Proposal(),
    "two things at once": Proposal((FORGET,), revert_of="r"),
    "too much": Proposal((FORGET,) * (MAX_OPERATIONS + 1)),
    "what cannot be undone at once": Proposal((MERGE,) * (MAX_MERGES + 1)),
    "no fact to add": Proposal((replace(LESSON, fact=None),)),
    "a merge into nothing": Proposal((replace(MERGE, into=None),)),
    "a merge with itself": Proposal((replace(MERGE, into=TARGET),)),
    "a removal that replaces": Proposal((replace(FORGET, fact=LESSON.fact),)),
    "a change of what was not looked at": Proposal((replace(MERGE, expects={TARGET: 1}),)),
}


class Overreaching(Failing):
    """An analyzer that proposes whatever it is given."""

    def __init__(self, proposal: Proposal, evidence: int = 1) -> None:
        super().__init__(KeyError())
        self._draft: dict[str, Any] = {"proposal": proposal, "evidence": tuple(f"{n:064x}" for n in range(evidence))}

    def examine(self, *args: Any) -> Examination:
        found = ANALYZERS[0].examine(*args)
        return replace(found, drafts=tuple(replace(draft, **self._draft) for draft in found.drafts))


@pytest.mark.parametrize(
    "overreaching",
    [*map(Overreaching, UNSOUND.values()), Overreaching(Proposal((LESSON,)), evidence=65)],
    ids=[*UNSOUND, "evidence without end"],
)
def test_nothing_is_stored_of_what_could_not_be_applied_and_undone(
    store: DynamoStore, monkeypatch: pytest.MonkeyPatch, overreaching: Overreaching
) -> None:
    desk, _ = prepared(store, failing_calls)
    monkeypatch.setattr(analyze_memory, "ANALYZERS", (overreaching,))
    run = desk.run()
    assert outcome_of(run, "outcome", "proposed", "stored") == ("ran", 0, 0)
    assert run["analyzers_skipped"] == [{"id": "loop.failing/1", "reason": "PVL-E030"}]
    assert list(desk.store.all_recommendations(desk.memory)) == []


def failing_calls(desk: Desk) -> None:
    desk.record(*make_calls(3))


# refresh and revision


def test_growing_evidence_moves_the_figures_without_a_revision(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    before = found.recommendation(rec_id)
    found.record(*make_calls(2, name="more"))
    run = found.run()
    assert outcome_of(run, "proposed", "deduped", "stored", "refreshed") == (1, 1, 0, 1)
    after = found.recommendation(rec_id)
    assert (after.count, after.summary.args["percent"], after.revision) == (7, 78, 1)
    assert len(after.evidence) == 7
    assert (after.proposal, after.proposal_digest, after.chain) == (
        before.proposal,
        before.proposal_digest,
        before.chain,
    )
    assert after.updated_at > before.updated_at
    found.verify()


def test_twice_the_evidence_is_a_revision_with_an_audit_entry(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.record(*make_calls(5, name="more"))
    found.run()
    after = found.recommendation(rec_id)
    assert (after.count, after.revision, after.status, after.reason) == (10, 2, "pending", "revised")
    assert entries_of(found, rec_id) == [(1, "pending"), (2, "pending")]
    found.record(*make_calls(9, name="again"))
    found.run()
    assert found.recommendation(rec_id).revision == 2
    found.record(*make_calls(1, name="last"))
    found.run()
    assert found.recommendation(rec_id).revision == 3
    found.verify()


def test_another_severity_is_a_revision(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.record(*make_calls(0, 3, name="good"))
    found.run()
    after = found.recommendation(rec_id)
    assert (after.severity, after.count, after.revision) == ("medium", 5, 2)


def test_another_proposal_is_a_revision(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    before = found.recommendation(rec_id)
    found.record(make_fact("Rome"))
    found.run()
    after = found.recommendation(rec_id)
    assert (after.revision, len(after.proposal.operations)) == (2, 2)
    assert after.proposal_digest != before.proposal_digest
    assert found.queue(analyzer="loop.contradiction_sweep")[0]["proposal_digest"] == after.proposal_digest


def test_a_pass_that_changes_nothing_writes_nothing_to_a_finding(found: Desk) -> None:
    before = {rec.id: rec for rec in found.store.all_recommendations(found.memory)}
    found.record(make_fact("Oslo", subject="kim"), make_tool_call("other", tool="other"))
    found.run(full_sweep=True)
    assert {rec.id: rec for rec in found.store.all_recommendations(found.memory)} == before


# approved


def test_an_approved_finding_is_frozen_while_its_evidence_grows(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve(rec_id)
    before = found.recommendation(rec_id)
    found.record(*make_calls(20, name="more"))
    run = found.run()
    assert outcome_of(run, "stored", "refreshed", "expired") == (0, 0, 0)
    assert found.recommendation(rec_id) == before
    assert found.apply(rec_id)["status"] == "applied"


def test_an_approved_finding_whose_proposal_would_differ_goes_back_to_pending(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve(rec_id)
    found.record(make_fact("Rome"))
    found.run()
    after = found.recommendation(rec_id)
    assert (after.status, after.reason, after.approval, after.revision) == ("pending", "changed", None, 2)
    assert [status for _, status in entries_of(found, rec_id)] == ["pending", "approved", "pending"]
    with pytest.raises(IllegalTransitionError):
        found.apply(rec_id)
    found.approve(rec_id)
    assert found.apply(rec_id)["status"] == "applied"
    found.verify()


# resolved, aged


@pytest.mark.parametrize("approved", [False, True])
def test_a_contradiction_that_was_resolved_elsewhere_is_closed(found: Desk, approved: bool) -> None:
    rec_id = found.finding("contradiction_sweep")
    if approved:
        found.approve(rec_id)
    found.record(SupersedeEvent(found.facts()["Berlin"].address, make_fact("Tokyo")))
    assert found.run()["expired"] == 1
    after = found.recommendation(rec_id)
    assert (after.status, after.reason) == ("expired", "resolved")
    key = key_of(found, rec_id)
    assert (key.open_id, key.strikes, key.cooldown_until) == (None, 0, None)
    found.record(make_fact("Rome"))
    assert found.run()["stored"] == 1
    assert found.recommendation(found.finding("contradiction_sweep")).earlier == rec_id
    found.verify()


def test_a_failing_tool_that_works_again_is_closed(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.record(*make_calls(0, 10, name="good"))
    assert found.run()["expired"] == 1
    assert found.recommendation(rec_id).reason == "resolved"


def test_a_failing_tool_is_closed_when_its_errors_leave_the_window(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    last = NOW - NOW % DAY_MS + 30 * DAY_MS
    found.run(at=last - 10)
    assert found.recommendation(rec_id).status == "pending"
    run = found.run(at=last, min_new=1)
    assert outcome_of(run, "outcome", "expired") == ("ran", 1)
    assert found.recommendation(rec_id).reason == "resolved"


def test_a_finding_that_nobody_decides_ages_and_is_quiet_for_thirty_days(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    expires_at = found.recommendation(rec_id).expires_at
    found.run(at=expires_at - 10, min_new=1)
    assert found.recommendation(rec_id).status == "pending"
    found.run(at=expires_at, min_new=1)
    aged = found.recommendation(rec_id)
    assert (aged.status, aged.reason) == ("expired", "aged")
    key = key_of(found, rec_id)
    assert (key.open_id, key.strikes, key.cooldown_until) == (None, 0, found.now + 30 * DAY_MS)
    found.record(make_fact("Rome"))
    assert outcome_of(found.run(), "suppressed", "stored") == (1, 0)
    assert key.cooldown_until is not None
    run = found.run(at=key.cooldown_until, min_new=1)
    # By then nobody has recalled the facts for a month, which is a finding of its own.
    assert outcome_of(run, "outcome", "stored") == ("ran", 2)
    again = found.recommendation(found.finding("contradiction_sweep"))
    assert (again.earlier, again.occurrence) == (rec_id, 1)
    found.verify()


def test_findings_of_one_tool_that_age_in_one_pass_all_age(desk: Desk) -> None:
    texts = ("card declined", "no such customer")
    desk.record(*(call for n, text in enumerate(texts) for call in make_calls(4, name=f"a{n}", error=text)))
    desk.run()
    recs = list(desk.store.all_recommendations(desk.memory))
    assert len(recs) == 2
    soon = desk.now + HOUR_MS
    desk.plant(*(replace(rec, expires_at=soon) for rec in recs), *(Due(soon, DUE_EXPIRY, rec.id) for rec in recs))
    assert desk.run(at=soon)["expired"] == 2
    after = desk.store.recommendations(desk.memory, [rec.id for rec in recs]).values()
    assert {rec.status for rec in after} == {"expired"}
    desk.verify()


def test_a_refreshed_finding_does_not_age_at_its_old_time(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    old = found.recommendation(rec_id).expires_at
    found.now += 40 * DAY_MS
    found.record(make_fact("Rome"))
    found.run()
    found.run(at=old, min_new=1)
    assert found.recommendation(rec_id).status == "pending"
    assert found.recommendation(rec_id).expires_at >= old + 40 * DAY_MS


@pytest.mark.parametrize("at_call", [10, 11])
def test_an_approval_while_a_finding_ages_does_not_keep_it_open_for_ever(found: Desk, at_call: int) -> None:
    """The decision comes before the pass's call number ``at_call``."""
    rec_id = found.finding("contradiction_sweep")
    expires_at = found.recommendation(rec_id).expires_at
    passing = Interleaving(found.client, schedule=[0] * at_call + [1] * 9)
    found.now = expires_at
    call = found.call()
    passing.actor("pass", lambda: run_pass(found.store, call, PassOptions(), run_id="aging"))
    passing.actor("reviewer", lambda: found.approve(rec_id))
    try:
        passing.run()
    finally:
        passing.remove()
    found.run(at=expires_at + 10 * MINUTE_MS, min_new=1)
    assert found.recommendation(rec_id).status == "expired"
    found.verify()


def test_whatever_is_declared_while_a_pass_ends_the_timer_leads_to_it(found: Desk) -> None:
    """A rejection makes an instant due that lies behind the timer and ahead of all else that is declared."""
    rec_id = found.finding("contradiction_sweep")
    configure(found.store, found.call(), ConfigChange(analyzer="loop.staleness", enabled=False))
    saved, call, by_reviewer = SavedTable(found.client, TABLE), found.call(), found.call()
    with found.counted() as calls:
        run_pass(found.store, call, PassOptions(), run_id="ending")
    left = []
    for at_call in range(len(calls) - 9, len(calls) + 1):
        saved.restore()
        race = Interleaving(found.client, schedule=[0] * at_call + [1] * 9)
        race.actor("pass", lambda: run_pass(found.store, call, PassOptions(), run_id="ending"))
        race.actor("reviewer", lambda: reject(found.store, by_reviewer, rec_id, "not now"))
        try:
            race.run()["reviewer"].result()
        finally:
            race.remove()
        heads = found.store.heads(found.memory)
        [first, *_] = found.store.due(found.memory, END_OF_TIME, 1)
        assert heads is not None
        left.append((first.due_at - found.now, heads.timer.due_at == first.due_at))
    assert left == [(7 * DAY_MS, True)] * 10


def test_a_finding_that_cannot_be_read_does_not_fail_the_pass(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.plant(Due(found.now, DUE_EXPIRY, rec_id))
    key = {"pk": {"S": "T#acme#M#demo#LOOP"}, "sk": {"S": f"REC#{rec_id}"}}
    found.client.update_item(
        TableName=TABLE, Key=key, UpdateExpression="SET doc = :d", ExpressionAttributeValues={":d": {"B": b"{"}}
    )
    found.record(*make_calls(3, tool="other"))
    run = found.run()
    assert outcome_of(run, "outcome", "stored") == ("ran", 1)
    assert {"id": "expiry", "reason": "PVL-E060"} in run["analyzers_skipped"]
    assert found.run(at=found.now + 6 * MINUTE_MS, min_new=9)["outcome"] == "ran"


# rejected, applied


def test_a_rejected_finding_is_quiet_for_its_time_and_comes_back_naming_the_earlier(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    ids = [rec_id]
    for days in (7, 14):
        found.reject(ids[-1])
        rejected_at = found.now
        found.record(make_fact(f"city {days} {len(ids)}"))
        run = found.run()
        assert outcome_of(run, "suppressed", "stored") == (1, 0)
        assert found.run(at=rejected_at + days * DAY_MS - 10, min_new=1)["stored"] == 0
        run = found.run(at=rejected_at + days * DAY_MS, min_new=1)
        assert outcome_of(run, "outcome", "stored") == ("ran", 1)
        new = found.finding("contradiction_sweep")
        assert found.recommendation(new).earlier == ids[-1]
        ids.append(new)
    assert len(set(ids)) == 3
    assert key_of(found, rec_id).strikes == 2
    found.verify()


def test_a_rejected_signature_mutes_no_other(found: Desk) -> None:
    found.reject(found.finding("tool_failure"))
    found.record(*make_calls(9, name="other", error="no such customer"))
    assert outcome_of(found.run(), "suppressed", "stored") == (0, 1)


def test_what_was_applied_is_proposed_again_only_on_failures_that_came_after(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    assert outcome_of(found.run(full_sweep=True), "stored", "suppressed") == (0, 0)
    found.record(*make_calls(2, name="after"))
    assert found.run()["stored"] == 0
    answer = found.record(*make_calls(1, name="third"))
    assert found.run()["stored"] == 1
    again = found.recommendation(found.finding("tool_failure"))
    assert (again.earlier, again.count, again.occurrence) == (rec_id, 3, 1)
    assert addresses(answer)[0] in again.evidence
    assert len(again.evidence) == 3
    assert found.recommendation(rec_id).status == "applied"
    found.verify()


def test_late_reports_of_failures_before_the_apply_do_not_count_as_failures_after_it(found: Desk) -> None:
    found.approve_and_apply(found.finding("tool_failure"))
    found.record(*make_calls(9, name="late", occurred_at=NOW - HOUR_MS))
    assert found.run()["stored"] == 0


def test_an_applied_contradiction_is_found_again_with_a_new_value_only(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    assert found.run(full_sweep=True)["stored"] == 0
    found.record(make_fact("Rome"))
    assert found.run()["stored"] == 1
    assert found.recommendation(found.finding("contradiction_sweep")).earlier == rec_id


def test_a_value_whose_time_comes_after_an_apply_contradicts(desk: Desk) -> None:
    later = desk.now + 3 * DAY_MS
    desk.record(make_fact("Berlin"), make_fact("Tokyo"), make_fact("Rome", valid_from=later))
    desk.run()
    desk.approve_and_apply(desk.finding("contradiction_sweep"))
    assert desk.run()["stored"] == 0
    assert desk.run(at=later, min_new=1)["stored"] == 1


def test_a_rolled_back_finding_is_quiet_and_then_proposed_again(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    found.roll_back(rec_id)
    undone_at = found.now
    assert outcome_of(found.run(), "suppressed", "stored") == (1, 0)
    assert found.run(at=undone_at + 7 * DAY_MS - 10, min_new=1)["stored"] == 0
    assert found.run(at=undone_at + 7 * DAY_MS, min_new=1)["stored"] == 1
    assert found.recommendation(found.finding("contradiction_sweep")).earlier == rec_id


def test_undoing_an_apply_leaves_the_open_finding_of_its_key_alone(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    found.record(make_fact("Rome"))
    found.run()
    second = found.finding("contradiction_sweep")
    found.roll_back(rec_id)
    found.run()
    assert found.finding("contradiction_sweep") == second
    assert key_of(found, second).open_id == second
    found.approve_and_apply(second)
    assert set(found.facts()) == {"Rome"}
    found.verify()


def test_undoing_an_older_apply_keeps_the_newer_one_s_mark(found: Desk) -> None:
    rec_id = found.finding("tool_failure")
    found.approve_and_apply(rec_id)
    found.record(*make_calls(5, name="after"))
    found.run()
    second = found.finding("tool_failure")
    found.approve_and_apply(second)
    found.roll_back(rec_id)
    assert key_of(found, second).applied_id == second
    found.now += 8 * DAY_MS
    assert found.run(full_sweep=True)["stored"] == 0


# health


def test_health_tells_watermarks_and_what_waits(found: Desk) -> None:
    found.record(*make_calls(1, 1, name="new"), make_fact("x", namespace="team"))
    health = loop_state.health(found.store, found.call())
    assert (health["stale"], health["new_grains"], health["new_error_events"]) == (False, 3, 1)
    assert (health["seq"], health["folded"], health["analyzed"]) == (2, 1, 1)
    assert (health["holes"], health["set_aside"], health["namespaces"]) == ([], [], ["shared", "team"])
    assert health["next_due_at"] == "2027-02-14T00:00:00.000Z"
    assert loop_state.health(found.store, replace(found.call(), now=found.now + 7 * DAY_MS))["stale"]


def test_nothing_a_loop_writes_counts_as_new(found: Desk) -> None:
    rec_id = found.finding("contradiction_sweep")
    found.approve_and_apply(rec_id)
    found.approve_and_apply(found.finding("tool_failure"))
    found.roll_back(rec_id)
    assert loop_state.health(found.store, found.call())["new_grains"] == 0
    assert found.run(min_new=1, min_new_errors=1)["skip_reason"] == "gate"


def test_grains_of_another_principal_count_like_any(desk: Desk) -> None:
    record_events(desk.store, desk.call(by=make_principal("bot", "write", kind="agent")), make_calls(3))
    assert desk.run(min_new=3)["stored"] == 1
    lessons = [grain for grain in desk.grains().values() if grain.by == "bot"]
    assert len(lessons) == 3
