"""What people do with cards: arm, reject, demote, archive, edit, revive. Nobody else does any of it.

Each is one transaction of the card, its audit entry with the written reason, its rule and its event.
"""

from __future__ import annotations

import re
from typing import Any

from provenloop.domain.errors import AmbiguousPrefixError, NotFoundError, PrincipalKindError
from provenloop.lessons.actions import STEPS, acted_on, action_named
from provenloop.lessons.card import ID_CHARS, Card
from provenloop.lessons.line import statement_of
from provenloop.services.call import Call
from provenloop.services.card_chain import step_of_person
from provenloop.services.decision import Decision, decide, require_because
from provenloop.services.lesson_settings import settings_in_force
from provenloop.services.ports import Store

_PREFIX = re.compile(rf"[a-z2-7]{{1,{ID_CHARS}}}\Z")


def act_on_card(
    store: Store, call: Call, prefix: str, name: str, because: str, statement: str | None = None
) -> dict[str, Any]:
    """A person's action on a card.

    Args:
        prefix: the card's id, or any unique prefix of it.
        name: one of the six actions.
        statement: what the rule says; read by ``arm`` and ``edit`` only, a blank one was not given.

    Returns:
        ``{id, action, status, statement, armed_at, audit}``.

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
        settings_in_force(store, call.memory)
        card = find_card(store, call, prefix)
        after = acted_on(card, action, wording, call.now)
        step = step_of_person(store, call, card, after, action, reason)
        reply = {
            "id": after.id,
            "action": action,
            "status": after.status,
            "statement": after.statement,
            "armed_at": after.armed_at if after.status == "armed" else None,
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


def find_card(store: Store, call: Call, prefix: str) -> Card:
    """The one card whose id starts with ``prefix``.

    Raises:
        NotFoundError: there is none.
        AmbiguousPrefixError: there are several; the message says how many.
    """
    wanted = prefix.lower()
    found = store.cards_by_prefix(call.memory, wanted, 2) if _PREFIX.match(wanted) else ()
    if not found:
        raise NotFoundError("no card has that id", field="id")
    if len(found) > 1:
        count = store.count_cards_by_prefix(call.memory, wanted)
        raise AmbiguousPrefixError(f"{count} cards have an id that starts so", field="id")
    return found[0]
