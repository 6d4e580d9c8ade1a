"""The entry by which a measurement is told: exactly one form is accepted, in the order in which horizons pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from provenloop.domain.audit import AuditEntry, ChainHead, author_of, engine_author, head_after, next_entry
from provenloop.domain.chain_check import Break, verify_chain
from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS, TOOL_ERRORS, Checkpoint, Reading
from provenloop.domain.measured_step import MEASURER, measured_effects
from provenloop.domain.proposal import Proposal
from provenloop.domain.recommendation import Metric, Recommendation, Summary, Target
from tests.builders import ADMIN, NOW

DAY, WEEK, MONTH = HORIZONS_MS
METRIC = Metric(TOOL_ERRORS, 5, 7, 30, "t")
REC = Recommendation(
    id="abcdefghijklmnopqrstuvwx23", dedup_key="k", family="loop.tool_failure", group="t", occurrence=0,
    analyzer="loop.tool_failure/1", parameters={}, origin="builtin", namespace="shared",
    target=Target("entity", ("lessons",)), summary=Summary("tool_failure.cluster"), severity="high",
    proposal=Proposal(), proposal_digest="d" * 64, destructive=False, rollbackable=True, evidence=(), count=5,
    confidence=0.7, created_at=NOW, updated_at=NOW, expires_at=NOW, creators=(), metric=METRIC, status="applied",
)  # fmt: skip
STEPS = (("", "pending"), ("pending", "approved"), ("approved", "applied"))
ENGINE = engine_author("engine:loop.tool_failure/1")
REASON = "no measurement comes to this"


def measured(horizon_ms: int, reading: Reading) -> Checkpoint:
    planned = Checkpoint(REC.id, horizon_ms, NOW + horizon_ms + GRACE_MS)
    return planned.measured(METRIC, reading, NOW)


HELD = measured_effects(REC, measured(DAY, Reading(0, 3)))
LATE = replace(measured(DAY, Reading(0, 3)), verdict="regressed", late_errors=1, late_calls=1, corrected_at=NOW)
CORRECTED = measured_effects(REC, LATE)
REGRESSED = measured_effects(REC, measured(WEEK, Reading(2, 3)))
INCONCLUSIVE = measured_effects(REC, measured(MONTH, Reading(0, 0)))


def chain_of(
    told: Sequence[Mapping[str, Any]], by: Mapping[str, str] | None = None, applied: Any = REC.proposal_digest
) -> list[AuditEntry]:
    """An applied recommendation's chain, with measured entries of those effects; ``applied`` is the proposal named."""
    entries: list[AuditEntry] = []
    steps = [(before, after, ENGINE, {"revision": 1, "proposal": applied}) for before, after in STEPS]
    kept = [("applied", "applied", by or engine_author(MEASURER), effects) for effects in told]
    for n, (before, after, author, effects) in enumerate([*steps, *kept]):
        head = head_after(entries[-1]) if entries else ChainHead()
        entry = next_entry(head, subject=REC.id, before=before, after=after, by=author, at=NOW + n, effects=effects)
        entries.append(entry)
    return entries


def verified(entries: Sequence[AuditEntry]) -> Break | None:
    return verify_chain(REC.id, entries, head=head_after(entries[-1]), status="applied")


def test_the_effects_are_which_proposal_was_measured_numbers_and_a_verdict() -> None:
    assert {
        "revision": 1,
        "severity": REC.severity,
        "proposal": REC.proposal_digest,
        "horizon_ms": DAY,
        "verdict": "regressed",
        "errors": 0,
        "calls": 3,
        "late_errors": 1,
        "late_calls": 1,
        "baseline_errors": 5,
        "baseline_calls": 7,
    } == CORRECTED


@pytest.mark.parametrize(
    "told",
    [
        [HELD],
        [HELD, REGRESSED, INCONCLUSIVE],
        [HELD, CORRECTED],
        [HELD, CORRECTED, REGRESSED],
        [REGRESSED],
        [INCONCLUSIVE],
    ],
)
def test_horizons_that_pass_one_after_another_and_one_correction_are_accepted(told: list[dict[str, Any]]) -> None:
    assert verified(chain_of(told)) is None


