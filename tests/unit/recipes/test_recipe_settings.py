"""Settings of recipes: what an installation's environment says, and the band they make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from provenloop.domain.errors import IntegrityError
from provenloop.entry.settings import RECIPE_VARIABLES
from provenloop.recipes.bands import band_of
from provenloop.recipes.settings import DEFAULTS, NAMES, PREFIX, RANGES, RecipeSettings, installed, settings_from
from provenloop.services.match_recipe import MissReason

TAG = "wordllama-l2-256"


ROOT = Path(__file__).parents[3]


def test_the_tables_of_recipes_md_say_what_the_code_says() -> None:
    text = (ROOT / "shared" / "RECIPES.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S+ to \S+|-) \| .+ \|$", text, re.MULTILINE)
    expected = [
        (name, str(DEFAULTS[name]).lower(), "{} to {}".format(*RANGES[name]) if name in RANGES else "-")
        for name in NAMES
    ]
    assert rows == expected
    [reasons] = re.findall(r"^\| reason \| .+\n\|.+\n((?:\|.+\n)+)", text, re.MULTILINE)
    assert tuple(re.findall(r"^\| `(\w+)` \|", reasons, re.MULTILINE)) == get_args(MissReason)


def test_the_environment_may_set_each_of_them_and_nothing_else() -> None:
    assert tuple(f"{PREFIX}{name.upper()}" for name in NAMES) == RECIPE_VARIABLES


def test_what_the_environment_says_holds_where_a_memory_sets_nothing() -> None:
    said = {
        "TITW_SEMANTIC_THRESHOLD": "0.9", "TITW_COMPOSER_FLOOR": " 0.55 ", "TITW_K": "7", "TITW_COMPOSER_MODEL": "m-1",
        "TITW_COMPOSER_DISABLED": "TRUE", "TITW_RECIPES_ENABLED": "", "OTHER": "x",
    }  # fmt: skip
    values, faults = installed(said)
    assert faults == ()
    in_force = settings_from({"k": 9}, values)
    assert (in_force.semantic_threshold, in_force.composer_floor, in_force.k) == (0.9, 0.55, 9)
    assert (in_force.composer_model, in_force.composer_disabled, in_force.recipes_enabled) == ("m-1", True, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TITW_SEMANTIC_THRESHOLD", "1.5"),
        ("TITW_SEMANTIC_THRESHOLD", "nan"),
        ("TITW_SEMANTIC_THRESHOLD", "inf"),
        ("TITW_SEMANTIC_THRESHOLD", "high"),
        ("TITW_COMPOSER_FLOOR", "0.95"),
        ("TITW_COMPOSER_TIMEOUT_MS", "-5"),
        ("TITW_COMPOSER_TIMEOUT_MS", "3e3"),
        ("TITW_K", "-1"),
        ("TITW_COMPOSER_DISABLED", "maybe"),
        ("TITW_COMPOSER_MODEL", "m" * 129),
        ("TITW_COMPOSER_MODEL", "azure:m-1"),
    ],
)
def test_what_is_wrong_there_falls_back_to_the_default_alone_and_is_told(name: str, text: str) -> None:
    values, (fault,) = installed({name: text, "TITW_RECIPE_TTL_DAYS": "30"})
    assert settings_from({}, values) == RecipeSettings(recipe_ttl_days=30)
    assert fault.startswith(f"{name}: ")
    assert text not in fault


def test_a_memory_may_name_another_model_of_the_composer_but_no_other_provider() -> None:
    values, faults = installed({"TITW_COMPOSER_MODEL": "bedrock:m-1:0"})
    assert faults == ()
    assert settings_from({}, values).composer.model == "m-1:0"
    assert settings_from({"composer_model": "openai:m-2"}, values).composer.model == "openai:m-2"


def test_a_threshold_belongs_to_the_embedder_it_was_set_for() -> None:
    own = RecipeSettings(semantic_threshold=0.7, composer_floor=0.4)
    assert (own.band(TAG).threshold, own.band(TAG).floor) == (0.7, 0.4)
    assert own.band("another") == band_of("another")
    assert RecipeSettings().band(TAG) == band_of(TAG)
    low = RecipeSettings(semantic_threshold=0.5).band(TAG)
    assert low.floor <= low.threshold


def test_stored_settings_that_are_none_are_told_as_such() -> None:
    with pytest.raises(IntegrityError):
        settings_from({"k": "many"}, {})
