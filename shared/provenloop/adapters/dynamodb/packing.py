"""Vectors as bytes: one byte a dimension and a scale, a quarter of single precision.

Each vector is a little-endian float32 scale and its dimensions as signed bytes. Without numpy, since most functions
that write rows have none.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Sequence

SCALE_BYTES = 4
_STEPS = 127


def packed(vectors: Iterable[Sequence[float]]) -> str:
    """Vectors of one length as base64.

    Raises:
        ValueError: a vector is zero or holds no numbers.
    """
    return base64.b64encode(b"".join(map(_bytes_of, vectors))).decode()


def raw(text: str) -> bytes:
    """The bytes of packed vectors.

    Raises:
        ValueError: the text is no base64.
    """
    return base64.b64decode(text, validate=True)


def unpacked(text: str, count: int) -> list[list[float]]:
    """``count`` vectors as they were packed, as near as a byte tells."""
    data = raw(text)
    size = len(data) // count if count else 0
    return [_vector_of(data[start : start + size]) for start in range(0, count * size, size)] if size else []


def sliced(text: str, count: int, kept: Iterable[int]) -> str:
    """The packed vectors at the given places of ``count``, as they are."""
    data = raw(text)
    size = len(data) // count
    return base64.b64encode(b"".join(data[place * size : (place + 1) * size] for place in kept)).decode()


def joined(texts: Iterable[str]) -> str:
    """Packed vectors of several rows, one behind the other."""
    return base64.b64encode(b"".join(raw(text) for text in texts)).decode()


def _bytes_of(vector: Sequence[float]) -> bytes:
    largest = max(map(abs, vector), default=0.0)
    if not 0 < largest < float("inf"):
        raise ValueError("a vector without a direction cannot be stored")
    scale = largest / _STEPS
    return struct.pack(f"<f{len(vector)}b", scale, *(round(value / scale) for value in vector))


def _vector_of(data: bytes) -> list[float]:
    scale, *steps = struct.unpack(f"<f{len(data) - SCALE_BYTES}b", data)
    return [scale * step for step in steps]
