"""A setting names a model, and before a colon its provider."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import ParameterError
from provenloop.domain.model_spec import PROVIDERS, ModelSpec, read_spec
from tests.template.reading import DOCUMENT

READ = [
    ("claude-opus-5-5", ModelSpec("anthropic", "claude-opus-5-5")),
    ("anthropic:claude-opus-5-5", ModelSpec("anthropic", "claude-opus-5-5")),
    (" openai:gpt-x ", ModelSpec("openai", "gpt-x")),
    ("openai:llama3:8b", ModelSpec("openai", "llama3:8b")),
    ("openai:org/model:free", ModelSpec("openai", "org/model:free")),
    ("bedrock:us.anthropic.claude-v1:0", ModelSpec("bedrock", "us.anthropic.claude-v1:0")),
    ("bedrock:arn:aws:bedrock:eu-west-1:1:x/y", ModelSpec("bedrock", "arn:aws:bedrock:eu-west-1:1:x/y")),
]
WRONG = ["", " ", "openai:", ":gpt-x", "us.anthropic.claude-v1:0", "OpenAI:gpt-x", "azure:gpt-x", "two words"]
PATTERN = re.compile(DOCUMENT["Parameters"]["Model"]["AllowedPattern"])


@pytest.mark.parametrize(("text", "spec"), READ)
def test_what_stands_before_the_first_colon_is_the_provider(text: str, spec: ModelSpec) -> None:
    assert read_spec(text, field="MODEL") == spec


@pytest.mark.parametrize("text", [*WRONG, "x" * 129])
def test_a_provider_that_nobody_knows_and_a_model_without_a_name_are_refused(text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        read_spec(text, field="MODEL")
    assert refused.value.field == "MODEL"


def test_the_providers_are_told_where_another_is_named() -> None:
    with pytest.raises(ParameterError, match="anthropic, bedrock, openai"):
        read_spec("azure:gpt-x", field="MODEL")


_NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)


@given(st.one_of(_NAMES, st.tuples(st.sampled_from(PROVIDERS), _NAMES).map(":".join)))
def test_the_template_takes_what_can_be_read_and_nothing_else(text: str) -> None:
    try:
        read_spec(text, field="MODEL")
        is_read = text == text.strip()
    except ParameterError:
        # Empty means that no model is named.
        is_read = not text
    assert (PATTERN.fullmatch(text) is not None) == is_read


def test_all_models_of_the_template_are_named_alike() -> None:
    model, ground, distil = (
        DOCUMENT["Parameters"][name]["AllowedPattern"] for name in ("Model", "GroundModel", "DistilModel")
    )
    assert model == ground == distil.removesuffix("$") + "?$"
