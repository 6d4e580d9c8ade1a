"""Findings that a model need not make again: those of this pass, those of programs about what it is shown, and those
that models made, as long as they are open or were decided.

Keys of programs' findings stand under the groups of the grains shown, so looking follows what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from provenloop.analyzers.model_findings import LLM
from provenloop.domain.address import cluster_of
from provenloop.domain.recommendation import FindingKey, Recommendation, family_of
from provenloop.reflection.bundle import Evidence, Known
from provenloop.services.news import Log
from provenloop.services.outside_findings import Said
from provenloop.services.texts import Texts, refs_within


def known_findings(
    log: Log, shown: Sequence[Evidence], settled: Iterable[Recommendation], said: Said
) -> tuple[Known, ...]:
    """What is known about the grains shown.

    Args:
        settled: the recommendations that this pass found cause for.
        said: what models said before; more evidence makes it worth telling again.
    """
    keys = (key for group in _groups(shown) for key in log.store.finding_keys(log.memory, group))
    ids = {name for key in keys for name in _ids(key)}
    about = log.store.recommendations(log.memory, sorted(ids)).values() if ids else ()
    own = (rec for remark in said.remarks if (rec := said.recommendation(remark)) and not remark.is_erased)
    found = {rec.id: rec for rec in (*settled, *about, *own) if rec.status != "expired"}
    texts = Texts(log.store, log.memory, refs_within([rec.target.parts for rec in found.values()]), log.now)
    return tuple(Known(target_text(rec, texts), frozenset(rec.evidence), _is_own(rec)) for rec in found.values())


def target_text(rec: Recommendation, texts: Texts) -> str:
    """The target of a recommendation as evidence names it."""
    return f"{rec.target.scheme}:{'/'.join(map(str, texts.joined(rec.target.parts)))}"


def _groups(shown: Iterable[Evidence]) -> Iterator[str]:
    """Under which groups programs keep what they find of grains; what they find of tools, this pass has settled."""
    wanted: dict[str, None] = {}
    for item in shown:
        if item.kind in ("observation", "goal"):
            wanted[item.address] = None
        elif item.kind != "tool_call":
            wanted[cluster_of(item.address)] = None
    return iter(wanted)


def _ids(key: FindingKey) -> Iterator[str]:
    """The recommendations that are open under a key, or were the last that anybody decided about."""
    yield from (name for name in (key.open_id, key.last_id) if name is not None)


def _is_own(rec: Recommendation) -> bool:
    return rec.family == family_of(LLM.id)
