"""What people do with cards: arm, reject, demote, archive, edit, revive. Nobody else does any of it.

Each is one transaction of the card, its audit entry with the written reason, its rule and its event.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.domain.errors import IllegalTransitionError, PrincipalKindError
from provenloop.domain.instants import format_instant
from provenloop.lessons.actions import STEPS, acted_on, action_named
from provenloop.lessons.line import statement_of
from provenloop.services.call import Call
from provenloop.services.card_chain import step_of_person
from provenloop.services.card_find import find_card
from provenloop.services.decision import Decision, decide, require_because
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.ports import Store


def act_on_card(
    store: Store, call: Call, prefix: str, name: str, because: str, statement: str | None = None
) -> dict[str, Any]:
    """A person's action on a card.

    Args:
        prefix: the card's id, or any unique prefix of it.
        name: one of the six actions.
        statement: what the rule says; read by ``arm`` and ``edit`` only, a blank one was not given.

    Returns:
        ``{id, action, status, armed_at, audit}``; ``armed_at`` (RFC 3339) of a card that is armed now.

    Raises:
        ScopeDeniedError, PrincipalKindError, InvalidInputError, NotFoundError, AmbiguousPrefixError,
        IllegalTransitionError, ConflictError, IntegrityError: refused; nothing was written.
    """
    call.require("review")
    require_person(call)
    action = action_named(name)
    reason = require_because(because)
    wording = statement_of(statement) if STEPS[action].reads_statement else None

    def build() -> Decision:
        # Where the settings cannot be read nothing is overwritten, whatever a person wants.
        in_force = settings_in_force(store, call.memory)
        card = find_card(store, call, prefix)
        if action == "arm" and card.id in in_force.not_rules:
            raise IllegalTransitionError("it was said that this is no rule here; take that back first")
        after = acted_on(card, action, wording, call.now)
        if action == "revive" and in_force.step_due(after) == "ready":
            after = replace(after, ready_at=call.now)
        step = step_of_person(store, call, card, after, action, reason)
        reply = {
            "id": after.id,
            "action": action,
            "status": after.status,
            "armed_at": format_instant(after.armed_at) if after.status == "armed" and after.armed_at else None,
            "audit": step.entry.id,
        }
        return Decision(step.writes, reply)

    return decide(store, call, f"cards/{prefix}/{action}", build)


def require_person(call: Call) -> None:
    """Refuse whoever is no person.

    Raises:
        PrincipalKindError: an agent or a service, with whatever scopes.
    """
    if call.principal.kind != "human":
        raise PrincipalKindError("only a person decides about cards")