@pytest.mark.parametrize(
    "told",
    [
        [HELD, HELD],
        [REGRESSED, HELD],
        [HELD, CORRECTED, CORRECTED],
        [CORRECTED],
        [HELD, REGRESSED, CORRECTED],
        [HELD, {**CORRECTED, "late_errors": 0}],
        [HELD, {**CORRECTED, "verdict": "held"}],
        [INCONCLUSIVE, {**CORRECTED, "horizon_ms": MONTH}],
    ],
)
def test_any_other_order_is_a_break_at_the_last_of_them(told: list[dict[str, Any]]) -> None:
    assert verified(chain_of(told)) == Break(REC.id, len(STEPS) + len(told), REASON)


@pytest.mark.parametrize(
    "more",
    [
        {"verdict": "fine"},
        {"verdict": None},
        {"horizon_ms": 2 * DAY},
        {"horizon_ms": float(DAY)},
        {"proposal": "e" * 64},
        {"proposal": "d" * 63},
        {"proposal": None},
        {"errors": -1},
        {"errors": True},
        {"calls": "3"},
        {"late_calls": None},
        {"text": "sam lives in Berlin"},
        {"late_calls": 1},
    ],
    ids=str,
)
def test_effects_of_any_other_form_are_a_break(more: dict[str, Any]) -> None:
    assert verified(chain_of([{**HELD, **more}])) == Break(REC.id, 4, REASON)


@pytest.mark.parametrize("name", sorted(HELD))
def test_effects_that_lack_something_are_a_break(name: str) -> None:
    less = {each: value for each, value in HELD.items() if each != name}
    assert verified(chain_of([less])) == Break(REC.id, 4, REASON)


@pytest.mark.parametrize("applied", ["e" * 64, "d", None, ["d" * 64]], ids=str)
def test_a_measurement_of_another_proposal_than_was_applied_is_a_break(applied: Any) -> None:
    assert verified(chain_of([HELD], applied=applied)) == Break(REC.id, 4, REASON)


@pytest.mark.parametrize("by", [author_of(ADMIN), ENGINE, {**engine_author(MEASURER), "kind": "human"}], ids=str)
def test_nobody_but_the_engine_that_measures_writes_one(by: dict[str, str]) -> None:
    assert verified(chain_of([HELD], by)) == Break(REC.id, 4, REASON)


def test_a_measurement_moves_no_status_and_an_undo_may_follow() -> None:
    entries = chain_of([HELD])
    assert verify_chain(REC.id, entries, status="rolled_back") is not None
    undone = next_entry(
        head_after(entries[-1]), subject=REC.id, before="applied", after="rolled_back", by=author_of(ADMIN), at=NOW
    )
    assert verify_chain(REC.id, [*entries, undone], head=head_after(undone), status="rolled_back") is None


@pytest.mark.parametrize(
    ("before", "after"), [("pending", "rolled_back"), ("pending", "acknowledged-by-eve"), ("pending", "")]
)
def test_a_step_that_the_lifecycle_does_not_have_is_a_break(before: str, after: str) -> None:
    first = chain_of([])[0]
    entry = next_entry(head_after(first), subject=REC.id, before=before, after=after, by=ENGINE, at=NOW)
    assert verify_chain(REC.id, [first, entry]) == Break(REC.id, 2, "the lifecycle has no such step")


def test_the_chain_of_something_else_has_steps_of_its_own() -> None:
    subject, head = "config:memory", ChainHead()
    first = next_entry(head, subject=subject, before="", after="set", by=ENGINE, at=NOW)
    second = next_entry(head_after(first), subject=subject, before="set", after="set", by=ENGINE, at=NOW)
    assert verify_chain(subject, [first, second], status="set") is None
