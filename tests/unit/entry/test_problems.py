"""Every error of the domain has one status and one form."""

from __future__ import annotations

import json

import pytest

from provenloop.domain import errors
from provenloop.domain.errors import LoopError, error_classes
from provenloop.entry.problems import STATUS_OF, problem_reply, status_of, unexpected_reply

EXPECTED = {
    "InvalidInputError": 400,
    "AmbiguousPrefixError": 400,
    "ParameterError": 400,
    "UnauthenticatedError": 401,
    "ForbiddenError": 403,
    "ScopeDeniedError": 403,
    "SelfApprovalError": 403,
    "DestructiveGateError": 403,
    "PrincipalKindError": 403,
    "NotFoundError": 404,
    "ConflictError": 409,
    "IllegalTransitionError": 409,
    "TargetChangedError": 409,
    "StaleDecisionError": 409,
    "IdempotencyMismatchError": 409,
    "MemoryErasedError": 409,
    "TooLargeError": 413,
    "ThrottledError": 429,
    "UnavailableError": 503,
    "BusyError": 503,
    "IssuerUnavailableError": 503,
    "ModelUnavailableError": 503,
    "AnalyzerError": 500,
    "IntegrityError": 500,
    "InternalError": 500,
    "LoopError": 500,
}


#: Adapters derive errors of their own from these, which share their status; which of them exist depends on imports.
NAMED = [cls for cls in error_classes() if cls.__module__ == LoopError.__module__]


@pytest.mark.parametrize("cls", NAMED, ids=lambda cls: cls.__name__)
def test_each_error_class_has_its_status(cls: type[LoopError]) -> None:
    assert status_of(cls) == EXPECTED[cls.__name__]


def test_a_refusal_is_problem_details_with_its_code_and_field() -> None:
    reply = problem_reply(errors.InvalidInputError("blank", field="events[3].object"))
    assert reply.media_type == "application/problem+json"
    assert json.loads(reply.text) == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "code": "PVL-E011",
        "detail": "blank",
        "field": "events[3].object",
    }


def test_a_problem_without_a_field_names_none() -> None:
    assert "field" not in json.loads(problem_reply(errors.NotFoundError("no such memory")).text)


@pytest.mark.parametrize("cls", [cls for cls in error_classes() if status_of(cls) == 500], ids=lambda cls: cls.__name__)
def test_a_fault_of_ours_shows_no_detail(cls: type[LoopError]) -> None:
    shown = json.loads(problem_reply(cls("table T#acme is broken", field="secret")).text)
    assert set(shown) == {"type", "title", "status", "code"}


def test_an_unexpected_fault_is_a_500_without_detail() -> None:
    reply = unexpected_reply()
    assert reply.status == 500
    assert json.loads(reply.text)["code"] == "PVL-E099"


@pytest.mark.parametrize("cls", [errors.UnavailableError, errors.BusyError, errors.ThrottledError])
def test_what_may_be_tried_again_says_when(cls: type[LoopError]) -> None:
    assert int(problem_reply(cls("busy")).to_gateway()["headers"]["retry-after"]) >= 1


def test_a_401_says_how_to_authenticate() -> None:
    headers = problem_reply(errors.UnauthenticatedError("a bearer token is needed")).to_gateway()["headers"]
    assert headers["www-authenticate"].startswith("Bearer")


def test_no_class_of_the_table_is_unknown_to_the_tree() -> None:
    assert set(STATUS_OF) <= set(error_classes())
