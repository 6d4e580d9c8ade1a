"""Twenty guards report one thing at once, in threads, on a table that takes transactions as they come.

None is lost and none counts twice: one card, an exact count, and one who made it ready. The same for a session that
twenty end. It takes the emulator's DynamoDB alone; nothing is deployed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from provenloop.adapters.dynamodb.rows import Row
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.entry.wiring import jittered_pause
from provenloop.services.call import Call
from provenloop.services.report_lesson import report_lesson
from provenloop.services.settle_session import end_session
from provenloop.services.start_session import start_session
from tests.builders import Desk
from tests.faults.tables import make_table
from tests.lessons import GUARD, STATEMENT, Guards, make_line
from tests.packaged.emulator import REGION, ROOT_KEYS, Emulator

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

TABLE = "reporters"
REPORTERS = 20


@pytest.fixture
def guards(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guards]:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", emulator.endpoint)
    monkeypatch.delenv("AWS_SESSION_TOKEN")
    for name, value in ROOT_KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Row, "_connection", None)
    client = emulator.client("dynamodb")
    make_table(client, TABLE)
    yield Guards(Desk(DynamoStore(TABLE, REGION, pause=jittered_pause)).open())
    client.delete_table(TableName=TABLE)


def at_once(guards: Guards, deed: Callable[[DynamoStore, Call], dict[str, Any]]) -> list[dict[str, Any]]:
    """What twenty get who do the same at the same time, each answered after however many tries of theirs."""
    calls = [guards.desk.call(by=GUARD, key=f"k{n}") for n in range(REPORTERS)]

    def attempt(call: Call) -> dict[str, Any]:
        answer = deed(guards.desk.store, call)
        # What was not persisted may be sent again, and is the same report then.
        return answer if answer["ok"] else attempt(call)

    with ThreadPoolExecutor(REPORTERS) as threads:
        return list(threads.map(attempt, calls))


@pytest.mark.parametrize("status", ["new", "candidate", "rejected", "armed"])
def test_of_twenty_reporters_none_is_lost_and_one_makes_the_card_ready(guards: Guards, status: str) -> None:
    before = 0
    if status != "new":
        card = guards.report()["card"]
        before = 1
        if status != "candidate":
            guards.act(card, "arm" if status == "armed" else "reject", STATEMENT)
    answers = at_once(guards, lambda store, call: report_lesson(store, call, make_line(session="s1")))
    [card_now] = guards.desk.store.all_cards(guards.desk.memory)
    assert card_now.reports == before + REPORTERS
    assert card_now.violations == (REPORTERS if status == "armed" else 0)
    assert len({answer["lesson"] for answer in answers}) == REPORTERS
    assert {answer["card"] for answer in answers} == {card_now.id}
    assert sum(answer["just_ready"] for answer in answers) == (0 if status == "armed" else 1)
    assert len(guards.desk.store.lesson_places(guards.desk.memory, None, limit=100)) == before + REPORTERS
    guards.desk.verify()


def test_of_twenty_who_start_and_end_one_session_each_rule_counts_once(guards: Guards) -> None:
    rules = [guards.armed(category=f"c{n}") for n in range(3)]

    def start(store: DynamoStore, call: Call) -> dict[str, Any]:
        return {"ok": True, **start_session(store, call, "s1", "shop")}

    shown = at_once(guards, start)
    assert len({answer["block"] for answer in shown}) == 1
    assert sum(not answer["resumed"] for answer in shown) == 1
    guards.passes(category="c0")
    ends = at_once(guards, lambda store, call: end_session(store, call, "s1"))
    assert {(answer["suppressed"], answer["samples"]) for answer in ends} == {(1, 3)}
    assert [guards.counts(rule.id) for rule in rules] == [(0, 1, 1), (0, 0, 1), (0, 0, 1)]
