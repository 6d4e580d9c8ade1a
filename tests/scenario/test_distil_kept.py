"""What was distilled, kept as a recipe: one per request and scope, whoever crashes or comes twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.adapters.dynamodb.packed_vectors import PackedVectorIndex
from provenloop.domain.distillation import Distillation
from provenloop.domain.errors import LoopError
from provenloop.domain.model_cost import Usage
from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import Recipe, RecipeScope
from provenloop.recipes.distillation import SCHEMA_VERSION
from provenloop.services.carry_out_distillation import ASKING_MS, Distiller
from provenloop.services.distil_recipe import Wanted, begin_distillation
from provenloop.services.keep_distilled import ShelfKeeper
from provenloop.services.model_port import ModelAccess
from provenloop.services.recipe_decisions import decide_recipe
from provenloop.services.recipe_ports import Vector
from provenloop.services.recipe_shelf import Shelf
from tests.builders import MEMORY, NOW, Desk
from tests.faults import Crash, Fault, FaultLayer, Kind, SavedTable, single_faults
from tests.faults.tables import TABLE
from tests.model_server import ModelServer, model_server, says

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SCOPE = RecipeScope(agent="support")
GOOD: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "category": "accounts",
    "problem": "resetting a password",
    "positive_response": "Open settings, then choose Reset.",
    "principles": ["name the menu"],
    "confidence": 0.9,
    "safety_concern": False,
}


class FirstLetters:
    """An embedder of a few numbers."""

    tag = "first-letters"
    version = 1
    dimensions = 4

    def embed(self, texts: Any) -> list[Vector]:
        return [[0.5, 0.5, 0.5, 0.5] for _ in texts]


class Sent:
    """A queue that only remembers."""

    def __init__(self) -> None:
        self.jobs: list[str] = []

    def send(self, _memory: MemoryId, job_id: str, _delay_s: int) -> None:
        self.jobs.append(job_id)


class Key:
    """The installation's key."""

    def current(self) -> str:
        return "sk-ant-installation"


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


class Learner:
    """One memory whose agent's runs are distilled."""

    def __init__(self, desk: Desk, server: ModelServer) -> None:
        self.desk, self.server, self.sent = desk, server, Sent()
        self.shelf = Shelf(desk.store, PackedVectorIndex(pause=lambda _: None), FirstLetters())
        models = ModelAccess(AnthropicModel(server.url), Key())
        self.distiller = Distiller(desk.store, models, ShelfKeeper(self.shelf))
        server.seen.clear()
        server.plays(says(GOOD))

    def begin(self, run: str = "r-1", problem: str = "How do I reset my password?") -> Distillation:
        envelope = {"problem": problem, "final_message": f"Done: {run}.", "signals": ["tests_passed"]}
        return begin_distillation(self.desk.store, self.sent, self.desk.call(), Wanted(envelope, SCOPE), has_model=True)

    def learn(self, run: str = "r-1", *, response: str | None = None, **how: str) -> Distillation:
        self.server.plays(says({**GOOD, "positive_response": response or GOOD["positive_response"]}))
        return self.distiller.carry_out(self.desk.call(), self.begin(run, **how).id)

    def recipe(self, job: Distillation) -> Recipe:
        scope, _, name = job.recipe_id.partition("-")
        found = self.desk.store.recipe(MEMORY, scope, name)
        assert found is not None
        return found


@pytest.fixture
def learner(desk: Desk, server: ModelServer) -> Learner:
    return Learner(desk, server)


def test_the_same_problem_again_reinforces_or_supersedes_one_recipe(learner: Learner) -> None:
    first = learner.learn("r-1")
    again = learner.learn("r-2", problem=" how do i reset my PASSWORD")
    assert again.recipe_id == first.recipe_id
    assert (learner.recipe(first).reinforced, learner.recipe(first).revision) == (1, 1)
    learner.learn("r-3", response="Ask support.")
    assert (learner.recipe(first).response, learner.recipe(first).revision) == ("Ask support.", 2)
    learner.desk.verify()


def test_a_retired_recipe_stays_retired_and_the_job_ends(learner: Learner) -> None:
    first = learner.learn("r-1")
    decide_recipe(learner.shelf, learner.desk.call(), first.recipe_id, "retire", "wrong")
    before = learner.recipe(first)
    again = learner.learn("r-2", response="Other.")
    assert (again.status, again.recipe_id) == ("done", first.recipe_id)
    assert learner.recipe(first) == before


def test_what_no_recipe_can_hold_is_skipped_as_not_saved(learner: Learner) -> None:
    job = begin_distillation(
        learner.desk.store,
        learner.sent,
        learner.desk.call(),
        Wanted({"problem": "\u200b", "final_message": "y", "signals": ["thumbs_up"]}, SCOPE),
        has_model=True,
    )
    end = learner.distiller.carry_out(learner.desk.call(), job.id)
    assert (end.reason, end.failure) == ("opus_error", "save_failed")


KINDS = [Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.LOST_REPLY]


def test_a_fault_at_any_call_leaves_one_recipe_paid_and_counted_once(desk: Desk, server: ModelServer) -> None:
    """Every call of the table, each with every fault."""
    job = Learner(desk, server).begin()
    saved = SavedTable(desk.client, TABLE)
    with FaultLayer(desk.client) as layer:
        learner = Learner(desk, server)
        calls = layer.count(lambda: learner.distiller.carry_out(desk.call(), job.id))
    lost = set()
    for fault in single_faults(calls, KINDS):
        saved.restore()
        end = carried_out(Learner(desk, server), job, fault)
        if end.status != "done":
            lost.add(fault.kind)
    saved.restore()
    # Only who dies between claiming to ask and storing the answer loses what was asked for.
    assert lost == {Kind.CRASH_BEFORE, Kind.CRASH_AFTER}


def carried_out(learner: Learner, job: Distillation, fault: Fault) -> Distillation:
    """The end of a distillation that met a fault, and was delivered until it was over."""
    desk = learner.desk
    with FaultLayer(desk.client) as layer, layer.faults(fault):
        for _ in range(3):
            try:
                learner.distiller.carry_out(desk.call(), job.id)
            except (Crash, LoopError):
                layer.restart()
                desk.now += ASKING_MS
    end = learner.distiller.carry_out(desk.call(), job.id)
    assert len(learner.server.seen) <= 1
    rows = desk.store.ledger(MEMORY, NOW, desk.now + 1, after=None, limit=10)
    if end.status == "done":
        assert (learner.recipe(end).reinforced, learner.recipe(end).revision) == (0, 1)
        assert [row.usage for row in rows] == learner.server.charged
    else:
        assert (end.reason, end.failure) == ("opus_error", "unknown")
        assert [row.usage for row in rows] == [Usage(), Usage()]
    return end
