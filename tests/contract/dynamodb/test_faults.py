"""What the store's errors become: for every code we name, every kind of call, and every exception of the libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore import exceptions as botocore_errors
from botocore.exceptions import BotoCoreError, ClientError
from pynamodb import exceptions as pynamodb_errors
from pynamodb.exceptions import PynamoDBException, TransactWriteError, VerboseClientError

from provenloop.adapters.dynamodb import faults, table
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.tokens import DynamoTokens
from provenloop.adapters.dynamodb.wake import DynamoWakeIndex
from provenloop.domain.errors import BusyError, InternalError, LoopError, TooLargeError, UnavailableError
from provenloop.services.ports import MAX_TRIES, Put, Reservation
from tests.builders import MEMORY, NOW, Desk, make_fact, make_grain
from tests.faults.canned import answer, cancelled, failure, refusal
from tests.faults.hooks import ClientHooks, Exchange, Reply
from tests.faults.tables import TABLE
from tests.store_fixture import REGION

CODES: dict[str, type[LoopError]] = {
    **dict.fromkeys(faults.COLLISIONS, BusyError),
    **dict.fromkeys(faults.OVERLOADS, UnavailableError),
    **dict.fromkeys(faults.OVER_LIMIT, TooLargeError),
    "AccessDeniedException": InternalError,
    "ExpiredTokenException": InternalError,
    "IdempotentParameterMismatchException": InternalError,
    "MissingAuthenticationTokenException": InternalError,
    "ResourceNotFoundException": InternalError,
    "UnrecognizedClientException": InternalError,
    "ValidationException": InternalError,
    "SomethingNobodyHasHeardOf": InternalError,
}
REASONS: dict[str, type[LoopError]] = {
    "TransactionConflict": BusyError,
    "ThrottlingError": UnavailableError,
    "ProvisionedThroughputExceeded": UnavailableError,
    "ValidationError": TooLargeError,
    "ItemCollectionSizeLimitExceeded": TooLargeError,
    "SomethingNew": InternalError,
}
SECRET = "arn:aws:dynamodb:us-east-1:123456789012:table/loop"


def name_of(cls: type[Any]) -> str:
    return cls.__name__


def client_error(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": SECRET}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Query")


def subclasses(base: type[Any]) -> Iterator[type[Any]]:
    for cls in base.__subclasses__():
        yield cls
        yield from subclasses(cls)


def made(cls: type[BotoCoreError]) -> BotoCoreError:
    """An instance of any botocore error, whatever its message asks for."""
    error = cls.__new__(cls)
    Exception.__init__(error, SECRET)
    return error


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_one_error_of_ours_that_shows_nothing_of_aws(code: str) -> None:
    error = faults.translated(PynamoDBException("Failed", client_error(code)))
    assert type(error) is CODES[code]
    assert "aws" not in error.message.casefold()
    assert code not in error.message


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_an_unknown_code_of_a_server_that_failed_may_be_tried_again(status: int) -> None:
    error = faults.translated(PynamoDBException("Failed", client_error("WhoKnows", status)))
    assert type(error) is UnavailableError


LIBRARY_ERRORS = [cls for cls in subclasses(PynamoDBException) if cls.__module__ == pynamodb_errors.__name__]


@pytest.mark.parametrize("cls", LIBRARY_ERRORS, ids=name_of)
def test_every_exception_of_pynamodb_is_told_by_its_cause_alone(cls: type[PynamoDBException]) -> None:
    for cause, expected in (
        (client_error("ThrottlingException"), UnavailableError),
        (client_error("ValidationException"), InternalError),
        (made(botocore_errors.ReadTimeoutError), UnavailableError),
        (None, InternalError),
    ):
        error = cls.__new__(cls)
        PynamoDBException.__init__(error, "Failed", cause)
        assert type(faults.translated(error)) is expected


NO_ANSWER = {
    "HTTPClientError", "ConnectionError", "EndpointConnectionError", "SSLError", "ConnectTimeoutError",
    "ProxyConnectionError", "ReadTimeoutError", "ConnectionClosedError", "ResponseStreamingError",
    "IncompleteReadError",
}  # fmt: skip


BOTOCORE_ERRORS = list(
    dict.fromkeys(cls for cls in subclasses(BotoCoreError) if cls.__module__ == botocore_errors.__name__)
)


@pytest.mark.parametrize("cls", BOTOCORE_ERRORS, ids=name_of)
def test_of_botocore_s_own_exceptions_only_a_missing_answer_may_be_tried_again(cls: type[BotoCoreError]) -> None:
    error = faults.translated(PynamoDBException("Failed", made(cls)))
    assert type(error) is (UnavailableError if cls.__name__ in NO_ANSWER else InternalError)


def test_the_list_of_missing_answers_names_real_exceptions() -> None:
    assert {cls.__name__ for cls in BOTOCORE_ERRORS} >= NO_ANSWER


def cancellation(*codes: str) -> TransactWriteError:
    reasons = [None if code == "None" else pynamodb_errors.CancellationReason(code, SECRET) for code in codes]
    _, answered = cancelled(list(codes))
    return TransactWriteError(
        "Failed", VerboseClientError(answered, "TransactWriteItems", cancellation_reasons=reasons)
    )


@pytest.mark.parametrize("code", sorted(REASONS))
def test_a_cancelled_transaction_is_told_by_its_reasons(code: str) -> None:
    error = faults.translated(cancellation("None", code, "None"))
    assert type(error) is REASONS[code]
    assert "aws" not in error.message.casefold()


def test_a_collision_outweighs_the_other_reasons_since_it_passes() -> None:
    assert faults.is_collision(cancellation("ValidationError", "TransactionConflict"))
    assert type(faults.translated(cancellation("ThrottlingError", "TransactionConflict"))) is BusyError


class Refusing(ClientHooks):
    """Answers every call of some operations in AWS's place."""

    def __init__(self, client: Any, reply: Reply, operations: set[str]) -> None:
        self._reply, self._operations = reply, operations
        self.calls = 0
        super().__init__(client)

    def before_call(self, exchange: Exchange) -> Reply | None:
        if exchange.operation not in self._operations:
            return None
        self.calls += 1
        return self._reply


