"""The settings of lessons in one memory: their defaults, their ranges, and what follows from them.

Invariant: settings that are in force are within their ranges; what is stored and is not, is no setting at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from provenloop.domain.errors import IntegrityError, ParameterError
from provenloop.domain.instants import DAY_MS
from provenloop.domain.memory_config import ParameterValue
from provenloop.domain.setting_values import checked_flag, checked_number

RATIO_STEPS = 20
"""Steps of ``demote_ratio`` between 0 and 1."""
_GIB = 1 << 30
_LONGEST_MS = 365 * DAY_MS


@dataclass(frozen=True, slots=True)
class LessonSettings:
    """What holds in one memory. Thresholds count, ``_days`` and ``_ms`` are spans; 0 in the last and in
    ``max_lessons_bytes`` means that there is no cap.
    """

    enabled: bool = True
    report_enabled: bool = True
    inject_enabled: bool = True
    section_enabled: bool = True
    promote_threshold: int = 3
    demote_threshold: int = 3
    demote_min_samples: int = 5
    demote_ratio: float = 0.5
    decay_days: int = 30
    revive_threshold: int = 3
    max_lessons_bytes: int = 0
    digest_timeout_ms: int = 120_000
    decay_interval_ms: int = DAY_MS
    max_injected_rules: int = 50

    @property
    def takes_reports(self) -> bool:
        """Whether lessons are taken in, and whether a digest may be asked for."""
        return self.enabled and self.report_enabled

    @property
    def injects(self) -> bool:
        """Whether armed rules are put before agents."""
        return self.enabled and self.inject_enabled

    @property
    def shows_section(self) -> bool:
        """Whether the standing section is."""
        return self.enabled and self.section_enabled


#: Lowest and highest value of each number.
RANGES: Mapping[str, tuple[float, float]] = {
    "promote_threshold": (1, 20),
    "demote_threshold": (1, 50),
    "demote_min_samples": (1, 100),
    "demote_ratio": (0.05, 1),
    "decay_days": (1, 365),
    "revive_threshold": (1, 20),
    "max_lessons_bytes": (0, _GIB),
    "digest_timeout_ms": (1000, _LONGEST_MS),
    "decay_interval_ms": (1000, _LONGEST_MS),
    "max_injected_rules": (0, 1000),
}
DEFAULTS: Mapping[str, ParameterValue] = asdict(LessonSettings())
NAMES = tuple(field.name for field in fields(LessonSettings))


def check_settings(given: Mapping[str, Any], *, field: str = "lessons") -> Mapping[str, ParameterValue]:
    """What was given, once all of it is right.

    Raises:
        ParameterError: naming the first that is unknown, of another type or out of its range.
    """
    return {name: _checked(name, value, f"{field}.{name}") for name, value in given.items()}


def settings_from(stored: Mapping[str, Any]) -> LessonSettings:
    """The settings in force: the defaults, with what is stored laid over them.

    Raises:
        IntegrityError: something that is stored is no setting.
    """
    try:
        return LessonSettings(**check_settings(stored))  # type: ignore[arg-type]
    except ParameterError as error:
        raise IntegrityError("the stored settings of lessons cannot be read") from error


def _checked(name: str, value: Any, field: str) -> ParameterValue:
    default = DEFAULTS.get(name)
    if default is None:
        raise ParameterError(f"unknown; one of {', '.join(NAMES)}", field=field)
    if isinstance(default, bool):
        return checked_flag(value, field)
    is_whole = isinstance(default, int)
    number = checked_number(value, RANGES[name], field, is_whole=is_whole)
    return number if is_whole else _in_steps(number, field)


def _in_steps(value: float, field: str) -> float:
    steps = round(value * RATIO_STEPS)
    if abs(value * RATIO_STEPS - steps) > 1e-9:
        raise ParameterError(f"in steps of {1 / RATIO_STEPS}", field=field)
    return steps / RATIO_STEPS
