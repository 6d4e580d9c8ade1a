"""Distilling a session's negative feedback into candidate cards: what is read, the prompt, the reading of the answer.

Pure. Texts from outside are quoted, and what Provenloop itself put before the agent is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import Grain
from provenloop.domain.injected import carries_marker
from provenloop.domain.quoting import MARGIN, RULE, WHOLE, Quoted
from provenloop.domain.secrets import redact
from provenloop.lessons.line import MAX_KEY_CHARS, MAX_STATEMENT_CHARS, is_lesson

MAX_TOKENS = 4_096
MAX_CARDS = 10
#: Most texts of one label in a prompt, and most characters of each.
MAX_TEXTS = 40
MAX_TEXT_CHARS = 1_500
SOURCE = "lessons-digest"

INSTRUCTIONS = f"""\
You read what went wrong in one session of an agent: feedback of its users, failed calls and reports of guards; and
lessons of its project that are known already. Write down what a later session should do differently.

Write one card for each lesson that what went wrong really shows, at most {MAX_CARDS}, and none where it shows none.
Do not repeat a lesson that is known. Leave out what belonged to this session only: names, ids, dates, paths.

{RULE}

Answer with cards, a list; of each: category, a few words in lower case joined by hyphens; signature, the same for the
same mistake, in a few words joined by hyphens; statement, what to do, as one short sentence; detail, what happened."""

_FIELDS = ("category", "signature", "statement", "detail")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "cards": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in _FIELDS},
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["cards"],
    "additionalProperties": False,
}

#: Words by which feedback says that it is none of this kind.
_POSITIVE = frozenset({"up", "positive", "good", "like", "thumbs_up", "thumbs-up", "+1", "true", "1"})
_VERDICTS = ("rating", "thumb", "thumbs", "value", "sentiment", "score")


@dataclass(frozen=True, slots=True)
class DigestCard:
    """A card that the model proposes."""

    category: str
    signature: str
    statement: str
    detail: str


class DigestRead(NamedTuple):
    """An answer as read: the cards, and the places in its list of what is none."""

    cards: Sequence[tuple[int, DigestCard]]
    invalid: Sequence[int]


def is_negative(grain: Grain) -> bool:
    """Whether a grain of a session says that something went wrong: a failed call, a lesson, negative feedback."""
    if not grain.is_current:
        return False
    if grain.kind == "tool_call":
        return bool(grain.body.get("is_error"))
    return grain.kind == "event" and (is_lesson(grain) or _is_negative_feedback(grain.body.get("body")))


def _is_negative_feedback(body: Any) -> bool:
    if not isinstance(body, Mapping) or "feedback" not in (body.get("kind"), body.get("type")):
        return False
    verdicts = [str(body[name]).strip().casefold() for name in _VERDICTS if name in body]
    return not any(verdict in _POSITIVE for verdict in verdicts)


def quoted(wrong: Iterable[Grain], known: Iterable[Grain]) -> tuple[Quoted, ...]:
    """The texts as they stand in the prompt: what went wrong, then the lessons that are known. Of each only its short
    form is kept, so that long ones may be read one after the other.
    """
    return (*_blocks(wrong), *(_quoted("known_lesson", grain) for grain in _said(known)))


def _blocks(wrong: Iterable[Grain]) -> Iterator[Quoted]:
    for grain in _said(wrong):
        label = "failed_call" if grain.kind == "tool_call" else "guard_report" if is_lesson(grain) else "feedback"
        yield _quoted(label, grain)


def _said(grains: Iterable[Grain]) -> Iterator[Grain]:
    return islice((grain for grain in grains if grain.body and not carries_marker(grain.body)), MAX_TEXTS)


def _text(grain: Grain) -> str:
    if grain.kind == "tool_call":
        return f"{grain.body.get('tool')}: {grain.body.get('result')}"
    if is_lesson(grain):
        names = grain.body["lesson"]
        return f"{names['category']} / {names['signature']}: {grain.body.get('statement') or grain.body.get('detail')}"
    body = grain.body.get("body")
    return body if isinstance(body, str) else canonical_json(body)


def _quoted(label: str, grain: Grain) -> Quoted:
    clean, _ = redact(_text(grain))
    return Quoted(label, clean[: MAX_TEXT_CHARS + MARGIN], {WHOLE: MAX_TEXT_CHARS})


def read_cards(value: Mapping[str, Any]) -> DigestRead | None:
    """The cards of an answer; None where it holds no list of them."""
    given = value.get("cards")
    if not isinstance(given, list):
        return None
    read = [(place, _card(each)) for place, each in enumerate(given[:MAX_CARDS])]
    over = range(MAX_CARDS, len(given))
    return DigestRead(
        [(place, card) for place, card in read if card is not None],
        [*(place for place, card in read if card is None), *over],
    )


def _card(value: Any) -> DigestCard | None:
    if not isinstance(value, Mapping) or not all(isinstance(value.get(name), str) for name in _FIELDS):
        return None
    fields = {name: value[name].strip() for name in _FIELDS}
    if not all(fields.values()) or max(len(fields["category"]), len(fields["signature"])) > MAX_KEY_CHARS:
        return None
    return DigestCard(**fields) if len(fields["statement"]) <= MAX_STATEMENT_CHARS else None
