"""Files of the inbox in S3: read block by block as long as they are the same, with reports beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from provenloop.adapters.inbox_bucket import BLOCK_BYTES, S3Inbox
from provenloop.domain.errors import UnavailableError
from provenloop.domain.inbox import Drop
from provenloop.services.inbox_port import Block, FileChangedError, FileGoneError

BUCKET = "inbox-of-a-test"
KEY = "inbox/shop/orders/day 1+2.jsonl"


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws():
        client: Any = botocore.session.get_session().create_client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client


def put(s3: Any, body: bytes) -> Drop:
    return Drop(KEY, s3.put_object(Bucket=BUCKET, Key=KEY, Body=body)["ETag"].strip('"'), "d-1")


def test_a_file_is_read_in_blocks_and_the_last_one_is_known(s3: Any) -> None:
    body = bytes(range(256)) * (BLOCK_BYTES // 256 * 2) + b"end"
    drop, inbox = put(s3, body), S3Inbox(BUCKET)
    first, second = inbox.block(drop, 0), inbox.block(drop, BLOCK_BYTES)

    assert (len(first.data), first.is_last, len(second.data), second.is_last) == (BLOCK_BYTES, False) * 2
    assert inbox.block(drop, 2 * BLOCK_BYTES) == Block(b"end", is_last=True)
    assert inbox.block(drop, 7) == Block(body[7 : 7 + BLOCK_BYTES], is_last=False)
    assert inbox.block(drop, len(body)) == Block(b"", is_last=True)


def test_an_empty_file_is_one_block_of_nothing(s3: Any) -> None:
    assert S3Inbox(BUCKET).block(put(s3, b""), 0) == Block(b"", is_last=True)


def test_a_file_that_was_replaced_and_one_that_is_gone_are_told_apart(s3: Any) -> None:
    drop = put(s3, b"first")
    put(s3, b"second")
    with pytest.raises(FileChangedError):
        S3Inbox(BUCKET).block(drop, 0)
    s3.delete_object(Bucket=BUCKET, Key=KEY)
    with pytest.raises(FileGoneError):
        S3Inbox(BUCKET).block(drop, 0)


def test_a_report_lies_beside_the_file_and_the_last_one_stays(s3: Any) -> None:
    drop, inbox = put(s3, b"{}"), S3Inbox(BUCKET)
    assert inbox.report(drop) is None
    for text in ('{"recorded": 1}', '{"recorded": "ä"}'):
        inbox.put_report(drop, text)
        assert inbox.report(drop) == text

    found = s3.head_object(Bucket=BUCKET, Key="reports/shop/orders/day 1+2.jsonl.report.json")
    assert found["ContentType"] == "application/json"


class Refusing:
    """A client that fails at everything."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_object(self, **_: Any) -> Any:
        raise self.error

    put_object = get_object


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="https://s3"),
        ClientError({"Error": {"Code": "SlowDown", "Message": "a text of AWS"}}, "GetObject"),
        ClientError({"Error": {"Code": "AccessDenied", "Message": "a text of AWS"}}, "GetObject"),
    ],
    ids=lambda error: str(error)[:40],
)
def test_an_outside_reason_is_told_as_one_and_never_in_words_of_aws(error: Exception) -> None:
    inbox, drop = S3Inbox(BUCKET, client=Refusing(error)), Drop(KEY, "e", "d-1")
    for use in (lambda: inbox.block(drop, 0), lambda: inbox.report(drop), lambda: inbox.put_report(drop, "{}")):
        with pytest.raises(UnavailableError, match=r"^the bucket of the inbox did not answer; try again$"):
            use()
