"""Offering the lesson of an applied tool failure as a candidate card, so that both halves of the loop meet.

A person does that, with a reason. It is a line of the stream like any other, which names the recommendation and the
calls it rests on; the entry on the card's chain is in the transaction of the line. A rule is not broken by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provenloop.analyzers.tool_failure import FAMILY
from provenloop.domain.errors import IllegalTransitionError, InvalidInputError
from provenloop.domain.proposal import TextRef
from provenloop.domain.recommendation import Recommendation
from provenloop.lessons.line import MAX_KEY_CHARS, Line, LineEvidence
from provenloop.services.call import Call
from provenloop.services.card_actions import require_person
from provenloop.services.decision import find_recommendation, require_because
from provenloop.services.ports import Store
from provenloop.services.report_lesson import Offer, take_in
from provenloop.services.texts import Texts, refs_within, render

CATEGORY = "tool-failure"
SOURCE = "tool_failure"
#: Addresses that the line names; the recommendation has them all.
_NAMED = 20


def offer_lesson(
    store: Store, call: Call, prefix: str, project: str, because: str, statement: str | None = None
) -> dict[str, Any]:
    """Offer an applied lesson of ``tool_failure`` as a card of a project; the same person offers it there once.

    Args:
        prefix: the recommendation's id, or any unique prefix of it.
        statement: what a rule could say; a person arms it, or another one.

    Returns:
        as :func:`~provenloop.services.report_lesson.report_lesson`.

    Raises:
        ScopeDeniedError, PrincipalKindError, NotFoundError, AmbiguousPrefixError, InvalidInputError.
        IllegalTransitionError: it is not applied.
    """
    call.require("review")
    require_person(call)
    reason = require_because(because)
    rec = find_recommendation(store, call, prefix)
    if rec.family != FAMILY:
        raise InvalidInputError("only a lesson of tool_failure can be offered", field="id")
    if rec.status != "applied":
        raise IllegalTransitionError(f"only an applied lesson can be offered; this one is {rec.status}")
    once = replace(call, idempotency_key=f"offer/{rec.id}/{project.strip()}")
    return take_in(store, once, _line(store, call, rec, project, statement), Offer(rec.id, reason))


def _line(store: Store, call: Call, rec: Recommendation, project: str, statement: str | None) -> Line:
    args = dict(rec.summary.args)
    told = Texts(store, call.memory, refs_within(args), call.now).joined(args)
    is_whole = not isinstance(args["signature"], TextRef)
    name = str(told["tool"]) if is_whole else f"{told['tool']}: {told['signature']}"
    cited = ", ".join(rec.evidence[:_NAMED])
    return Line(
        project=project,
        category=CATEGORY,
        signature=name[:MAX_KEY_CHARS],
        source=SOURCE,
        detail=f"{render(rec.summary.template, told)}. Recommendation {rec.id}, evidence: {cited}",
        statement=statement,
        evidence=LineEvidence(needs_user_confirmation=True, target=rec.id),
    )
