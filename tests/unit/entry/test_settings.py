"""The environment is read once, and a missing variable is named where it is first needed."""

from __future__ import annotations

import pytest

from provenloop.domain.errors import InternalError
from provenloop.entry.settings import LOCAL_VARIABLES, TEMPLATE_VARIABLES, read_settings


def test_a_missing_variable_fails_by_name_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROVENLOOP_TABLE", raising=False)
    settings = read_settings()
    with pytest.raises(InternalError, match="PROVENLOOP_TABLE"):
        _ = settings.table


def test_an_empty_variable_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_PASS_QUEUE_URL", "")
    with pytest.raises(InternalError, match="PROVENLOOP_PASS_QUEUE_URL"):
        _ = read_settings().pass_queue_url


def test_values_stay_as_they_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVENLOOP_TABLE", "first")
    settings = read_settings()
    monkeypatch.setenv("PROVENLOOP_TABLE", "second")
    assert settings.table == "first"


def test_no_variable_is_both_deployed_and_local() -> None:
    assert not set(TEMPLATE_VARIABLES) & set(LOCAL_VARIABLES)
