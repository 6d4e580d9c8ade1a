"""A judge that errs as often as it is told to: the same for the same seed, whatever is asked and in which order.

It knows the labels, so nothing here says how well a model judges. Its errors do not depend on each other, and how sure
it is overlaps between what is sound and what is not: the floor of confidence can only do so much.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

_SCALE = 2**64
#: How sure it is: of what is sound from 0.60 up, more often high; of what is not from 0.45 to 0.95, mostly between.
_SOUND_FROM, _SOUND_SPAN = 0.60, 0.40
_UNSOUND_FROM, _UNSOUND_SPAN = 0.45, 0.50


@dataclass(frozen=True)
class Judge:
    """``wrong_yes`` is how often it says yes where it should say no, ``wrong_no`` the other way round; 0 to 1."""

    seed: int = 1
    wrong_yes: float = 0.1
    wrong_no: float = 0.1

    def says_yes(self, stage: str, name: str, *, rightly: bool) -> bool:
        """What a stage answers about something that deserves a yes, or a no."""
        drawn = self.draw(stage, name)
        return drawn >= self.wrong_no if rightly else drawn < self.wrong_yes

    def confidence(self, name: str, *, is_sound: bool) -> float:
        """How sure it is of something."""
        first, second = self.draw("first", name), self.draw("second", name)
        if is_sound:
            return _SOUND_FROM + _SOUND_SPAN * max(first, second)
        return _UNSOUND_FROM + _UNSOUND_SPAN * (first + second) / 2

    def draw(self, what: str, name: str) -> float:
        """Evenly from [0, 1)."""
        digest = sha256(f"{self.seed}|{what}|{name}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / _SCALE
