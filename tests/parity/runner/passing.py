"""Passes of a scenario, with the policy and the programs that each of them brings."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from provenloop.domain.checkpoint import GRACE_MS, HORIZONS_MS
from tests.parity.runner.api import Answer, Asker
from tests.parity.runner.drive import Drive, Said
from tests.parity.runner.scenarios import FolderError, Step
from tests.parity.runner.served import EXTERNAL, NotServedError, short

_OPTIONS = ("min_new", "min_new_errors", "if_stale", "full_sweep")
_POLICIES = ("policy", "policy_text", "policy_path")
_COMMANDS = ("llm_cmd", "analyzer_cmd")
_COUNTS = ("outcome", "skip_reason", "new_grains", "new_error_events", "proposed", "deduped", "stored", "auto_applied")


def run(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``run`` step."""
    for name in step:
        if name not in (*_OPTIONS, *_POLICIES, *_COMMANDS, "op", "at"):
            raise NotServedError(f"{name} of a pass")
    with _commanded(drive, step):
        return _governed(drive, _when(drive, number), step)


@contextmanager
def _commanded(drive: Drive, step: Step) -> Iterator[None]:
    """Let the programs of a step be there as long as its pass."""
    llm, analyzer = (_command(drive, step.get(name, "")) for name in _COMMANDS)
    if not (llm or analyzer):
        yield
        return
    drive.api.use_commands(llm, [analyzer] if analyzer else [])
    try:
        yield
    finally:
        drive.api.use_commands("", [])


def _command(drive: Drive, line: str) -> str:
    helpers = drive.scenario.helpers
    if "{helpers}" in line and not helpers.is_dir():
        raise FolderError(f"{helpers} is missing")
    return line.replace("{python}", shlex.quote(sys.executable)).replace("{helpers}", shlex.quote(str(helpers)))


def _governed(drive: Drive, at: int, step: Step) -> Said:
    """One pass under the policy of its step."""
    fault = drive.api.govern(_policy(drive, step), at, drive.who)
    if fault is not None:
        # The original refuses the pass; here it would run under the closed policy, and health would say why.
        return {"error": fault}
    body = {name: step[name] for name in _OPTIONS if name in step}
    answer = drive.api.send("POST", "/loop/run", at, drive.who, body)
    said = {"error": answer.refused} if answer.refused else {**_told(answer), **_later(drive, at, step, answer)}
    drive.api.govern(drive.policy, at, drive.who)
    return said


def _told(answer: Answer) -> Said:
    skipped = {short(skip["id"]): skip["reason"] for skip in answer.body["analyzers_skipped"]}
    ran = sorted(short(id_) for id_ in answer.body["analyzers_run"] if id_.startswith(EXTERNAL))
    return {**{name: answer.body[name] for name in _COUNTS}, "analyzers_skipped": skipped, "external_run": ran}


def _later(drive: Drive, at: int, step: Step, answer: Answer) -> Said:
    """What else the pass of a step with a model came to. Nobody waits for models over HTTP: the schedule has them asked
    in a pass of its own, for whoever asked first, and what is new in the queue then is what they found.
    """
    if not step.get("llm_cmd") or answer.body["outcome"] != "ran":
        return {}
    before = {row["id"] for row in drive.api.queue(at, Asker())}
    drive.api.tick(at)
    found = [row for row in drive.api.queue(at, Asker()) if row["id"] not in before]
    more = {"proposed": len(found), "stored": len(found)}
    more["auto_applied"] = sum(row["status"] == "applied" for row in found)
    # Only the ledger tells that a model was asked of which nothing came.
    calls = drive.api.send("GET", "/ledger", at, Asker(), query={"from": str(at), "to": str(at + 1)}).body["rows"]
    return {"asks_model": bool(calls), **{name: answer.body[name] + count for name, count in more.items()}}


def _policy(drive: Drive, step: Step) -> str | None:
    """The policy of one pass; of a path that leads nowhere, none."""
    if "policy_path" in step:
        return None
    if "policy" in step:
        return json.dumps(_with_our_names(step["policy"]))
    return str(step.get("policy_text", drive.policy))


def _with_our_names(policy: Any) -> Any:
    """A policy that names external analyzers as they are known here."""
    if isinstance(policy, dict):
        return {name: _named(value) if name == "analyzer" else _with_our_names(value) for name, value in policy.items()}
    return [_with_our_names(value) for value in policy] if isinstance(policy, list) else policy


def _named(analyzer: Any) -> Any:
    name = short(analyzer) if isinstance(analyzer, str) else ""
    return name if name.startswith(EXTERNAL) else analyzer


def _when(drive: Drive, number: int) -> int:
    """The time of a pass. One at a horizon of an apply runs an hour and a second later: measuring waits for late ones,
    and an apply takes its time.
    """
    at = drive.times[number][0]
    applies = (n for n in range(number) if drive.scenario.steps[n]["op"] == "apply")
    is_horizon = any(at - drive.times[n][0] in HORIZONS_MS for n in applies)
    return at + GRACE_MS + 1_000 if is_horizon else at
