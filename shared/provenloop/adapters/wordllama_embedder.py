"""The built-in embedder: a vector for each token, averaged. Weights and tokenizer are files of the wordllama wheel.

The wheel's own code is never imported: it looks for files where they are not, and asks a hub for them. Read are two
files, once a process, when the first text is embedded; nothing of it needs a network.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenloop.domain.errors import InternalError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

TAG = "wordllama-l2-256"
VERSION = 1
DIMENSIONS = 256

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_LENGTH_BYTES = 8


class WordllamaEmbedder:
    """Implements ``services.recipe_ports.Embedder``; 0.03 ms a sentence, and a fifth of a second for the first.

    Args:
        folder: where the wheel's package lies; None to look for it among what is installed.
    """

    tag = TAG
    version = VERSION
    dimensions = DIMENSIONS

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See ``Embedder``."""
        import numpy as np  # noqa: PLC0415  (half a cold start)

        tokenizer, weights = self._loaded
        vectors = []
        for encoded in tokenizer.encode_batch(list(map(_plain, texts)), add_special_tokens=False):
            summed = weights[encoded.ids].sum(axis=0, dtype=np.float32)
            length = float(np.linalg.norm(summed))
            vectors.append((summed / length if length else np.zeros(DIMENSIONS, np.float32)).tolist())
        return vectors

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, NDArray[np.float16]]:
        from tokenizers import Tokenizer  # noqa: PLC0415  (see embed)

        folder = self._folder()
        try:
            tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
            weights = _tensor(folder / _WEIGHTS)
        except Exception as error:
            raise InternalError("the files of the embedder cannot be read") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer, weights

    def _folder(self) -> Path:
        if self._given is not None:
            return self._given
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise InternalError("the embedder is not installed")
        return Path(next(iter(spec.submodule_search_locations)))


def _plain(text: str) -> str:
    """A lone surrogate is no text that a tokenizer takes."""
    return text.encode("utf-8", "replace").decode()


def _tensor(file: Path) -> Any:
    """The one tensor of a safetensors file: a length, a header in JSON, and the numbers row by row."""
    import numpy as np  # noqa: PLC0415  (see embed)

    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH_BYTES), "little")
        header = json.loads(opened.read(length))[_TENSOR]
        if header["dtype"] != "F16" or header["shape"][1] != DIMENSIONS:
            raise ValueError("the weights are of another shape")
        start, end = header["data_offsets"]
        opened.seek(_LENGTH_BYTES + length + start)
        return np.frombuffer(opened.read(end - start), dtype="<f2").reshape(header["shape"])
