"""Cards: what equal reports merge into, their evidence, and the rules that armed ones are.

Invariants: counters move by additions only, and never down but for ``since_rejection``, which a rejection sets to 0;
``rev`` moves with every change of the head (status, statement, baselines) and never with the counters. Only a person's
arm makes a card armed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from provenloop.domain.address import Addresses
from provenloop.domain.errors import InvalidInputError
from provenloop.lessons.folding import CardKey

CardStatus = Literal["candidate", "armed", "rejected", "demoted", "archived"]
CARD_STATUSES: tuple[CardStatus, ...] = get_args(CardStatus)
Counter = Literal["reports", "violations", "suppressed", "samples", "since_rejection"]
COUNTERS: tuple[Counter, ...] = get_args(Counter)

ID_CHARS = 26
KEPT_EVIDENCE = 20
MAX_NOT_RULES = 200
_ID = re.compile(rf"[a-z2-7]{{{ID_CHARS}}}\Z")
CHAIN_PREFIX = "card:"


@dataclass(frozen=True, slots=True)
class Card:
    """One card. All times are epoch milliseconds.

    ``suggestion`` is the first statement that a report brought, ``suggested_by`` the address of that line; the
    statement is what a person wrote or took over. ``ready_at`` is when it became ready for review, ``armed_at`` when it
    was armed last; ``last_at`` is its last report, ``clean_at`` when it was last followed. ``..._before`` are the
    counters as they stood when it was armed last: the judgement counts from there. ``merged_into`` is the card that it
    was merged into, once their keys had become one.
    """

    id: str
    project: str
    project_key: str
    category: str
    signature: str
    created_at: int
    status: CardStatus = "candidate"
    statement: str | None = None
    changed_at: int | None = None
    ready_at: int | None = None
    armed_at: int | None = None
    violations_before: int = 0
    suppressed_before: int = 0
    samples_before: int = 0
    merged_into: str | None = None
    rev: int = 1
    reports: int = 0
    violations: int = 0
    suppressed: int = 0
    samples: int = 0
    since_rejection: int = 0
    last_at: int | None = None
    clean_at: int | None = None
    suggestion: str | None = None
    suggested_by: str | None = None

    @property
    def chain(self) -> str:
        """The subject of its audit chain."""
        return f"{CHAIN_PREFIX}{self.id}"

    @property
    def wording(self) -> str | None:
        """The statement, or what a report suggested."""
        return self.statement or self.suggestion


@dataclass(frozen=True, slots=True)
class CardEvidence:
    """What one line says for a card. ``seq`` is the number of its commit, ``lesson`` the address of the line.

    ``counted`` says what it was: a report, or a violation of the armed card. ``detail`` is cut, the line is not.
    """

    card: str
    seq: int
    lesson: str
    at: int
    source: str
    detail: str
    counted: Literal["report", "violation"] = "report"
    signature: str | None = None
    target: str | None = None
    session: str | None = None
    needs_user_confirmation: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """An armed card as sessions read it: one row of the rules of a project."""

    project_key: str
    card: str
    armed_at: int
    statement: str
    category: str
    rev: int = 1


@dataclass(frozen=True, slots=True)
class LessonPlace:
    """Where one line stands in the stream of its project and of the library: in the order of commits."""

    project_key: str
    seq: int
    lesson: str


def check_not_rules(given: Sequence[str], *, field: str = "lesson_not_rules") -> tuple[str, ...]:
    """The ids of cards that are no rules, as they are kept.

    Raises:
        InvalidInputError: too many, or one that is no whole id of a card.
    """
    if len(given) > MAX_NOT_RULES:
        raise InvalidInputError(f"at most {MAX_NOT_RULES}", field=field)
    if not all(map(_ID.match, given)):
        raise InvalidInputError(f"whole ids of cards, of {ID_CHARS} characters", field=field)
    return tuple(sorted(set(given)))


def project_key(addresses: Addresses, project: str) -> str:
    """The 32 hex digits that stand for a project inside stored keys."""
    return addresses.short("project", project)


def card_id(addresses: Addresses, project: str, key: CardKey) -> str:
    """26 characters of base32: the same key in the same project of the same memory is the same card."""
    digest = bytes.fromhex(addresses.digest("card", project, *key))
    return base64.b32encode(digest).decode().lower()[:ID_CHARS]


def counters_of(card: Card) -> Mapping[Counter, int]:
    """The counters of a card by name."""
    return {name: getattr(card, name) for name in COUNTERS}


def counting(card: Card, add: Mapping[Counter, int]) -> Card:
    """The card with so much added to its counters."""
    return replace(card, **{name: getattr(card, name) + more for name, more in add.items()})


def rule_of(card: Card) -> Rule:
    """The rule that an armed card is."""
    return Rule(card.project_key, card.id, card.armed_at or 0, card.statement or "", card.category, card.rev)