@contextmanager
def refusing(reply: Reply, *operations: str) -> Iterator[Refusing]:
    with Refusing(table.connection().client, reply, set(operations)) as hook:
        yield hook


def read_all(store: DynamoStore) -> dict[str, Callable[[], object]]:
    """Every way in which the adapters read or write, by operation."""
    wake, tokens = DynamoWakeIndex(TABLE, REGION), DynamoTokens(TABLE, REGION, pause=lambda _attempt: None)
    reservation = Reservation(1, 0, frozenset(), NOW, NOW)
    return {
        "Query heads": lambda: store.heads(MEMORY),
        "Query queue": lambda: store.queue(MEMORY, ["pending"], limit=5, cursor=None),
        "Query count": lambda: store.count_recommendations(MEMORY, "a"),
        "Query log": lambda: store.log_entries(MEMORY, 0, 5),
        "Query lazily": lambda: list(store.audit_entries(MEMORY)),
        "Query due": lambda: wake.due_memories(NOW),
        "GetItem run": lambda: store.run(MEMORY, "r"),
        "GetItem token": lambda: tokens.token("d"),
        "Query token": lambda: tokens.token_of_id("acme", "tok_a"),
        "Query tokens": lambda: tokens.tokens("acme"),
        "BatchGetItem grains": lambda: store.grains(MEMORY, ["a"], NOW),
        "UpdateItem reserve": lambda: store.reserve(MEMORY, reservation),
        "UpdateItem clear": lambda: store.clear_wake(MEMORY, 0),
        "UpdateItem claim": lambda: wake.claim(MEMORY, NOW, NOW + 1),
        "TransactWriteItems": lambda: store.transact(MEMORY, [Put(make_grain())], NOW),
    }


@pytest.mark.parametrize(
    "code", ["ThrottlingException", "ValidationException", "AccessDeniedException", "InternalServerError"]
)
def test_every_way_of_calling_answers_with_an_error_of_ours(store: DynamoStore, code: str) -> None:
    for name, work in read_all(store).items():
        with refusing(refusal(code), name.split()[0]), pytest.raises(LoopError) as caught:
            work()
        assert type(caught.value) is CODES[code], name


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_that_fails_in_no_words_of_the_store_may_be_tried_again_however_it_was_called(
    store: DynamoStore, status: int
) -> None:
    for name, work in read_all(store).items():
        with refusing(failure(str(status), status), name.split()[0]), pytest.raises(LoopError) as caught:
            work()
        assert type(caught.value) is UnavailableError, name


def test_a_transaction_that_collides_is_tried_five_times_more_and_then_busy(store: DynamoStore) -> None:
    Desk(store).open()
    waits: list[int] = []
    patient = DynamoStore(TABLE, REGION, pause=waits.append)
    with refusing(cancelled(["TransactionConflict"]), "TransactWriteItems") as hook, pytest.raises(BusyError):
        patient.transact(MEMORY, [Put(make_grain())], NOW)
    assert hook.calls == MAX_TRIES == 6
    assert waits == [1, 2, 3, 4, 5]


def test_a_transaction_that_was_throttled_is_not_tried_again_by_the_table(store: DynamoStore) -> None:
    with refusing(cancelled(["ThrottlingError"]), "TransactWriteItems") as hook, pytest.raises(UnavailableError):
        store.transact(MEMORY, [Put(make_grain())], NOW)
    assert hook.calls == 1


@pytest.mark.usefixtures("store")
def test_keys_that_are_never_answered_are_asked_for_six_times() -> None:
    waits: list[int] = []
    patient = DynamoStore(TABLE, REGION, pause=waits.append)
    key = {"pk": {"S": "T#acme#M#demo#GRAIN"}, "sk": {"S": "a"}}
    nothing = answer({"Responses": {}, "UnprocessedKeys": {TABLE: {"Keys": [key]}}})
    with refusing(nothing, "BatchGetItem") as hook, pytest.raises(UnavailableError):
        patient.grains(MEMORY, ["a"], NOW)
    assert hook.calls == 6
    assert waits == [1, 2, 3, 4, 5]


def test_ingest_through_a_store_that_refuses_answers_with_an_error_of_ours(desk: Desk) -> None:
    before = desk.snapshot()
    with refusing(refusal("ThrottlingException"), "UpdateItem"), pytest.raises(UnavailableError):
        desk.record(make_fact())
    assert desk.snapshot() == before
