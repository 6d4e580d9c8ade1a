"""A week of two projects, three guards and a reviewer: how reports become rules, and how rules are judged.

Told day by day through the HTTP API, each line checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from provenloop.entry.local.demo import tables
from provenloop.entry.local.demo.api import DAY_MS, Api, Usage
from provenloop.entry.local.demo.checks import Checks
from provenloop.entry.local.demo.forty_days.diary import Diary
from provenloop.entry.local.stack import LocalStack

MEMORY = "workshop"
#: 2027-05-03T08:00:00Z, a Monday; after the other parts of the demo.
BEGINS_AT = 1_809_331_200_000
SHOP, HARBOUR = "shop", "harbour"
SECRETS = {"project": SHOP, "category": "edit-before-secret-path"}
TESTS = {"project": HARBOUR, "category": "untested-change", "signature": "merged-without-tests"}
STATEMENT = "Ask before you open a file of secrets, and never write to one."


@dataclass(frozen=True)
class Guard:
    """A guard of an agent: it reports what it stops, and says when a rule was followed. ``name`` is the short one."""

    name: str
    source: str
    api: Api
    diary: Diary

    def reports(self, what: str, line: Mapping[str, Any], expected: str, **more: Any) -> str:
        """Report a line; the id of its card."""
        body = {"source": self.source, "detail": what, **line, **more}
        answer = self.api.post("/lessons", body)
        is_breach = answer["violation_of"] is not None
        told = "breaks a rule" if is_breach else "candidate" if answer["candidate"] else "kept"
        if answer["just_ready"]:
            told = "now ready"
        card = str(answer["card"] or "")
        self.diary.tell(self.name, f"reports: {what}", told, expected, about=card, status=200)
        return card

    def follows(self, session: str, line: Mapping[str, Any], expected: str) -> None:
        """Say that a rule was followed in a session."""
        key = {"signature": "edit-before-secret-path", **line}
        answer = self.api.post("/lessons/pass", {"session": session, **key})
        told = "counts at the end" if answer["pass_of"] else "no rule"
        self.diary.tell(self.name, f"says: followed in {session}", told, expected, about=answer["pass_of"] or "")


@dataclass(frozen=True)
class Week:
    """Everybody, and the days they go through."""

    stack: LocalStack
    diary: Diary
    agent: Api
    danger: Guard
    quality: Guard
    rescue: Guard
    reviewer: Api

    def on_day(self, day: int) -> None:
        """Let time pass until 8 in the morning of a day."""
        self.stack.set_clock(BEGINS_AT + day * DAY_MS)
        self.diary.day = day

    def starts(self, session: str, project: str, expected: str, parent: str | None = None) -> None:
        """An agent starts a session, or goes on with it."""
        body = {"project": project} if parent is None else {"project": project, "parent": parent}
        answer = self.agent.post(f"/sessions/{session}/start", body)
        number = len(answer["rules"])
        shown = f"{number} rule{'s' if number != 1 else ''}" if answer["section"] else "nothing"
        what = f"starts {session}" if parent is None else f"starts {session} for {parent}"
        self.diary.tell("agent", what, f"{shown}{', again' if answer['resumed'] else ''}", expected, status=200)

    def ends(self, session: str, expected: str) -> None:
        """An agent ends a session."""
        answer = self.agent.post(f"/sessions/{session}/end", {})
        told = f"{answer['suppressed']} followed, {answer['samples']} not broken"
        again = ", told before" if answer["repeated"] else ""
        self.diary.tell("agent", f"ends {session}", told + again, expected, status=200)

    def decides(self, action: str, card: str, because: str, expected: str, **more: Any) -> None:
        """The reviewer decides about a card."""
        answer = self.reviewer.post(f"/cards/{card}/{action}", {"because": because, **more})
        self.diary.tell("reviewer", f'{action}: "{because}"', answer["status"], expected, about=card, status=200)

    def passes(self, what: str) -> None:
        """The memory's timer opens the gate of a pass."""
        outcome = self.agent.run(min_new=1000)
        self.diary.tell("engine", what, outcome["outcome"], "ran")

    def card(self, card: str) -> dict[str, Any]:
        """A card, whole."""
        answer: dict[str, Any] = self.reviewer.get(f"/cards/{card}")
        return answer

    def tells_counts(self, card: str, expected: str) -> None:
        """Write down what is counted of a rule."""
        shown = self.card(card)
        seen = f"{shown['violations']} broken, {shown['suppressed']} followed, {shown['samples']} not broken"
        self.diary.tell("engine", "counts of the rule", seen, expected, about=card)


def tell(console: Console, checks: Checks, stack: LocalStack, used: Usage) -> Diary:
    """Tell and check the week; what was written down. All its claims count as one in ``checks``.

    Raises:
        UnexpectedAnswerError: it cannot go on with an answer.
    """
    tables.heading(console, "4  A week of three guards and a reviewer")
    own = Checks(console)
    diary = Diary(console, own)
    try:
        _days(_gather(stack, diary, used))
    finally:
        checks.take_in("the week of the guards is as it is told", own)
    return diary


def _gather(stack: LocalStack, diary: Diary, used: Usage) -> Week:
    stack.set_clock(BEGINS_AT)
    root = Api(stack, MEMORY, stack.dev_token, used)
    root.make_memory()

    def api(label: str, kind: str, *scopes: str) -> Api:
        return Api(stack, MEMORY, root.mint(label, kind, list(scopes), MEMORY), used)

    def guard(name: str) -> Guard:
        return Guard(name.partition("-")[0], name, api(name, "agent", "write"), diary)

    people = api("workshop agent", "agent", "read", "write"), api("workshop reviewer", "human", "read", "review")
    guards = guard("danger-guard"), guard("quality-gate"), guard("session-rescue")
    return Week(stack, diary, people[0], *guards, people[1])


