"""Steps that look: the queue, live grains, recalls, outcomes, health, the roster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from provenloop.domain.instants import parse_instant
from provenloop.domain.text import normalise, normalise_relation
from tests.parity.runner.acting import see
from tests.parity.runner.api import Answer, Asker, segment
from tests.parity.runner.cards import Card, is_from_outside, our_advice, our_card
from tests.parity.runner.drive import Drive, Labelled, Said
from tests.parity.runner.scenarios import Step
from tests.parity.runner.served import NotServedError
from tests.parity.runner.timeline import T0_MS

_BUDGET = re.compile(r"^ASSEMBLE .*?(?: BUDGET (?P<budget>[0-9]+))?$")
_SUBJECT = re.compile(r'subject = "(?P<subject>[^"]*)"')
_GRANT = re.compile(r'^GRANT (?P<verb>[a-z.]+) ON \S+ TO "(?P<principal>[^"]*)"')
_READ = re.compile(r"^RECALL ")
_SCOPES = {"read": "read", "write": "write", "loop.review": "review", "loop.apply": "apply", "admin": "admin"}
_DAY_MS = 86_400_000


def list_cards(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``list`` step: of every status, unless it names one."""
    at = drive.times[number][0]
    if "raw_filter" in step or "status" in step:
        asked = step.get("raw_filter", step.get("status"))
        query = {} if asked is None else {"status": asked}
        answer = drive.api.send("GET", "/loop/recommendations", at, drive.who, query=query)
        if answer.refused:
            return {"error": answer.refused}
        rows = answer.body["recommendations"]
    else:
        refusal = drive.api.refusal(drive.who)
        if refusal:
            return {"error": refusal}
        rows = drive.api.queue(at, drive.who)
    see(drive, rows)
    return {"cards": [_whole(drive, at, row) for row in rows]}


def _whole(drive: Drive, at: int, row: dict[str, Any]) -> Card:
    """The card of a row, with what only the whole recommendation tells of a finding from outside."""
    card = our_card(row, drive.labels, drive.namespaces)
    if not is_from_outside(row):
        return card
    shown = drive.api.send("GET", f"/loop/recommendations/{row['id']}", at, Asker()).body
    return replace(card, advice=our_advice(shown, drive.labels))


