"""Configuring a memory: what an admin sets for its analyzers, checked whole before anything is stored.

Configuration can only restrict. The change, its audit entry and the reason are one transaction; the next pass looks at
everything anew that the changed analyzers speak about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from provenloop.analyzers.contract import Analyzer
from provenloop.analyzers.parameters import parse_parameters
from provenloop.domain.audit import author_of, new_chain
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.errors import BusyError, IntegrityError, InvalidInputError
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig, ParameterValue
from provenloop.domain.policy import CLOSED, Policy
from provenloop.domain.recommendation import Severity, family_of
from provenloop.domain.records import Due
from provenloop.lessons.card import check_not_rules
from provenloop.lessons.folding import check_folds
from provenloop.lessons.settings import DEFAULTS, check_settings, settings_from
from provenloop.recipes.settings import check_settings as check_recipe_settings
from provenloop.services.call import Call
from provenloop.services.declare import declare
from provenloop.services.memories import require_heads
from provenloop.services.migrate_cards import DUE_MIGRATION
from provenloop.services.outbox import chain_step, reason_on
from provenloop.services.pass_settings import CAPABILITIES, settings_of, shown
from provenloop.services.ports import Put, Replace, Store, Write, WriteRefusedError
from provenloop.services.ready_cards import DUE_READINESS
from provenloop.services.roster import analyzer_named, analyzers_of
from provenloop.services.sweep import DUE_SWEEP

CHAIN = "config:memory"
CONFIGURED = "configured"
_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What to set; None leaves a thing as it is. ``parameters`` are laid over those set before.

    ``clear_parameters`` and ``clear_floor`` go back to the defaults first; an empty ``namespaces`` admits all.
    ``lessons`` are laid over the settings of lessons, after ``clear_lessons`` went back to their defaults;
    ``lesson_folds`` take the place of the memory's own folds, ``lesson_not_rules`` of the cards that are no rules here.
    ``recipes`` and ``clear_recipes`` as for lessons.
    """

    analyzer: str | None = None
    enabled: bool | None = None
    parameters: Mapping[str, Any] | None = None
    clear_parameters: bool = False
    severity_floor: Severity | None = None
    clear_floor: bool = False
    namespaces: Sequence[str] | None = None
    passes_enabled: bool | None = None
    lessons: Mapping[str, Any] | None = None
    clear_lessons: bool = False
    lesson_folds: Mapping[str, str] | None = None
    recipes: Mapping[str, Any] | None = None
    clear_recipes: bool = False
    lesson_not_rules: Sequence[str] | None = None

    @property
    def of_memory(self) -> ConfigChange:
        """What of it is about no analyzer."""
        return ConfigChange(
            passes_enabled=self.passes_enabled,
            lessons=self.lessons,
            clear_lessons=self.clear_lessons,
            lesson_folds=self.lesson_folds,
            recipes=self.recipes,
            clear_recipes=self.clear_recipes,
            lesson_not_rules=self.lesson_not_rules,
        )


def configure(
    store: Store,
    call: Call,
    change: ConfigChange,
    because: str | None = None,
    policy: Policy = CLOSED,
    capabilities: frozenset[str] = CAPABILITIES,
) -> dict[str, Any]:
    """Change the memory's configuration. A change that changes nothing writes nothing.

    Args:
        policy: the host's; analyzers that it registers may be restricted, too.
        capabilities: what the installation has of the ``needs`` of manifests.

    Returns:
        ``{rev, passes_enabled, analyzers: [...], lessons, lesson_folds, lesson_not_rules, recipes}``, all as it is set
        now; ``lessons`` is None where what is stored cannot be read, ``recipes`` are only those that the memory sets
        itself.

    Raises:
        ScopeDeniedError, NotFoundError: also for an analyzer that there is not.
        ParameterError, InvalidInputError: naming the field; nothing was stored.
        BusyError: others keep changing it.
    """
    call.require("admin")
    require_heads(store, call.memory)
    analyzer = analyzer_named(change.analyzer, policy) if change.analyzer is not None else None
    if analyzer is None and change != change.of_memory:
        raise InvalidInputError("say which analyzer", field="analyzer")
    for _ in range(_MAX_ROUNDS):
        before = store.memory_config(call.memory)
        after = _changed(before, change, analyzer)
        if after == before:
            return config_told(before, policy, capabilities)
        after = replace(after, rev=before.rev + 1)
        with suppress(WriteRefusedError):
            store.transact(call.memory, list(_writes(store, call, before, after, because)), call.now)
            return config_told(after, policy, capabilities)
    raise BusyError("others keep changing the configuration; try again")


