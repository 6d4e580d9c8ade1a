"""All scenarios of a folder judged, and what is said about them."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from provenloop.entry.local.stack import LocalStack
from tests.parity.runner.api import BOOTSTRAP
from tests.parity.runner.differences import COMMITTED, Differences, read_differences
from tests.parity.runner.judge import Judgement, Kind, judge
from tests.parity.runner.scenarios import read_folder
from tests.parity.runner.served import Served, short
from tests.parity.runner.timeline import T0_MS

ROOT = Path(__file__).parents[3]
KINDS: tuple[Kind, ...] = ("agree", "better", "differ on purpose", "waiting", "mismatch")
#: Nobody reads logs or metrics of a judgement.
_QUIET = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true"}


def new_stack() -> LocalStack:
    """The whole system in this process, not started."""
    folder = mkdtemp(prefix="parity-")
    atexit.register(rmtree, folder, ignore_errors=True)
    policy = Path(folder) / "policy.json"
    return LocalStack(ROOT, dev_token=BOOTSTRAP, now_ms=T0_MS, policy_file=policy, variables=_QUIET, seed="parity")


def judge_folder(stack: LocalStack, folder: Path, differences: Differences | None = None) -> Iterator[Judgement]:
    """The judgement on every scenario of a folder.

    Args:
        stack: started.
        differences: by default the committed ones.

    Raises:
        FolderError: the folder cannot be read.
    """
    scenarios = read_folder(folder)
    known = read_differences(COMMITTED) if differences is None else differences
    served = what_is_served(stack)
    for scenario in scenarios:
        yield judge(stack, scenario, served, known)


def what_is_served(stack: LocalStack) -> Served:
    """Routes, events and analyzers of a started stack; empties it."""
    stack.reset()
    bearer = {"authorization": f"Bearer {BOOTSTRAP}"}
    stack.request("PUT", "/v1/memories/roster", bearer)
    roster = stack.request("GET", "/v1/memories/roster/loop/analyzers", bearer).json()
    document = stack.request("GET", "/openapi.json").json()
    return Served(document, frozenset(short(row["id"]) for row in roster["analyzers"]))


def lines(judgement: Judgement) -> Iterator[str]:
    """A line for each thing in which a scenario differs without leave, and one for what is waited for."""
    if judgement.kind == "mismatch":
        for found in judgement.found:
            place = "" if found.step < 0 else f" step {found.step}"
            yield f"{judgement.name}{place}: got {found.got}, expected {found.wanted}"
    elif judgement.note:
        yield f"{judgement.name}: {judgement.kind}: {judgement.note}"


def summary(judgements: Iterable[Judgement]) -> str:
    """How many there are of each kind."""
    counts = Counter(judgement.kind for judgement in judgements)
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
