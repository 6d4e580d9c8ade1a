"""Where vectors are made and kept: by what the template says, and with no rights but those that takes."""

from __future__ import annotations

from typing import Any

import pytest

from provenloop.adapters.dynamodb.native_vectors import NativeVectorIndex
from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex
from provenloop.adapters.titan_embedder import TitanEmbedder
from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.domain.errors import InternalError
from provenloop.entry.local.template import Template
from provenloop.entry.settings import Settings
from provenloop.entry.wiring import Wiring
from tests.template.reading import DOCUMENT, FUNCTIONS, ROOT


def granted(action: str, **parameters: str) -> dict[str, Any]:
    """What each function may do that to, by folder."""
    template = Template(DOCUMENT, folder=ROOT, parameters=parameters)
    return {
        folder: statement["Resource"]
        for folder, function in FUNCTIONS.items()
        for statement in template.resources[function.logical_id].need("Policies")[0]["Statement"]
        if statement["Action"] == action
    }


def shelf(**parameters: str) -> Any:
    """The shelf of the function that the template deploys with these parameters."""
    template = Template(DOCUMENT, folder=ROOT, parameters=parameters)
    variables = template.resources[FUNCTIONS["recipes"].logical_id].need("Environment")["Variables"]
    return Wiring(Settings(variables)).shelf


def test_the_built_in_embedder_and_the_tables_own_items_need_no_further_right() -> None:
    made = shelf()
    assert (type(made.embedder), type(made.index)) == (WordllamaEmbedder, PackedVectorIndex)
    assert granted("bedrock:InvokeModel") == granted("dynamodb:SearchVectors") == {}


@pytest.mark.parametrize("dimensions", [256, 512, 1024])
def test_titan_is_chosen_by_a_parameter_for_those_functions_that_keep_or_look_up_recipes(
    dimensions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    named = f"titan-{dimensions}"
    made = shelf(Embedder=named)
    assert (type(made.embedder), made.embedder.dimensions) == (TitanEmbedder, dimensions)
    rights = granted("bedrock:InvokeModel", Embedder=named)
    assert set(rights) == {"recipes", "distil"}
    assert all(right.endswith("::foundation-model/amazon.titan-embed-text-v2:0") for right in rights.values())


def test_the_tables_vector_index_is_chosen_by_its_name_and_searched_by_one_function() -> None:
    assert type(shelf(VectorIndexName="vectors").index) is NativeVectorIndex
    rights = granted("dynamodb:SearchVectors", VectorIndexName="vectors")
    assert set(rights) == {"recipes"}
    assert rights["recipes"].endswith("/index/vectors")


def test_what_is_no_embedder_is_refused_by_name() -> None:
    with pytest.raises(InternalError, match="PROVENLOOP_EMBEDDER"):
        _ = Wiring(Settings({"PROVENLOOP_TABLE": "t", "PROVENLOOP_EMBEDDER": "word2vec"})).shelf
