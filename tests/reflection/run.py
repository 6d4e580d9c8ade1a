"""Runs the stages over the corpus, through the real adapter against a model server, and notes what became of what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.domain.outside import OutsideFinding
from provenloop.reflection.bundle import Limits
from provenloop.services.ask_stage import keys_of
from provenloop.services.reflect import Reflected, reflect
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.model_server import ModelServer
from tests.precision.bench.times import NOW
from tests.reflection.bundles import Shown, shown
from tests.reflection.corpus import Labelled, Memory, memories
from tests.reflection.judge import Judge
from tests.reflection.script import Script

MAIN, GROUND = "claude-opus-5-5", "claude-haiku-5-5"
LEFT_MS = 60_000


@dataclass(frozen=True)
class Key:
    """A key that is always the same."""

    text: str

    def current(self) -> str:
        """See ``ModelKey``."""
        return self.text


@dataclass(frozen=True)
class Fate:
    """How far a labelled proposal came: ``offered`` by DISCOVER, ``claimed`` (it broke no rule), ``grounded``,
    ``kept`` by VERIFY with this ``confidence``, and ``out``: handed on.
    """

    draft: Labelled
    offered: bool = False
    claimed: bool = False
    grounded: bool = False
    kept: bool = False
    confidence: float = 0.0
    out: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of one memory: of what is labelled, of proposals that break a rule (how many came to each stage), and
    findings that nobody labelled.
    """

    memory: Memory
    reflected: Reflected
    fates: Sequence[Fate]
    broken: Mapping[str, int]
    unknown: Sequence[OutsideFinding]


def run(server: ModelServer, judge: Judge, *, grounds: bool = True, verifies: bool = True) -> list[Outcome]:
    """Reflect on every memory of the corpus.

    Args:
        grounds, verifies: whether those stages judge, or say yes to everything.
    """
    provider = AnthropicModel(server.url)
    models = ReflectionModels(
        ReflectionModel(provider, Key("key-of-main"), MAIN), ReflectionModel(provider, Key("key-of-ground"), GROUND)
    )
    return [_outcome(server, models, Script(shown(memory), judge, grounds, verifies)) for memory in memories()]


def _outcome(server: ModelServer, models: ReflectionModels, script: Script) -> Outcome:
    server.plays(script.play)
    reflected = reflected_on(script.shown, models)
    out, unknown = told_apart(script.shown, reflected.findings)
    fates = [_fate(script, draft, draft in out) for draft in script.shown.memory.drafts]
    return Outcome(script.shown.memory, reflected, fates, script.broken, unknown)


def reflected_on(given: Shown, models: ReflectionModels) -> Reflected:
    """What comes of one memory."""
    keys = keys_of(models)
    assert keys is not None
    return reflect(given.bundle, models, keys, Limits(), left_ms=lambda: LEFT_MS, row_id=given.memory.name, now=NOW)


def told_apart(given: Shown, findings: Iterable[OutsideFinding]) -> tuple[list[Labelled], list[OutsideFinding]]:
    """The labelled ones that findings are, and the findings that are none."""
    pairs = [(finding, match(given, finding)) for finding in findings]
    return [draft for _, draft in pairs if draft is not None], [finding for finding, draft in pairs if draft is None]


def match(given: Shown, finding: OutsideFinding) -> Labelled | None:
    """What a finding is: of what is labelled and rests on evidence that it cites, what needs most of that evidence;
    of several, what has its target, and then what is not sound.
    """
    cited, target = frozenset(finding.evidence), f"{finding.target.scheme}:{'/'.join(map(str, finding.target.parts))}"
    near = [draft for draft in given.memory.drafts if given.cited_by(draft) <= cited]
    return max(
        near,
        key=lambda draft: (len(draft.cites), given.target_of(draft) == target, not draft.is_right),
        default=None,
    )


def _fate(script: Script, draft: Labelled, is_out: bool) -> Fate:
    kept, confidence = script.judged.get(draft.says, (False, 0.0))
    return Fate(
        draft,
        offered=draft.says in script.offered,
        claimed=draft.says in script.claimed,
        grounded=draft.says in script.judged,
        kept=kept,
        confidence=confidence,
        out=is_out,
    )
