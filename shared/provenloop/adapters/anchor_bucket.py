"""Anchors in S3, in a bucket whose Object Lock keeps them: one object a day and tenant, never written twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.errors import UnavailableError

PREFIX = "anchors/"
_SUFFIX = ".json"
_CONFIG = Config(connect_timeout=3, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 3})
#: What S3 answers when the object is there: now, or being written by somebody else.
_PRESENT = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})


class S3AnchorBucket:
    """Implements ``services.anchor_port.AnchorBucket``; and reads anchors, for whoever audits."""

    def __init__(self, bucket: str, *, client: Any = None) -> None:
        self._bucket = bucket
        self._client: Any = client or botocore.session.get_session().create_client("s3", config=_CONFIG)

    def anchored(self, date: str) -> frozenset[str]:
        """See ``AnchorBucket``."""
        start = f"{PREFIX}{date}/"
        return frozenset(key.removeprefix(start).removesuffix(_SUFFIX) for key in self._keys(start))

    def put(self, date: str, tenant: str, text: str) -> bool:
        """See ``AnchorBucket``."""
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=f"{PREFIX}{date}/{tenant}{_SUFFIX}",
                Body=text.encode(),
                ContentType="application/json",
                # Object Lock takes nothing without a checksum.
                ChecksumAlgorithm="SHA256",
                IfNoneMatch="*",
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _PRESENT:
                return False
            raise UnavailableError("the anchor was not kept; try again") from error
        except BotoCoreError as error:
            raise UnavailableError("the anchor was not kept; try again") from error
        return True

    def texts(self, tenant: str) -> Iterator[str]:
        """A tenant's anchors, oldest first.

        Raises:
            UnavailableError: the bucket did not answer.
        """
        for key in sorted(self._keys(PREFIX)):
            if key.endswith(f"/{tenant}{_SUFFIX}"):
                yield self._text(key)

    def _text(self, key: str) -> str:
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except (ClientError, BotoCoreError) as error:
            raise UnavailableError("the bucket of anchors did not answer") from error
        return body.decode()

    def _keys(self, prefix: str) -> Iterator[str]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            for page in pages:
                yield from (each["Key"] for each in page.get("Contents", ()))
        except (ClientError, BotoCoreError) as error:
            raise UnavailableError("the bucket of anchors did not answer") from error
