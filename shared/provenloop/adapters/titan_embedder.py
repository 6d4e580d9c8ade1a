"""Amazon Titan Text Embeddings V2 over Bedrock: an embedder by configuration, one call for each text."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import InternalError, UnavailableError

MODEL = "amazon.titan-embed-text-v2:0"
#: The model takes so many characters, or 8,192 tokens if they are fewer.
MAX_CHARS = 50_000
Dimensions = Literal[256, 512, 1024]
#: One vector takes some 100 ms; a caller waits 2 s at most for all that is not the composer's.
_CONFIG = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})

_TRANSIENT = frozenset(
    {"InternalServerException", "ModelNotReadyException", "ModelTimeoutException", "ServiceUnavailableException",
     "ThrottlingException"}
)  # fmt: skip


class TitanEmbedder:
    """Implements ``services.recipe_ports.Embedder``.

    Args:
        client: botocore's client of ``bedrock-runtime``, one of its own if not given.
        dimensions: length of the vectors.
    """

    version = 1

    def __init__(self, client: Any = None, dimensions: Dimensions = 256) -> None:
        self._client: Any = client or botocore.session.get_session().create_client("bedrock-runtime", config=_CONFIG)
        self.dimensions: int = dimensions
        self.tag = f"titan-v2-{dimensions}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See ``Embedder``."""
        return [self._embedded(text) for text in texts]

    def _embedded(self, text: str) -> list[float]:
        if not text.strip():
            return [0.0] * self.dimensions
        body = {"inputText": text[:MAX_CHARS], "dimensions": self.dimensions, "normalize": True}
        try:
            answer = self._client.invoke_model(
                modelId=MODEL, body=json.dumps(body), contentType="application/json", accept="application/json"
            )
            vector = json.loads(answer["body"].read())["embedding"]
        except ClientError as error:
            raise _translated(error) from error
        except BotoCoreError as error:
            raise UnavailableError("the embedder does not answer; try again") from error
        except (LookupError, TypeError, ValueError) as error:
            raise UnavailableError("the embedder answered something else") from error
        return _checked(vector, self.dimensions)


def _checked(vector: Any, dimensions: int) -> list[float]:
    is_vector = isinstance(vector, list) and all(isinstance(part, int | float) for part in vector)
    length = math.hypot(*vector) if is_vector and len(vector) == dimensions else 0.0
    if not length or not math.isfinite(length):
        raise UnavailableError("the embedder answered something else")
    return [part / length for part in vector]


def _translated(error: ClientError) -> UnavailableError | InternalError:
    if error.response["Error"]["Code"] in _TRANSIENT:
        return UnavailableError("the embedder does not answer; try again")
    return InternalError("the embedder refused a text")
