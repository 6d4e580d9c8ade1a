"""When the acts of a scenario happen."""

from __future__ import annotations

import pytest

from tests.parity.runner.scenarios import FolderError
from tests.parity.runner.timeline import T0_MS, instants, offset_ms, resolved

HOUR = 3_600_000


def after(*steps: dict[str, object]) -> list[tuple[int, ...]]:
    return [tuple(at - T0_MS for at in acts) for acts in instants(steps)]


def test_every_act_happens_a_millisecond_after_the_one_before() -> None:
    assert after({"op": "fact", "repeat": 3}, {"op": "run"}) == [(1, 2, 3), (4,)]


def test_an_instant_of_its_own_moves_no_other_act() -> None:
    assert after({"op": "fact", "at": "-1h", "repeat": 2}, {"op": "run"}) == [(-HOUR, 1 - HOUR), (1,)]


def test_the_clock_moves_for_good() -> None:
    assert after({"op": "run"}, {"op": "clock", "to": "1h"}, {"op": "run"})[2] == (HOUR + 1,)


def test_spacing_holds_repeated_acts_apart_or_together() -> None:
    assert after({"op": "fact", "repeat": 3, "every": "1h"})[0] == (HOUR, 2 * HOUR, 3 * HOUR)
    assert after({"op": "fact", "repeat": 2, "every": 0, "at": "0"})[0] == (0, 0)


def test_looking_at_what_is_live_takes_no_time() -> None:
    assert after({"op": "run"}, {"op": "live"}, {"op": "run"}) == [(1,), (1,), (2,)]


def test_fields_name_instants_in_milliseconds_and_seconds() -> None:
    assert resolved("t:-1h") == T0_MS - HOUR
    assert resolved("s:1h") == T0_MS // 1000 + 3600
    assert resolved("tea") == "tea"


@pytest.mark.parametrize("text", ["", "1", "1.5h", "1 h", "h"])
def test_what_is_no_offset_is_refused(text: str) -> None:
    with pytest.raises(FolderError):
        offset_ms(text)
