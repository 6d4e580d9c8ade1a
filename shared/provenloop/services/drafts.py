"""How a draft becomes a recommendation, and how it refreshes one that is open.

Identity, origin and flags are stamped here; an analyzer cannot claim them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenloop.analyzers.contract import Examination, Marks, View
from provenloop.domain.errors import AnalyzerError, LoopError
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import digest_of, require_sound_proposal
from provenloop.domain.recommendation import (
    MAX_EVIDENCE,
    Draft,
    FindingKey,
    Recommendation,
    expiry_of,
    recommendation_id,
    severity_rank,
)
from provenloop.services.pass_settings import Setting

#: How much the evidence has to grow before a finding that waits speaks early.
TENFOLD = 10


def require_sound(draft: Draft) -> None:
    """Refuse a draft that could not be stored, applied and undone.

    Raises:
        AnalyzerError: which a pass reports, and stores nothing of.
    """
    if len(draft.evidence) > MAX_EVIDENCE:
        raise AnalyzerError(f"at most {MAX_EVIDENCE} grains are cited as evidence")
    require_sound_proposal(draft.proposal)


def stamp(setting: Setting, key: FindingKey, draft: Draft, *, memory: MemoryId, now: int) -> Recommendation:
    """The recommendation a draft becomes: identity, origin and flags come from here, never from the analyzer."""
    manifest = setting.analyzer.manifest
    return Recommendation(
        id=recommendation_id(f"{memory.tenant}/{memory.name}", key.dedup_key, key.occurrences),
        dedup_key=key.dedup_key,
        family=key.family,
        group=key.group,
        occurrence=key.occurrences,
        analyzer=manifest.id,
        parameters=dict(setting.parameters),
        origin=setting.origin,
        namespace=draft.namespace,
        target=draft.target,
        summary=draft.summary,
        severity=draft.severity,
        proposal=draft.proposal,
        proposal_digest=digest_of(draft.proposal),
        destructive=draft.proposal.is_destructive,
        rollbackable=draft.proposal.is_rollbackable,
        evidence=draft.evidence,
        count=draft.count,
        confidence=draft.confidence,
        created_at=now,
        updated_at=now,
        expires_at=expiry_of(now),
        creators=(f"engine:{manifest.id}", *setting.co_creators),
        metric=draft.metric,
        count_at_revision=draft.count,
        earlier=key.last_id,
    )


def says_something_new(rec: Recommendation, draft: Draft) -> bool:
    """Whether the evidence has grown into something a reviewer would want to see again."""
    return draft.severity != rec.severity or draft.count >= 2 * rec.count_at_revision


def has_moved(rec: Recommendation, draft: Draft, co_creators: Sequence[str] = ()) -> bool:
    """Whether there is other evidence than what is stored, or somebody else let it be found once more."""
    return not set(co_creators) <= set(rec.creators) or (rec.evidence, rec.count, rec.summary, rec.metric) != (
        draft.evidence, draft.count, draft.summary, draft.metric
    )  # fmt: skip


def refreshed(rec: Recommendation, draft: Draft, now: int, co_creators: Sequence[str] = ()) -> Recommendation:
    """The recommendation with the figures as of now, those of advice included; proposal and severity stay."""
    return replace(
        rec,
        proposal=draft.proposal if draft.proposal.advice is not None else rec.proposal,
        evidence=draft.evidence,
        count=draft.count,
        confidence=draft.confidence,
        summary=draft.summary,
        target=draft.target,
        metric=draft.metric,
        creators=tuple(dict.fromkeys((*rec.creators, *co_creators))),
        updated_at=now,
        expires_at=max(rec.expires_at, expiry_of(now)),
    )


def is_quiet(key: FindingKey, draft: Draft, now: int) -> bool:
    """Whether a finding has to wait. One that was refused or undone may speak early once it has become much worse."""
    if key.cooldown_until is None or key.cooldown_until <= now:
        return False
    if key.last_status not in ("rejected", "rolled_back") or not key.silenced_count:
        return True
    is_graver = severity_rank(draft.severity) > severity_rank(key.silenced_severity)
    return not is_graver and draft.count < TENFOLD * key.silenced_count


def in_the_words_of(rec: Recommendation, draft: Draft) -> Draft:
    """A draft from outside about what is open: with the words that were stored, and no others."""
    return replace(draft, target=rec.target, summary=rec.summary, proposal=rec.proposal, remark=None)


def examined(setting: Setting, view: View, now: int, marks: Marks) -> Examination:
    """What the analyzer says, where it has a fault its failure: no analyzer can fail a pass, and none has anything
    stored that could not be applied and undone.
    """
    try:
        examination = setting.analyzer.examine(view, setting.parameters, now, marks)
        for draft in examination.drafts:
            require_sound(draft)
    except LoopError:
        raise
    except Exception as error:
        raise AnalyzerError(f"{setting.analyzer.manifest.id} failed") from error
    return examination
