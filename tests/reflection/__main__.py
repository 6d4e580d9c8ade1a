"""``python -m tests.reflection``: the figures of the committed corpus, with judges that are played.

``--write`` puts them into ``figures.json``, from which ``shared/REFLECTION.md`` is checked. ``--model NAME`` asks a
real model instead, with the key in ANTHROPIC_API_KEY, and another one for GROUND with ``--ground NAME``: that costs
money, and its figures are only printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from provenloop.adapters.anthropic_model import AnthropicModel
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels
from tests.model_server import model_server
from tests.reflection import figures, real
from tests.reflection.run import Key

KEY = "ANTHROPIC_API_KEY"


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
    key, provider = Key(os.environ.get(KEY, "")), AnthropicModel()
    if not key.text:
        sys.stderr.write(f"no key in {KEY}\n")
        return 2
    outcomes = []
    for outcome in real.reflect_on(
        ReflectionModels(ReflectionModel(provider, key, model), ReflectionModel(provider, key, ground))
    ):
        sys.stdout.writelines(f"{line}\n" for line in real.told(outcome))
        outcomes.append(outcome)
    sys.stdout.write(f"\n{real.summed(outcomes)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
