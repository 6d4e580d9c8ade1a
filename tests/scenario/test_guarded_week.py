"""A week of two projects, three guards and a reviewer is the one that is pinned, and every claim of it holds.

``tests/scenario/guarded_week.py`` says how to pin another one.
"""

from __future__ import annotations

from provenloop.entry.local.demo import guarded_week
from provenloop.entry.local.demo.api import Api, Usage
from tests.scenario.forty_days import WIDTH, system
from tests.scenario.guarded_week import TEXT, told


def test_the_week_is_told_as_it_is_pinned_and_leaves_everything_in_order() -> None:
    with system() as stack:
        text, all_hold = told(stack)
        admin = Api(stack, guarded_week.MEMORY, stack.dev_token, Usage())
        cards = {card["id"]: card for card in admin.get("/cards")["cards"]}
        rules = admin.get("/loop/outcomes")["rules"]
        verified = admin.get("/audit/verify")
    assert all_hold, text
    assert text == TEXT.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert {card["status"] for card in cards.values()} == {"armed", "demoted"}
    assert {cards[rule["id"]]["status"]: rule["verdict"] for rule in rules} == {
        "armed": "inconclusive",
        "demoted": "regressed",
    }
    assert verified["ok"] is True
