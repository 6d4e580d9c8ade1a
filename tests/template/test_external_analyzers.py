"""Passes may invoke exactly the functions that are named, and read the keys of external analyzers if there are some."""

from __future__ import annotations

from typing import Any

from provenloop.entry.local.template import Template
from tests.template.reading import DOCUMENT, FUNCTIONS, ROOT, SAMPLES, WITH_SAMPLES

ARNS = [
    "arn:aws:lambda:eu-central-1:123456789012:function:terms",
    "arn:aws:lambda:eu-central-1:999999999999:function:names:live",
]
KEYS = "arn:aws:secretsmanager:us-east-1:123456789012:secret:analyzer-keys-AbCdEf"


def template(**parameters: str) -> Template:
    return Template(DOCUMENT, folder=ROOT, parameters=parameters)


def granted(of: Template, action: str) -> dict[str, list[Any]]:
    """The resources on which each function may do something, by folder."""
    found: dict[str, list[Any]] = {}
    for folder, function in FUNCTIONS.items():
        [policy] = of.resources[function.logical_id].need("Policies")
        for each in policy["Statement"]:
            if each["Action"] == action:
                named = each["Resource"]
                found.setdefault(folder, []).extend(named if isinstance(named, list) else [named])
    return found


def invoked(of: Template) -> dict[str, list[Any]]:
    """The functions that each function may invoke, but for the MCP endpoint, which asks those that serve its tools."""
    found = granted(of, "lambda:InvokeFunction")
    found.pop("mcp")
    return found


def test_passes_may_invoke_the_functions_that_are_named_and_nobody_else_may() -> None:
    assert invoked(template()) == {}
    named = template(ExternalAnalyzerFunctions=", ".join(ARNS))
    assert invoked(named) == {"analyze": ARNS}


def test_an_empty_place_in_a_list_takes_no_right_away_from_those_behind_it() -> None:
    """What IAM makes of the place is told at once, when it is deployed; a right that is not there, by nobody."""
    assert ARNS[0] in invoked(template(ExternalAnalyzerFunctions=f",{ARNS[0]}"))["analyze"]
    model = "arn:aws:bedrock:us-east-1::foundation-model/some"
    asking = granted(template(BedrockModelArns=f",{model}"), "bedrock:InvokeModel")
    assert set(asking) == {"analyze", "distil", "lessons", "recipes"}


def test_passes_may_invoke_the_samples_where_they_are_deployed() -> None:
    samples = [WITH_SAMPLES.attribute(each.logical_id, "Arn") for each in SAMPLES.values()]
    assert invoked(WITH_SAMPLES) == {"analyze": samples}
    both = template(SampleAnalyzers="true", ExternalAnalyzerFunctions=ARNS[0])
    assert invoked(both) == {"analyze": [ARNS[0], *samples]}


def test_passes_may_read_the_keys_of_analyzers_where_there_are_some() -> None:
    def readers(of: Template) -> set[str]:
        return {folder for folder, named in granted(of, "secretsmanager:GetSecretValue").items() if KEYS in named}

    assert readers(template()) == set()
    keyed = template(ExternalAnalyzerSecretArn=KEYS)
    assert readers(keyed) == {"analyze"}
    variables = keyed.resources["AnalyzeFunction"].need("Environment")["Variables"]
    assert variables["PROVENLOOP_EXTERNAL_KEYS_SECRET"] == KEYS
