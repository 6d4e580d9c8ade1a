"""Whatever is sent to ingest, it is refused with a field or it is a batch: never a fault of ours."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.functions.requests import ADDRESS, CALL, EVENT, FACT, GOAL, NOTE, NOW, SKILL, call, ingest

pytestmark = pytest.mark.usefixtures("untouched")

NAMES = st.sampled_from([
    "kind", "namespace", "subject", "relation", "object", "confidence", "valid_from", "valid_to", "occurred_at",
    "source", "tags", "tool", "is_error", "result", "input", "call_id", "session", "signature", "text", "target",
    "with", "if_head", "allow_fork", "name", "revision", "proficiency", "practice_count", "state", "progress",
    "description", "body", "event_id", "by", "__proto__", "",
])  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["fact", "tool_call", "observation", "supersede", "2027-01-15T08:00:00Z", ADDRESS, NOW, 0.5]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=6),
    max_leaves=20,
)
ALMOST = st.builds(
    lambda event, changes, dropped: {
        name: value for name, value in {**event, **changes}.items() if name not in dropped
    },
    st.sampled_from([FACT, CALL, NOTE, SKILL, GOAL, EVENT, {"kind": "supersede", "target": ADDRESS, "with": FACT}]),
    st.dictionaries(NAMES, JSON, max_size=2),
    st.sets(NAMES, max_size=1),
)
BATCHES = st.fixed_dictionaries({"events": st.lists(ALMOST | JSON, max_size=4)})
# The wiring holds no state, so examples may share it.
FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(value=BATCHES | JSON)
def test_whatever_is_sent_is_refused_with_a_field_or_let_through(value: object) -> None:
    status, problem, _ = call(ingest(json.dumps(value)))
    assert status in (400, 404, 413)
    assert problem["field"]


@FUZZ
@given(text=st.text(max_size=200) | st.text(alphabet='{}[]":,\\ue0-9.NaIfnty', max_size=60))
def test_whatever_text_is_sent_it_is_refused_with_a_field(text: str) -> None:
    status, problem, _ = call(ingest(text))
    assert status == 400
    assert problem["field"]
