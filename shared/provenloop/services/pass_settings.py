"""What each analyzer runs with in one memory: the manifest's defaults, as the memory's configuration restricts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from provenloop.analyzers.contract import Analyzer, Parameters
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.recommendation import Severity, family_of, severity_rank

#: What an installation has of the ``needs`` of manifests.
CAPABILITIES = frozenset({"telemetry"})
_VERSION_CHARS = 16


@dataclass(frozen=True, slots=True)
class Setting:
    """One analyzer as it runs in one memory. ``skip_reason`` says why it does not run at all.

    ``version`` names everything but the floor, which decides about proposing and not about finding: where it differs
    from the one a memory was analyzed with, every group has to be looked at anew.
    """

    analyzer: Analyzer
    parameters: Parameters
    severity_floor: Severity
    namespaces: tuple[str, ...]
    skip_reason: str | None
    version: str

    @property
    def family(self) -> str:
        """The analyzer's id without its version."""
        return family_of(self.analyzer.manifest.id)

    def admits(self, namespace: str) -> bool:
        """Whether the analyzer may speak about a namespace."""
        return not self.namespaces or namespace in self.namespaces

    def is_below_floor(self, severity: str) -> bool:
        """Whether a new finding of this severity is too slight to be proposed."""
        return severity_rank(severity) < severity_rank(self.severity_floor)


def settings_of(
    analyzers: Sequence[Analyzer], config: MemoryConfig, capabilities: frozenset[str]
) -> tuple[Setting, ...]:
    """The settings in the order in which a pass runs them.

    Args:
        capabilities: what this installation has of the ``needs`` of manifests, such as ``telemetry``.
    """
    return tuple(_setting(analyzer, config, capabilities) for analyzer in analyzers)


def _setting(analyzer: Analyzer, config: MemoryConfig, capabilities: frozenset[str]) -> Setting:
    manifest = analyzer.manifest
    own = config.analyzers.get(family_of(manifest.id), AnalyzerConfig())
    parameters = {**manifest.defaults(), **own.parameters}
    skip_reason = _skip_reason(own.enabled if own.enabled is not None else manifest.default_on, manifest.needs,
                               capabilities)  # fmt: skip
    return Setting(
        analyzer=analyzer,
        parameters=parameters,
        severity_floor=own.severity_floor or "info",
        namespaces=own.namespaces,
        skip_reason=skip_reason,
        version=_version(manifest.id, parameters, own.namespaces, skip_reason),
    )


def _skip_reason(is_enabled: bool, needs: Sequence[str], capabilities: frozenset[str]) -> str | None:  # noqa: FBT001
    missing = [need for need in needs if need not in capabilities]
    if not is_enabled:
        return "disabled"
    return f"missing capability: {', '.join(missing)}" if missing else None


def _version(
    analyzer_id: str, parameters: Mapping[str, object], namespaces: Sequence[str], skip_reason: str | None
) -> str:
    parts = [analyzer_id, dict(parameters), sorted(namespaces), skip_reason or ""]
    return sha256_hex(canonical_json(parts))[:_VERSION_CHARS]


def shown(setting: Setting) -> dict[str, object]:
    """An analyzer's manifest and how it is set in this memory."""
    return {
        **asdict(setting.analyzer.manifest),
        "enabled": setting.skip_reason is None,
        "skip_reason": setting.skip_reason,
        "effective": dict(setting.parameters),
        "severity_floor": setting.severity_floor,
        "namespaces": list(setting.namespaces),
    }
