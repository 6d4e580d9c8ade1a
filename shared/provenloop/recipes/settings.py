"""The settings of recipes in one memory: their defaults and ranges, and the band they make of an embedder's own.

What a memory sets is refused when it is wrong. What the installation sets (see ``installed``) falls back to the default
where it is wrong, one setting at a time, and the fault is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from provenloop.domain.errors import IntegrityError, ParameterError
from provenloop.domain.memory_config import ParameterValue
from provenloop.domain.model_spec import ModelSpec, read_spec
from provenloop.domain.setting_values import checked_flag, checked_number
from provenloop.recipes.bands import FITTED, band_of
from provenloop.recipes.composer import DEFAULT_MODEL, ComposerSettings
from provenloop.recipes.decide import Band

_MAX_NAME_CHARS = 128
_BUILT_IN = next(iter(FITTED))


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """What holds in one memory.

    ``semantic_threshold`` and ``composer_floor`` are cosines of the embedder ``embedder`` (its tag), and hold for no
    other; 0 stands for what was fitted. ``recipe_ttl_days`` 0 means that recipes are valid for ever.
    """

    recipes_enabled: bool = True
    embedder: str = _BUILT_IN
    semantic_threshold: float = 0.0
    composer_floor: float = 0.0
    composer_min_confidence: float = 0.5
    composer_timeout_ms: int = 3_000
    composer_model: str = DEFAULT_MODEL
    composer_disabled: bool = False
    near_miss_logging: bool = False
    timeout_ms: int = 2_000
    k: int = 5
    recipe_ttl_days: int = 0

    @property
    def composer(self) -> ComposerSettings:
        """How the composer is asked."""
        return ComposerSettings(self.composer_model, self.composer_min_confidence, self.composer_timeout_ms)

    def band(self, tag: str) -> Band:
        """The band of an embedder: its own, as far as these settings are not about it."""
        fitted = band_of(tag)
        if tag != self.embedder:
            return fitted
        threshold = self.semantic_threshold or fitted.threshold
        return replace(fitted, threshold=threshold, floor=min(self.composer_floor or fitted.floor, threshold))


#: Lowest and highest value of each number.
RANGES: Mapping[str, tuple[float, float]] = {
    "semantic_threshold": (0, 1),
    "composer_floor": (0, 1),
    "composer_min_confidence": (0, 1),
    "composer_timeout_ms": (1, 6_000),
    "timeout_ms": (1, 6_000),
    "k": (1, 50),
    "recipe_ttl_days": (0, 3_650),
}
DEFAULTS: Mapping[str, ParameterValue] = asdict(RecipeSettings())
NAMES: tuple[str, ...] = tuple(field.name for field in fields(RecipeSettings))
#: What the names of settings begin with in an installation's environment.
PREFIX = "TITW_"
_COMPOSER = f"{PREFIX}COMPOSER_MODEL"
_TRUTH = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


def check_settings(given: Mapping[str, Any], *, field: str = "recipes") -> Mapping[str, ParameterValue]:
    """What was given, once all of it is right, also together.

    Raises:
        ParameterError: naming the first that is unknown, of another type or out of its range.
    """
    checked = {name: _checked(name, value, f"{field}.{name}") for name, value in given.items()}
    whole = RecipeSettings(**checked)  # type: ignore[arg-type]
    fitted = band_of(whole.embedder)
    if whole.composer_floor and whole.composer_floor >= (whole.semantic_threshold or fitted.threshold):
        raise ParameterError("below the threshold from which recipes are served", field=f"{field}.composer_floor")
    return checked


def settings_from(stored: Mapping[str, Any], defaults: Mapping[str, ParameterValue]) -> RecipeSettings:
    """The settings in force: the installation's, with what a memory stored laid over them.

    Raises:
        IntegrityError: something that is stored is no setting.
    """
    try:
        return RecipeSettings(**{**defaults, **check_settings(stored)})  # type: ignore[arg-type]
    except ParameterError as error:
        raise IntegrityError("the stored settings of recipes cannot be read") from error


def installed(environment: Mapping[str, str]) -> tuple[Mapping[str, ParameterValue], tuple[str, ...]]:
    """What an installation sets by names such as ``TITW_SEMANTIC_THRESHOLD``, and what of it is wrong.

    Returns:
        the settings that are right, and for each that is wrong its name and why; the default holds for those.
    """
    found: dict[str, ParameterValue] = {}
    faults: list[str] = []
    for name in NAMES:
        variable = f"{PREFIX}{name.upper()}"
        text = environment.get(variable, "").strip()
        if not text:
            continue
        try:
            found = dict(check_settings({**found, name: _read(name, text)}))
        except ParameterError as error:
            faults.append(f"{variable}: {error.message}")
    return found, tuple(faults)


def composer_spec(environment: Mapping[str, str]) -> ModelSpec:
    """Where an installation's composer is asked, and its model there; the default's where what is set is wrong.

    A memory may name another model, never another provider.
    """
    try:
        return read_spec(environment.get(_COMPOSER, "").strip() or DEFAULT_MODEL, field=_COMPOSER)
    except ParameterError:
        return read_spec(DEFAULT_MODEL, field=_COMPOSER)


def _read(name: str, text: str) -> Any:
    """A text as the type of its setting; as it is where it is none.

    Raises:
        ParameterError: it is to name a model, and does not.
    """
    if name == "composer_model":
        return read_spec(text, field=name).model
    default = DEFAULTS[name]
    if isinstance(default, bool):
        return _TRUTH.get(text.lower(), text)
    if isinstance(default, str):
        return text
    try:
        return int(text) if isinstance(default, int) else float(text)
    except ValueError:
        return text


def _checked(name: str, value: Any, field: str) -> ParameterValue:
    default = DEFAULTS.get(name)
    if default is None:
        raise ParameterError(f"unknown; one of {', '.join(NAMES)}", field=field)
    if isinstance(default, bool):
        return checked_flag(value, field)
    if isinstance(default, str):
        if not isinstance(value, str) or not 0 < len(value) <= _MAX_NAME_CHARS or not value.isprintable():
            raise ParameterError(f"a text of 1 to {_MAX_NAME_CHARS} characters", field=field)
        return value
    return checked_number(value, RANGES[name], field, is_whole=isinstance(default, int))
