"""Every function is whole: code, layers, log group, tracing, limits, environment."""

import importlib.util
import json
import re
import sys

import pytest

from provenloop.entry.operations import OPERATIONS, Tool
from provenloop.entry.settings import (
    ASKING_VARIABLES,
    INBOUND_VARIABLES,
    INBOX_VARIABLES,
    LOCAL_VARIABLES,
    TEMPLATE_VARIABLES,
)
from provenloop.entry.settings import FUNCTIONS as FUNCTION_NAMES
from tests.template.reading import DOCUMENT, FUNCTIONS, ROOT, SAMPLES, TEMPLATE, WITH_SAMPLES, triggers
from tests.template.test_rights import ASKED

#: An HTTP API gives up after 30 s.
HTTP_LIMIT_S = 30

EVERY = FUNCTIONS | SAMPLES
each_function = pytest.mark.parametrize("folder", sorted(EVERY))


def test_every_folder_of_functions_is_a_function_of_the_template_and_the_reverse() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}

    assert folders == set(EVERY)
    assert set(SAMPLES) == {"analyzer_pii", "analyzer_house_style"}


@each_function
def test_a_function_is_named_after_its_folder(folder: str) -> None:
    words = "".join(word.capitalize() for word in folder.split("_"))

    assert EVERY[folder].logical_id == f"{words}Function"
    assert EVERY[folder].need("CodeUri") == f"functions/{folder}"


@each_function
def test_the_handler_that_the_template_names_exists(folder: str) -> None:
    module, _, name = EVERY[folder].need("Handler").partition(".")
    path = ROOT / "functions" / folder / f"{module}.py"
    spec = importlib.util.spec_from_file_location(f"template_{folder}", path)
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)

    assert callable(getattr(app, name))


#: Seconds that a function may live, where it is more than two minutes.
LONGEST_S = {"analyze": 180, "anchor": 900, "inbox": 300}
#: Layers of some functions, beside those that all have.
FURTHER_LAYERS = {
    "analyze": ["ModelsLayer"],
    "distil": ["EmbedderLayer", "ModelsLayer"],
    "recipes": ["EmbedderLayer", "ModelsLayer"],
    "lessons": ["ModelsLayer"],
}


@pytest.mark.parametrize("folder", sorted(FUNCTIONS))
def test_a_function_has_the_layers_it_needs_and_the_runtime_they_are_built_for(folder: str) -> None:
    named = ["DependenciesLayer", "SharedLayer", *FURTHER_LAYERS.get(folder, [])]
    assert FUNCTIONS[folder].raw["Layers"] == [{"Ref": name} for name in named]
    assert FUNCTIONS[folder].raw["Runtime"] == {"Ref": "Runtime"}


def test_the_layers_are_built_for_the_runtime_from_the_dependencies_and_the_package() -> None:
    layers = {layer.logical_id: layer for layer in TEMPLATE.of_kind("AWS::Serverless::LayerVersion")}

    assert {name: layer.need("ContentUri").rstrip("/") for name, layer in layers.items()} == {
        "DependenciesLayer": "layers/dependencies",
        "EmbedderLayer": "layers/embedder",
        "ModelsLayer": "layers/models",
        "SharedLayer": "shared",
    }
    for name, layer in layers.items():
        assert DOCUMENT["Resources"][name]["Metadata"]["BuildMethod"] == {"Ref": "Runtime"}
        assert layer.raw["CompatibleRuntimes"] == [{"Ref": "Runtime"}]


