"""The form under which two requests are the same request: what the exact rung compares.

Case-folded, canonically composed, white space collapsed, punctuation around the text trimmed. Compatibility forms stay
(``10²`` is not ``102``). Invariants: idempotent; linear in the text's length but for nested quotes; only a text of
nothing but blanks becomes empty. Raise ``VERSION`` with every change: signatures of two versions never compare.
"""

from __future__ import annotations

from provenloop.domain.canonical import canonical_json, sha256_hex
from provenloop.domain.recipe import DIGEST_CHARS
from provenloop.domain.text import nfc, without_invisible

VERSION = 1

#: Ends of sentences and lists, also CJK, full-width and of other scripts. Signs that mean something (``%``, ``*``,
#: ``)``, ``#``) stay.
_AFTER = frozenset(
    ".?,;:\u2026\u3002\uff0e\uff61\uff1f\uff0c\u3001\uff64\uff1b\uff1a\u061f\u060c\u061b\u06d4\u0964\u0965\u203d\u2047\u2048\u2049"
)
#: After a digit it is a factorial.
_EXCLAIMED = frozenset("!\uff01")
_BEFORE = frozenset("\u00bf\u00a1,;:\u3001\u3002\uff0c\uff1b\uff1a\u2026")
#: What may stand around a whole text.
_PAIRS = {
    '"': '"', "'": "'", "`": "`", "(": ")", "[": "]", "{": "}", "\u201c": "\u201d", "\u2018": "\u2019",
    "\u201e": "\u201c", "\u201a": "\u2018", "\u00ab": "\u00bb", "\u00bb": "\u00ab", "\u2039": "\u203a",
    "\u300c": "\u300d", "\u300e": "\u300f", "\u3008": "\u3009", "\u300a": "\u300b", "\u3010": "\u3011",
    "\u3014": "\u3015", "\uff08": "\uff09", "\uff3b": "\uff3d", "\uff5b": "\uff5d", "\uff02": "\uff02",
    "\uff07": "\uff07", "\uff62": "\uff63",
}  # fmt: skip
#: Rounds of peeling; whoever puts a text in more quotes means them.
_MAX_PEELED = 8


def normalise(text: str) -> str:
    """The normal form. A text of punctuation only keeps it; one of blanks only becomes empty."""
    folded = _folded(text)
    peeled = folded
    for _ in range(_MAX_PEELED):
        trimmed = _peeled(_trimmed(peeled))
        if trimmed == peeled:
            return peeled
        if not trimmed:
            return folded
        peeled = trimmed
    return folded


def signature(text: str, scope_key: str) -> str:
    """What the exact rung looks up: 32 hex digits of SHA-256 over normal form, its version, and scope."""
    return sha256_hex(canonical_json([VERSION, scope_key, normalise(text)]))[:DIGEST_CHARS]


def _folded(text: str) -> str:
    """Folding can bring forth text that folds once more; it reaches a fixed point within a few rounds."""
    before, now = None, without_invisible(text)
    while now != before:
        before, now = now, nfc(" ".join(nfc(now).casefold().split()))
    return now


def _trimmed(text: str) -> str:
    start, end = 0, len(text)
    while start < end and (text[start] in _BEFORE or text[start].isspace()):
        start += 1
    while end > start:
        bare = end
        while bare > start and text[bare - 1] in _EXCLAIMED:
            bare -= 1
        if bare == end and (text[end - 1] in _AFTER or text[end - 1].isspace()):
            bare -= 1
        elif bare == end or (bare > start and text[bare - 1].isdigit()):
            break
        end = bare
    return text[start:end]


def _peeled(text: str) -> str:
    """Without the quotes or brackets around the whole of a text, which do not stand inside it."""
    end = _PAIRS.get(text[:1])
    if end is None or len(text) <= 2 or text[-1] != end:
        return text
    inside = text[1:-1]
    return text if text[0] in inside or end in inside else inside.strip()
