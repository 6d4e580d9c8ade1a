"""When a pass has to come to an end."""

from __future__ import annotations

import pytest

from provenloop.entry.time_left import HTTP_PASS_MS, RESERVE_MS, spent


class Context:
    """A runtime's context whose time goes by as it is told."""

    def __init__(self, left: int) -> None:
        self.left = left

    def get_remaining_time_in_millis(self) -> int:
        return self.left


@pytest.mark.parametrize(("left", "is_over"), [(RESERVE_MS, False), (RESERVE_MS - 1, True), (0, True)])
def test_a_pass_ends_before_the_invocation_does(left: int, is_over: bool) -> None:
    context = Context(120_000)
    is_spent = spent(context)
    context.left = left
    assert is_spent() is is_over


@pytest.mark.parametrize(("gone", "is_over"), [(HTTP_PASS_MS - 1, False), (HTTP_PASS_MS, True)])
def test_a_pass_over_http_ends_before_its_caller_gives_up(gone: int, is_over: bool) -> None:
    context = Context(120_000)
    is_spent = spent(context, HTTP_PASS_MS)
    context.left -= gone
    assert is_spent() is is_over


def test_without_a_runtime_there_is_always_time() -> None:
    assert spent(None, 0)() is False
