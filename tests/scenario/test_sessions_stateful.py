"""Sessions in whatever order: each is counted once, exactly as a model of it says, whoever ends it and how often.

Sessions start, go on, are followed and broken, end, are told to have ended again, or are forgotten while time goes by
and passes run; rules are armed and demoted meanwhile.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from provenloop.domain.errors import LoopError
from tests.builders import DAY_MS, Desk
from tests.examples import examples
from tests.lessons import Guards
from tests.store_fixture import fresh_store

NAMES = st.sampled_from(["s1", "s2", "s3"])
CATEGORIES = ("a", "b")
CATEGORY = st.sampled_from(CATEGORIES)


@dataclass
class Told:
    """What was told of one session."""

    started_at: int
    rules: frozenset[str]
    followed: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    is_over: bool = False


class Sessions(RuleBasedStateMachine):
    """One memory with two rules of one project, and a model of what its sessions count."""

    def __init__(self) -> None:
        super().__init__()
        self.context = fresh_store()
        self.guards = Guards(Desk(self.context.__enter__()).open())
        self.cards: dict[str, str] = {}
        self.armed: set[str] = set()
        self.sessions: dict[str, Told] = {}
        #: What was broken in a session before it was said to have started.
        self.early: set[tuple[str, str]] = set()
        self.suppressed = dict.fromkeys(CATEGORIES, 0)
        self.samples = dict.fromkeys(CATEGORIES, 0)

    def teardown(self) -> None:
        self.guards.desk.verify()
        self.context.__exit__(None, None, None)

    @initialize()
    def begin(self) -> None:
        # Nothing here shall be demoted by the judgement.
        self.guards.set(demote_threshold=50)
        for name in CATEGORIES:
            self.cards[name] = self.guards.armed(category=name).id
            self.armed.add(name)

    @rule(name=NAMES)
    def start(self, name: str) -> None:
        answer = self.guards.start(name)
        known = self.sessions.get(name)
        assert answer["resumed"] == (known is not None)
        if known is None:
            known = self.sessions[name] = Told(self.guards.desk.now, frozenset(self.armed))
        shown = {category for category, card in self.cards.items() if card in answer["rules"]}
        assert shown == known.rules & self.armed

    @rule(name=NAMES, category=CATEGORY)
    def follow(self, name: str, category: str) -> None:
        with suppress(LoopError):
            if self.guards.passes(name, category=category)["pass_of"]:
                assert not self.sessions[name].is_over
                self.sessions[name].followed.add(category)

    @rule(name=NAMES, category=CATEGORY)
    def break_it(self, name: str, category: str) -> None:
        answer = self.guards.report(category=category, session=name)
        if answer["violation_of"] and name in self.sessions and not self.sessions[name].is_over:
            self.sessions[name].broken.add(category)
        elif answer["violation_of"] and name not in self.sessions:
            self.early.add((name, category))

    @rule(name=NAMES)
    def end(self, name: str) -> None:
        with suppress(LoopError):
            answer = self.guards.end(name)
            assert answer["repeated"] == self.sessions[name].is_over
            self._over(name, was_forgotten=False)

    @rule(hours=st.sampled_from([1, 13, 25]))
    def let_time_go_by_and_run_a_pass(self, hours: int) -> None:
        self.guards.desk.now += hours * DAY_MS // 24
        self.guards.desk.run(min_new=1000)
        for name, told in self.sessions.items():
            if told.started_at + DAY_MS <= self.guards.desk.now:
                self._over(name, was_forgotten=True)

    @rule(category=CATEGORY)
    def demote_or_arm_again(self, category: str) -> None:
        if category in self.armed:
            self.guards.act(self.cards[category], "demote")
            self.armed.remove(category)
        else:
            self.guards.act(self.cards[category], "revive")
            self.guards.act(self.cards[category], "arm")
            self.armed.add(category)

    def _over(self, name: str, *, was_forgotten: bool) -> None:
        told = self.sessions[name]
        if told.is_over:
            return
        told.is_over = True
        broken = told.broken | {category for session, category in self.early if session == name}
        for category in CATEGORIES:
            self.suppressed[category] += category in told.followed
            was_there = category in told.rules and category not in broken
            self.samples[category] += was_there and not (was_forgotten and bool(broken))

    @invariant()
    def counters_are_what_the_sessions_tell(self) -> None:
        for category, card in self.cards.items():
            stored = self.guards.card(card)
            assert (stored.suppressed, stored.samples) == (self.suppressed[category], self.samples[category])
            assert stored.samples <= len(self.sessions)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=examples(6), stateful_step_count=14)
