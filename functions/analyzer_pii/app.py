"""A sample of an external analyzer: looks for personal data in facts, observations and results of tools.

It finds e-mail addresses, phone numbers in international or grouped national form, IBANs and payment cards whose check
digits are right, and public IP addresses. What it says names the kind and the grain, and never repeats what it found.
It uses nothing but Python, as a Lambda function or as a command: ``python functions/analyzer_pii/app.py < question``.
shared/EXTERNAL-ANALYZERS.md describes the protocol.
"""

from __future__ import annotations

import ipaddress
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

ID = "ext.pii/1"
VERSION = 1
MAX_FINDINGS = 200
#: Where texts of others stand in a grain, by its kind.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "fact": ("subject", "object"),
    "observation": ("text",),
    "tool_call": ("result",),
}
NAMES = {"fact": "A fact", "observation": "An observation", "tool_call": "A result of a tool"}
RANKS = {"high": 0, "medium": 1, "low": 2}
GUIDANCE = "Forget the grain, or state it again with a reference in the place of the value."


class Kind(NamedTuple):
    """A kind of personal data: what may be some, what is some, and how much it matters."""

    name: str
    article: str
    form: re.Pattern[str]
    is_one: Callable[[str], bool]
    severity: str
    confidence: float


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """The answer to one question; raises ValueError for one of another protocol."""
    if event.get("loop_analyzer") != VERSION or event.get("op") not in ("probe", "analyze"):
        raise ValueError("this is no question of protocol 1")
    if event["op"] == "probe":
        return {"id": ID, "title": "Personal data", "description": "E-mail, phone, IBAN, payment card, public IP"}
    found = [finding for grain in event["grains"] for finding in _findings(grain)]
    return {"findings": sorted(found, key=lambda each: RANKS[each["severity"]])[:MAX_FINDINGS]}


def _findings(grain: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One finding at most: of what a grain holds, all in one."""
    fields = grain["fields"]
    texts = [fields[name] for name in FIELDS.get(grain["grain_type"], ()) if isinstance(fields.get(name), str)]
    kinds = kinds_in("\n".join(texts))
    if kinds:
        held = [f"{kind.article} {kind.name}" for kind in kinds]
        yield {
            "target": f"grain:{grain['hash']}",
            "summary": f"{NAMES[grain['grain_type']]} seems to hold {' and '.join(held)}",
            "severity": min((kind.severity for kind in kinds), key=RANKS.__getitem__),
            "evidence": [grain["hash"]],
            "guidance": GUIDANCE,
            "confidence": max(kind.confidence for kind in kinds),
            "key": "personal data",
        }


def kinds_in(text: str) -> list[Kind]:
    """The kinds of personal data in a text. What is one of them is looked at as no other."""
    found = []
    for kind in KINDS:
        hits = [match for match in kind.form.finditer(text) if kind.is_one(match.group())]
        if hits:
            found.append(kind)
            text = _without(text, hits)
    return found


def _without(text: str, hits: list[re.Match[str]]) -> str:
    for match in reversed(hits):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    return text


def is_iban(text: str) -> bool:
    """Whether the check digits are right: the letters as numbers, and all of it modulo 97."""
    plain = text.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def is_card(text: str) -> bool:
    """Whether the check digit is right (Luhn), and the number not one digit again and again."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    is_right = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return 13 <= len(digits) <= 19 and is_right and len(set(digits)) > 1


def is_phone(text: str) -> bool:
    """Whether it has as many digits as a phone number."""
    return 8 <= sum(char.isdigit() for char in text) <= 15


def is_public_address(text: str) -> bool:
    """Whether it is an IP address that others can reach; those of a house tell of nobody."""
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _any(_text: str) -> bool:
    return True


#: In the order in which they are looked for: a card number is no phone number.
KINDS = (
    Kind(
        "e-mail address",
        "an",
        re.compile(r"(?<![\w.+-])[\w+-][\w.+-]{0,63}@(?:[a-zA-Z0-9-]{1,63}\.){1,8}[a-zA-Z]{2,24}(?![\w-])"),
        _any,
        "medium",
        0.9,
    ),
    Kind(
        "IBAN",
        "an",
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
        is_iban,
        "high",
        0.95,
    ),
    Kind(
        "payment card number",
        "a",
        re.compile(r"(?<![\d.-])[2-6]\d{3}(?:[ -]?\d){9,15}(?![\d.-]?\d)"),
        is_card,
        "high",
        0.9,
    ),
    Kind(
        "public IP address",
        "a",
        re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)"),
        is_public_address,
        "low",
        0.7,
    ),
    Kind(
        "public IP address",
        "a",
        re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{1,4}::?){2,7}[0-9a-fA-F]{0,4}(?![\w:])"),
        is_public_address,
        "low",
        0.7,
    ),
    Kind(
        "phone number",
        "a",
        re.compile(r"(?<![\w+.])(?<!\d )(?:\+|00)[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}(?!\d)"),
        is_phone,
        "medium",
        0.8,
    ),
    Kind(
        "phone number",
        "a",
        re.compile(r"(?<![\w+./-])(?<!\d )\(?0\d{2,4}\)?[ /-]{1,3}\d{3,4}(?:[ -]?\d{2,5}){1,3}(?![\d-])"),
        is_phone,
        "medium",
        0.6,
    ),
)


if __name__ == "__main__":
    json.dump(lambda_handler(json.load(sys.stdin), None), sys.stdout)
