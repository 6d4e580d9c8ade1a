"""Placeholders for what names somebody, and the way back.

``PVL_PERSON_1``, ``PVL_EMAIL_1``, ``PVL_PHONE_1``, ``PVL_ID_1``: a form that neither code nor text uses, so that a
variable ``person_1`` is nobody. One number for one text, in the order in which texts are first met, so that a number
tells nothing and cannot be joined with those of another request. The same text in another spelling (case, accents,
escapes) has the same number and a second one behind it (``PVL_PERSON_1_2``), so that each comes back as it was. A text
that already holds such a word has that word replaced too (``PVL_LITERAL_1``): it comes back as it was, and never as
somebody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from provenloop.domain.canonical import StrictJsonError, parse_strict
from provenloop.domain.pseudonyms.fields import said_by
from provenloop.domain.pseudonyms.known import KnownNames
from provenloop.domain.pseudonyms.marks import EMAIL, ID, PERSON, PHONE, marks
from provenloop.domain.pseudonyms.names import Says, names
from provenloop.domain.pseudonyms.seen import Seen, Span, seen, views
from provenloop.domain.quoting import WHOLE, compact

LITERAL = "LITERAL"
KINDS = (PERSON, EMAIL, PHONE, ID, LITERAL)
_NO_LIMITS: Mapping[str, int] = {}
_PREFIX = "PVL_"
#: Also in bold, in the plural, and in any case.
_PLACEHOLDER = re.compile(
    rf"(?<![A-Za-z0-9_])(_*){_PREFIX}({'|'.join(KINDS)})_(\d{{1,6}})(?:_(\d{{1,6}}))?(_*|s)(?![A-Za-z0-9_])",
    re.ASCII | re.IGNORECASE,
)
#: The ways a text can be read, and what each shows.
_Reading = list[tuple[Seen, list[Span]]]


class Pseudonyms:
    """The placeholders of one request, or of all requests of one pass. Never shared between memories.

    Args:
        listed: names that are replaced in any case, wherever they stand as words.
    """

    def __init__(self, listed: Iterable[str] = ()) -> None:
        self._known = KnownNames()
        self._numbers: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
        self._spellings: dict[tuple[str, int], list[str]] = {}
        self._given: dict[tuple[str, str], str] = {}
        self._read: dict[tuple[str, Says], _Reading] = {}
        for name in listed:
            self._known.add(name, listed=True)

    def learn(self, texts: Iterable[str]) -> None:
        """Know what these texts show to be somebody's, so that it is replaced where nothing shows it, too."""
        self._read.clear()
        for text in texts:
            for part, says in _texts_of(_value(text), "nothing"):
                for view, spans in self._reading(part, says):
                    for span in spans:
                        self._known.add(view.text[span.start : span.end], span.kind)

    def replace(self, text: str, limits: Mapping[str, int] | None = None) -> str:
        """A text with placeholders in it; JSON stays JSON, of which values and keys are replaced.

        Args:
            limits: after how many characters, as they were written, the text ends, as ``Quoted.limits`` says. What
                names somebody and begins before that is replaced whole.
        """
        known = limits or {}
        value = _value(text)
        if isinstance(value, str):
            return self._replaced(value, limit=known.get(WHOLE))
        if WHOLE not in known:
            return compact(self._replaced_value(value, limits=known))
        # Cut, it would be no JSON.
        return self._replaced(text, limit=known[WHOLE]) if len(text) > known[WHOLE] else self.replace(text)

    def restore(self, text: str) -> str:
        """A text with what placeholders stand for, in whatever case they are; unknown ones stay."""
        return _PLACEHOLDER.sub(self._restored, text)

    def restore_value(self, value: Any) -> Any:
        """A JSON value in whose texts and keys placeholders are restored."""
        if isinstance(value, str):
            return self.restore(value)
        if isinstance(value, dict):
            return {self.restore(name): self.restore_value(item) for name, item in value.items()}
        return [self.restore_value(item) for item in value] if isinstance(value, list) else value

    def _restored(self, found: re.Match[str]) -> str:
        spellings = self._spellings.get((found[2].upper(), int(found[3])), [])
        place = int(found[4] or 1) - 1
        if not 0 <= place < len(spellings):
            return found.group()
        return f"{found[1]}{spellings[place]}{found[5]}"

    def _replaced_value(
        self, value: Any, says: Says = "nothing", limit: int | None = None, limits: Mapping[str, int] = _NO_LIMITS
    ) -> Any:
        if isinstance(value, str):
            return self._replaced(value, says, limit)
        if isinstance(value, dict):
            return {
                self._replaced(name): self._replaced_value(item, said_by(name), limits.get(name))
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._replaced_value(item, says, limit) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        number = self._replaced(str(value))
        return value if number == str(value) else number

    def _replaced(self, text: str, says: Says = "nothing", limit: int | None = None) -> str:
        parts: list[str] = []
        at, last = 0, len(text) if limit is None else limit
        for cut in self._cuts(text, says):
            if cut.start >= last:
                break
            parts += (text[at : cut.start], self._placeholder(cut.kind, text[cut.start : cut.end]))
            at = cut.end
        return "".join((*parts, text[at:last]))

    def _cuts(self, text: str, says: Says) -> list[Span]:
        """What is to be replaced, as parts of the text as it was written that do not touch."""
        cuts: list[Span] = []
        for view, spans in self._reading(text, says):
            literal = [Span(*found.span(), LITERAL) for found in _PLACEHOLDER.finditer(view.text)]
            cuts += map(view.in_written, (*literal, *self._known.find(view), *spans))
        # What is a placeholder only as it was written, not as it is seen, would be restored all the same.
        cuts += [Span(*found.span(), LITERAL) for found in _PLACEHOLDER.finditer(text)]
        return _joined(cuts)

    def _reading(self, text: str, says: Says) -> _Reading:
        """What is seen of a text, and what of it names somebody; read once, for it is learnt from and then replaced."""
        found = self._read.get((text, says))
        if found is None:
            found = [(view, [*marks(view.text), *names(view.text, says)]) for view in views(text)]
            self._read[text, says] = found
        return found

    def _placeholder(self, kind: str, written: str) -> str:
        given = self._given.get((kind, written))
        if given is None:
            given = self._given[kind, written] = self._numbered(kind, written)
        return given

    def _numbered(self, kind: str, written: str) -> str:
        folded = seen(written).folded.text
        folded = "".join(filter(str.isalnum, folded)) if kind == PERSON else folded.strip()
        number = self._numbers[kind].setdefault(folded, len(self._numbers[kind]) + 1)
        spellings = self._spellings.setdefault((kind, number), [])
        spellings.append(written)
        word = f"{_PREFIX}{kind}_{number}"
        return word if len(spellings) == 1 else f"{word}_{len(spellings)}"


def _joined(cuts: Iterable[Span]) -> list[Span]:
    """Cuts that overlap or touch as one, of the kind of the longest of them."""
    joined: list[Span] = []
    longest = 0
    for cut in sorted(cuts):
        length = cut.end - cut.start
        if not joined or cut.start > joined[-1].end:
            joined.append(cut)
            longest = length
            continue
        last = joined[-1]
        joined[-1] = Span(last.start, max(last.end, cut.end), cut.kind if length > longest else last.kind)
        longest = max(longest, length)
    return joined


def _value(text: str) -> Any:
    """The JSON object or array that a text is; else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = parse_strict(text.encode())
    except (StrictJsonError, UnicodeEncodeError):
        return text
    return value if isinstance(value, dict | list) else text


def _texts_of(value: Any, says: Says) -> Iterator[tuple[str, Says]]:
    if isinstance(value, str):
        yield value, says
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name, "nothing"
            yield from _texts_of(item, said_by(name))
    elif isinstance(value, list):
        for item in value:
            yield from _texts_of(item, says)
