"""Findings from outside become recommendations, through the same gates as those of built-in analyzers.

What they say stands in a remark of their own; the recommendation refers to it. They are advice only, never change
anything, and whoever let them be made is their co-creator. The same thing said again in other words, about the same
target and by mostly the same evidence, is the same finding: who reads the queue sees the first words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from provenloop.analyzers.contract import Examination, GrainView, Manifest, Marks, Parameters, View, no_marks
from provenloop.domain.address import Addresses
from provenloop.domain.grain import Grain, text_of
from provenloop.domain.lifecycle import OPEN
from provenloop.domain.names import MemoryId
from provenloop.domain.outside import SAME_EVIDENCE, OutsideFinding, in_common
from provenloop.domain.proposal import Proposal, TextRef
from provenloop.domain.questions import question_of
from provenloop.domain.recommendation import MAX_EVIDENCE, Draft, Recommendation, Summary, Target
from provenloop.domain.remark import Remark, erased, remark_name
from provenloop.domain.text import normalise
from provenloop.services.findings import Findings
from provenloop.services.pass_settings import Setting
from provenloop.services.ports import Replace, Store
from provenloop.services.remark_index import drop_words, remarks_citing

MAX_REMARKS = 200
#: A sweep that has seen everything closes what it did not find again.
MAX_REMARKS_OF_A_SWEEP = 5_000
_TOPICS: Mapping[str, str] = {"fact": "subject", "tool_call": "tool", "skill": "name", "goal": "name"}
#: What built-in analyzers write in the place of a namespace, and the kind of grains that such a target is made of.
_SHELVES: Mapping[str, str] = {"lessons": "tool_call", "skills": "skill", "goals": "goal"}


@dataclass(slots=True)
class OutsideAnalyzer:
    """An analyzer whose looking is done elsewhere: it has its drafts already."""

    manifest: Manifest
    drafts: tuple[Draft, ...] = ()

    def examine(self, view: View, parameters: Parameters, now: int, marks: Marks = no_marks) -> Examination:
        """The drafts as they are."""
        del view, parameters, now, marks
        return Examination(self.drafts)


@dataclass(frozen=True, slots=True)
class Said:
    """What one analyzer from outside said before: its newest remarks, and the recommendations made of them."""

    remarks: tuple[Remark, ...] = ()
    recommendations: Mapping[str, Recommendation] | None = None

    def recommendation(self, remark: Remark) -> Recommendation | None:
        """The recommendation that was made of a remark."""
        return (self.recommendations or {}).get(remark.recommendation)


def said_before(store: Store, memory: MemoryId, family: str, limit: int = MAX_REMARKS) -> Said:
    """What one family said before, newest first."""
    remarks = store.newest_remarks(memory, family, limit)
    ids = [remark.recommendation for remark in remarks]
    return Said(remarks, store.recommendations(memory, ids) if ids else {})


@dataclass
class OutsideFindings:
    """Settles what comes from outside in one pass.

    Args:
        namespaces: those of the memory.
    """

    store: Store
    memory: MemoryId
    addresses: Addresses
    namespaces: frozenset[str]
    findings: Findings

    def settle(self, setting: Setting, found: Sequence[OutsideFinding], said: Said) -> None:
        """Store what is sound of some findings; raises as :meth:`Findings.settle`.

        What was judged by a grain that is gone since is not sound any more.
        """
        groups: dict[str, dict[str, Draft]] = {}
        for finding in found:
            evidence = self._live(finding.evidence)
            is_whole = len(evidence) == len(dict.fromkeys(finding.evidence[:MAX_EVIDENCE]))
            if evidence and is_whole and self._is_there(finding.target, evidence):
                group, draft = self._draft(setting, finding, evidence, said)
                groups.setdefault(group, {}).setdefault(draft.parts[-1], draft)
        for group, drafts in groups.items():
            manifest = setting.analyzer.manifest
            there = replace(setting, analyzer=OutsideAnalyzer(manifest, tuple(drafts.values())))
            self.findings.settle(there, group, GrainView(group, None))
        if not setting.sees_news:
            self._resolve_unseen(said)

    def _resolve_unseen(self, said: Said) -> None:
        """Close what is open and was not found again by one that has seen everything."""
        for remark in said.remarks:
            rec = said.recommendation(remark)
            if rec is not None and rec.status in OPEN and rec.id not in self.findings.settled:
                self.findings.resolve(rec.id)

    def citing(self, addresses: Iterable[str]) -> list[str]:
        """The recommendations that were made of what was said of some grains, by id."""
        found = remarks_citing(self.store, self.memory, self.addresses, addresses)
        return list(dict.fromkeys(remark.recommendation for remark in found))

    def let_go(self, rec_id: str) -> int | None:
        """Close what is open and has no words or no live evidence left; when to look again (epoch ms), if it stays.

        Raises:
            LeaseLostError, BusyError: as :meth:`Findings.settle`.
        """
        rec = self.store.recommendations(self.memory, [rec_id]).get(rec_id)
        if rec is None or rec.status not in OPEN:
            return None
        live = self._live(rec.evidence)
        if live and self._has_words(rec):
            return lapses_at(live)
        self.findings.resolve(rec_id)
        return None

    def _has_words(self, rec: Recommendation) -> bool:
        named = {ref.grain for ref in rec.target.parts if isinstance(ref, TextRef)}
        found = self.store.remarks(self.memory, named)
        return any(not remark.is_erased for remark in found.values())

    def erase_new(self, family: str) -> None:
        """Take back the words of this pass: a grain was forgotten that their author was shown."""
        newest = self.store.newest_remarks(self.memory, family, MAX_REMARKS)
        made = [remark for remark in newest if remark.at == self.findings.now and not remark.is_erased]
        for remark in made:
            self.store.transact(self.memory, [Replace(erased(remark), remark.rev)], self.findings.now)
        drop_words(self.store, self.memory, self.addresses, made, self.findings.now)
        for remark in made:
            self.findings.resolve(remark.recommendation)

    def _live(self, addresses: Sequence[str]) -> tuple[Grain, ...]:
        wanted = tuple(dict.fromkeys(addresses))[:MAX_EVIDENCE]
        found = self.store.grains(self.memory, wanted, self.findings.now)
        return tuple(
            found[address] for address in wanted if address in found and found[address].is_live(self.findings.now)
        )

    def _draft(
        self, setting: Setting, finding: OutsideFinding, evidence: Sequence[Grain], said: Said
    ) -> tuple[str, Draft]:
        group = self.addresses.short("outside", finding.target.scheme, *map(normalise, _plain(finding.target)))
        cited = tuple(grain.address for grain in evidence)
        earlier = self._earlier(said, group, finding, cited)
        key = earlier.key if earlier is not None else self._key(finding)
        rec = said.recommendation(earlier) if earlier is not None else None
        if rec is not None and rec.status in OPEN:
            both = tuple(dict.fromkeys((*cited, *rec.evidence)))[:MAX_EVIDENCE]
            return group, replace(_as_said(rec, (group, key)), evidence=both, count=len(both),
                                  severity=finding.severity, confidence=finding.confidence)  # fmt: skip
        namespace = rec.namespace if rec is not None else self._namespace(finding.target, evidence)
        return group, self._new(setting, finding, evidence, (group, key), namespace)

    def _new(
        self,
        setting: Setting,
        finding: OutsideFinding,
        evidence: Sequence[Grain],
        parts: tuple[str, str],
        namespace: str,
    ) -> Draft:
        cited = tuple(grain.address for grain in evidence)
        namespaces = tuple(sorted({grain.namespace for grain in evidence} | {namespace}))
        name = remark_name(setting.family, self.findings.now, self.addresses.short("remark", setting.family, *parts))
        remark = Remark(
            name, self.findings.now, setting.family, *parts, "", cited,
            "/".join(_plain(finding.target)), finding.summary, finding.guidance, namespaces,
        )  # fmt: skip
        advice: dict[str, str | TextRef] = {"source": setting.analyzer.manifest.trust}
        if finding.guidance:
            advice["guidance"] = TextRef(name, "guidance")
        return Draft(
            parts=parts,
            namespace=namespace,
            severity=finding.severity,
            target=Target(finding.target.scheme, (TextRef(name, "target"),)),
            summary=Summary("outside.finding", {"text": TextRef(name, "summary")}),
            proposal=Proposal(advice=advice),
            evidence=cited,
            count=len(cited),
            confidence=finding.confidence,
            remark=remark,
            lapses_at=lapses_at(evidence),
        )

    def _key(self, finding: OutsideFinding) -> str:
        return self.addresses.short(
            "said", "key" if finding.key else "summary", finding.key or normalise(finding.summary)
        )

    def _earlier(self, said: Said, group: str, finding: OutsideFinding, cited: Sequence[str]) -> Remark | None:
        """The newest remark that says the same."""
        key = self._key(finding)
        about = [remark for remark in said.remarks if remark.group == group and not remark.is_erased]
        by_key = (remark for remark in about if remark.key == key)
        alike = (remark for remark in about if not finding.key and in_common(remark.evidence, cited) >= SAME_EVIDENCE)
        return next(by_key, None) or next(alike, None)

    def _namespace(self, target: Target, evidence: Sequence[Grain]) -> str:
        named = _plain(target)[0] if target.scheme == "entity" else ""
        return named if named in self.namespaces else evidence[0].namespace

    def _is_there(self, target: Target, evidence: Sequence[Grain]) -> bool:
        """Whether a target is something that this memory knows."""
        parts = _plain(target)
        if target.scheme == "grain":
            found = self.store.grains(self.memory, parts, self.findings.now).get(parts[0])
            return found is not None and found.state != "forgotten"
        if target.scheme == "query":
            asked = {self.addresses.address(question_of(grain.namespace, parts[0])) for grain in evidence}
            return bool(self.store.grains(self.memory, asked, self.findings.now))
        return any(_is_about(grain, *parts) for grain in evidence) or any(self._entity(*parts))

    def _entity(self, namespace: str, subject: str) -> Iterator[bool]:
        for kind in _TOPICS if namespace in self.namespaces else ():
            prefix = self.addresses.entity_prefix(kind, namespace, subject)
            grains = self.store.grains_by_prefix(self.memory, prefix, self.findings.now)
            yield any(_is_about(grain, namespace, subject) for grain in grains)


def lapses_at(evidence: Sequence[Grain]) -> int | None:
    """When the last of some grains will have lapsed (epoch ms); None where one of them stays."""
    each = ([at for at in (grain.valid_to, grain.expires_at) if at is not None] for grain in evidence)
    ends = [min(instants, default=None) for instants in each]
    return max((end for end in ends if end is not None), default=None) if None not in ends else None


def _plain(target: Target) -> tuple[str, ...]:
    return tuple(part for part in target.parts if isinstance(part, str))


def _is_about(grain: Grain, namespace: str, subject: str) -> bool:
    field = _TOPICS.get(grain.kind)
    is_there = namespace == grain.namespace or _SHELVES.get(namespace) == grain.kind
    return field is not None and is_there and normalise(text_of(grain, field)) == normalise(subject)


def _as_said(rec: Recommendation, parts: tuple[str, ...]) -> Draft:
    """An open recommendation as the draft that it was made of."""
    return Draft(
        parts=parts,
        namespace=rec.namespace,
        severity=rec.severity,
        target=rec.target,
        summary=rec.summary,
        proposal=rec.proposal,
        evidence=rec.evidence,
        count=rec.count,
        confidence=rec.confidence,
        metric=rec.metric,
    )
