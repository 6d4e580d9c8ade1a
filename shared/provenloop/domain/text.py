"""Forms of text: the exact form that is stored, and the folded forms under which spellings of one thing meet.

Invariants: each function is idempotent and linear in the text's length; folding never joins letters that differ to a
reader of the language (``Żubr`` and ``Zubr`` stay two), it only removes width, case and blanks.
"""

from __future__ import annotations

import re
from unicodedata import combining, normalize

#: Soft hyphen, zero-width space, word joiner, zero-width no-break space. They show nothing and mean nothing, so two
#: texts that differ only in them look the same to every reader: they are dropped, not read as blanks, since no blank
#: is seen either. Joiners (U+200C, U+200D), direction marks and variation selectors change what is seen and stay.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]+")
_DOT_ABOVE_I = re.compile("i\u0307+")
_SEPARATORS = re.compile(r"[-\u2010_\s]+")

#: Sorting one run of combining marks takes quadratic time, so a longer run is broken up by a joiner that shows
#: nothing, as the Stream-Safe Text Format of Unicode does. No written language stacks as many.
_MAX_MARKS = 30
_MARK_BREAK = "\u034f"
_LONG_MARKS = re.compile(f"[^\\w\\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")


def nfc(text: str) -> str:
    """The exact form: canonically composed, nothing folded."""
    return normalize("NFC", _bounded_marks(text))


def nfkc(text: str) -> str:
    """The form in which characters of any width and styling are the plain ones; case and blanks stay."""
    return normalize("NFKC", _bounded_marks(text))


def without_invisible(text: str) -> str:
    """The text without the characters that show nothing and mean nothing."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def normalise(text: str) -> str:
    """The form under which spellings of one text meet.

    NFKC, full case-fold, no U+0307 after ``i`` (so ``İstanbul`` = ``istanbul``), no invisible characters, trimmed,
    inner white space (also no-break and ideographic) one space.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = _folded_once(text)
    # Folding can bring forth text that folds once more (a composed letter whose parts fold); it shrinks to a fixed
    # point within a few rounds.
    while folded != text:
        text, folded = folded, _folded_once(folded)
    return folded


def normalise_relation(text: str) -> str:
    """:func:`normalise` for names of relations: camelCase, hyphens and blanks become ``_`` as well.

    ``livesIn`` = ``lives-in`` = ``Lives In`` = ``LIVES_IN`` = ``lives_in``; ``HTTPServer`` = ``http_server``;
    ``line2Text`` = ``line2_text``. Runs of separators are one, outer ones none; a name of separators only stays.
    """
    words = "".join(_with_word_breaks(nfkc(_INVISIBLE.sub("", text))))
    folded = normalise(words)
    return _SEPARATORS.sub("_", folded).strip("_") or folded


def _folded_once(text: str) -> str:
    folded = normalize("NFKC", nfkc(text).casefold())
    folded = _DOT_ABOVE_I.sub("i", _INVISIBLE.sub("", folded))
    return " ".join(folded.split())


def _with_word_breaks(text: str) -> list[str]:
    """The characters, with ``_`` where a capital begins a word: ``aB`` and the last capital of ``ABc``."""
    out: list[str] = []
    for index, char in enumerate(text):
        if index and _is_capital(char) and _begins_word(text, index):
            out.append("_")
        out.append(char)
    return out


def _begins_word(text: str, index: int) -> bool:
    before = text[index - 1]
    if _is_capital(before):
        after = text[index + 1 : index + 2]
        return after.isalpha() and not _is_capital(after)
    return before.isalnum()


def _is_capital(char: str) -> bool:
    # Scripts whose case-fold is the capital (Cherokee) have no capitals here: folding once must be enough.
    return char.isupper() and char.casefold() != char


def _bounded_marks(text: str) -> str:
    if len(text) <= _MAX_MARKS or text.isascii():
        return text
    return _LONG_MARKS.sub(lambda run: _with_breaks(run.group()), text)


def _with_breaks(run: str) -> str:
    out: list[str] = []
    marks = 0
    for char in run:
        # Some marks come apart into two, which count before the text is normalised as they do after.
        weight = len(normalize("NFD", char)) if combining(char) else 0
        if weight and marks + weight > _MAX_MARKS:
            out.append(_MARK_BREAK)
            marks = 0
        marks = marks + weight if weight else 0
        out.append(char)
    return "".join(out)
