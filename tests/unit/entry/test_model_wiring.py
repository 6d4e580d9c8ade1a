"""What stands behind the settings that name models."""

from __future__ import annotations

import pytest

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.bedrock_model import BedrockModel
from provenloop.adapters.command_model import CommandModel
from provenloop.adapters.openai_model import OpenAiModel
from provenloop.domain.errors import InternalError
from provenloop.domain.model_spec import ModelSpec
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring
from provenloop.services.pseudonymous_model import ModelUnderPolicy

CLAUDE = ModelSpec("anthropic", "claude-opus-5-5")
GATE = ModelSpec("openai", "gpt-x")
BEDROCK = ModelSpec("bedrock", "us.claude-v1:0")


def wired(**more: str) -> Wiring:
    urls = {"PROVENLOOP_MODEL_URL": "https://models.example", "PROVENLOOP_GATEWAY_URL": "https://gate.example/v1"}
    return Wiring(Settings({**urls, **{f"PROVENLOOP_{name}": value for name, value in more.items()}}))


@pytest.mark.parametrize(("spec", "made"), [(CLAUDE, AnthropicModel), (GATE, OpenAiModel), (BEDROCK, BedrockModel)])
def test_a_provider_is_made_once(spec: ModelSpec, made: type[object]) -> None:
    wiring = wired()
    assert isinstance(wiring.provider_of(spec), made)
    assert wiring.provider_of(spec) is wiring.provider_of(ModelSpec(spec.provider, "another"))


def test_bedrock_needs_no_key_and_the_others_have_none_without_a_secret() -> None:
    wiring = wired()
    assert [bool(wiring.key_of(spec).current()) for spec in (CLAUDE, GATE, BEDROCK)] == [False, False, True]


def test_a_key_of_the_callers_own_goes_to_the_provider_that_the_setting_names() -> None:
    access = wired().models(GATE, "sk-own")
    assert isinstance(access.provider, ModelUnderPolicy)
    assert isinstance(access.provider.provider, OpenAiModel)
    assert access.key() == "sk-own"


# the models of passes


def test_no_model_is_asked_in_passes_where_none_is_named() -> None:
    assert wired(GROUND_MODEL="claude-opus-5-5").reflection_models is None


def test_the_model_that_makes_findings_checks_them_too_unless_another_is_named() -> None:
    models = wired(MODEL="bedrock:us.claude-v1:0").reflection_models
    assert models is not None
    assert models.main is models.ground
    assert (models.main.model, type(models.main.provider)) == ("us.claude-v1:0", BedrockModel)
    two = wired(MODEL="claude-opus-5-5", GROUND_MODEL="openai:gpt-x").reflection_models
    assert two is not None
    assert [(each.model, type(each.provider)) for each in (two.main, two.ground)] == [
        ("claude-opus-5-5", AnthropicModel),
        ("gpt-x", OpenAiModel),
    ]


WRONG = [
    {"MODEL": "azure:gpt-x"},
    {"MODEL": "claude-opus-5-5", "GROUND_MODEL": "azure:gpt-x"},
    {"MODEL": "openai:gpt-x", "GATEWAY_URL": ""},
    {"MODEL": "openai:gpt-x", "GATEWAY_URL": "http://gate.example"},
    {"LLM_CMD": "python 'x"},
]


@pytest.mark.parametrize("named", WRONG)
def test_what_cannot_be_asked_leaves_passes_without_models_and_is_logged(
    named: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert wired(**named).reflection_models is None
    [record] = caplog.records
    assert (record.levelname, vars(record)["operation"]) == ("ERROR", "reflection_models")
    assert vars(record)["detail"]


def test_a_command_of_a_local_stack_stands_in_for_all_of_them() -> None:
    models = wired(MODEL="claude-opus-5-5", LLM_CMD="model --fast").reflection_models
    assert models is not None
    assert models.main is models.ground
    assert isinstance(models.main.provider, CommandModel)
    assert models.main.key.current()


# other uses


def test_the_distiller_may_be_at_any_provider() -> None:
    assert wired(DISTIL_MODEL="bedrock:us.claude-v1:0").settings.distil_model == BEDROCK
    with pytest.raises(InternalError, match="PROVENLOOP_DISTIL_MODEL"):
        _ = wired().settings.distil_model


def test_the_composer_is_at_the_provider_of_the_installation() -> None:
    assert Wiring(Settings({"TITW_COMPOSER_MODEL": "openai:gpt-x"})).composer_model == GATE
    assert Wiring(Settings({"TITW_COMPOSER_MODEL": "azure:gpt-x"})).composer_model.provider == "anthropic"
