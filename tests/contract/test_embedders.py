"""Embedders: the built-in one over the files of its wheel, and Titan over a stubbed client."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from provenloop.adapters.titan_embedder import MODEL, TitanEmbedder
from provenloop.adapters.wordllama_embedder import WordllamaEmbedder
from provenloop.domain.errors import InternalError, UnavailableError
from provenloop.recipes.embedding_check import PROBES, embedding_fault
from provenloop.services.recipe_ports import Embedder, space_of
from tests.unit.recipes.odd_texts import ODD_TEXTS


@pytest.fixture(scope="module")
def wordllama() -> WordllamaEmbedder:
    return WordllamaEmbedder()


def _cosine(left: list[float], right: list[float]) -> float:
    return sum(map(float.__mul__, left, right))


def test_the_built_in_embedder_ranks_a_paraphrase_above_something_else(wordllama: WordllamaEmbedder) -> None:
    asked, same, other = wordllama.embed(
        ["where is my order", "can you tell me where my order is", "the capital of France is Paris"]
    )
    assert _cosine(asked, same) > 0.8
    assert _cosine(asked, other) < 0.3


def test_the_built_in_embedder_gives_the_vectors_that_thresholds_were_fitted_with(wordllama: WordllamaEmbedder) -> None:
    [vector] = wordllama.embed(["cancel my subscription"])
    assert [round(part, 4) for part in vector[:4]] == [0.0195, -0.2304, 0.046, 0.0808]
    assert math.hypot(*vector) == pytest.approx(1)
    assert embedding_fault(wordllama.embed(PROBES), wordllama.dimensions) is None


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_an_odd_text_has_one_vector_of_length_one_or_none(wordllama: WordllamaEmbedder, name: str) -> None:
    [vector] = wordllama.embed([ODD_TEXTS[name]])
    assert wordllama.embed(["before it", ODD_TEXTS[name]])[1] == vector
    assert len(vector) == wordllama.dimensions
    assert math.hypot(*vector) == pytest.approx(1 if ODD_TEXTS[name] else 0)


def test_no_texts_and_a_lone_surrogate_are_taken(wordllama: WordllamaEmbedder) -> None:
    assert wordllama.embed([]) == []
    assert len(wordllama.embed(["half a \ud83d pair"])) == 1


def test_files_that_are_missing_or_broken_are_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InternalError):
        WordllamaEmbedder(tmp_path).embed(["x"])
    (tmp_path / "tokenizers").mkdir()
    (tmp_path / "tokenizers/l2_supercat_tokenizer_config.json").write_text("{}")
    with pytest.raises(InternalError):
        WordllamaEmbedder(tmp_path).embed(["x"])


def test_nothing_heavy_is_imported_before_a_text_is_embedded_or_a_vector_sought() -> None:
    program = (
        "import sys; import provenloop.adapters.wordllama_embedder, provenloop.adapters.dynamodb.packed_vectors,"
        "provenloop.services.keep_recipe, provenloop.recipes.decide;"
        "print(sorted({'numpy', 'tokenizers', 'wordllama', 'anthropic'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


# Titan


def _answer(body: object) -> dict[str, Any]:
    data = json.dumps(body).encode()
    return {"contentType": "application/json", "body": StreamingBody(io.BytesIO(data), len(data))}


def _asked(text: str) -> dict[str, str]:
    body = {"inputText": text, "dimensions": 256, "normalize": True}
    return {
        "modelId": MODEL, "body": json.dumps(body), "contentType": "application/json", "accept": "application/json",
    }  # fmt: skip


@pytest.fixture
def client() -> Any:
    return boto3.client("bedrock-runtime", region_name="us-east-1")


def test_titan_is_asked_once_for_each_text(client: Any) -> None:
    with Stubber(client) as stubber:
        stubber.add_response("invoke_model", _answer({"embedding": [3.0, 4.0, *[0] * 254]}), _asked("one"))
        stubber.add_response("invoke_model", _answer({"embedding": [0.0, 1.0, *[0] * 254]}), _asked("two"))
        first, second = TitanEmbedder(client).embed(["one", "two"])
        stubber.assert_no_pending_responses()
    assert (first[:2], second[:2]) == ([0.6, 0.8], [0.0, 1.0])


def test_titan_is_not_asked_about_blanks(client: Any) -> None:
    with Stubber(client):
        assert TitanEmbedder(client).embed([" \n"]) == [[0.0] * 256]


@pytest.mark.parametrize(
    "body",
    [{}, [], {"embedding": "x"}, {"embedding": [1.0]}, {"embedding": [0.0] * 256}, {"embedding": [None] * 256},
     {"embedding": 7}],
)  # fmt: skip
def test_an_answer_that_is_no_vector_is_no_answer(client: Any, body: object) -> None:
    with Stubber(client) as stubber:
        stubber.add_response("invoke_model", _answer(body))
        with pytest.raises(UnavailableError):
            TitanEmbedder(client).embed(["one"])


@pytest.mark.parametrize(
    ("code", "error"),
    [("ThrottlingException", UnavailableError), ("ModelTimeoutException", UnavailableError),
     ("AccessDeniedException", InternalError), ("ValidationException", InternalError)],
)  # fmt: skip
def test_an_error_of_bedrock_is_one_of_ours(client: Any, code: str, error: type[Exception]) -> None:
    with Stubber(client) as stubber:
        stubber.add_client_error("invoke_model", code)
        with pytest.raises(error):
            TitanEmbedder(client).embed(["one"])


def test_embedders_and_lengths_have_spaces_of_their_own(client: Any, wordllama: WordllamaEmbedder) -> None:
    embedders: list[Embedder] = [wordllama, TitanEmbedder(client), TitanEmbedder(client, 512)]
    assert len({space_of(embedder) for embedder in embedders}) == 3
