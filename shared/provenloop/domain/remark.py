"""Remarks: what a model or an external analyzer said, apart from the recommendation that was made of it.

A recommendation holds references to its remark, as it does to grains, so forgetting has one place to erase. A remark
never changes but for that: whoever decides has seen the words that were said first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

NAME_PREFIX = "remark/"


@dataclass(frozen=True, slots=True)
class Remark:
    """What was said once, at ``at`` (epoch ms).

    ``name`` is what references name; those of a family sort by time. ``key`` tells the finding from others of its
    group. ``evidence`` are the addresses it cited, ``namespaces`` those of these grains.
    """

    name: str
    at: int
    family: str
    group: str
    key: str
    recommendation: str
    evidence: tuple[str, ...]
    target: str = ""
    summary: str = ""
    guidance: str = ""
    namespaces: tuple[str, ...] = ()
    rev: int = 1

    def text(self, name: str) -> str:
        """What it said: ``target``, ``summary`` or ``guidance``; empty for anything else."""
        return {"target": self.target, "summary": self.summary, "guidance": self.guidance}.get(name, "")

    @property
    def is_erased(self) -> bool:
        """Whether what it said was forgotten."""
        return not self.target


@dataclass(frozen=True, slots=True)
class Looked:
    """How far in the log one outside analyzer has looked: up to number ``seq``.

    ``version`` is the analyzer's id then. ``askers`` are principals in whose passes somebody was to be asked of whom
    nothing was stored yet. ``tries`` counts failures in a row, after which nobody is asked before ``not_before``.
    """

    family: str
    version: str = ""
    seq: int = 0
    askers: tuple[str, ...] = ()
    tries: int = 0
    not_before: int = 0
    rev: int = 0


def names_of(family: str) -> str:
    """What the names of all remarks of one family begin with."""
    return f"{NAME_PREFIX}{family}/"


def remark_name(family: str, at: int, digest: str) -> str:
    """The name of a remark made at an instant; ``digest`` (hex) tells it from others."""
    return f"{names_of(family)}{at:015d}.{digest}"


def is_remark(name: str) -> bool:
    """Whether a reference leads to a remark, not to a grain."""
    return name.startswith(NAME_PREFIX)


def erased(remark: Remark) -> Remark:
    """What is left of a remark whose words are forgotten."""
    return replace(remark, target="", summary="", guidance="", rev=remark.rev + 1)
