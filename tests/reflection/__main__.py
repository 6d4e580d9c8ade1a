"""``python -m tests.reflection``: the figures of the committed corpus, with judges that are played.

``--write`` puts them into ``figures.json``, from which ``shared/REFLECTION.md`` is checked. ``--model NAME`` asks a
real model instead, named as the template's parameter ``Model`` names one, and another one for GROUND with ``--ground
NAME``. Its key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY, the address of a gateway from PROVENLOOP_GATEWAY_URL.
That costs money, and its figures are only printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from provenloop.adapters.anthropic_model import DEFAULT_URL
from provenloop.adapters.model_key import NoKeyNeeded
from provenloop.domain.errors import InvalidInputError, LoopError
from provenloop.domain.model_spec import read_spec
from provenloop.domain.policy import HostPolicy
from provenloop.entry.model_wiring import ModelWiring
from provenloop.entry.settings import MODEL_URL, Settings, read_settings
from provenloop.services.model_port import ModelKey
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.model_server import model_server
from tests.reflection import figures, real
from tests.reflection.run import Key

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


class Providers(ModelWiring):
    """Where models are asked, as the functions ask them."""

    def __init__(self) -> None:
        self.settings = Settings({MODEL_URL: DEFAULT_URL, **read_settings().values})

    @property
    def policy(self) -> HostPolicy:
        """None, as the corpus is of nobody's."""
        return HostPolicy()

    def named(self, text: str, field: str) -> ReflectionModel:
        """The model of a name; raises LoopError where there is none, no address or no key of it."""
        spec = read_spec(text, field=field)
        return ReflectionModel(self.provider_of(spec), _key(KEYS.get(spec.provider)), spec.model)


def _key(variable: str | None) -> ModelKey:
    if variable is None:
        return NoKeyNeeded()
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InvalidInputError(f"there is no key in {variable}", field=variable)
    return Key(key)


def main(arguments: list[str]) -> int:
    """Print the figures; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.reflection")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--model", default="")
    parser.add_argument("--ground", default="")
    given = parser.parse_args(arguments)
    if given.model:
        return _of_model(given.model, given.ground or given.model)
    begun = time.perf_counter()
    with model_server() as server:
        found = figures.measured(server)
    sys.stdout.write(f"{figures.tables(found)}\n{time.perf_counter() - begun:.0f} s\n")
    if given.write:
        figures.FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _of_model(model: str, ground: str) -> int:
    providers = Providers()
    try:
        models = ReflectionModels(providers.named(model, "model"), providers.named(ground, "ground"))
    except LoopError as error:
        sys.stderr.write(f"{error.message}\n")
        return 2
    outcomes = []
    for outcome in real.reflect_on(models):
        sys.stdout.writelines(f"{line}\n" for line in real.told(outcome))
        outcomes.append(outcome)
    sys.stdout.write(f"\n{real.summed(outcomes)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
