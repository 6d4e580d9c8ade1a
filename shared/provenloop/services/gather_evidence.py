"""What a model is shown of a memory in one pass: this pass's findings in short, the grains they cite, what is new, what
else is held about the same subjects, and what people decided about earlier findings of models.

Forgotten words are in none of it. Nothing here is sent as it stands: it is quoted, cut and labelled first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice

from provenloop.domain.address import Addresses
from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.outside import plain_text
from provenloop.domain.recommendation import Recommendation
from provenloop.domain.text import normalise
from provenloop.domain.visible import visible
from provenloop.reflection.bundle import (
    KEPT_CHARS,
    MAX_BRIEFS,
    MAX_EVIDENCE,
    MAX_TASTE,
    Brief,
    Bundle,
    Decided,
    Evidence,
)
from provenloop.services.known_findings import known_findings, target_text
from provenloop.services.news import Log, News
from provenloop.services.outside_findings import Said
from provenloop.services.texts import Texts, refs_within, render

#: Kinds of grains that models read; calls only where a finding cites them.
SHOWN_KINDS = frozenset({"fact", "observation", "skill", "goal", "event"})
MAX_SUBJECTS = 16
_ORDER = ("fact", "observation", "goal", "skill", "event")
_APPROVED = frozenset({"approved", "applied", "acknowledged"})
_SHELVES: Mapping[str, tuple[str, str]] = {
    "tool_call": ("lessons", "tool"), "skill": ("skills", "name"), "goal": ("goals", "name"),
}  # fmt: skip


def gather(
    log: Log,
    addresses: Addresses,
    news: News,
    settled: Sequence[str],
    said: Said,
    admits: Callable[[str], bool] = lambda _namespace: True,
) -> Bundle:
    """The bundle of one pass.

    Args:
        settled: ids of the recommendations that this pass found cause for.
        said: what models said before.
        admits: whether anything of a namespace may be shown; ``news`` is of such ones already.
    """
    found = log.store.recommendations(log.memory, settled[:MAX_BRIEFS]) if settled else {}
    recommendations = [found[each] for each in settled[:MAX_BRIEFS] if each in found and admits(found[each].namespace)]
    wanted = islice(dict.fromkeys(address for rec in recommendations for address in rec.evidence), MAX_EVIDENCE)
    cited = (grain for grain in log.live(wanted) if admits(grain.namespace))
    approved, rejected = _decided(log, said, admits)
    evidence = _evidence((*cited, *_newest(news.grains)), partial(_related, log, addresses, news.grains))
    known = known_findings(log, evidence, found.values(), said)
    return Bundle(tuple(_briefs(log, recommendations)), evidence, approved, rejected, known)


def _briefs(log: Log, recommendations: Sequence[Recommendation]) -> Iterator[Brief]:
    texts = Texts(log.store, log.memory, refs_within([[rec.target.parts, rec.summary.args] for rec in recommendations]),
                  log.now)  # fmt: skip
    for rec in recommendations:
        summary = render(rec.summary.template, texts.joined(rec.summary.args))
        yield Brief(rec.analyzer, plain_text(summary, KEPT_CHARS), target_text(rec, texts), rec.severity)


def _newest(grains: Iterable[Grain]) -> Sequence[Grain]:
    """By kind, and of each kind the newest first."""
    newest = sorted(grains, key=lambda grain: (grain.recorded_at, grain.place, grain.address), reverse=True)
    return sorted(newest, key=lambda grain: _ORDER.index(grain.kind))


def _related(log: Log, addresses: Addresses, grains: Iterable[Grain]) -> Iterator[Grain]:
    """What else is held about the subjects of new facts: a new fact may only be odd beside an old one."""
    subjects = {(grain.namespace, normalise(text_of(grain, "subject"))) for grain in grains if grain.kind == "fact"}
    for namespace, subject in islice(sorted(subjects), MAX_SUBJECTS):
        prefix = addresses.entity_prefix("fact", namespace, subject)
        about = log.store.grains_after(log.memory, prefix, "", MAX_EVIDENCE, log.now)
        yield from _newest(grain for grain in about if grain.is_live(log.now))


def _evidence(first: Sequence[Grain], more: Callable[[], Iterator[Grain]]) -> tuple[Evidence, ...]:
    """Each grain once, and none without a text; ``more`` where there is room for it."""
    shown: dict[str, tuple[Grain, str]] = {}
    for grain in chain(first, more()):
        if len(shown) == MAX_EVIDENCE:
            break
        text = "" if grain.address in shown else evidence_text(grain)
        if text:
            shown[grain.address] = grain, text
    return tuple(
        Evidence(f"e{n}", grain.address, grain.kind, target_of(grain), text, fact_of(grain))
        for n, (grain, text) in enumerate(shown.values(), 1)
    )


def evidence_text(grain: Grain) -> str:
    """What a grain says, in at most 1,000 characters; empty where it says nothing any more."""
    if not grain.body:
        return ""
    fact = fact_of(grain)
    if fact is not None:
        text = " ".join(fact)
    elif grain.kind == "observation":
        text = text_of(grain, "text")
    else:
        text = canonical_json(visible(grain.body))
    return plain_text(text, KEPT_CHARS)


def fact_of(grain: Grain) -> tuple[str, str, str] | None:
    """The subject, the relation and the object of a fact; None for any other grain."""
    if grain.kind != "fact":
        return None
    return text_of(grain, "subject"), text_of(grain, "relation"), text_of(grain, "object")


def target_of(grain: Grain) -> str:
    """How a finding about a grain names its target."""
    if grain.kind == "fact":
        return f"entity:{grain.namespace}/{text_of(grain, 'subject')}"
    shelf = _SHELVES.get(grain.kind)
    return f"entity:{shelf[0]}/{text_of(grain, shelf[1])}" if shelf is not None else f"grain:{grain.address}"


def _decided(log: Log, said: Said, admits: Callable[[str], bool]) -> tuple[tuple[Decided, ...], tuple[Decided, ...]]:
    """The last decisions about what models found, newest first, with their reasons."""
    pairs = [(remark, rec) for remark in said.remarks if (rec := said.recommendation(remark)) and not remark.is_erased]
    pairs = [pair for pair in pairs if all(map(admits, pair[0].namespaces))]
    pairs.sort(key=lambda pair: -pair[1].updated_at)
    approved = [pair for pair in pairs if pair[1].status in _APPROVED][:MAX_TASTE]
    rejected = [pair for pair in pairs if pair[1].status == "rejected"][:MAX_TASTE]
    reasons = _reasons(log, (rec for _, rec in (*approved, *rejected)))
    told = [
        tuple(Decided(remark.summary, plain_text(reasons.get(rec.id, ""), KEPT_CHARS)) for remark, rec in some)
        for some in (approved, rejected)
    ]
    return told[0], told[1]


def _reasons(log: Log, recommendations: Iterable[Recommendation]) -> Mapping[str, str]:
    """The last reason that was given for each."""
    notes = log.store.notes_at(log.memory, [(rec.id, rec.chain.n) for rec in recommendations])
    return {subject: note.because for (subject, _), note in notes.items()}
