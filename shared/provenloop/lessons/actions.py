"""The one table of what may become of a card, and by whose hand.

Six actions are people's; the engine makes ready, demotes, and lets return what is reported on after its rejection.
Whatever is not in the table is refused, and nothing in it lets the engine arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from provenloop.domain.errors import IllegalTransitionError, InvalidInputError
from provenloop.lessons.card import CARD_STATUSES, Card, CardStatus

Action = Literal["arm", "reject", "demote", "archive", "edit", "revive"]
EngineStep = Literal["ready", "return", "demote"]
ACTIONS: tuple[Action, ...] = get_args(Action)


class Step(NamedTuple):
    """From which statuses to which one; None leaves it. ``reads_statement`` says whether a statement is read."""

    sources: frozenset[CardStatus]
    target: CardStatus | None
    reads_statement: bool = False


STEPS: Mapping[Action, Step] = {
    "arm": Step(frozenset({"candidate"}), "armed", reads_statement=True),
    "reject": Step(frozenset({"candidate", "armed"}), "rejected"),
    "demote": Step(frozenset({"armed"}), "demoted"),
    "archive": Step(frozenset({"candidate", "armed"}), "archived"),
    "edit": Step(frozenset(CARD_STATUSES), None, reads_statement=True),
    "revive": Step(frozenset({"rejected", "demoted", "archived"}), "candidate"),
}
ENGINE_STEPS: Mapping[EngineStep, Step] = {
    "ready": Step(frozenset({"candidate"}), None),
    "return": Step(frozenset({"rejected"}), "candidate"),
    "demote": Step(frozenset({"armed"}), "demoted"),
}


def action_named(name: str) -> Action:
    """The action of that name.

    Raises:
        InvalidInputError: there is none.
    """
    for action in ACTIONS:
        if action == name:
            return action
    raise InvalidInputError(f"unknown action; one of {', '.join(ACTIONS)}", field="action")


def acted_on(card: Card, action: Action, statement: str | None, now: int) -> Card:
    """The card after a person's action.

    Args:
        statement: as given, trimmed; None where it was not.

    Raises:
        IllegalTransitionError: its status does not allow that.
        InvalidInputError: arming or editing needs a statement, and there is none.
    """
    step = STEPS[action]
    moved = _moved(card, step, action, now)
    if action == "reject":
        moved = replace(moved, since_rejection=0)
    if action == "revive":
        moved = replace(moved, merged_into=None)
    if step.reads_statement:
        wording = statement if action == "edit" else statement or card.wording
        if wording is None:
            raise InvalidInputError("a statement is needed: what the rule says", field="statement")
        moved = replace(moved, statement=wording)
    if action == "arm":
        moved = _counting_anew(moved, card, now)
    return moved


def moved_by_engine(card: Card, step: EngineStep, now: int) -> Card:
    """The card after a step of the engine.

    Raises:
        IllegalTransitionError: its status does not allow that.
    """
    moved = _moved(card, ENGINE_STEPS[step], step, now)
    return replace(moved, ready_at=now) if step in ("ready", "return") else moved


def actions_of(status: CardStatus) -> tuple[Action, ...]:
    """The actions that a status allows."""
    return tuple(action for action in ACTIONS if status in STEPS[action].sources)


def _moved(card: Card, step: Step, name: str, now: int) -> Card:
    if card.status not in step.sources:
        onward = ", ".join(actions_of(card.status))
        raise IllegalTransitionError(f"a card that is {card.status} takes no {name}; from there only: {onward}")
    moved = replace(card, status=step.target or card.status, changed_at=now, rev=card.rev + 1)
    return moved if moved.status in ("candidate", card.status) else replace(moved, ready_at=None)


def _counting_anew(moved: Card, card: Card, now: int) -> Card:
    """Armed now: what was counted under an earlier arming is not held against this one."""
    return replace(
        moved,
        armed_at=now,
        violations_before=card.violations,
        suppressed_before=card.suppressed,
        samples_before=card.samples,
    )
