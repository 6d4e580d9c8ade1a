"""The whole system with a model on this machine, and short ways to teach it recipes and ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import boto3

from provenloop.domain.names import MemoryId
from provenloop.domain.recipe import Recipe, RecipeScope
from provenloop.entry.local.gateway import HttpResponse
from provenloop.entry.local.stack import LocalStack
from provenloop.entry.wiring import wiring
from provenloop.recipes.distillation import SCHEMA_VERSION
from provenloop.services.keep_recipe import Learnt, keep_recipe
from tests.builders import make_call, make_principal
from tests.functions.api import Api, url
from tests.functions.requests import ADMIN, MEMORY, NOW, ROOT, operation
from tests.model_server import ModelServer, model_server

SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:model-key"
KEY = "sk-ant-first"
SCOPE = {"agent": "support"}
REQUEST = "How do I reset my password?"
RESPONSE = "Open settings, then choose Reset."
NEAR = "how can I reset my password"
LOOK_ALIKE = "How do I reset my pin?"
USE: dict[str, Any] = {
    "decision": "use",
    "recipe_id": "c1",
    "confidence": 0.9,
    "reasoning": "the same",
    "adaptations": [{"name": "noun", "value": "pin"}],
}
ENVELOPE: dict[str, Any] = {"problem": REQUEST, "final_message": "Done.", "signals": ["thumbs_up"], "session": "s-1"}


def taught(response: str = RESPONSE, **more: Any) -> dict[str, Any]:
    """What a model makes of a run."""
    return {
        "schema_version": SCHEMA_VERSION,
        "category": "accounts",
        "problem": "a reset",
        "positive_response": response,
        "principles": ["be brief"],
        "confidence": 0.9,
        "safety_concern": False,
        **more,
    }


@contextmanager
def recipe_stack() -> Iterator[tuple[LocalStack, ModelServer]]:
    """The stack, and the provider that it asks."""
    with model_server() as server:
        parameters = {"ModelUrl": server.url, "ModelKeySecretArn": SECRET}
        with LocalStack(ROOT, parameters=parameters, dev_token=ADMIN, now_ms=NOW) as stack:
            yield stack, server


@dataclass(frozen=True)
class RecipeDesk:
    """One memory, and a model that is asked for it."""

    api: Api
    server: ModelServer

    @classmethod
    def opened(cls, stack: LocalStack, server: ModelServer) -> RecipeDesk:
        """Everything empty but for one memory and the model's key."""
        stack.reset()
        stack.set_clock(NOW)
        server.seen.clear()
        server.keys = {KEY}
        boto3.client("secretsmanager", region_name="us-east-1").create_secret(Name="model-key", SecretString=KEY)
        api = Api(stack)
        api.done("create_memory")
        return cls(api, server)

    def learn(self, request: str = REQUEST, response: str = RESPONSE, **more: Any) -> Recipe:
        """Keep a recipe, as distilling does."""
        memory = MemoryId(more.pop("tenant", "default"), more.pop("memory", "support"))
        principal = replace(make_principal("ann"), tenant=memory.tenant)
        call = make_call(principal, memory=memory, now=more.pop("now", NOW))
        scope = RecipeScope(**more.pop("scope", SCOPE))
        learnt = Learnt(more.pop("kind", "answer"), scope, request, response, **more)
        return keep_recipe(wiring().shelf, call, learnt)[1]

    def match(self, request: str = REQUEST, *, token: str = ADMIN, memory: str = "support", **more: Any) -> Any:
        """What a match answers."""
        body = {"request": request, "scope": SCOPE, **more}
        return self.api.done("match_recipe", {"memory": memory}, body, token=token)

    def commit(self, hit_token: str, **how: Any) -> Any:
        """Say that a hit was delivered."""
        return self.api.done("commit_recipe", body={"hit_token": hit_token}, **how)

    def judge(self, hit_token: str, verdict: str = "regressed", because: str = "It did not help.") -> Any:
        """Say what became of a hit."""
        return self.api.done("give_feedback", body={"hit_token": hit_token, "verdict": verdict, "because": because})

    def configure(self, **recipes: Any) -> Any:
        """Set recipes up."""
        return self.api.done("configure", body={"recipes": recipes})

    def own_key(self, name: str, body: Mapping[str, Any], key: str) -> HttpResponse:
        """A request that brings a key of its own."""
        headers = {"authorization": f"Bearer {ADMIN}", "x-model-key": key}
        return self.api.stack.request("POST", url(operation(name), MEMORY), headers, body)

    def rows(self) -> list[dict[str, Any]]:
        """The ledger."""
        found: list[dict[str, Any]] = self.api.done("list_ledger", query={"to": str(NOW + 10**9)})["rows"]
        return found

    def components(self) -> list[str]:
        """What the ledger's rows count."""
        return sorted(row["component"] for row in self.rows())
