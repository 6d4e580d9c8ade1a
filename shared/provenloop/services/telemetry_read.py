"""What telemetry tells: which grains are recalled most, what is asked, what finds nothing, how full contexts are.

Counts are those of the window's UTC days that passes have folded; texts are joined from the grains, so what was
forgotten since is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any

from provenloop.domain.grain import Grain, text_of
from provenloop.domain.instants import days_before, utc_day
from provenloop.domain.policy import TelemetryMode
from provenloop.domain.rollup import ReadDays
from provenloop.services.call import Call
from provenloop.services.grain_read import shown
from provenloop.services.memories import require_heads
from provenloop.services.ports import Store

WINDOW_DAYS = 30
MAX_ROWS = 200


def show_telemetry(store: Store, call: Call, mode: TelemetryMode) -> dict[str, Any]:
    """The last 30 UTC days, today included.

    Returns:
        ``{mode, first_day, last_day, most_recalled: [{reads, grain}], questions: [{address, namespace, text, subject,
        relation, asked, empty}], assemblies: {assembled, overflowed}}``; the most read and the most asked first, at
        most 200 of each.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    last = utc_day(call.now)
    first = days_before(last, WINDOW_DAYS - 1)
    days = store.assembly_window(call.memory, first, last)
    return {
        "mode": mode,
        "first_day": _dated(first),
        "last_day": _dated(last),
        "most_recalled": _most_recalled(store, call, first),
        "questions": _questions(store, call, first),
        "assemblies": {
            "assembled": sum(day.assembled for day in days),
            "overflowed": sum(day.overflowed for day in days),
        },
    }


def _dated(day: str) -> str:
    return f"{day[:4]}-{day[4:6]}-{day[6:]}"


def _most_recalled(store: Store, call: Call, first: str) -> list[dict[str, Any]]:
    reads = nlargest(MAX_ROWS, _reads_since(store.all_reads(call.memory), first))
    grains = _remembered(store, call, [address for _, address in reads])
    return [{"reads": n, "grain": shown(grains[address], call.now)} for n, address in reads if address in grains]


def _reads_since(rows: Iterable[ReadDays], first: str) -> Iterator[tuple[int, str]]:
    return ((n, row.address) for row in rows if (n := row.since(first)))


def _questions(store: Store, call: Call, first: str) -> list[dict[str, Any]]:
    asked: dict[str, tuple[int, int]] = {}
    for row in store.all_asks(call.memory):
        if row.day >= first:
            n, empty = asked.get(row.question, (0, 0))
            asked[row.question] = (n + row.asked, empty + row.empty)
    most = nlargest(MAX_ROWS, ((n, empty, address) for address, (n, empty) in asked.items()))
    grains = _remembered(store, call, [address for _, _, address in most])
    return [_question(grains[address], n, empty) for n, empty, address in most if address in grains]


def _question(grain: Grain, asked: int, empty: int) -> dict[str, Any]:
    texts = {name: text_of(grain, name) or None for name in ("text", "subject", "relation")}
    return {"address": grain.address, "namespace": grain.namespace, **texts, "asked": asked, "empty": empty}


def _remembered(store: Store, call: Call, addresses: Sequence[str]) -> Mapping[str, Grain]:
    grains = store.grains(call.memory, addresses, call.now)
    return {address: grain for address, grain in grains.items() if grain.state != "forgotten"}