def live(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``live`` step: the live facts of a subject, or the live ones of the labelled observations."""
    at = drive.times[number][0]
    if "type" in step:
        labels = (label for label, grain in drive.grains.items() if grain.kind == step["type"])
        return {"live": sorted(label for label in labels if _grain(drive, at, label).get("live"))}
    facts = [fact for fact in _facts(drive, at, step) if fact["live"]]
    return {"live": [_shown(drive, fact) for fact in facts]}


def adopt(drive: Drive, number: int, step: Step) -> Said | None:
    """An ``adopt`` step: a grain that the loop made gets a label."""
    facts = [fact for fact in _facts(drive, drive.times[number][0], step) if fact["live"]]
    if not facts:
        return {"adopted": None}
    drive.grains[step["id"]] = Labelled(facts[-1]["address"], "fact", facts[-1]["namespace"])
    return {"adopted": step["id"]}


def recall(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``recall``, ``search`` or ``latest`` step."""
    names = {"subject": "subject", "relation": "relation", "query": "question"}
    query = {ours: step[theirs] for theirs, ours in names.items() if step.get(theirs) is not None}
    return _recalled(drive, number, drive.namespace(step), query)


def cal(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``cal`` step, as far as its statement has a counterpart: an assembly, a grant, a read."""
    text = step["query"]
    grant, assembly = _GRANT.match(text), _BUDGET.match(text)
    if grant:
        # Scopes reach over a whole memory here.
        drive.grants.setdefault(grant["principal"], set()).add(_SCOPES[grant["verb"]])
        return None
    if assembly and assembly["budget"]:
        return _assembled(drive, number, int(assembly["budget"]))
    subject = _SUBJECT.search(text)
    if subject and (assembly or _READ.match(text)):
        return _recalled(drive, number, drive.namespace(step), {"subject": subject["subject"]})
    raise NotServedError(f"cal {text.partition(' ')[0]}")


def outcomes(drive: Drive, number: int, step: Step) -> Said | None:
    """An ``outcomes`` step: every verdict of every checkpoint."""
    del step
    at = drive.times[number][0]
    rows = drive.api.queue(at, drive.who)
    see(drive, rows)
    return {"outcomes": sorted(verdict for row in rows for verdict in _verdicts(drive, at, row["id"]))}


def health(drive: Drive, number: int, step: Step) -> Said | None:
    """A ``health`` step."""
    del step
    body = drive.api.send("GET", "/loop/health", drive.times[number][0], drive.who).body
    said = {
        "grains_since_run": body["new_grains"],
        "error_events_since_run": body["new_error_events"],
        "stale": body["stale"],
    }
    if body["last_run_at"] is not None:
        said["last_run"] = parse_instant(body["last_run_at"]) - T0_MS
    return {"health": said}


def analyzers(drive: Drive, number: int, step: Step) -> Said | None:
    """An ``analyzers`` step."""
    del step
    body = drive.api.send("GET", "/loop/analyzers", drive.times[number][0], drive.who).body
    return {"analyzers": [(row["id"], row["default_on"], row["tier"], row["trust"]) for row in body["analyzers"]]}


def _facts(drive: Drive, at: int, step: Step) -> list[dict[str, Any]]:
    namespace = drive.namespace(step)
    path = f"/entities/{segment(namespace)}/{segment(step['subject'])}"
    answer = drive.api.send("GET", path, at, drive.who)
    found: list[dict[str, Any]] = [] if answer.status == 404 else answer.body["facts"]
    wanted = step.get("relation")
    return [f for f in found if wanted is None or normalise_relation(f["relation"]) == normalise_relation(wanted)]


def _shown(drive: Drive, fact: dict[str, Any]) -> dict[str, Any]:
    names = ("relation", "object", "confidence", "valid_to", "source", "tags")
    label = drive.labels.get(fact["address"], "<new>")
    return {"grain": label, "subject": normalise(fact["subject"]), **{n: fact[n] for n in names if fact.get(n)}}


def _grain(drive: Drive, at: int, label: str) -> dict[str, Any]:
    answer: dict[str, Any] = drive.api.send("GET", f"/grains/{drive.grains[label].address}", at, drive.who).body
    return answer


def _recalled(drive: Drive, number: int, namespace: str, query: dict[str, str]) -> Said:
    found = 0
    for at in drive.times[number]:
        answer = drive.api.send("GET", "/recall", at, drive.who, query={"namespace": namespace, **query})
        if answer.status == 404:
            # Nothing was ever written there, which is no answer here; an agent's own retriever reports its empty one.
            report = {"kind": "recall_report", "namespace": namespace, "returned": [], **query}
            drive.served.need_event(report)
            drive.api.send("POST", "/events", at, drive.who, {"events": [report]})
        elif answer.refused:
            return {"error": answer.refused}
        found = _found(answer)
    return {"results": found}


def _found(answer: Answer) -> int:
    lists = [value for value in answer.body.values() if isinstance(value, list)] if answer.status == 200 else []
    return max((len(value) for value in lists), default=0)


def _assembled(drive: Drive, number: int, budget: int) -> Said | None:
    used = min(budget, drive.facts)
    report = {"kind": "assembly_report", "namespace": drive.ns, "budget": budget, "used": used}
    report.update(dropped=drive.facts - used, unit="grains")
    drive.served.need_event(report)
    for at in drive.times[number]:
        answer = drive.api.send("POST", "/events", at, drive.who, {"events": [report]})
        if answer.refused:
            return {"error": answer.refused}
    return None


def _verdicts(drive: Drive, at: int, rec: str) -> Iterator[tuple[str, int, str]]:
    shown = drive.api.send("GET", f"/loop/recommendations/{rec}", at, drive.who).body
    for checkpoint in shown["checkpoints"]:
        if checkpoint["verdict"] is not None:
            yield (shown["metric"]["name"], checkpoint["horizon_ms"] // _DAY_MS, checkpoint["verdict"])
