"""The keys of model providers: one secret, as plain text or by provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from provenloop.adapters.model_key import NoKeyNeeded, SecretModelKey
from provenloop.domain.errors import InternalError
from provenloop.domain.model_spec import PROVIDERS, ProviderName


@pytest.fixture(scope="module")
def secrets() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("secretsmanager", region_name="us-east-1")
        client.create_secret(Name="model-key", SecretString="first")
        yield client


def keys(secrets: Any, text: str) -> dict[ProviderName, str]:
    """What each provider's key is where the secret is this text."""
    secrets.put_secret_value(SecretId="model-key", SecretString=text)
    return {provider: SecretModelKey("model-key", provider).current() for provider in PROVIDERS}


def test_plain_text_is_the_key_of_anthropic_and_shown_to_nobody_else(secrets: Any) -> None:
    assert keys(secrets, " sk-ant-1\n") == {"anthropic": "sk-ant-1", "bedrock": "", "openai": ""}


def test_a_json_object_holds_keys_by_provider_and_who_has_none_is_off(secrets: Any) -> None:
    assert keys(secrets, json.dumps({"openai": " sk-gate-1 "})) == {
        "anthropic": "",
        "bedrock": "",
        "openai": "sk-gate-1",
    }
    both = {"openai": "sk-gate-1", "anthropic": "sk-ant-1"}
    assert keys(secrets, f"\n{json.dumps(both)}") == {**both, "bedrock": ""}


@pytest.mark.parametrize("text", ["{", '{"openai": 3}', '{"azure": "sk"}', '{"openai": "a", "openai": "b"}', "{} {}"])
def test_what_begins_like_json_and_holds_no_keys_is_a_fault(secrets: Any, text: str) -> None:
    with pytest.raises(InternalError) as fault:
        keys(secrets, text)
    assert "sk" not in fault.value.message


def test_where_no_key_is_needed_models_are_not_off() -> None:
    assert NoKeyNeeded().current()
