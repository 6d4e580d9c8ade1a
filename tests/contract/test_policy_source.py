"""The host policy in a parameter of Systems Manager, or in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws

from provenloop.adapters import policy_source
from provenloop.adapters.policy_source import FilePolicy, ParameterPolicy
from provenloop.domain.errors import ForbiddenError, LoopError, NotFoundError, UnavailableError
from provenloop.domain.policy import MAX_POLICY_BYTES
from provenloop.domain.policy_reading import read_policy


@pytest.fixture
def parameters() -> Iterator[Any]:
    with mock_aws():
        yield botocore.session.get_session().create_client("ssm")


def test_a_parameter_is_read_by_its_name_and_anew_each_time(parameters: Any) -> None:
    parameters.put_parameter(Name="/provenloop/policy", Value="{}", Type="String")
    source = ParameterPolicy("/provenloop/policy")
    assert source.read() == "{}"
    parameters.put_parameter(Name="/provenloop/policy", Value='{"deny": []}', Type="String", Overwrite=True)
    assert source.read() == '{"deny": []}'


def test_lists_of_names_are_in_parameters_named_after_it(parameters: Any) -> None:
    for number in (1, 2):
        parameters.put_parameter(Name=f"/provenloop/policy-names-{number}", Value=f'["{number}"]', Type="String")
    source = ParameterPolicy("/provenloop/policy")
    assert [source.read_names(number) for number in (1, 2)] == ['["1"]', '["2"]']
    with pytest.raises(NotFoundError, match="that holds list 3 of names does not exist"):
        source.read_names(3)


def test_a_parameter_that_is_not_there_is_said_to_be_missing(parameters: Any) -> None:
    assert parameters is not None
    with pytest.raises(NotFoundError, match="that holds the policy does not exist"):
        ParameterPolicy("/nowhere").read()


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "arn:aws:iam::123456789012:role/x may not"}}, "GetParameter")


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (refused("AccessDeniedException"), ForbiddenError),
        (refused("ThrottlingException"), UnavailableError),
        (ReadTimeoutError(endpoint_url="https://ssm"), UnavailableError),
    ],
    ids=["no right", "throttled", "late"],
)
def test_no_text_of_aws_is_passed_on(monkeypatch: pytest.MonkeyPatch, error: Exception, ours: type[LoopError]) -> None:
    class Refusing:
        def get_parameter(self, **_: object) -> None:
            raise error

    monkeypatch.setattr(policy_source, "_client", Refusing)
    source = ParameterPolicy("/provenloop/policy")
    for read in (source.read, lambda: source.read_names(1)):
        with pytest.raises(ours) as caught:
            read()
        assert "arn" not in caught.value.message
        assert "ssm" not in caught.value.message


def test_a_file_counts_as_soon_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    source = FilePolicy(file)
    with pytest.raises(NotFoundError):
        source.read()
    file.write_text("{}", encoding="utf-8")
    assert source.read() == "{}"


def test_lists_of_names_are_in_files_beside_it(tmp_path: Path) -> None:
    source = FilePolicy(tmp_path / "policy.json")
    (tmp_path / "policy.json-names-1").write_text('["Łucja"]', encoding="utf-8")
    assert source.read_names(1) == '["Łucja"]'
    with pytest.raises(NotFoundError, match="list 2 of names"):
        source.read_names(2)


@pytest.mark.parametrize("content", [b"\xff{}", b"{}" + b" " * MAX_POLICY_BYTES], ids=["no UTF-8", "too long"])
def test_a_file_that_holds_no_policy_is_left_for_the_reader_to_refuse(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "policy.json"
    file.write_bytes(content)
    assert read_policy(FilePolicy(file).read(), ()).state == "refused"
