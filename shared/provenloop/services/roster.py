"""Every analyzer there is under a host policy: those of ours, those the host registered, and the models."""

from __future__ import annotations

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.contract import Analyzer, Manifest
from provenloop.analyzers.model_findings import LLM
from provenloop.domain.errors import NotFoundError
from provenloop.domain.policy import Policy
from provenloop.domain.recommendation import family_of
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.services.outside_findings import OutsideAnalyzer


def analyzers_of(policy: Policy) -> tuple[Analyzer, ...]:
    """All of them, in the order in which a pass runs them."""
    outside = (*map(manifest_of, policy.analyzers), LLM)
    return (*ANALYZERS, *map(OutsideAnalyzer, outside))


def outside_families(policy: Policy) -> tuple[str, ...]:
    """The families of external analyzers and of models."""
    return tuple(family_of(each) for each in (*(registered.id for registered in policy.analyzers), LLM.id))


def analyzer_named(name: str, policy: Policy) -> Analyzer:
    """By id, or by family without the version.

    Raises:
        NotFoundError: there is no such analyzer.
    """
    for analyzer in analyzers_of(policy):
        if name in (analyzer.manifest.id, family_of(analyzer.manifest.id)):
            return analyzer
    raise NotFoundError("no such analyzer", field="analyzer")


def manifest_of(registered: RegisteredAnalyzer) -> Manifest:
    """What is told of an external analyzer before it is asked."""
    return Manifest(
        id=registered.id,
        title=family_of(registered.id),
        line="An external analyzer that the host registered.",
        tier="T2",
        trust="command",
        default_on=True,
        sources=(),
        kinds=registered.needs,
    )