def _days(week: Week) -> None:
    week.diary.begin()
    secrets = _reports_become_a_card(week)
    tests = _a_person_decides(week, secrets)
    _sessions_count(week, secrets)
    _a_rejected_card_comes_back(week, tests)
    _the_machine_judges(week, secrets)


def _reports_become_a_card(week: Week) -> str:
    """Monday and Tuesday."""
    week.on_day(0)
    week.starts("mon-1", SHOP, "0 rules")
    card = week.danger.reports("opens shop/.env", {**SECRETS, "signature": "shop/.env"}, "candidate", session="mon-1")
    week.quality.reports("a merge without tests", TESTS, "candidate")
    week.ends("mon-1", "0 followed, 0 not broken")
    week.on_day(1)
    for path, expected in (("deploy/id_rsa", "candidate"), ("shop/prod.pem", "now ready")):
        again = week.danger.reports(f"opens {path}", {**SECRETS, "signature": path}, expected)
        week.diary.checks.equal("whatever the path, it is one card", again, card)
    week.quality.reports("the gate did not run", TESTS, "kept", kind="gate_not_run")
    return card


def _a_person_decides(week: Week, secrets: str) -> str:
    """Wednesday."""
    week.on_day(2)
    refused = week.agent.post(f"/cards/{secrets}/arm", {"because": "I may", "statement": STATEMENT}, status=403)
    week.diary.tell(
        "agent", "tries to arm the card", f"403 {refused['code']}", "403 PVL-E022", about=secrets, status=403
    )
    replay = week.reviewer.get(f"/cards/{secrets}/replay")
    seen = f"{len(replay['lessons'])} of {replay['looked_at']} lessons"
    week.diary.tell("reviewer", "replays it", seen, "3 of 3 lessons", about=secrets)
    nothing = week.reviewer.post(f"/cards/{secrets}/arm", {"because": "often enough"}, status=400)
    told = f"400 {nothing['field']}"
    week.diary.tell("reviewer", "arms it without a statement", told, "400 statement", about=secrets, status=400)
    week.decides("arm", secrets, "often enough", "armed", statement=STATEMENT)
    [tests] = [card["id"] for card in week.reviewer.get(f"/cards?project={HARBOUR}")["cards"]]
    week.decides("reject", tests, "a prototype", "rejected")
    return str(tests)


def _sessions_count(week: Week, secrets: str) -> None:
    """Wednesday to Friday."""
    week.starts("wed-1", SHOP, "1 rule")
    week.starts("helper-1", SHOP, "nothing", parent="wed-1")
    week.starts("wed-2", HARBOUR, "0 rules")
    for _ in range(2):
        week.danger.follows("wed-1", SECRETS, "counts at the end")
    week.starts("wed-1", SHOP, "1 rule, again")
    week.ends("wed-1", "1 followed, 1 not broken")
    week.ends("wed-1", "1 followed, 1 not broken, told before")
    week.tells_counts(secrets, "0 broken, 1 followed, 1 not broken")
    week.on_day(3)
    week.starts("thu-1", SHOP, "1 rule")
    week.danger.reports("opens shop/.env", {**SECRETS, "signature": "shop/.env"}, "breaks a rule", session="thu-1")
    week.ends("thu-1", "0 followed, 0 not broken")
    week.starts("thu-2", SHOP, "1 rule")
    week.on_day(4)
    week.passes("a day later nobody has ended thu-2")
    week.tells_counts(secrets, "1 broken, 1 followed, 1 not broken")
    week.stack.set_clock(week.stack.now_ms() + 3_600_000)
    week.passes("an hour later it is settled")
    week.tells_counts(secrets, "1 broken, 1 followed, 2 not broken")


def _a_rejected_card_comes_back(week: Week, tests: str) -> None:
    """Friday."""
    for expected in ("kept", "kept", "now ready"):
        week.quality.reports("a merge without tests", TESTS, expected)
    week.decides("arm", tests, "it goes on", "armed", statement="Run the tests before you merge.")


def _the_machine_judges(week: Week, secrets: str) -> None:
    """Saturday and Sunday."""
    week.on_day(5)
    week.starts("sat-1", SHOP, "1 rule")
    for _ in range(3):
        line = {**SECRETS, "signature": "shop/.env"}
        week.rescue.reports("a session lost in .env", line, "breaks a rule", session="sat-1")
    week.ends("sat-1", "0 followed, 0 not broken")
    week.tells_counts(secrets, "4 broken, 1 followed, 2 not broken")
    week.on_day(6)
    week.passes("the time of judgement has come")
    card = week.card(secrets)
    last = card["audit"][-1]
    week.diary.tell("engine", "demotes what is broken too often", card["status"], "demoted", about=secrets)
    week.diary.checks.equal("the engine did it", last["by"]["id"], "engine:lessons")
    week.diary.checks.equal("its chain holds", card["verified"], True)  # noqa: FBT003 - what is expected
    week.starts("sun-1", SHOP, "0 rules")
    week.starts("sun-2", HARBOUR, "1 rule")
    stats = week.reviewer.get("/lessons/stats")
    seen = f"{stats['lessons']['lines']} lessons, {stats['cards']['armed']} armed, {stats['cards']['demoted']} demoted"
    week.diary.tell("reviewer", "looks at the week", seen, "12 lessons, 1 armed, 1 demoted")
    verified = week.reviewer.get("/audit/verify")
    week.diary.checks.equal("the audit trail holds", verified["ok"], True)  # noqa: FBT003 - what is expected
