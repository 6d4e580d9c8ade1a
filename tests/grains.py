"""Stored grains of every kind, and odd ones as imports and old versions may leave them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import Grain, GrainKind
from tests.builders import DAY_MS, NOW, make_grain

MARK = "§"
"""Stands in every text of an odd grain, and nowhere else."""
KINDS: tuple[GrainKind, ...] = ("fact", "tool_call", "observation", "skill", "goal", "event")


def make_kind(
    kind: GrainKind,
    body: Mapping[str, Any],
    *,
    namespace: str = "shared",
    address: str | None = None,
    at: int = NOW - DAY_MS,
    **more: Any,
) -> Grain:
    """A stored grain of any kind."""
    named = address or sha256(f"{kind}|{namespace}|{canonical_json(body)}".encode()).hexdigest()
    fields: dict[str, Any] = {"recorded_at": at, "last_stated_at": at, "seq": 1, "by": "ann", **more}
    return Grain(address=named, kind=kind, namespace=namespace, body=body, **fields)


def make_note(text: str = "the door was open", **more: Any) -> Grain:
    """An observation."""
    return make_kind("observation", {"text": text, **more.pop("body", {})}, **more)


def make_skill(
    revision: int = 1,
    proficiency: float | None = 0.25,
    practice_count: int | None = 12,
    *,
    name: str = "triage",
    **more: Any,
) -> Grain:
    """One revision of a skill."""
    fields = {"name": name, "revision": revision, "proficiency": proficiency, "practice_count": practice_count}
    return make_kind("skill", {field: value for field, value in fields.items() if value is not None}, **more)


def make_goal(progress: float | None = 0.05, state: str = "active", *, name: str = "ship it", **more: Any) -> Grain:
    """A goal."""
    fields = {"name": name, "state": state, "progress": progress}
    return make_kind("goal", {field: value for field, value in fields.items() if value is not None}, **more)


_TEXTS = st.sampled_from(
    [f"{MARK}a", f"{MARK}A", f"{MARK}ａ ", f"{MARK}b", f'{{"{MARK}":[1,', f'["{MARK}"]', MARK * 40]
)
_ODD = st.one_of(
    st.sampled_from(["", None, True, -1, 7, 0.25, 1e308, float("inf"), float("nan")]),
    st.lists(_TEXTS, max_size=2),
    st.dictionaries(_TEXTS, st.integers(), max_size=2),
)
_NAME = st.just(f"{MARK}n")
_SMALL = st.sampled_from([0, 1, 5, 0.1, 0.3])
_BODIES: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "fact": {"subject": _NAME, "relation": st.sampled_from(["lives_in", "livesIn", "likes", "likes", "fails_with"]),
             "object": _TEXTS, "confidence": _SMALL, "tags": st.lists(_TEXTS, max_size=2), "source": _TEXTS},
    "tool_call": {"tool": _TEXTS},
    "observation": {"text": _TEXTS, "session": _TEXTS},
    "skill": {"name": _NAME, "revision": st.integers(1, 3), "proficiency": _SMALL, "practice_count": _SMALL},
    "goal": {"name": _NAME, "state": st.sampled_from(["active"] * 3 + ["done"]), "progress": _SMALL},
    "event": {"body": _TEXTS},
}  # fmt: skip
_INSTANTS = st.sampled_from([None] * 7 + [NOW + days * DAY_MS for days in (-100, -1, 0, 1, 2)])


@st.composite
def odd_grains(draw: st.DrawFn, likely: GrainKind = "fact", max_size: int = 6) -> list[Grain]:
    """A few grains, most of the ``likely`` kind, in any state, some of whose fields hold anything, pointing at each
    other.
    """
    size = draw(st.integers(2, max_size))
    addresses = [sha256(f"odd {place}".encode()).hexdigest() for place in range(size)]
    return [draw(_odd_grain(likely, address, addresses)) for address in addresses]


@st.composite
def _odd_grain(draw: st.DrawFn, likely: GrainKind, address: str, others: list[str]) -> Grain:
    kind = draw(st.sampled_from((likely,) * 12 + KINDS))
    whole = {name: draw(values) for name, values in _BODIES[kind].items()}
    is_odd = draw(st.sampled_from([False, False, True]))
    odd = {draw(st.sampled_from(sorted(whole))): draw(_ODD)} if is_odd else {}
    state = draw(st.sampled_from(["current"] * 5 + ["superseded", "superseded", "forgotten"]))
    successors = draw(st.lists(st.sampled_from(others), min_size=1, max_size=3)) if state == "superseded" else []
    return make_kind(
        kind,
        {**whole, **odd} if state != "forgotten" else {},
        namespace=draw(st.sampled_from(["shared"] * 5 + ["team"])),
        address=address,
        at=draw(st.sampled_from([NOW - 100 * DAY_MS, NOW - 40 * DAY_MS, NOW, 0])),
        seq=draw(st.integers(1, 9)),
        stated=draw(st.integers(1, 3)),
        state=state,
        superseded_by=successors[0] if successors else None,
        forked_into=tuple(successors[1:]),
        valid_from=draw(_INSTANTS),
        valid_to=draw(_INSTANTS),
    )


__all__ = ["KINDS", "MARK", "make_goal", "make_grain", "make_kind", "make_note", "make_skill", "odd_grains"]