@each_function
def test_a_function_logs_to_a_group_of_its_own_that_forgets(folder: str) -> None:
    reference = EVERY[folder].raw["LoggingConfig"]["LogGroup"]
    users = [each for each, function in EVERY.items() if function.raw["LoggingConfig"]["LogGroup"] == reference]
    group = WITH_SAMPLES.resources[reference["Ref"]]

    assert users == [folder]
    assert group.kind == "AWS::Logs::LogGroup"
    assert group.raw["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@each_function
def test_a_function_is_traced_and_has_limits(folder: str) -> None:
    function = EVERY[folder]

    # Tracing gives rights of its own, and samples have none.
    assert function.raw.get("Tracing") == (None if folder in SAMPLES else "Active")
    assert 512 <= function.need("MemorySize") <= 1024
    assert 0 < function.need("Timeout") <= LONGEST_S.get(folder, 120)


def test_functions_that_only_answer_http_end_before_the_gateway_hangs_up() -> None:
    queued = {folder for folder, _ in (*triggers("SQS"), *triggers("Schedule"))}

    assert queued == {"analyze", "dispatch", "jobs", "anchor", "distil", "inbound", "inbox"}
    for folder in FUNCTIONS.keys() - queued:
        assert FUNCTIONS[folder].need("Timeout") < HTTP_LIMIT_S


#: Variables of some functions, beside those that all have.
FURTHER_VARIABLES = {"mcp": ASKING_VARIABLES, "inbound": INBOUND_VARIABLES, "inbox": INBOX_VARIABLES}


def test_the_environment_is_what_the_settings_read_and_the_same_everywhere() -> None:
    for folder, function in FUNCTIONS.items():
        further = FURTHER_VARIABLES.get(folder, ())
        assert set(function.need("Environment")["Variables"]) == {*TEMPLATE_VARIABLES, *further}


def test_the_mcp_function_knows_the_functions_that_serve_its_tools_by_their_names_and_may_ask_those() -> None:
    named = dict(pair.split("=") for pair in FUNCTIONS["mcp"].need("Environment")["Variables"][FUNCTION_NAMES].split())
    serving = {operation.function for operation in OPERATIONS if isinstance(operation.mcp, Tool)}

    assert named == {folder: TEMPLATE.ref(FUNCTIONS[folder].logical_id) for folder in serving}
    assert {f"{name}Function" for name in ASKED} == {FUNCTIONS[folder].logical_id for folder in serving}


@pytest.mark.parametrize("folder", sorted(SAMPLES))
def test_a_sample_analyzer_has_nothing_of_ours_and_no_rights_of_its_own(folder: str) -> None:
    sample = SAMPLES[folder]

    assert sample.raw.keys() & {"Layers", "Environment", "Policies", "Role", "Events"} == set()
    assert sample.raw["Runtime"] == {"Ref": "Runtime"}
    # What it uses comes with Python.
    code = (ROOT / "functions" / folder / "app.py").read_text(encoding="utf-8")
    imported = re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names


def test_what_only_a_local_stack_sets_is_nowhere_in_the_template() -> None:
    text = json.dumps(DOCUMENT)

    assert [name for name in LOCAL_VARIABLES if name in text] == []


def test_every_parameter_is_explained_and_used() -> None:
    used = json.dumps({key: value for key, value in DOCUMENT.items() if key != "Parameters"})

    for name, body in DOCUMENT["Parameters"].items():
        assert len(body["Description"]) > 20, name
        assert re.search(rf'"Ref": "{name}"', used), name


def test_the_outputs_say_where_everything_is() -> None:
    assert set(DOCUMENT["Outputs"]) == {
        "ApiUrl",
        "TableName",
        "PassQueueUrl",
        "JobQueueUrl",
        "ReviewWorkflowArn",
        "NoticeTopicArn",
        "EventBusName",
        "AnchorBucketName",
        "InboxBucketName",
        "BootstrapSecretArn",
        "AnalyzerPiiArn",
        "AnalyzerHouseStyleArn",
    }
    assert all(output["Description"] for output in DOCUMENT["Outputs"].values())


def test_the_bootstrap_token_is_generated_and_long_enough_never_to_be_guessed() -> None:
    (secret,) = TEMPLATE.of_kind("AWS::SecretsManager::Secret")

    generated = secret.need("GenerateSecretString")
    # 62 letters and digits carry 5.95 bits each.
    assert generated == {"PasswordLength": generated["PasswordLength"], "ExcludePunctuation": True}
    assert generated["PasswordLength"] * 5.95 >= 256
