"""The key of the models: read by the functions that ask them, where one is named, and by no other."""

from __future__ import annotations

import re
from typing import Any

from provenloop.domain.model_spec import PROVIDERS, read_spec
from provenloop.entry.local.template import Template
from provenloop.services.lease import LEASE_MS
from tests.template.reading import DOCUMENT, FUNCTIONS, ROOT, TEMPLATE

KEY = "arn:aws:secretsmanager:us-east-1:123456789012:secret:model-key-AbCdEf"
ASKING = {"analyze", "distil", "lessons", "recipes"}
MODELS_PAGE = (ROOT / "shared" / "MODELS.md").read_text(encoding="utf-8")
PARAMETERS = (
    "Model", "GroundModel", "DistilModel", "ModelKeySecretArn", "ModelUrl", "GatewayUrl", "BedrockModelArns"
)  # fmt: skip
MODELS = ("arn:aws:bedrock:*::foundation-model/m-1", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.m-1")


def readers(template: Template) -> dict[str, list[Any]]:
    """The statements that let a function read a secret other than the bootstrap token, by folder."""
    found = {}
    bootstrap = template.attribute("BootstrapSecret", "Id")
    for folder, function in FUNCTIONS.items():
        [policy] = template.resources[function.logical_id].need("Policies")
        secrets = [each for each in policy["Statement"] if each["Action"] == "secretsmanager:GetSecretValue"]
        others = [each["Resource"] for each in secrets if each["Resource"] != bootstrap]
        if others:
            found[folder] = others
    return found


def test_only_functions_that_ask_models_may_read_their_key_and_only_where_there_is_one() -> None:
    assert readers(Template(DOCUMENT, folder=ROOT, parameters={"ModelKeySecretArn": KEY})) == {
        key: [KEY] for key in ASKING
    }
    assert readers(TEMPLATE) == {}


def test_who_has_to_be_let_decrypt_a_secret_under_a_key_of_ones_own_is_written_down() -> None:
    said = MODELS_PAGE[: MODELS_PAGE.index("`kms:Decrypt`")].rpartition("\n\n")[2]
    assert set(re.findall(r"`(\w+Function)`", said)) == {FUNCTIONS[folder].logical_id for folder in ASKING}


def askers(template: Template) -> dict[str, list[Any]]:
    """The models on Bedrock that each function may ask."""
    found = {}
    for folder, function in FUNCTIONS.items():
        [policy] = template.resources[function.logical_id].need("Policies")
        for each in policy["Statement"]:
            if each["Action"] == "bedrock:InvokeModel" and each["Sid"] != "Embed":
                found[folder] = each["Resource"]
    return found


def test_only_functions_that_ask_models_may_ask_bedrock_and_only_for_the_models_that_are_named() -> None:
    named = Template(DOCUMENT, folder=ROOT, parameters={"BedrockModelArns": ", ".join(MODELS)})
    assert askers(named) == {folder: list(MODELS) for folder in ASKING}
    assert askers(TEMPLATE) == {}


def test_the_functions_that_ask_models_are_those_with_the_layer_of_models() -> None:
    assert {folder for folder, each in FUNCTIONS.items() if {"Ref": "ModelsLayer"} in each.raw["Layers"]} == ASKING


def test_models_are_asked_at_their_providers_address_unless_another_is_named() -> None:
    variables = FUNCTIONS["distil"].need("Environment")["Variables"]
    assert variables["PROVENLOOP_MODEL_URL"] == "https://api.anthropic.com"
    assert variables["PROVENLOOP_DISTIL_MODEL"] == "claude-opus-5-5"
    assert variables["PROVENLOOP_MODEL_KEY_SECRET"] == ""


def test_no_model_is_asked_in_passes_unless_one_is_named() -> None:
    variables = FUNCTIONS["analyze"].need("Environment")["Variables"]
    assert (variables["PROVENLOOP_MODEL"], variables["PROVENLOOP_GROUND_MODEL"]) == ("", "")


def test_a_lease_outlives_the_function_that_runs_passes() -> None:
    assert FUNCTIONS["analyze"].need("Timeout") * 1_000 < LEASE_MS


def test_the_parameters_of_models_are_told_with_their_defaults() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:- |`?)(\S*?)`? ?\|", MODELS_PAGE, re.MULTILINE))
    defaults = {name: DOCUMENT["Parameters"][name]["Default"] for name in PARAMETERS}
    assert rows == {**defaults, "GroundModel": "Model"}


def test_the_providers_are_those_that_are_told_each_with_an_example() -> None:
    rows = re.findall(r"^\| (\w+) \| [^|]+ \| [^|]+ \| [^|]+ \| `([^`|]+)` \|$", MODELS_PAGE, re.MULTILINE)
    assert tuple(name for name, _ in rows) == PROVIDERS
    assert tuple(read_spec(example, field="Model").provider for _, example in rows) == PROVIDERS
