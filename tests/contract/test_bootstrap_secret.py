"""The bootstrap secret in Secrets Manager."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws

from provenloop.adapters import secrets
from provenloop.adapters.secrets import read_secret
from provenloop.domain.errors import InternalError, LoopError, UnavailableError


@pytest.fixture
def manager() -> Iterator[Any]:
    with mock_aws():
        yield botocore.session.get_session().create_client("secretsmanager")


def test_a_secret_is_read_by_its_arn_and_anew_each_time(manager: Any) -> None:
    arn = manager.create_secret(Name="bootstrap", SecretString="first")["ARN"]
    assert read_secret(arn) == "first"
    manager.put_secret_value(SecretId=arn, SecretString="second")
    assert read_secret(arn) == "second"


def test_a_secret_that_is_not_there_is_a_fault_of_set_up(manager: Any) -> None:
    assert manager is not None
    with pytest.raises(InternalError):
        read_secret("arn:aws:secretsmanager:us-east-1:123456789012:secret:none-abcdef")


def test_a_secret_without_text_is_a_fault_of_set_up(manager: Any) -> None:
    arn = manager.create_secret(Name="binary", SecretBinary=b"\x00")["ARN"]
    with pytest.raises(InternalError):
        read_secret(arn)


def refused(code: str) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "arn:aws:iam::123456789012:role/x may not"}}, "GetSecretValue"
    )


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (refused("AccessDeniedException"), InternalError),
        (refused("ThrottlingException"), UnavailableError),
        (refused("InternalServiceError"), UnavailableError),
        (ReadTimeoutError(endpoint_url="https://secretsmanager"), UnavailableError),
    ],
    ids=["no right", "throttled", "broken", "late"],
)
def test_no_text_of_aws_is_passed_on(monkeypatch: pytest.MonkeyPatch, error: Exception, ours: type[LoopError]) -> None:
    class Refusing:
        def get_secret_value(self, **_: object) -> None:
            raise error

    monkeypatch.setattr(secrets, "_client", Refusing)
    with pytest.raises(ours) as caught:
        read_secret("arn:aws:secretsmanager:us-east-1:123456789012:secret:x")
    assert "arn" not in caught.value.message
    assert "secretsmanager" not in caught.value.message
