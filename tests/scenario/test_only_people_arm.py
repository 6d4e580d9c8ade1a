"""Whatever machines do, in whatever order, no card is armed by it; and counters only go up.

Agents and services report, configure, act on cards with every scope there is, and are refused or not; time goes by, and
passes run under whatever the host's policy allows; people do everything but arm, and now and then arm. A model of the
one table of steps says at any time which cards may be armed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from provenloop.analyzers import ANALYZERS
from provenloop.domain.errors import LoopError
from provenloop.domain.policy import TARGET_CLASSES, TELEMETRY_MODES, Grant, Policy, Review
from provenloop.domain.principal import SCOPES
from provenloop.domain.recommendation import SEVERITIES, family_of
from provenloop.lessons.actions import ACTIONS
from provenloop.lessons.card import COUNTERS, Card
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.migrate_cards import migrate_cards
from tests.builders import DAY_MS, Desk, make_calls, make_fact, make_principal
from tests.examples import examples
from tests.lessons import STATEMENT, Guards, make_line
from tests.store_fixture import fresh_store

MACHINES = [make_principal(f"{kind}-{n}", *scopes, kind=kind)
            for kind in ("agent", "service") for n, scopes in enumerate([("admin",), SCOPES])]  # fmt: skip
CATEGORIES = st.sampled_from(["deploys", "releases", "dangerous-bash:rm"])
EVIDENCE = st.sampled_from([{}, {"needs_user_confirmation": True}])
CHANGES = st.sampled_from(
    [
        {"lessons": {"promote_threshold": 1, "revive_threshold": 1}},
        {"lessons": {"promote_threshold": 3}},
        {"lessons": {"enabled": False}},
        {"clear_lessons": True},
        {"lesson_folds": {"deploys": "shipping", "releases": "shipping"}},
        {"lesson_folds": {}},
    ]
)
FAMILIES = st.sampled_from([family_of(known.manifest.id) for known in ANALYZERS])
LEVELS = st.sampled_from(SEVERITIES)
TARGETS = st.lists(st.sampled_from(TARGET_CLASSES), min_size=1, unique=True).map(tuple)
ANY_GRANT = st.builds(Grant, FAMILIES, TARGETS, LEVELS)
EVERY_GRANT = tuple(Grant(family_of(known.manifest.id), TARGET_CLASSES, SEVERITIES[-1]) for known in ANALYZERS)
POLICIES = st.just(Policy(auto_apply_enabled=True, auto_apply=EVERY_GRANT)) | st.builds(
    Policy,
    st.booleans(),
    st.lists(ANY_GRANT, max_size=4).map(tuple),
    st.lists(FAMILIES, max_size=2).map(tuple),
    st.dictionaries(FAMILIES, LEVELS, max_size=2),
    st.sampled_from(TELEMETRY_MODES),
    st.builds(Review, st.none() | LEVELS),
)


class OnlyPeopleArm(RuleBasedStateMachine):
    """One memory, its guards, machines with every right, and a reviewer."""

    def __init__(self) -> None:
        super().__init__()
        self.context = fresh_store()
        self.guards = Guards(Desk(self.context.__enter__()).open())
        self.armed_by_people: set[str] = set()
        self.seen: dict[str, Card] = {}

    def teardown(self) -> None:
        self.guards.desk.verify()
        self.context.__exit__(None, None, None)

    def cards(self) -> dict[str, Card]:
        return {card.id: card for card in self.guards.desk.store.all_cards(self.guards.desk.memory)}

    @initialize(policy=POLICIES)
    def begin(self, policy: Policy) -> None:
        self.guards.report(category="deploys")
        self.let_time_go_by_and_run_a_pass(0, policy)

    @rule(
        category=CATEGORIES, evidence=EVIDENCE, statement=st.none() | st.just("obey me"), by=st.sampled_from(MACHINES)
    )
    def report(self, category: str, evidence: dict[str, Any], statement: str | None, by: Any) -> None:
        self.guards.guard = by
        with suppress(LoopError):
            self.guards.report(make_line(category=category, evidence=evidence, statement=statement))

    @rule(action=st.sampled_from(ACTIONS), by=st.sampled_from(MACHINES))
    def try_to_act(self, action: str, by: Any) -> None:
        for card in self.cards():
            try:
                self.guards.act(card, action, STATEMENT, by=by)
            except LoopError as error:
                assert error.code == "PVL-E024"  # noqa: PT017 - a machine is refused for what it is
            else:
                raise AssertionError(f"a machine did {action}")

    @rule(by=st.sampled_from(MACHINES))
    def try_to_merge(self, by: Any) -> None:
        with suppress(LoopError):
            migrate_cards(self.guards.desk.store, self.guards.desk.call(by=by), "merge")
            raise AssertionError("a machine merged cards")

    @rule(change=CHANGES, by=st.sampled_from(MACHINES))
    def set_up(self, change: dict[str, Any], by: Any) -> None:
        configure(self.guards.desk.store, self.guards.desk.call(by=by), ConfigChange(**change))

    @rule(days=st.sampled_from([0, 1, 31]), policy=POLICIES)
    def let_time_go_by_and_run_a_pass(self, days: int, policy: Policy) -> None:
        desk = self.guards.desk
        desk.now += days * DAY_MS
        desk.policy = policy
        desk.record(*(make_fact(tea, relation="likes") for tea in ("tea", "Tea")), *make_calls(3, name=str(desk.now)))
        desk.run()

    @rule(suppressed=st.integers(0, 1))
    def end_a_session(self, suppressed: int) -> None:
        for card in self.cards().values():
            if card.status == "armed":
                self.guards.count(card, suppressed=suppressed, samples=1)

    @rule(action=st.sampled_from([action for action in ACTIONS if action != "arm"]), data=st.data())
    def decide(self, action: str, data: st.DataObject) -> None:
        card = data.draw(st.sampled_from(sorted(self.cards())))
        with suppress(LoopError):
            self.guards.act(card, action, STATEMENT)
            self.armed_by_people -= set() if action == "edit" else {card}

    @rule(data=st.data())
    def arm(self, data: st.DataObject) -> None:
        card = data.draw(st.sampled_from(sorted(self.cards())))
        with suppress(LoopError):
            self.guards.act(card, "arm", STATEMENT)
            self.armed_by_people.add(card)

    @invariant()
    def only_what_a_person_armed_is_armed(self) -> None:
        now = self.cards()
        armed = {card.id for card in now.values() if card.status == "armed"}
        assert armed <= self.armed_by_people
        places = {card.project_key for card in now.values()}
        rules = [each for key in places for each in self.guards.desk.store.rules(self.guards.desk.memory, key)]
        assert {each.card for each in rules} == armed
        assert all(each.statement == now[each.card].statement for each in rules)

    @invariant()
    def counters_never_go_down(self) -> None:
        now = self.cards()
        for card_id, before in self.seen.items():
            for name in COUNTERS:
                if name != "since_rejection":
                    assert getattr(now[card_id], name) >= getattr(before, name)
            anew = now[card_id].rev != before.rev
            assert anew or now[card_id].since_rejection >= before.since_rejection
        self.seen = now


TestOnlyPeopleArm = OnlyPeopleArm.TestCase
TestOnlyPeopleArm.settings = settings(max_examples=examples(10), stateful_step_count=12)
