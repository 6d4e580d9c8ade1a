"""The sixty-second proof: the main job of the product from end to end, through HTTP and nothing else.

A tool that fails five times in seven, and a subject that lives in two places at once. One pass finds both, the second
is decided, applied and undone, and the audit trail proves it. The same code runs against every stack that answers HTTP.
"""

from __future__ import annotations

from typing import Any, Protocol

TOOL = "stripe_refund"
SUBJECT = "sam"
RELATION = "lives_in"
PLACES = ("Berlin", "Lisbon")
TOOL_FAILURE = "loop.tool_failure/1"
CONTRADICTION = "loop.contradiction_sweep/1"

ERROR = "HTTP 429 rate_limited: too many refund requests, retry later"


class Response(Protocol):
    """What is used of an answer."""

    @property
    def status_code(self) -> int:
        """HTTP status."""

    @property
    def text(self) -> str:
        """The body."""

    def json(self) -> Any:
        """The body, read as JSON."""


class Client(Protocol):
    """What is used of a client; it knows the address of the API and carries the token. ``httpx.Client`` is one."""

    def request(self, method: str, url: str, *, json: Any = None) -> Response:
        """Send one request."""


def sixty_second_proof(client: Client, memory: str = "demo") -> None:
    """Run the proof in a memory of its own.

    Raises:
        AssertionError: an answer is not what it must be.
    """
    path = f"/v1/memories/{memory}"
    _call(client, "PUT", path, {}, status=201)
    _call(client, "PUT", path, {}, status=200)
    _record(client, path)
    _find(client, path)
    _refuse(client, path)
    _decide_and_undo(client, path)
    verified = _call(client, "GET", f"{path}/audit/verify")
    assert verified["ok"] is True
    assert verified["break"] is None


def _record(client: Client, path: str) -> None:
    """All events are stored; sent again, none is stored twice."""
    events = _events()
    first = _call(client, "POST", f"{path}/events", {"events": events})
    assert [answer["status"] for answer in first["events"]] == ["stored"] * len(events)
    again = _call(client, "POST", f"{path}/events", {"events": events[:7]})
    assert [answer["status"] for answer in again["events"]] == ["duplicate"] * 7
    assert [answer["address"] for answer in again["events"]] == [answer["address"] for answer in first["events"][:7]]


def _find(client: Client, path: str) -> None:
    """One pass finds the failing tool and the contradiction; a second pass finds nothing new."""
    first = _call(client, "POST", f"{path}/loop/run", {})
    assert first["outcome"] == "ran", first
    # Models are asked where nobody waits for the answer.
    built_in = [skip for skip in first["analyzers_skipped"] if skip["id"] != "loop.llm/1"]
    assert {skip["reason"] for skip in built_in} == {"disabled"}, first
    assert first["stored"] >= 2, first
    assert {row["analyzer"] for row in _pending(client, path)} == {TOOL_FAILURE, CONTRADICTION}
    second = _call(client, "POST", f"{path}/loop/run", {})
    assert second["stored"] == 0, second
    gated = _call(client, "POST", f"{path}/loop/run", {"min_new": 1})
    assert (gated["outcome"], gated["skip_reason"]) == ("skipped", "gate")


def _refuse(client: Client, path: str) -> None:
    """What is pending cannot be applied, no decision goes without a reason, and the refused item stays decidable."""
    url = f"{path}/loop/recommendations/{_contradiction(client, path)['id']}"
    assert _call(client, "POST", f"{url}/apply", {"because": "skipping review"}, status=409)["code"].startswith("PVL-")
    assert _call(client, "POST", f"{url}/approve", {}, status=400)["field"] == "because"
    assert _call(client, "GET", url)["status"] == "pending"


def _decide_and_undo(client: Client, path: str) -> None:
    """Approve and apply leave one place; rolling back brings back both, exactly."""
    before = _facts(client, path)
    url = f"{path}/loop/recommendations/{_contradiction(client, path)['id']}"
    _call(client, "POST", f"{url}/approve", {"because": "the newer statement is right"})
    assert _call(client, "GET", url)["status"] == "approved"
    assert _facts(client, path) == before
    _call(client, "POST", f"{url}/apply", {"because": "one home is enough"})
    assert _call(client, "GET", url)["status"] == "applied"
    assert len(_current(_facts(client, path))) == 1
    _call(client, "POST", f"{url}/rollback", {"because": "both are true after all"})
    assert _call(client, "GET", url)["status"] == "rolled_back"
    assert _current(_facts(client, path)) == _current(before)
    assert len(_current(before)) == len(PLACES)


def _events() -> list[dict[str, Any]]:
    calls = [{"kind": "tool_call", "tool": TOOL, "call_id": f"c{n}", "is_error": n < 5} for n in range(7)]
    for call in calls:
        call["result"] = ERROR if call["is_error"] else "refunded"
    return [*calls, *({"kind": "fact", "subject": SUBJECT, "relation": RELATION, "object": place} for place in PLACES)]


def _pending(client: Client, path: str) -> list[dict[str, Any]]:
    listed = _call(client, "GET", f"{path}/loop/recommendations?status=pending")
    return list(listed["recommendations"])


def _contradiction(client: Client, path: str) -> dict[str, Any]:
    (found,) = [row for row in _pending(client, path) if row["analyzer"] == CONTRADICTION]
    return found


def _facts(client: Client, path: str) -> list[dict[str, Any]]:
    entity = _call(client, "GET", f"{path}/entities/shared/{SUBJECT}")
    return list(entity["facts"])


def _current(facts: list[dict[str, Any]]) -> dict[str, str]:
    """Objects of the current facts by address."""
    return {fact["address"]: fact["object"] for fact in facts if fact["state"] == "current"}


def _call(client: Client, method: str, url: str, body: Any = None, *, status: int = 200) -> dict[str, Any]:
    """One request whose answer must have this status."""
    response = client.request(method, url, json=body)
    assert response.status_code == status, f"{method} {url}: {response.status_code} {response.text}"
    answer: dict[str, Any] = response.json()
    return answer
