"""What identifies somebody by its form alone: e-mail addresses, phone numbers and ids of many sorts.

Read from a text as it is seen. Each pattern is linear, or bounded to so many characters from where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from provenloop.domain.pseudonyms.seen import Span
from provenloop.domain.signature_words import KNOWN_NAMES
from provenloop.domain.tokens import UNBROKEN

EMAIL, PHONE, ID, PERSON = "EMAIL", "PHONE", "ID", "PERSON"

_LETTER = f"[^\\W{UNBROKEN}]"
_HOST = rf"{_LETTER}(?:{_LETTER}|-){{0,62}}"
_EMAIL = re.compile(
    rf"(?:(?<![^\W{UNBROKEN}]){_LETTER}(?:{_LETTER}|[.'&%~+-]){{0,63}}|\"[^\"\n]{{1,64}}\")"
    rf"(?:@|[ ]?[\[({{][ ]?at[ ]?[\])}}][ ]?){_HOST}(?:(?:\.|[ ]?[\[({{][ ]?dot[ ]?[\])}}][ ]?){_HOST}){{0,8}}",
    re.IGNORECASE,
)
_SPELLED_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{2,64} at [\w-]{2,63}(?: dot [\w-]{2,63}){1,4}", re.IGNORECASE | re.ASCII
)
#: A version of a package: ``lodash@4.17``.
_VERSION = re.compile(r"@v?\d+(?:\.\d+)*\Z")
_GAP = r"[ \u00a0.()/-]"
_INTERNATIONAL = re.compile(
    rf"(?<![A-Za-z0-9_])(?<!\d\.)(?:\(?\+|00(?=[1-9])){_GAP}{{0,2}}\d(?:{_GAP}{{0,3}}\d){{6,16}}(?!\d)"
)
_GROUPS = re.compile(rf"(?<![A-Za-z0-9_])(?<!\d[.,])\(?\d{{1,6}}(?:{_GAP}{{1,3}}\d{{1,6}}){{1,6}}(?![A-Za-z0-9_])")
_DATE = re.compile(
    r"(?:(?:19|20)\d\d[-/. ](?:0?[1-9]|1[0-2])[-/. ](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/. ](?:0?[1-9]|[12]\d|3[01])[-/. ](?:19|20)\d\d"
    r"|(?:19|20)\d\d[ ]?[-/][ ]?(?:19|20)\d\d)(?:[ ]\d{1,2})?\Z"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[ .\u00a0]\d{3})+\Z")
_PHONE_DIGITS = range(7, 13)

_URL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/@\"'<>]{1,256}@[^\s\"'<>]{1,2000}")
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
_MAC = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9A-Fa-f]{2}[:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![0-9A-Za-z])(?![:-][0-9A-Fa-f]{2})"
)
_IP = re.compile(
    r"(?<![A-Za-z0-9_:])(?<!\d\.)(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3})(?![A-Za-z0-9_:])"
)
_IBAN = re.compile(
    r"(?<![0-9A-Za-z])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![0-9A-Za-z])", re.IGNORECASE
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}")
_PIECE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
_SWITCH = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_TIME = re.compile(
    r"(?:19|20)\d\d-?\d\d-?\d\dT\d{2,6}Z?\Z|(?:19|20)\d\d-\d\d(?:-\d\d)?\Z|\d{1,6}(?:ms|us|ns|s|kb|mb|gb|px|k|m)\Z",
    re.IGNORECASE,
)
#: Words before a number that make it a code of a fault or of a standard, and nobody's.
_CODES = frozenset("http https err error errno rfc cve iso code exit status sqlstate utf cp windows port line".split())
_AFTER_ID_WORD = re.compile(
    r"(?<![A-Za-z0-9])(?:account|acct|order|customer|client|invoice|ticket|case|user|member|membership|policy|patient|employee|passport|"
    r"tracking|reference|ref|booking|reservation|contract|transaction|txn|card|payment|parcel|shipment|licen[cs]e|"
    r"ssn|iban|konto|kunde|pedido|factura|commande|ordine|id|nr)s?"
    r"(?:[ _-]?(?:id|no|nr|num|number|code|ref))?[\"']?[.:=#\s(\"']{1,4}(?P<id>[A-Za-z]{0,4}[-_]?\d[\w-]{2,40})",
    re.IGNORECASE | re.ASCII,
)
_NUMBERED = re.compile(
    r"(?<![A-Za-z0-9_&])#\s?(?P<id>\d{3,20})(?![A-Za-z0-9_])|(?:番号|号码|號碼|订单号?|訂單號?|単号|번호)\D{0,3}(?P<east>[A-Za-z]{0,4}\d[A-Za-z0-9_-]{2,30})"
)
_LONG = 16
_ALONE = 7


def marks(text: str) -> Iterator[Span]:
    """Where the text names somebody by e-mail address, phone number or id; parts may overlap."""
    yield from (Span(*found.span(), ID) for pattern in (_URL, _UUID, _MAC) for found in pattern.finditer(text))
    if "@" in text or " at " in text.lower() or "at]" in text.lower() or "at)" in text.lower():
        yield from _emails(text)
    if any(char.isdecimal() for char in text):
        yield from _numbers(text)
        yield from _codes(text)


def _emails(text: str) -> Iterator[Span]:
    for found in _EMAIL.finditer(text):
        if not _VERSION.search(found.group()):
            yield Span(*found.span(), EMAIL)
    yield from (Span(*found.span(), EMAIL) for found in _SPELLED_EMAIL.finditer(text))


def _numbers(text: str) -> Iterator[Span]:
    yield from (Span(*found.span(), PHONE) for found in _INTERNATIONAL.finditer(text))
    for found in _GROUPS.finditer(text):
        digits = sum(char.isdecimal() for char in found.group())
        if digits >= _PHONE_DIGITS.start and not _is_figure(found.group(), digits):
            yield Span(*found.span(), PHONE if digits in _PHONE_DIGITS else ID)


def _is_figure(groups: str, digits: int) -> bool:
    return bool(_DATE.match(groups)) or (digits < 9 and bool(_THOUSANDS.match(groups)))


def _codes(text: str) -> Iterator[Span]:
    yield from (Span(*found.span(), ID) for found in _IBAN.finditer(text) if len(found.group()) >= _LONG)
    yield from (Span(*found.span(), ID) for found in _IP.finditer(text) if _is_ip(found.group()))
    yield from (Span(*found.span(), ID) for found in _BASE64.finditer(text) if _is_random(found.group()))
    yield from (Span(*found.span(), ID) for found in _PIECE.finditer(text) if _is_id(text, found))
    for pattern in (_AFTER_ID_WORD, _NUMBERED):
        for found in pattern.finditer(text):
            yield Span(*found.span(found.lastgroup or 0), ID)


def _is_ip(address: str) -> bool:
    try:
        ip_address(address)
    except ValueError:
        return False
    return any(char.isdecimal() for char in address) and not address.startswith(("::1", "127.", "0."))


def _is_random(token: str) -> bool:
    return any(map(str.isdecimal, token)) and any(map(str.isupper, token)) and any(map(str.islower, token))


def _is_id(text: str, found: re.Match[str]) -> bool:
    piece = found.group()
    digits = sum(map(str.isdecimal, piece))
    if not digits or piece.lower() in KNOWN_NAMES or _TIME.match(piece):
        return False
    if piece.isdecimal():
        return digits >= _ALONE and not _is_fraction(text, found)
    first = re.split(r"[-_\d]", piece.lower(), maxsplit=1)[0]
    if first in _CODES:
        return digits >= _ALONE
    if re.fullmatch(r"[\d-]+", piece):
        return False
    mixed = len(_SWITCH.findall(piece)) >= 3 and digits > 1
    has_capital = any(map(str.isupper, piece))
    return digits > 3 or mixed or (digits == 3 and has_capital) or (len(piece) >= _LONG and piece.isalnum())


def _is_fraction(text: str, found: re.Match[str]) -> bool:
    before, after = text[max(found.start() - 2, 0) : found.start()], text[found.end() : found.end() + 2]
    return bool(re.fullmatch(r"\d[.,]", before) or re.fullmatch(r"[.,]\d", after))
