"""Lessons: reports of guards, cards, and what people decide about them."""

from __future__ import annotations

from provenloop.entry.models.lessons import (
    CardActionRequest,
    CardsQuery,
    ContextQuery,
    DigestRequest,
    LessonsQuery,
    MigrateRequest,
    OfferRequest,
    PassRequest,
    ReplayQuery,
    ReportRequest,
    StartRequest,
    to_line,
)
from provenloop.entry.reply import Reply, json_reply
from provenloop.entry.request import Request
from provenloop.entry.telemetry import count, log_warning
from provenloop.lessons.line import is_source
from provenloop.services import card_actions, cards_read, lessons_read
from provenloop.services import digest_lessons as digesting
from provenloop.services import migrate_cards as migrating
from provenloop.services import offer_lesson as offering
from provenloop.services import pass_lesson as passing
from provenloop.services import replay_card as replaying
from provenloop.services import report_lesson as reporting
from provenloop.services import session_context as telling
from provenloop.services import settle_session as settling
from provenloop.services import start_session as starting

#: A gateway hangs up after 30 s, and what was distilled has to be stored and told.
DIGEST_AT_MOST_MS = 22_000


def report_lesson(request: Request) -> Reply:
    """Take in a line; where it could not be saved the answer says so."""
    line = to_line(request.body_as(ReportRequest))
    answer = reporting.report_lesson(request.wiring.store, request.call, line)
    count("LessonsReported", 1)
    if not answer["ok"]:
        count("LessonsNotSaved", 1)
        log_warning("a lesson was not saved", reason=answer["reason"], correlation_id=request.request_id)
    elif line.source and not is_source(line.source):
        log_warning("a source is none and was kept as manual", correlation_id=request.request_id)
    return json_reply(answer)


def list_lessons(request: Request) -> Reply:
    """One page of the stream."""
    query = request.query_as(LessonsQuery)
    answer = lessons_read.list_lessons(
        request.wiring.store, request.call, project=query.project, limit=query.limit, cursor=query.cursor
    )
    return json_reply(answer)


def lesson_stats(request: Request) -> Reply:
    """Figures and settings."""
    return json_reply(lessons_read.lesson_stats(request.wiring.store, request.call))


def list_cards(request: Request) -> Reply:
    """One page of cards."""
    query = request.query_as(CardsQuery)
    answer = cards_read.list_cards(
        request.wiring.store,
        request.call,
        project=query.project,
        status=query.status,
        limit=query.limit,
        cursor=query.cursor,
    )
    return json_reply(answer)


def show_card(request: Request) -> Reply:
    """One card in full."""
    return json_reply(cards_read.show_card(request.wiring.store, request.call, request.need("id")))


def act_on_card(request: Request) -> Reply:
    """A person's action on a card."""
    body = request.body_as(CardActionRequest)
    answer = card_actions.act_on_card(
        request.wiring.store,
        request.call,
        request.need("id"),
        request.need("action"),
        body.because,
        body.statement,
    )
    count("CardDecisions", 1)
    return json_reply(answer)


def migrate_cards(request: Request) -> Reply:
    """Merge cards that fold to one key."""
    answer = migrating.migrate_cards(request.wiring.store, request.call, request.body_as(MigrateRequest).because)
    return json_reply(answer)


def pass_lesson(request: Request) -> Reply:
    """Take in that a rule was followed."""
    body = request.body_as(PassRequest)
    answer = passing.pass_lesson(
        request.wiring.store,
        request.call,
        body.session,
        project=body.project,
        category=body.category,
        signature=body.signature,
    )
    if not answer["ok"]:
        log_warning("a pass was not saved", reason=answer["reason"], correlation_id=request.request_id)
    return json_reply(answer)


def start_session(request: Request) -> Reply:
    """What a session is shown."""
    body = request.body_as(StartRequest)
    answer = starting.start_session(
        request.wiring.store, request.call, request.need("id"), body.project, parent=body.parent
    )
    count("SessionsStarted", int(not answer["resumed"]))
    return json_reply(answer)


def show_context(request: Request) -> Reply:
    """What an agent is told when it begins."""
    asked = telling.Asked(**dict(request.query_as(ContextQuery)))
    return json_reply(telling.show_context(request.wiring.store, request.call, asked))


def end_session(request: Request) -> Reply:
    """What a session counted."""
    return json_reply(settling.end_session(request.wiring.store, request.call, request.need("id")))


def digest_lessons(request: Request) -> Reply:
    """Have a model distil a session."""
    current = request.wiring
    spec = current.settings.distil_model
    model = digesting.DigestModel(spec.model, DIGEST_AT_MOST_MS)
    session = request.body_as(DigestRequest).session
    answer = digesting.digest_lessons(current.store, request.call, current.models(spec), session, model)
    count("LessonsDistilled", len(answer.get("saved", ())))
    if answer.get("failed"):
        log_warning("cards of a digest were not saved", correlation_id=request.request_id)
    return json_reply(answer)


def offer_lesson(request: Request) -> Reply:
    """Offer an applied lesson as a card."""
    body = request.body_as(OfferRequest)
    answer = offering.offer_lesson(
        request.wiring.store, request.call, request.need("id"), body.project, body.because, body.statement
    )
    if not answer["ok"]:
        log_warning("a lesson was not saved", reason=answer["reason"], correlation_id=request.request_id)
    return json_reply(answer)


def replay_card(request: Request) -> Reply:
    """What a card would have met."""
    query = request.query_as(ReplayQuery)
    answer = replaying.replay_card(
        request.wiring.store, request.call, request.need("id"), limit=query.limit, cursor=query.cursor
    )
    return json_reply(answer)
