"""The environment is read once, and a missing variable is named where it is first needed."""

from __future__ import annotations

import pytest

from provenloop.domain.errors import InternalError
from provenloop.domain.model_spec import ModelSpec
from provenloop.entry.settings import (
    LOCAL_VARIABLES,
    TEMPLATE_VARIABLES,
    Settings,
    read_settings,
    variables_of_commands,
)


def test_a_missing_variable_fails_by_name_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROVENLOOP_TABLE", raising=False)
    settings = read_settings()
    with pytest.raises(InternalError, match="PROVENLOOP_TABLE"):
        _ = settings.table


def test_an_empty_variable_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_PASS_QUEUE_URL", "")
    with pytest.raises(InternalError, match="PROVENLOOP_PASS_QUEUE_URL"):
        _ = read_settings().pass_queue_url


def test_values_stay_as_they_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_TABLE", "first")
    settings = read_settings()
    monkeypatch.setenv("PROVENLOOP_TABLE", "second")
    assert settings.table == "first"


def test_no_variable_is_both_deployed_and_local() -> None:
    assert not set(TEMPLATE_VARIABLES) & set(LOCAL_VARIABLES)


@pytest.mark.parametrize("name", LOCAL_VARIABLES)
def test_a_deployed_function_refuses_what_is_for_local_stacks(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    assert read_settings().values[name] == "x"
    monkeypatch.setenv("AWS_EXECUTION_ENV", "AWS_Lambda_python3.13")
    with pytest.raises(InternalError, match=name):
        read_settings()


def test_models_are_named_with_their_providers_or_not_at_all() -> None:
    settings = Settings({"PROVENLOOP_MODEL": "bedrock:us.claude-v1:0", "PROVENLOOP_GROUND_MODEL": ""})
    assert (settings.model, settings.ground_model) == (ModelSpec("bedrock", "us.claude-v1:0"), None)


def test_a_model_of_an_unknown_provider_is_told_with_its_variable() -> None:
    with pytest.raises(InternalError, match=r"PROVENLOOP_MODEL: .* no provider"):
        _ = Settings({"PROVENLOOP_MODEL": "azure:gpt-x"}).model


def test_analyzers_that_are_commands_stand_one_a_line() -> None:
    assert Settings({"PROVENLOOP_ANALYZER_CMDS": "a b\n\n  c \n"}).analyzer_commands == ("a b", "c")
    assert Settings({}).analyzer_commands == ()


def test_a_command_sees_the_environment_without_what_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("PROVENLOOP_DEV_TOKEN", "x")
    monkeypatch.setenv("KEY_OF_THE_COMMAND", "x")
    seen = variables_of_commands()
    assert "PATH" in seen
    assert seen["KEY_OF_THE_COMMAND"] == "x"
    assert not {"AWS_SECRET_ACCESS_KEY", "PROVENLOOP_DEV_TOKEN"} & seen.keys()