def _writes(
    store: Store, call: Call, before: MemoryConfig, after: MemoryConfig, because: str | None
) -> Iterator[Write]:
    """The configuration, its audit entry, and the wish for a pass that looks at everything anew, merges cards,
    or makes them ready.
    """
    yield Put(after) if before.rev == 0 else Replace(after, expected=before.rev)
    end = store.chain_end(call.memory, CHAIN) or new_chain(CHAIN)
    effects = {"rev": after.rev, "config": sha256_hex(canonical_json(asdict(after)))}
    note = reason_on(end, because, call.entropy)
    yield from chain_step(end, CONFIGURED, author_of(call.principal), call.now, effects, note).writes
    wanted = {
        DUE_SWEEP: (after.analyzers, after.passes_enabled) != (before.analyzers, before.passes_enabled),
        DUE_MIGRATION: after.folds != before.folds,
        DUE_READINESS: (after.lessons, after.not_rules) != (before.lessons, before.not_rules),
    }
    dues = [Due(call.now, what, "") for what, is_wanted in wanted.items() if is_wanted]
    yield from declare(store, call.memory, *dues) if dues else ()


def _changed(before: MemoryConfig, change: ConfigChange, analyzer: Analyzer | None) -> MemoryConfig:
    after = before
    if change.passes_enabled is not None:
        after = replace(after, passes_enabled=change.passes_enabled)
    if change.lessons is not None or change.clear_lessons:
        after = replace(after, lessons=_changed_lessons(before, change))
    if change.lesson_folds is not None:
        after = replace(after, folds=check_folds(change.lesson_folds))
    if change.recipes is not None or change.clear_recipes:
        given = {**({} if change.clear_recipes else before.recipes), **(change.recipes or {})}
        after = replace(after, recipes=dict(sorted(check_recipe_settings(given).items())))
    if change.lesson_not_rules is not None:
        after = replace(after, not_rules=check_not_rules(change.lesson_not_rules))
    if analyzer is None:
        return after
    family = family_of(analyzer.manifest.id)
    own = _changed_analyzer(before.analyzers.get(family, AnalyzerConfig()), change, analyzer)
    others = {name: config for name, config in before.analyzers.items() if name != family}
    return replace(after, analyzers=others if own == AnalyzerConfig() else {**others, family: own})


def _changed_lessons(before: MemoryConfig, change: ConfigChange) -> Mapping[str, ParameterValue]:
    """The settings that are not the default, all of them checked: where one is wrong none is stored."""
    given = {**({} if change.clear_lessons else before.lessons), **(change.lessons or {})}
    checked = check_settings(given)
    return {name: checked[name] for name in sorted(checked) if checked[name] != DEFAULTS[name]}


def _changed_analyzer(own: AnalyzerConfig, change: ConfigChange, analyzer: Analyzer) -> AnalyzerConfig:
    given = {**({} if change.clear_parameters else own.parameters), **(change.parameters or {})}
    checked = parse_parameters(analyzer.manifest, given)
    floor = None if change.clear_floor else own.severity_floor
    return AnalyzerConfig(
        enabled=own.enabled if change.enabled is None else change.enabled,
        parameters={name: checked[name] for name in sorted(given)},
        severity_floor=change.severity_floor or floor,
        namespaces=own.namespaces if change.namespaces is None else tuple(sorted(set(change.namespaces))),
    )


def config_told(config: MemoryConfig, policy: Policy, capabilities: frozenset[str] = CAPABILITIES) -> dict[str, Any]:
    """The configuration of a memory as it is shown, with what the policy leaves of it in force."""
    return {
        "rev": config.rev,
        "passes_enabled": config.passes_enabled,
        "analyzers": [shown(setting) for setting in settings_of(analyzers_of(policy), config, capabilities, policy)],
        "lessons": _lessons_told(config),
        "lesson_folds": dict(config.folds),
        "recipes": dict(config.recipes),
        "lesson_not_rules": list(config.not_rules),
    }


def _lessons_told(config: MemoryConfig) -> dict[str, Any] | None:
    try:
        return asdict(settings_from(config.lessons))
    except IntegrityError:
        return None
