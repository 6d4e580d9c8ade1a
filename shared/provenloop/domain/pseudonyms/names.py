"""Names of people in running text: by titles, greetings and fields, by lists, and by capitals that nothing explains.

Nobody finds them all. What is not found: rare names in lower case or at the beginning of a sentence with nothing that
speaks for a person, and names in scripts without capitals that stand without a title. What is taken for one: rare
names of products and places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from provenloop.domain.look_alikes.stems import stem
from provenloop.domain.pseudonyms import name_words
from provenloop.domain.pseudonyms.east_asian import east_asian_names
from provenloop.domain.pseudonyms.seen import Span
from provenloop.domain.tokens import UNBROKEN

_LETTER = f"[^\\W\\d_{UNBROKEN}]"
_WORD = re.compile(rf"{_LETTER}+(?:['\u2019-]{_LETTER}+)*")
_UNBROKEN = re.compile(f"[{UNBROKEN}]")
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_CAPITALISED = rf"(?:(?!\d|_)[^\W{UNBROKEN}](?:{_LETTER}|['\u2019.-])*)"
_SEQUENCE = rf"{_CAPITALISED}(?:[ ]{_CAPITALISED}){{0,3}}"
_BETWEEN = re.compile(r"[ \t\u00a0]{1,2}|\.[ ]?|[ ]?[-\u2010\u2011][ ]?")
_SENTENCE_END = (".", "!", "?", ":", ";", "\u2026")
_OPENING = " \t\"'([{*-#>\u201c\u2018\u00ab\u00bf\u00a1_`~|/="

_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor|Sir|Madam|Lady|Lord|Capt|Captain|Sgt|Herrn?|Frau|Monsieur|Madame|Mme|"
    r"Mlle|Se\u00f1ora?|Sra?|Do\u00f1a|Signora?|Sig|Dhr|Mevr|Mevrouw|Meneer|Pani?|Bay|Bayan|Shri|Smt|\u0433-\u043d|\u0433-\u0436\u0430|"
    rf"\u0433\u043e\u0441\u043f\u043e\u0434\u0438\u043d)\.?[ ](?P<name>{_SEQUENCE})"
)
_GREETED = re.compile(
    r"(?:\A|(?<=[\n.!?:\"'>]))[ \t]*(?i:hi|hello|hey|dear|thanks|thank you|cheers|greetings|"
    r"good (?:morning|afternoon|evening)|(?:(?:best|kind|warm) )?(?:regards|wishes)|sincerely|"
    r"yours(?: truly| sincerely)?|bonjour|salut|cher|ch\u00e8re|hola|estimad[oa]|querid[oa]|ol\u00e1|car[oa]|ciao|"
    r"hallo|liebe[r]?|sehr geehrte[r]?|moin|beste|hej|hei|cze\u015b\u0107|"
    r"\u043f\u0440\u0438\u0432\u0435\u0442|\u0437\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439\u0442\u0435)"
    rf"(?:,?[ \t]*\n|[ ,!]+)[ ]?(?P<name>{_SEQUENCE})"
)
_TOLD = re.compile(
    r"\b(?i:my name is|name's|i am|i'm|this is|call me|je m'appelle|je suis|me llamo|soy|ich bin|ich hei\u00dfe|"
    r"mein name ist|mi chiamo|mijn naam is|nazywam si\u0119|\u043c\u0435\u043d\u044f \u0437\u043e\u0432\u0443\u0442)[ ]"
    rf"(?P<name>{_SEQUENCE})"
)
_FIELD_NAMES = (
    r"(?:first|last|full|given|family|middle|display|nick|sur|user|customer|client|contact|person|employee|patient|agent|"
    r"sender|recipient|caller|card ?holder)[ _-]?name|surname|author|assignee|reporter|reviewer|approver|manager|"
    r"customer|owner|contact|caller|(?:reviewed|signed[ -]off|approved|reported|requested|created|written|"
    r"assigned|acked|tested|co-authored)[ -_](?:by|to)|from|to|attn|cc|name|user|login|kunde|cliente?|nombre|nom"
)
_FIELD = re.compile(
    rf"(?i:(?<![^\W_])(?:{_FIELD_NAMES}))[\"']?[ ]?(?::|=>?)[ ]?[\"']?"
    rf"(?P<name>{_SEQUENCE}(?:[ ](?i:de|van|der|von|bin|da|la)[ ]{_SEQUENCE})?)"
)
_BY_PATH = re.compile(r"(?:/home/|/Users/|\\Users\\)(?P<name>[^/\\\s\"'<>|:;,]{2,40})")
_HANDLE = re.compile(r"(?<![^\s(,;])@(?P<name>[A-Za-z][A-Za-z0-9_-]{2,38})(?![\w/(.]*[/(])")
#: Accounts of machines, and words that stand where a login might.
_NO_LOGIN = frozenset(
    "shared public runner ubuntu root admin default guest all here everyone channel node app user".split()
)

_SAYS = frozenset(
    "said says asked asks wrote writes called calls complained replied confirmed mentioned wants wanted prefers "
    "thinks told tells approved reviewed upgraded reports promised insists agreed signed opened closed noticed "
    "believes explained thanked forgot visited bought paid lives works speaks likes loves hates".split()
)
_PLACE_BEFORE = frozenset("san santa santo los las saint st port fort cape mount lake buenos rio sri hong tel".split())
_GERMAN = frozenset(
    "der die das und nicht ist ein eine einen den dem f\u00fcr mit auf wurde hat von im zum zur".split()
)
_MIN_TITLE_WORDS = 4
_INITIAL = re.compile(r"[^\W\d_]\Z")
_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_HUMPS_OF_NAMES = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van|Von|Fitz|O['\u2019])[A-Z]")


#: What a field says of its value: nothing, that it may be a person's name, or that it is one.
Says = Literal["nothing", "maybe", "person"]
_MAX_FIELD_CHARS = 80


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    folded: str
    begins: bool


def names(text: str, says: Says = "nothing") -> Iterator[Span]:
    """Where a text, as it is seen, names people; ``says`` is what its field says of it as a whole."""
    if says == "person" and 0 < len(text.strip()) <= _MAX_FIELD_CHARS and names_somebody(text):
        yield Span(0, len(text), "PERSON")
    if not text.isascii():
        yield from east_asian_names(text)
    for pattern in (_TITLED, _GREETED, _TOLD, _FIELD):
        for found in pattern.finditer(text):
            yield from _leading(text, found, is_titled=pattern is _TITLED)
    for pattern in (_BY_PATH, _HANDLE):
        for found in pattern.finditer(text):
            if found["name"].casefold() not in _NO_LOGIN:
                yield Span(*found.span("name"), "PERSON")
    yield from _capitals(text, is_field=says != "nothing")


def names_somebody(text: str) -> bool:
    """Whether a text, where a person is to be named, names one: it holds a word that is not common."""
    return any(not is_word(word.casefold()) for word in _WORD.findall(text)) or bool(_UNBROKEN.search(text))


def _leading(text: str, found: re.Match[str], *, is_titled: bool) -> Iterator[Span]:
    """The capitalised words at the beginning of what follows a title, a greeting or the name of a field."""
    start = end = found.start("name")
    for word in _WORD.finditer(text, start, found.end("name")):
        bare = _POSSESSIVE.sub("", word.group())
        is_first = end == start
        if not is_first and not _BETWEEN.fullmatch(text, end, word.start()):
            break
        is_name = bare[0].isupper() and (not is_word(bare.casefold()) or (is_titled and is_first))
        if not is_name and not (bare.casefold() in name_words.PARTICLES and not is_first):
            break
        end = word.start() + len(bare) if is_name else end
    if end > start:
        yield Span(start, end, "PERSON")


def _capitals(text: str, *, is_field: bool) -> Iterator[Span]:
    words = list(_words(text, is_field=is_field))
    tells = is_field or not _is_title(words)
    is_german = sum(word.folded in _GERMAN for word in words) > 1
    sure = [_is_listed(words, index, tells=tells) for index in range(len(words))]
    if tells and not is_german:
        found = [sure[index] or _is_unknown_name(words, index, text) for index in range(len(words))]
    else:
        found = sure
    has_case = any(char.islower() for word in words for char in word.text)
    yield from _sequences(text, words, found, grows=has_case)


def _words(text: str, *, is_field: bool) -> Iterator[_Word]:
    for match in _WORD.finditer(text):
        if _touches_digit(text, match):
            continue
        bare = _POSSESSIVE.sub("", match.group()) or match.group()
        before = text[max(match.start() - 40, 0) : match.start()].rstrip(_OPENING)
        is_cut = match.start() > 40 and not before
        begins = not is_field and not is_cut and (not before or before.endswith(_SENTENCE_END) or before[-1] == "\n")
        yield _Word(match.start(), match.start() + len(bare), bare, bare.casefold(), begins)


def _touches_digit(text: str, match: re.Match[str]) -> bool:
    around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
    return any(char.isdecimal() or char == "_" for char in around)


def _is_title(words: Sequence[_Word]) -> bool:
    """Whether capitals are the style of the whole text and so name nobody."""
    if not any(char.islower() for word in words for char in word.text):
        return True
    long = [word for word in words if len(word.text) > 3]
    return len(long) >= _MIN_TITLE_WORDS and all(word.text[0].isupper() for word in long)


def _is_listed(words: Sequence[_Word], index: int, *, tells: bool) -> bool:
    """Whether a word is a first name that is known, in any case, and nothing else that it could be."""
    word = words[index]
    if word.folded not in name_words.GIVEN or _at(words, index - 1).folded in _PLACE_BEFORE:
        return False
    if word.folded not in name_words.AMBIGUOUS:
        return len(word.text) > 2 or word.text[0].isupper()
    is_cased = word.text[0].isupper() and tells
    return is_cased and (not word.begins or _speaks(words, index) or _is_surname(words, index + 1))


def _speaks(words: Sequence[_Word], index: int) -> bool:
    following = _at(words, index + 1).folded
    return following in _SAYS or (following == "will" and words[index].folded != "will")


def _is_surname(words: Sequence[_Word], index: int) -> bool:
    word = _at(words, index)
    return word.text[:1].isupper() and not word.begins and not is_word(word.folded) and not word.text.isupper()


def _is_unknown_name(words: Sequence[_Word], index: int, text: str) -> bool:
    """Whether a capitalised word, of no list, stands as only names do."""
    word = words[index]
    if not word.text[0].isupper() or len(word.text) == 1 or word.text.isupper() or is_word(word.folded):
        return False
    if _at(words, index - 1).folded in _PLACE_BEFORE or _is_program(word.text):
        return False
    if not word.begins:
        return True
    if word.folded in name_words.SURNAMES or _speaks(words, index):
        return True
    following = _at(words, index + 1)
    joined = following.folded in ("and", "or", "und", "et", "y") and _is_surname(words, index + 2)
    is_next = following.text != "" and bool(_BETWEEN.fullmatch(text, word.end, following.start))
    return joined or (is_next and _is_surname(words, index + 1) and not _is_program(following.text))


def _is_program(word: str) -> bool:
    return bool(_HUMP.search(word)) and not _HUMPS_OF_NAMES.match(word)


def is_word(folded: str) -> bool:
    """Whether a case-folded word is common, or names a place, a product, a day or a language."""
    if folded in _PLACE_BEFORE:
        return True
    if folded in name_words.GIVEN and folded not in name_words.AMBIGUOUS:
        return False
    parts = re.split(r"['\u2019-]", folded)
    if all(part in name_words.NOT_NAMES or _is_stem_of_word(part) for part in parts):
        return True
    return len(folded) > 6 and folded.isascii() and folded.endswith(name_words.NOUN_ENDS)


def _is_stem_of_word(folded: str) -> bool:
    return len(folded) > 3 and stem(folded) in _stems()


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(stem, name_words.NOT_NAMES))


def _at(words: Sequence[_Word], index: int) -> _Word:
    return words[index] if 0 <= index < len(words) else _Word(0, 0, "", "", begins=False)


def _sequences(text: str, words: Sequence[_Word], found: Sequence[bool], *, grows: bool) -> Iterator[Span]:
    """Names with their initials, particles and surnames as one."""
    index = 0
    while index < len(words):
        if not found[index]:
            index += 1
            continue
        first = _grown_left(text, words, index)
        last = _grown_right(text, words, found, index, grows=grows)
        yield Span(words[first].start, words[last].end, "PERSON")
        index = last + 1


def _grown_left(text: str, words: Sequence[_Word], index: int) -> int:
    while index and _INITIAL.match(words[index - 1].text) and words[index - 1].text.isupper():
        if words[index - 1].folded in ("i", "a") and text[words[index - 1].end] != ".":
            break
        if not _BETWEEN.match(text, words[index - 1].end, words[index].start):
            break
        index -= 1
    return index


def _grown_right(text: str, words: Sequence[_Word], found: Sequence[bool], index: int, *, grows: bool) -> int:
    last = index
    for place in range(index + 1, min(index + 7, len(words))):
        gap = text[words[place - 1].end : words[place].start]
        word = words[place]
        if not _BETWEEN.fullmatch(gap) or (word.begins and not _is_initial(words[place - 1])):
            break
        if found[place] or word.folded in name_words.SURNAMES or (grows and _goes_on(word)):
            last = place
        elif word.folded not in name_words.PARTICLES:
            break
    return last


def _is_initial(word: _Word) -> bool:
    return len(word.text) == 1 and word.text.isupper()


def _goes_on(word: _Word) -> bool:
    if len(word.text) == 1:
        return word.text.isupper() and word.text != "I"
    return word.text[0].isupper() and not is_word(word.folded)
