"""Anchors in S3 and signatures by KMS: what is there stays, and an outside reason is told as one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from provenloop.adapters.anchor_bucket import S3AnchorBucket
from provenloop.adapters.signing import KmsSigner
from provenloop.domain.errors import UnavailableError
from provenloop.domain.rsa_signature import is_signed, read_public_key

BUCKET = "anchors-of-a-test"


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws():
        client: Any = botocore.session.get_session().create_client("s3")
        client.create_bucket(Bucket=BUCKET, ObjectLockEnabledForBucket=True)
        lock = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 400}}}
        client.put_object_lock_configuration(Bucket=BUCKET, ObjectLockConfiguration=lock)
        yield client


def test_an_anchor_is_kept_once_and_the_first_one_stays(s3: Any) -> None:
    bucket = S3AnchorBucket(BUCKET)
    assert bucket.put("2026-11-30", "acme", "first")
    assert not bucket.put("2026-11-30", "acme", "second")
    assert list(bucket.texts("acme")) == ["first"]
    stored = s3.head_object(Bucket=BUCKET, Key="anchors/2026-11-30/acme.json")
    assert stored["ObjectLockMode"] == "COMPLIANCE"


@pytest.mark.usefixtures("s3")
def test_a_day_knows_its_tenants_and_a_tenant_its_days_oldest_first() -> None:
    bucket = S3AnchorBucket(BUCKET)
    for date, tenant in [
        ("2026-12-01", "acme"),
        ("2026-11-30", "acme"),
        ("2026-11-30", "me"),
        ("2026-11-30", "x.acme"),
    ]:
        bucket.put(date, tenant, f"{date} {tenant}")
    assert bucket.anchored("2026-11-30") == {"acme", "me", "x.acme"}
    assert bucket.anchored("2026-11-3") == frozenset()
    assert list(bucket.texts("acme")) == ["2026-11-30 acme", "2026-12-01 acme"]
    assert list(bucket.texts("nobody")) == []


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject"),
        EndpointConnectionError(endpoint_url="https://s3"),
    ],
    ids=["refused", "unreachable"],
)
def test_a_bucket_or_a_key_that_does_not_answer_is_an_outside_reason(error: Exception) -> None:
    class Refusing:
        def __getattr__(self, _name: str) -> Any:
            def call(*_: object, **__: object) -> None:
                raise error

            return call

    bucket = S3AnchorBucket("some-bucket", client=Refusing())
    for work in (
        lambda: bucket.put("2026-11-30", "acme", "text"),
        lambda: bucket.anchored("2026-11-30"),
        lambda: list(bucket.texts("acme")),
        lambda: KmsSigner("some-key", client=Refusing()).sign("text"),
    ):
        with pytest.raises(UnavailableError) as caught:
            work()
        assert "some-" not in caught.value.message


def test_a_writer_at_the_same_time_is_a_day_that_is_anchored() -> None:
    class Racing:
        def put_object(self, **_: object) -> None:
            raise ClientError({"Error": {"Code": "ConditionalRequestConflict", "Message": "wait"}}, "PutObject")

    assert not S3AnchorBucket(BUCKET, client=Racing()).put("2026-11-30", "acme", "text")


@pytest.mark.usefixtures("s3")
def test_what_kms_signs_is_known_by_its_public_key() -> None:
    kms: Any = botocore.session.get_session().create_client("kms")
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["Arn"]
    signature = KmsSigner(key).sign("what is said")
    public = read_public_key(kms.get_public_key(KeyId=key)["PublicKey"])
    assert signature.key == key
    assert is_signed(b"what is said", base64.b64decode(signature.value), public)
    assert not is_signed(b"what is not", base64.b64decode(signature.value), public)
