"""Who takes part: two agents, a reviewer, an operator, the host that holds the policy, and a listener at the bus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.instants import parse_instant
from provenloop.entry.local.demo.api import DAY_MS, SECOND_MS, Api, Usage
from provenloop.entry.local.demo.forty_days.diary import Diary
from provenloop.entry.local.stack import LocalStack

MEMORY = "helpdesk"
TENANT = "default"
#: 2027-03-01T08:00:00Z, a Monday; after the other parts of the demo.
BEGINS_AT = 1_803_888_000_000
_BEFORE_WORK_MS = 7_200_000
_LISTENER = "forty-days"
#: Who may do what: an agent decides nothing, and the reviewer is no admin.
_SCOPES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "triage": ("agent", ("read", "write")),
    "billing": ("agent", ("read", "write")),
    "reviewer": ("human", ("read", "review", "apply")),
}


@dataclass(frozen=True)
class Actor:
    """One caller with a token of its own, whose doings are written down."""

    name: str
    api: Api
    diary: Diary

    def sends(
        self, what: str, events: list[dict[str, Any]], expected: str, key: str | None = None, *, is_shown: bool = True
    ) -> None:
        """Record events, under an Idempotency-Key where there is one."""
        answers = self.api.record(events, key)
        became = Counter(answer["status"] for answer in answers)
        seen = ", ".join(f"{count} {status}" for status, count in sorted(became.items()))
        self.diary.tell(self.name, what, seen, expected, status=200, is_shown=is_shown)

    def runs(self, expected: str, what: str = "") -> None:
        """Ask for a pass, shown where ``what`` says how; ``expected`` tells every figure of it that is not zero."""
        run = self.api.run()
        seen = ", ".join(f"{run[name]} {name.replace('_', ' ')}" for name in _FIGURES if run[name])
        shown = what or "asks for a pass"
        self.diary.tell(self.name, shown, seen or "nothing", expected, status=200, is_shown=bool(what))

    def asks_in_vain(self, expected: str) -> None:
        """Ask for a pass if there is anything new."""
        run = self.api.run(min_new=1)
        seen = f"{run['outcome']}, {run['usage']['reads']:g} read, {run['usage']['writes']:g} writes"
        self.diary.tell(self.name, "asks for a pass if any news", seen, expected, status=200)

    def reads(self, what: str, path: str, field: str, expected: str) -> None:
        """Read live facts a second later; ``field`` of each is told."""
        self.api.later(SECOND_MS)
        found = self.api.get(path)["facts" if path.startswith("/entities") else "results"]
        seen = ", ".join(fact[field] for fact in found if fact["live"])
        self.diary.tell(self.name, what, seen or "nothing", expected, status=200)

    def decides(self, step: str, rec: str, because: str, expected: str, **more: Any) -> dict[str, Any]:
        """Take a step on a recommendation, with the reason."""
        answer: dict[str, Any] = self.api.post(_path(rec, step), {"because": because, **more})
        told = str(answer["status"])
        for name in ("cooldown_until", "snoozed_until"):
            if name in answer:
                told += f" until day {day_of(parse_instant(answer[name]))}"
        self.diary.tell(self.name, f'{_SAID[step]}: "{because}"', told, expected, about=rec, status=200)
        return answer

    def is_refused(self, what: str, step: str, rec: str, expected: str, **more: Any) -> None:
        """Try a step on a recommendation, which is refused."""
        status = int(expected.split(maxsplit=1)[0])
        refusal = self.api.post(_path(rec, step), {"because": "let me", **more}, status=status)
        self.diary.tell(self.name, what, f"{status} {refusal['code']}", expected, about=rec, status=status)

    def is_denied(self, what: str, ask: Callable[[int], dict[str, Any]], expected: str) -> None:
        """Ask for something else that is refused; ``ask`` is given the status to expect."""
        status = int(expected.split(maxsplit=1)[0])
        self.diary.tell(self.name, what, f"{status} {ask(status)['code']}", expected, status=status)


_FIGURES = ("measured", "stored", "refreshed", "suppressed", "auto_applied", "expired")
_SAID = {
    "approve": "approves",
    "apply": "applies",
    "approve-and-apply": "approves and applies",
    "reject": "rejects",
    "snooze": "puts off",
    "acknowledge": "acknowledges",
    "rollback": "rolls back",
}


def day_of(now: int) -> int:
    """The day of the story on which an instant (epoch ms) is."""
    return (now - BEGINS_AT) // DAY_MS


def _path(rec: str, step: str = "") -> str:
    return f"/loop/recommendations/{rec}/{step}".rstrip("/")


_FOUND = {
    "loop.tool_failure": "finds: {tool} failed {errors} of {calls} calls",
    "loop.contradiction_sweep": "finds: {values} values of {relation}",
    "loop.skill_stall": "finds: {skill} stalls at {proficiency}",
    "loop.staleness": "finds: a {kind} about {label} has ended",
    "loop.duplicate_sweep": "finds: {count} spellings of {relation}",
    "loop.outcome_review": "finds: it did not hold {horizon_days} d; undo it",
}


@dataclass
class Cast:
    """Everybody, and the days they go through together; ``heard`` is what the bus has told."""

    stack: LocalStack
    diary: Diary
    triage: Actor
    billing: Actor
    reviewer: Actor
    operator: Actor
    heard: list[dict[str, Any]] = field(default_factory=list)

    def on_day(self, day: int) -> None:
        """Let time pass until 8 in the morning of a day, with the anchor that is made before."""
        self.listen()
        self.stack.set_clock(BEGINS_AT + day * DAY_MS - _BEFORE_WORK_MS)
        self.stack.invoke("AnchorFunction", {"id": f"anchor-of-day-{day}"})
        self.stack.set_clock(BEGINS_AT + day * DAY_MS)
        self.diary.day = day

    def findings(self, *analyzers: str, status: str = "pending") -> list[dict[str, Any]]:
        """Those that are in a status, whole: the one of each analyzer; of one named twice, its first and second.

        Raises:
            LookupError: there are fewer.
        """
        rows = self.reviewer.api.get(f"/loop/recommendations?status={status}")["recommendations"]
        found = []
        for analyzer in analyzers:
            row = next((row for row in rows if row["analyzer"].startswith(f"loop.{analyzer}/")), None)
            if row is None:
                raise LookupError(f"no finding of {analyzer} is {status}")
            rows.remove(row)
            found.append(self.shown(row["id"]))
        return found

    def tells_of(self, rec: dict[str, Any], expected: str, result: str) -> dict[str, Any]:
        """Write down a finding, and how grave and how well founded it is."""
        what = said_of(rec)
        self.diary.tell("engine", what, f"{rec['severity']}, cites {len(rec['evidence'])}", result, about=rec["id"])
        self.diary.checks.equal("it is found what the agents have told", what, expected)
        return rec

    def tells_outcome(self, rec: str, days: int, expected: str) -> None:
        """Write down what a checkpoint came to."""
        [row] = [row for row in self.shown(rec)["checkpoints"] if row["horizon_ms"] == days * DAY_MS]
        seen = f"{row['verdict']}, {row['errors']} of {row['calls']}"
        self.diary.tell("engine", f"measures it after {days} d", seen, expected, about=rec)

    def shown(self, rec: str) -> dict[str, Any]:
        """A recommendation, whole."""
        answer: dict[str, Any] = self.reviewer.api.get(_path(rec))
        return answer

    def facts(self, subject: str) -> list[dict[str, Any]]:
        """What is held about a subject, each fact as it is read."""
        held: list[dict[str, Any]] = self.reviewer.api.get(f"/entities/shared/{subject}")["facts"]
        return held

    def listen(self) -> None:
        """Take what the bus has told since the last time; a queue keeps it for four days only."""
        sqs = self.stack.aws.client("sqs")
        url = sqs.get_queue_url(QueueName=_LISTENER)["QueueUrl"]
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for message in messages:
                self.heard.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def said_of(rec: Mapping[str, Any]) -> str:
    """A finding in a few words, by the figures of its summary."""
    return _FOUND[rec["family"]].format(**rec["details"])


def write_policy(stack: LocalStack, policy: Mapping[str, Any]) -> None:
    """Put the host policy where the installation looks for it, as its host does; no request can.

    Raises:
        LookupError: there is no such place.
    """
    if stack.policy_file is None:
        raise LookupError("the stack has no file for the host policy")
    stack.policy_file.write_text(json.dumps(policy), encoding="utf-8")


def gather(stack: LocalStack, diary: Diary, used: Usage) -> Cast:
    """Make the memory, the tokens and the listener.

    Raises:
        LookupError: the stack has no file for the host policy.
    """
    write_policy(stack, {})
    stack.set_clock(BEGINS_AT - _BEFORE_WORK_MS)
    root = Api(stack, MEMORY, stack.dev_token, used)
    operator = Api(stack, MEMORY, root.mint("operator", "human", ["admin"]), used)
    operator.make_memory()
    _listen(stack)
    people = {}
    for name, (kind, scopes) in _SCOPES.items():
        api = Api(stack, MEMORY, operator.mint(name, kind, list(scopes), MEMORY), used)
        people[name] = Actor(name, api, diary)
    me = Actor("operator", operator, diary)
    return Cast(stack, diary, people["triage"], people["billing"], people["reviewer"], me)


def _listen(stack: LocalStack) -> None:
    """A queue that hears every event, as an operator's own rule would have it."""
    events, sqs = stack.aws.client("events"), stack.aws.client("sqs")
    [bus] = [each["Name"] for each in events.list_event_buses()["EventBuses"] if each["Name"] != "default"]
    url = sqs.create_queue(QueueName=_LISTENER)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name=_LISTENER, EventBusName=bus, EventPattern=json.dumps({"source": ["provenloop"]}))
    events.put_targets(Rule=_LISTENER, EventBusName=bus, Targets=[{"Id": _LISTENER, "Arn": arn}])
