"""What each analyzer runs with in one memory: the manifest's defaults, as host policy and memory configuration restrict
them. Where the two disagree, the stricter one holds; only the policy grants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from provenloop.analyzers.contract import Analyzer, Manifest, Parameters
from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.memory_config import AnalyzerConfig, MemoryConfig
from provenloop.domain.policy import CLOSED, Grant, Policy
from provenloop.domain.recommendation import Severity, family_of, severity_rank

#: What an installation has of the ``needs`` of manifests.
CAPABILITIES = frozenset({"telemetry"})
_VERSION_CHARS = 16


@dataclass(frozen=True, slots=True)
class Setting:
    """One analyzer as it runs in one memory. ``skip_reason`` says why it does not run at all, ``grants`` what the host
    policy lets it have applied by itself.

    ``version`` names all of it: where it differs from the one a memory was analyzed with, every group has to be looked
    at anew, and what waits is held against the policy once more. ``origin`` says where findings come from,
    ``co_creators`` who let them be made. What ``sees_news`` only does not take back what it does not find again.
    """

    analyzer: Analyzer
    parameters: Parameters
    severity_floor: Severity
    namespaces: tuple[str, ...]
    skip_reason: str | None
    version: str
    grants: tuple[Grant, ...] = ()
    origin: str = "builtin"
    co_creators: tuple[str, ...] = ()
    sees_news: bool = False

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
    analyzers: Sequence[Analyzer], config: MemoryConfig, capabilities: frozenset[str], policy: Policy = CLOSED
) -> tuple[Setting, ...]:
    """The settings in the order in which a pass runs them.

    Args:
        capabilities: what this installation has of the ``needs`` of manifests, such as ``telemetry``.
        policy: the host's; it can take the capability ``telemetry`` away.
    """
    held = capabilities - {"telemetry"} if policy.telemetry == "off" else capabilities
    return tuple(setting_of(analyzer, config, held, policy) for analyzer in analyzers)


def setting_of(analyzer: Analyzer, config: MemoryConfig, capabilities: frozenset[str], policy: Policy) -> Setting:
    """The setting of one analyzer."""
    manifest, family = analyzer.manifest, family_of(analyzer.manifest.id)
    own = config.analyzers.get(family, AnalyzerConfig())
    setting = Setting(
        analyzer=analyzer,
        parameters={**manifest.defaults(), **own.parameters},
        severity_floor=max(own.severity_floor or "info", policy.floor_of(family, manifest.trust), key=severity_rank),
        namespaces=own.namespaces,
        skip_reason=_skip_reason(manifest, own, capabilities, policy),
        version="",
        grants=policy.grants_to(family),
    )
    return replace(setting, version=_version(setting))


def _skip_reason(manifest: Manifest, own: AnalyzerConfig, capabilities: frozenset[str], policy: Policy) -> str | None:
    if not (manifest.default_on if own.enabled is None else own.enabled):
        return "disabled"
    if policy.denies(family_of(manifest.id), manifest.trust):
        return "denied by host policy"
    missing = [need for need in manifest.needs if need not in capabilities]
    return f"missing capability: {', '.join(missing)}" if missing else None


def _version(setting: Setting) -> str:
    """Where nothing is granted and nothing held back, the same as without either."""
    parts: list[object] = [
        setting.analyzer.manifest.id,
        dict(setting.parameters),
        sorted(setting.namespaces),
        setting.skip_reason or "",
    ]
    if setting.grants or setting.severity_floor != "info":
        parts += [[asdict(grant) for grant in setting.grants], setting.severity_floor]
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
