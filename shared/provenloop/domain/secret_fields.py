"""Fields of a text whose name says that they hold a secret: ``name: value``, ``name=value``, ``"name": "value"``.

Also ``"name": ["value"``, ``<name>value``, ``name is value``, and all of them with escaped quotes, as in JSON inside
JSON. Each separator of the text is looked at once, and the few characters before it; so the walk is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from provenloop.domain.secret_patterns import ABOUT_SECRET, NO_SECRET, is_harmless_before, kind_of_name

MIN_TOKEN_CHARS = 8
LONG_TOKEN_CHARS = 16

#: It begins with one class of characters, to which the engine skips at once.
_SEPARATOR = re.compile(r"[:=> \t](?:(?<=[:=])[=>]?|(?<=>)|(?<=[ \t])(?:is|was)(?=[ \t]))")
_VALUE = re.compile(
    r"\s{0,3}(?:\[(?!redacted:)\s{0,3})?+(?!\\?[\"']?\[redacted:)"
    r"(\\\"(?:[^\"\\\n]|\\(?!\"))*+(?:\\\")?|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|[^\s\"',;&<>(){}\]|\\]++)"
)
_NAME = re.compile(
    r"(?:pass(?:word|wd|phrase|code)s?[0-9]?|(?<=[_-])pass|pwd|secrets?|tokens?|api[ _-]?keys?|"
    r"access[_-]?key(?:[_-]?id)?|(?:secret|private|signing|encryption|account|auth|shared|subscription)[_-]?key|credentials?|"
    r"connection[_-]?string|x-amz-signature|(?<=[?&])sig)\Z",
    re.IGNORECASE,
)
#: Last two letters of all those names; nearly every other field is told by them.
_NAME_ENDS = frozenset("rd ds wd se de es ss et ts en ns ey ys id al ls ng re ig".split())
_BEFORE_CHARS = 48
_NAME_CHARS = 24
#: The tag that a name before ``>`` may be the end of.
_OPEN_TAG = re.compile(r"<[\w:.-]{0,32}\Z")
_QUOTE = re.compile(r"\\?[\"']")
_LETTERS_ONLY = re.compile(r"[A-Za-z]+[.!?]*\Z")
_DIGIT_OR_SIGN = re.compile(r"[0-9_+/=$!@#%^&*~-]")
_GOES_ON = re.compile(r"[ \t]\w")
_SHORT_NUMBER = re.compile(r"-?[0-9][0-9.,]{0,11}\Z")


@dataclass(frozen=True, slots=True)
class _Field:
    """A name, what separates it, and its value with quotes and place; ``around`` is the whole text."""

    name: str
    before: str
    separator: str
    quote: str
    value: str
    start: int
    end: int
    around: str

    @property
    def kind(self) -> str:
        return kind_of_name(self.name) or "token"


def replace_fields(text: str, mark: Callable[[str], str]) -> str:
    """The text with ``mark(kind)`` in place of each secret value."""
    out: list[str] = []
    done = 0
    for field in _fields(text):
        if _is_secret(field):
            out += (text[done : field.start], mark(field.kind))
            done = field.end
    return "".join((*out, text[done:])) if out else text


def holds_secret(value: str, kind: str, *, quoted: bool) -> bool:
    """Whether a field's value is a secret, and not empty, a count, a placeholder or a message about the field."""
    text = value.strip()
    if not text or "[redacted:" in text or NO_SECRET.match(text) or ABOUT_SECRET.match(text):
        return False
    if kind == "password":
        return True
    if _SHORT_NUMBER.match(text) or len(text) < MIN_TOKEN_CHARS:
        return False
    return quoted or len(text) >= LONG_TOKEN_CHARS or not _LETTERS_ONLY.match(text)


def _fields(text: str) -> Iterator[_Field]:
    """Fields with the name of a secret, none inside the value of another."""
    done = 0
    for found in _SEPARATOR.finditer(text):
        if found.start() < done:
            continue
        before = text[max(0, found.start() - _BEFORE_CHARS) : found.start()].rstrip(" \t\"'\\")
        if before[-2:].lower() not in _NAME_ENDS and not before[-1:].isdigit():
            continue
        name = _NAME.search(before, max(0, len(before) - _NAME_CHARS))
        value = _VALUE.match(text, found.end()) if name else None
        if name and value:
            yield _field(name, found.group().strip(), value)
            done = value.end()


def _field(name: re.Match[str], separator: str, match: re.Match[str]) -> _Field:
    opening = _QUOTE.match(match[1])
    quote = opening.group() if opening else ""
    value = match[1][len(quote) :]
    value = value[: -len(quote)] if quote and value.endswith(quote) else value
    start = match.start(1) + len(quote)
    before = name.string[: name.start()]
    return _Field(name.group(), before, separator, quote, value, start, start + len(value), match.string)


def _is_secret(field: _Field) -> bool:
    if _is_elsewise(field):
        return False
    if field.separator in ("is", "was"):
        long_enough = not field.quote and len(field.value) >= MIN_TOKEN_CHARS
        return long_enough and bool(_DIGIT_OR_SIGN.search(field.value))
    if not holds_secret(field.value, field.kind, quoted=bool(field.quote)):
        return False
    return bool(field.quote) or not field.separator.startswith(":") or not _in_prose(field)


def _is_elsewise(field: _Field) -> bool:
    """Whether what stands around says that it is no secret: a cursor, a variable, a folder, a comparison."""
    name = field.name.lower()
    if name.startswith("token") and is_harmless_before(field.before):
        return True
    if field.separator == ">" and not _OPEN_TAG.search(field.before):
        return True
    follows = field.around[field.end : field.end + 1]
    return (field.value.endswith("$") and follows in ("{", "(")) or (
        name == "pwd" and field.value.startswith(("/", "~"))
    )


def _in_prose(field: _Field) -> bool:
    """Whether a bare word after ``name: `` is one of a sentence: ``token: unexpected end``, ``Password: try again``."""
    if not _LETTERS_ONLY.match(field.value) or len(field.value) >= LONG_TOKEN_CHARS:
        return False
    return field.kind != "password" or bool(_GOES_ON.match(field.around[field.end : field.end + 2]))
