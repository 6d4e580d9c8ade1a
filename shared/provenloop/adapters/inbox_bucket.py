"""The inbox in S3: files block by block, each held against the drop it is read for, and reports beside them."""

from __future__ import annotations

from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import UnavailableError
from provenloop.domain.inbox import Drop
from provenloop.services.inbox_port import Block, FileChangedError, FileGoneError

BLOCK_BYTES = 1_048_576
_CONFIG = Config(connect_timeout=3, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 3})
_ABSENT = frozenset({"NoSuchKey", "404"})
#: What S3 answers where no byte lies behind the offset.
_BEYOND = frozenset({"InvalidRange", "416"})


class S3Inbox:
    """Implements ``services.inbox_port.InboxBucket``."""

    def __init__(self, bucket: str, *, client: Any = None) -> None:
        self._bucket = bucket
        self._client: Any = client or botocore.session.get_session().create_client("s3", config=_CONFIG)

    def block(self, drop: Drop, offset: int) -> Block:
        """See ``InboxBucket``."""
        span = f"bytes={offset}-{offset + BLOCK_BYTES - 1}"
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=drop.key, Range=span)
            if str(answer["ETag"]).strip('"') != drop.etag:
                raise FileChangedError
            data: bytes = answer["Body"].read()
        except ClientError as error:
            code = _code_of(error)
            if code in _ABSENT:
                raise FileGoneError from None
            if code in _BEYOND:
                return Block(b"", is_last=True)
            raise _unavailable() from error
        except BotoCoreError as error:
            raise _unavailable() from error
        return Block(data, is_last=offset + len(data) >= _size_of(answer))

    def report(self, drop: Drop) -> str | None:
        """See ``InboxBucket``."""
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=drop.report_key)["Body"].read()
        except ClientError as error:
            if _code_of(error) in _ABSENT:
                return None
            raise _unavailable() from error
        except BotoCoreError as error:
            raise _unavailable() from error
        return body.decode()

    def put_report(self, drop: Drop, text: str) -> None:
        """See ``InboxBucket``."""
        try:
            self._client.put_object(
                Bucket=self._bucket, Key=drop.report_key, Body=text.encode(), ContentType="application/json"
            )
        except (ClientError, BotoCoreError) as error:
            raise _unavailable() from error


def _size_of(answer: Any) -> int:
    """The size of the whole file, from ``bytes 0-9/100``."""
    return int(str(answer["ContentRange"]).rpartition("/")[2])


def _code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code"))


def _unavailable() -> UnavailableError:
    return UnavailableError("the bucket of the inbox did not answer; try again")
