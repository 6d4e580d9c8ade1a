"""A model that is asked under pseudonyms: what reaches it, what comes back, and what is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from provenloop.domain.model_cost import Usage
from provenloop.domain.policy import CLOSED, UNKNOWN, Policy, Pseudonymize
from provenloop.domain.pseudonyms import Pseudonyms
from provenloop.domain.quoting import WHOLE, Quoted
from provenloop.services.model_port import ModelAnswer, ModelFailure, ModelOutcome, ModelRequest
from provenloop.services.pseudonymous_model import (
    MAX_RESTORED_CHARS,
    ModelUnderPolicy,
    PseudonymousModel,
    pseudonymous,
)
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.scripted_model import Key

INSTRUCTIONS = "Maria Lopez and ann@example.com are examples of ours."
REQUEST = ModelRequest("m", INSTRUCTIONS, (), {"type": "object"}, 100, 1_000, op="ground")
MASKED = Policy(pseudonymize=Pseudonymize(enabled=True, names=("Zeus",)))


@dataclass
class Model:
    """Answers what it is told to make of the texts it sees."""

    says: Callable[[list[str]], dict[str, Any]] = lambda texts: {"texts": texts}
    seen: list[ModelRequest] = field(default_factory=list)

    def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
        self.seen.append(request)
        value = self.says([part.text for part in request.quoted])
        return ModelAnswer(value, json.dumps(value), Usage(1, 2), f"{key}-model")


def ask(model: Any, *texts: str) -> ModelAnswer:
    quoted = tuple(Quoted(f"evidence:e{number}", text) for number, text in enumerate(texts, 1))
    outcome = model.ask(replace(REQUEST, quoted=quoted), "k")
    assert isinstance(outcome, ModelAnswer)
    return outcome


def test_texts_are_replaced_and_nothing_of_ours_is() -> None:
    model = Model()
    ask(PseudonymousModel(model, Pseudonyms()), "Maria Lopez", '{"target":"entity:shared/ann@example.com"}')
    [seen] = model.seen
    assert [part.text for part in seen.quoted] == ["PVL_PERSON_1", '{"target":"entity:shared/PVL_EMAIL_1"}']
    assert [part.label for part in seen.quoted] == ["evidence:e1", "evidence:e2"]
    assert replace(seen, quoted=()) == REQUEST


def test_the_answer_says_who_it_was_again_in_value_and_text_and_its_text_is_json() -> None:
    text = 'mail "Maria\\Lopez" <ann@example.com>'
    answer = ask(PseudonymousModel(Model(), Pseudonyms(["Maria\\Lopez"])), text)
    assert answer.value == {"texts": [text]}
    assert json.loads(answer.text) == answer.value
    assert (answer.usage, answer.model) == (Usage(1, 2), "k-model")


def test_what_a_model_makes_up_is_nobodys_name() -> None:
    hostile = Model(
        lambda _: {
            "target": "entity:shared/PVL_PERSON_2",
            "x": "PVL_PERSON_99 PVL_EMAIL_1 pvl_person_1 PVL_LITERAL_7 PVL_PERSON_1_4",
        }
    )
    answer = ask(PseudonymousModel(hostile, Pseudonyms()), "Maria Lopez wrote this")
    assert answer.value == {
        "target": "entity:shared/PVL_PERSON_2",
        "x": "PVL_PERSON_99 PVL_EMAIL_1 Maria Lopez PVL_LITERAL_7 PVL_PERSON_1_4",
    }


class Counting(Pseudonyms):
    """Counts the texts that are read."""

    read = 0

    def learn(self, texts: Iterable[str]) -> None:
        known = list(texts)
        self.read += len(known)
        super().learn(known)


def test_what_will_be_sent_is_told_before_and_read_once_also_where_only_a_part_is_asked_about() -> None:
    names, model = Counting(), Model()
    masked = PseudonymousModel(model, names)
    whole = tuple(Quoted(f"evidence:e{n}", text, {WHOLE: 20}) for n, text in ((1, "Dear Isolde,"), (2, "isolde left")))
    told = masked.shown(whole)
    assert [part.text for part in told] == ["Dear PVL_PERSON_1,", "PVL_PERSON_1_2 left"]
    masked.ask(replace(REQUEST, quoted=whole[1:]), "k")
    assert model.seen[0].quoted == told[1:]
    assert names.read == 2
    masked.ask(replace(REQUEST, quoted=(Quoted("evidence:e2", "isolde left", {WHOLE: 3}),)), "k")
    assert [part.text for part in model.seen[1].quoted] == ["PVL_PERSON_1_2"]
    assert names.read == 3


def test_evidence_that_holds_a_placeholder_does_not_draw_out_a_name() -> None:
    answer = ask(
        PseudonymousModel(Model(), Pseudonyms()), "Maria Lopez wrote this", "tell me PVL_PERSON_1 and pvl_person_1"
    )
    assert answer.value["texts"] == ["Maria Lopez wrote this", "tell me PVL_PERSON_1 and pvl_person_1"]


def test_an_answer_that_grows_without_measure_is_none() -> None:
    address = f"{'a' * 60}@{'b' * 60}.example"
    many = " ".join(["PVL_EMAIL_1"] * (MAX_RESTORED_CHARS // len(address)))
    model = PseudonymousModel(Model(lambda _: {"x": many}), Pseudonyms())
    request = replace(REQUEST, quoted=(Quoted("x", address),))
    assert model.ask(request, "k") == ModelFailure("parse", Usage(1, 2), "k-model")


def test_a_failure_comes_back_as_it_is() -> None:
    class Broken:
        def ask(self, request: ModelRequest, key: str) -> ModelOutcome:
            del request, key
            return ModelFailure("server")

    assert PseudonymousModel(Broken(), Pseudonyms()).ask(REQUEST, "k") == ModelFailure("server")


def test_all_questions_of_a_pass_name_a_person_alike_also_where_another_model_is_asked() -> None:
    main, ground = Model(), Model()
    models = pseudonymous(
        ReflectionModels(ReflectionModel(main, Key(), "a"), ReflectionModel(ground, Key(), "b")), MASKED, ["isolde"]
    )
    assert ask(models.main.provider, "isolde met Zeus").value == {"texts": ["isolde met Zeus"]}
    assert ask(models.ground.provider, "zeus met Isolde").value == {"texts": ["zeus met Isolde"]}
    assert [part.text for request in (*main.seen, *ground.seen) for part in request.quoted] == [
        "PVL_PERSON_1 met PVL_PERSON_2",
        "PVL_PERSON_2_2 met PVL_PERSON_1_2",
    ]
    assert (models.main.model, models.ground.model) == ("a", "b")


def test_without_the_policy_models_see_what_there_is() -> None:
    model = Model()
    models = ReflectionModels(ReflectionModel(model, Key(), "a"), ReflectionModel(model, Key(), "b"))
    assert pseudonymous(models, CLOSED, ["isolde"]) is models
    ask(ModelUnderPolicy(model, lambda: CLOSED), "Maria Lopez")
    assert model.seen[0].quoted[0].text == "Maria Lopez"


def test_while_nobody_knows_whom_the_policy_names_nobody_is_asked_until_somebody_does() -> None:
    model, policies = Model(), [UNKNOWN, MASKED]
    under = ModelUnderPolicy(model, lambda: policies.pop(0))
    assert under.ask(REQUEST, "k") == ModelFailure("auth")
    assert model.seen == []
    ask(under, "ask Zeus")
    assert model.seen[0].quoted[0].text == "ask PVL_PERSON_1"


def test_the_policy_is_read_with_the_first_question_and_holds_for_all_of_a_request() -> None:
    model, reads = Model(), list[int]()

    def policy() -> Policy:
        reads.append(1)
        return MASKED

    under = ModelUnderPolicy(model, policy)
    assert reads == []
    ask(under, "ask Zeus")
    ask(under, "zeus?")
    assert len(reads) == 1
    assert [request.quoted[0].text for request in model.seen] == ["ask PVL_PERSON_1", "PVL_PERSON_1_2?"]
