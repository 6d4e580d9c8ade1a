"""Error signatures: the identity of a fault, made of the text of one occurrence alone.

Two errors of one cause share a signature, two causes do not; how well that holds is measured on labelled logs
(``python -m provenloop.entry.measure_signatures``). Invariants: a pure function of the result, without state and
order, in linear time; the whole masked text counts, of a huge body its head and tail. Texts are masked before they are
cut, so that a longer number moves no cut.

Any change of what this function answers raises ``SIGNATURE_VERSION``: stored signatures keep their version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from provenloop.domain.canonical import sha256_hex
from provenloop.domain.signature_json import Part, parts_of, split_json
from provenloop.domain.signature_masks import mask
from provenloop.domain.signature_trace import error_lines
from provenloop.domain.text import nfc, nfkc

SIGNATURE_VERSION = 1
NO_OUTPUT = "(no output)"
SHOWN_CHARS = 200

_HASH_CHARS = 32
#: A body longer than this is read at its two ends only.
_READ_CHARS = 65_536
#: A masked text longer than this is signed by its two ends only.
_SIGNED_CHARS = 16_384
#: Words that only say that it is an error, with something after them: ``Error: declined`` is ``declined``.
_ERROR_LABELS = re.compile(r"(?:(?:uncaught )?(?:error|err|exception)(?::| -) ?)++(?=.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Signature:
    """The identity of a fault: 32 hex digits, and the first 200 characters of the masked text to show for it."""

    hash: str
    shown: str


def signature_of(result: object) -> Signature:
    """The signature of a failed call's result.

    Args:
        result: text or a JSON value; JSON given as text, also behind some words, is read as JSON.
    """
    masked = _masked(result)
    if not masked:
        return Signature(_hash("empty", ""), NO_OUTPUT)
    return Signature(_hash("text", masked), masked[:SHOWN_CHARS].rstrip())


def explicit_signature(text: str) -> Signature:
    """A signature that the caller gave in its own words: exact but for composition and outer blanks.

    It never meets a computed one.
    """
    exact = nfc(text).strip()
    return Signature(_hash("explicit", exact), exact[:SHOWN_CHARS])


def _masked(result: object) -> str:
    if result is None:
        return ""
    if isinstance(result, str):
        return _masked_text(result)
    if isinstance(result, (Mapping, list, tuple)):
        return _without_label(_masked_parts(parts_of(result)))
    return mask(str(result))


def _masked_text(text: str) -> str:
    before, value = split_json(text)
    if isinstance(value, str):
        return _masked_text(value)
    if value is None:
        return _masked_plain(text)
    parts = (Part("text", before), *parts_of(value)) if before else parts_of(value)
    return _without_label(_masked_parts(parts))


def _masked_plain(text: str) -> str:
    text = text.strip()
    if len(text) > _READ_CHARS:
        text = f"{text[: _READ_CHARS // 2]}\n{text[-_READ_CHARS // 2 :]}"
    return _without_label(_ends(mask(nfkc(error_lines(text)))))


def _masked_parts(parts: tuple[Part, ...]) -> str:
    masked = (part.text.casefold() if part.kind == "code" else _masked_plain(part.text) for part in parts)
    return _ends(": ".join(part for part in masked if part))


def _ends(masked: str) -> str:
    if len(masked) <= _SIGNED_CHARS:
        return masked
    half = _SIGNED_CHARS // 2
    return f"{masked[:half]} {masked[-half:]}"


def _without_label(masked: str) -> str:
    label = _ERROR_LABELS.match(masked)
    return masked[label.end() :] if label else masked


def _hash(kind: str, text: str) -> str:
    return sha256_hex(f"{kind}\n{text}")[:_HASH_CHARS]
