"""Asking an external analyzer: what it is sent, which of its findings count, and when nothing of it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.errors import InternalError
from provenloop.domain.grain import Grain
from provenloop.domain.outside import MAX_GUIDANCE_CHARS, MAX_KEY_CHARS, MAX_SUMMARY_CHARS, OutsideFinding
from provenloop.domain.recommendation import MAX_EVIDENCE, Target
from provenloop.domain.registered import EXTERNAL_ID, MAX_GRAINS_A_CALL, NEEDS, RegisteredAnalyzer
from provenloop.external.answers import MAX_DESCRIPTION_CHARS, MAX_FINDINGS, MAX_ID_CHARS, MAX_TITLE_CHARS
from provenloop.external.protocol import MAX_REQUEST_BYTES
from provenloop.services.ask_analyzer import RESERVE_MS, Asked, ask_analyzer
from provenloop.services.external_port import ExternalAnalyzer, ExternalAnalyzers, ExternalFailure
from provenloop.services.name_commands import registered_commands
from tests.builders import NOW, make_grain
from tests.grains import KINDS, make_kind, make_note
from tests.json_schema import faults_of

SCHEMA = json.loads(Path("shared/schemas/loop_analyzer.1.json").read_text("utf-8"))
ID = "ext.finder/1"
SOUND = RegisteredAnalyzer(ID, "https://finder.example", ("fact", "observation"))
BERLIN, NOTE = make_grain(), make_note()
GRAINS = (BERLIN, NOTE)
FINDING = {
    "target": "entity:shared/sam", "summary": "sam moved", "severity": "high", "evidence": [BERLIN.address],
    "guidance": "ask sam", "confidence": 0.9, "key": "moved",
}  # fmt: skip
FOUND = OutsideFinding(
    Target("entity", ("shared", "sam")), "sam moved", (BERLIN.address,), 0.9, "high", "ask sam", "moved"
)
Say = Callable[[Mapping[str, Any]], Any]


class Scripted:
    """An analyzer that answers probes with ``probe`` and questions with ``say``: bytes, a failure, or any JSON."""

    def __init__(self, say: Say | Any, probe: Any) -> None:
        self.say: Say = say if callable(say) else lambda _request: say
        self.probe = probe
        self.seen: list[dict[str, Any]] = []
        self.timeouts: list[int] = []
        self.sizes: list[int] = []

    def ask(self, request: bytes, *, timeout_ms: int, max_bytes: int) -> bytes | ExternalFailure:
        self.seen.append(json.loads(request))
        self.timeouts.append(timeout_ms)
        self.sizes.append(len(request))
        assert max_bytes == SOUND.max_bytes
        answer = self.probe if self.seen[-1]["op"] == "probe" else self.say(self.seen[-1])
        return answer if isinstance(answer, bytes | ExternalFailure) else json.dumps(answer).encode()


def ask(
    say: Say | Any,
    *,
    probe: Any = None,
    grains: Sequence[Grain] = GRAINS,
    registered: RegisteredAnalyzer = SOUND,
    left_ms: int = 60_000,
) -> tuple[Asked, Scripted]:
    scripted = Scripted(say, {} if probe is None else probe)

    def analyzers(asked: RegisteredAnalyzer) -> ExternalAnalyzer:
        assert asked == registered
        return scripted

    return ask_analyzer(registered, analyzers, grains, now=NOW, left_ms=lambda: left_ms), scripted


def only(change: Mapping[str, Any], *without: str) -> Asked:
    finding = {name: value for name, value in {**FINDING, **change}.items() if name not in without}
    return ask({"findings": [finding]})[0]


def test_what_it_finds_is_told_with_its_title() -> None:
    asked, scripted = ask({"findings": [FINDING], "more": 1}, probe={"id": ID, "title": "Finder", "more": []})
    assert asked == Asked((FOUND,), None, {}, "Finder", is_whole=True)
    assert [seen["op"] for seen in scripted.seen] == ["probe", "analyze"]


def test_every_message_follows_the_published_schema_and_so_does_what_is_taken_for_sound() -> None:
    grains = [make_kind(kind, {"name": "x"}, valid_to=NOW, superseded_by="ab" * 32) for kind in KINDS]
    _, scripted = ask(
        {"findings": []}, grains=[*grains, *GRAINS], registered=RegisteredAnalyzer(ID, SOUND.endpoint, KINDS)
    )
    probe, question = scripted.seen
    assert faults_of(probe, "probe_request", SCHEMA) == []
    assert faults_of(question, "analyze_request", SCHEMA) == []
    assert {name for grain in question["grains"] for name in grain} == set(SCHEMA["$defs"]["grain"]["properties"])
    assert set(question) == set(SCHEMA["$defs"]["analyze_request"]["properties"])
    assert faults_of({"findings": [FINDING]}, "analyze_answer", SCHEMA) == []
    assert set(FINDING) == set(SCHEMA["$defs"]["finding"]["properties"])


def test_the_limits_of_the_published_schema_are_those_of_the_code() -> None:
    finding, probe = SCHEMA["$defs"]["finding"]["properties"], SCHEMA["$defs"]["probe_answer"]["properties"]
    limits = {name: finding[name]["maxLength"] for name in ("summary", "guidance", "key")}
    assert limits == {"summary": MAX_SUMMARY_CHARS, "guidance": MAX_GUIDANCE_CHARS, "key": MAX_KEY_CHARS}
    assert finding["evidence"]["maxItems"] == MAX_EVIDENCE
    assert SCHEMA["$defs"]["analyze_answer"]["properties"]["findings"]["maxItems"] == MAX_FINDINGS
    assert SCHEMA["$defs"]["analyze_request"]["properties"]["grains"]["maxItems"] == MAX_GRAINS_A_CALL
    assert [probe[name]["maxLength"] for name in ("id", "title", "description")] == [
        MAX_ID_CHARS, MAX_TITLE_CHARS, MAX_DESCRIPTION_CHARS,
    ]  # fmt: skip


def test_it_is_sent_the_kinds_it_is_registered_for_and_no_others() -> None:
    _, scripted = ask({"findings": []}, grains=[make_kind(kind, {"name": "x"}) for kind in (*KINDS, "question")])
    assert {grain["grain_type"] for grain in scripted.seen[1]["grains"]} == {"fact", "observation"}


def test_with_nothing_of_its_kinds_it_is_not_asked() -> None:
    asked, scripted = ask({"findings": []}, grains=[make_kind("goal", {"name": "x"})])
    assert asked == Asked((), None, {}, ID, is_whole=True)
    assert scripted.seen == []


def test_many_grains_go_in_pages_and_a_later_page_may_cite_an_earlier_one() -> None:
    grains = [make_note(f"note {number}") for number in range(MAX_GRAINS_A_CALL + 1)]

    def say(request: Mapping[str, Any]) -> Any:
        cited = [grains[0].address, grains[-1].address]
        return {"findings": [{"target": "query:x", "summary": f"page {request['page']}", "evidence": cited}]}

    asked, scripted = ask(say, grains=grains)
    assert [(seen["page"], seen["pages"], len(seen["grains"])) for seen in scripted.seen[1:]] == [
        (1, 2, 2_000),
        (2, 2, 1),
    ]
    assert [finding.evidence for finding in asked.findings] == [
        (grains[0].address,), (grains[0].address, grains[-1].address),
    ]  # fmt: skip
    assert asked.is_whole


def test_a_request_has_a_size_and_a_grain_that_is_larger_is_left_out_and_counted() -> None:
    grains = [make_note(f"{number}" + "ä\x01" * 50_000) for number in range(5)]
    asked, scripted = ask({"findings": []}, grains=[*grains, make_note("x" * MAX_REQUEST_BYTES)])
    assert [len(seen["grains"]) for seen in scripted.seen[1:]] == [2, 2, 1]
    assert max(scripted.sizes) <= MAX_REQUEST_BYTES
    assert (asked.dropped, asked.is_whole) == ({"grain_too_large": 1}, False)


@given(st.lists(st.integers(0, MAX_REQUEST_BYTES + 10), min_size=1, max_size=8))
def test_no_request_is_larger_than_its_limit_and_every_grain_that_fits_is_sent_once(sizes: list[int]) -> None:
    grains = [make_note(f"{number} " + "x" * size) for number, size in enumerate(sizes)]
    asked, scripted = ask({"findings": []}, grains=grains)
    sent = [grain["hash"] for seen in scripted.seen[1:] for grain in seen["grains"]]
    assert all(size <= MAX_REQUEST_BYTES for size in scripted.sizes)
    assert len(sent) + asked.dropped.get("grain_too_large", 0) == len(grains)
    assert len(set(sent)) == len(sent)


@pytest.mark.parametrize(
    ("probe", "is_asked"),
    [
        ({}, True),
        ({"id": None}, True),
        ({"id": ID}, True),
        ({"id": "loop.cold_grains/1"}, False),
        ({"id": "loop.finder/1"}, False),
        ({"id": "ext.finder/2"}, False),
        ({"id": "ext.other/1"}, False),
        ({"id": "EXT.finder/1"}, False),
        ({"id": "finder"}, False),
    ],
)
def test_an_analyzer_that_answers_to_another_name_is_not_asked(probe: dict[str, Any], is_asked: bool) -> None:
    asked, scripted = ask({"findings": [FINDING]}, probe=probe)
    assert asked == (Asked((FOUND,), None, {}, ID, is_whole=True) if is_asked else Asked(skipped="wrong id", title=ID))
    assert len(scripted.seen) == (2 if is_asked else 1)


@pytest.mark.parametrize(
    ("told", "id_"),
    [
        ("finder", "ext.finder/1"),
        ("Acme Finder/3", "ext.acme_finder/1"),
        ("ext.finder/2", "ext.finder/2"),
        ("command.finder/1", "ext.command_finder/1"),
        ("2fast", "ext.command_2fast/1"),
        ("???", "ext.command/1"),
        ("x" * 60, f"ext.{'x' * 41}/1"),
        ("loop.finder/1", None),
        (" LOOP.cold_grains", None),
    ],
)
def test_a_command_of_a_local_stack_is_known_by_the_name_it_tells_and_never_by_one_of_ours(
    told: str, id_: str | None
) -> None:
    for registered, is_it in ((id_ or "ext.loop_finder/1", id_ is not None), ("ext.somebody_else/1", False)):
        command = RegisteredAnalyzer(registered, "command:finder", SOUND.needs)
        asked, _ = ask({"findings": []}, probe={"id": told}, registered=command)
        assert asked.skipped == (None if is_it else "wrong id")


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        ("finder.py", "ext.finder/1"),
        ("python3 -u '/opt/My Rules/house-rules.py' --slow", "ext.house_rules/1"),
        ("/usr/bin/finder --all", "ext.finder/1"),
        ("loop.py", "ext.loop/1"),
        ("'unclosed", "ext.unclosed/1"),
        ("  ", "ext.command/1"),
    ],
)
def test_a_command_that_does_not_tell_its_name_goes_by_its_script(line: str, id_: str) -> None:
    silent = Scripted({}, ExternalFailure("failed"))
    [registered] = registered_commands([line], lambda _: silent)
    assert registered == RegisteredAnalyzer(id_, f"command:{line}", NEEDS)


def test_commands_of_one_name_are_numbered() -> None:
    named = registered_commands(["finder.py", "finder.sh", "/a/finder"], lambda _: Scripted({}, {}))
    assert [each.id for each in named] == ["ext.finder/1", "ext.finder_2/1", "ext.finder_3/1"]
    long = registered_commands(["f" * 50 + ".py", "f" * 50 + ".sh"], lambda _: Scripted({}, {}))
    assert all(EXTERNAL_ID.match(each.id) for each in long)
    assert len({each.id for each in long}) == 2


def test_too_many_commands_are_refused() -> None:
    with pytest.raises(InternalError, match="at most 8"):
        registered_commands([f"finder{number}" for number in range(9)], lambda _: Scripted({}, {}))


@pytest.mark.parametrize(
    "answer",
    [b"", b"{", b"[]", b"null", b'"x"', b"{}", b'{"findings": {}}', b'{"findings": null}', b"\xff\xfe",
     b'{"findings": [NaN]}', b'{"findings": [], "findings": []}', b'{"findings": ' + b"[" * 100_000,
     b'{"findings": ["\\ud800"]}'],
)  # fmt: skip
def test_an_answer_that_cannot_be_read_is_one_reason(answer: bytes) -> None:
    assert ask(answer)[0] == Asked(skipped="garbage", title=ID)


@pytest.mark.parametrize("probe", [b"", b"[]", {"id": 3}, {"id": ""}, {"id": "x" * 65}, {"id": ["ext.finder/1"]}])
def test_a_probe_that_cannot_be_read_is_the_same_reason(probe: Any) -> None:
    assert ask({"findings": [FINDING]}, probe=probe)[0] == Asked(skipped="garbage", title=ID)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"target": "host:cron"}, "target"),
        ({"target": "doc:AGENTS.md"}, "target"),
        ({"target": "template:x"}, "target"),
        ({"target": "prompt:x"}, "target"),
        ({"target": 7}, "target"),
        ({"target": f"grain:{'ab' * 32}"}, "target"),
        ({"summary": " \n\t"}, "summary"),
        ({"summary": ["sam moved"]}, "summary"),
        ({"evidence": []}, "evidence"),
        ({"evidence": ["ab" * 32]}, "evidence"),
        ({"evidence": BERLIN.address}, "evidence"),
        ({"evidence": {BERLIN.address: 1}}, "evidence"),
        ({"evidence": [[BERLIN.address], 3, None]}, "evidence"),
    ],
)
def test_a_finding_without_a_target_inside_a_summary_or_evidence_is_dropped_with_a_reason(
    change: dict[str, Any], reason: str
) -> None:
    assert only(change) == Asked((), None, {reason: 1}, ID, is_whole=True)


@pytest.mark.parametrize("missing", SCHEMA["$defs"]["finding"]["required"])
def test_what_the_schema_requires_is_required(missing: str) -> None:
    assert only({}, missing).dropped == {missing: 1}


def test_a_fake_address_is_taken_out_and_an_address_counts_once() -> None:
    [finding] = only({"evidence": ["ab" * 32, NOTE.address, NOTE.address, BERLIN.address]}).findings
    assert finding.evidence == (NOTE.address, BERLIN.address)


def test_long_texts_are_cut_and_hidden_characters_stand_as_escapes() -> None:
    [finding] = only({"summary": "s\u202e" * 3_000, "guidance": "g" * 3_000, "key": "k" * 3_000}).findings
    assert (len(finding.summary), len(finding.guidance), len(finding.key)) == (200, 600, 200)
    assert finding.summary.startswith("s\\u{202e}s")


@pytest.mark.parametrize(
    ("told", "taken"),
    [("medium", "medium"), ("info", "info"), ("HIGH", "low"), ("critical", "low"), (3, "low"), ([], "low")],
)
def test_a_severity_is_one_of_four_or_low(told: Any, taken: str) -> None:
    assert only({"severity": told}).findings[0].severity == taken
    assert only({}, "severity").findings[0].severity == "low"


@pytest.mark.parametrize(
    ("told", "taken"),
    [(0, 0.0), (1, 1.0), (0.25, 0.25), (-0.1, 0.5), (1.01, 0.5), (10**30, 0.5), (True, 0.5), ("0.9", 0.5), (None, 0.5)],
)
def test_a_confidence_is_between_nothing_and_one_or_a_half(told: Any, taken: float) -> None:
    assert only({"confidence": told}).findings[0].confidence == taken


def test_of_too_many_findings_the_rest_is_counted_and_the_answer_is_not_whole() -> None:
    findings = [{**FINDING, "key": str(number)} for number in range(MAX_FINDINGS + 7)]
    asked, _ = ask({"findings": [3, {}, *findings]})
    assert [finding.key for finding in asked.findings] == [str(number) for number in range(MAX_FINDINGS)]
    assert asked.dropped == {"form": 1, "target": 1, "too_many": 7}
    assert not asked.is_whole


@pytest.mark.parametrize("kind", ["timeout", "too_large", "unreachable", "failed", "no key"])
def test_a_failure_is_the_reason_and_nothing_of_the_analyzer_counts(kind: Any) -> None:
    grains = [make_note(f"note {number}") for number in range(MAX_GRAINS_A_CALL + 1)]

    def say(request: Mapping[str, Any]) -> Any:
        found = {"target": "query:x", "summary": "x", "evidence": [request["grains"][0]["hash"]]}
        return {"findings": [found]} if request["page"] == 1 else ExternalFailure(kind)

    assert ask(say, grains=grains)[0] == Asked(skipped=kind, title=ID)
    assert ask({}, probe=ExternalFailure(kind))[0] == Asked(skipped=kind, title=ID)


def test_an_answer_that_is_larger_than_it_may_be_is_not_read() -> None:
    assert ask(b'{"findings": []}' + b" " * SOUND.max_bytes)[0].skipped == "too_large"


def test_whatever_an_adapter_raises_is_a_failure() -> None:
    def breaks(_request: Mapping[str, Any]) -> Any:
        raise RuntimeError("sk-secret")

    assert ask(breaks)[0] == Asked(skipped="failed", title=ID)

    def unmade(_registered: RegisteredAnalyzer) -> ExternalAnalyzer:
        raise KeyError("none")

    broken: ExternalAnalyzers = unmade
    assert ask_analyzer(SOUND, broken, GRAINS, now=NOW, left_ms=lambda: 60_000) == Asked(skipped="failed", title=ID)


def test_no_call_takes_longer_than_the_caller_has() -> None:
    asked, scripted = ask({"findings": []}, left_ms=RESERVE_MS + 1_000)
    assert asked.skipped is None
    assert scripted.timeouts == [1_000, 1_000]
    assert ask({"findings": []})[1].timeouts == [SOUND.timeout_ms] * 2
    asked, scripted = ask({"findings": []}, left_ms=RESERVE_MS)
    assert (asked.skipped, scripted.seen) == ("time", [])
    assert ask(ExternalFailure("timeout"), left_ms=RESERVE_MS + 1_000)[0].skipped == "time"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ADDRESSES = st.sampled_from([BERLIN.address, NOTE.address, "ab" * 32, "host:x"])
ODD_FINDING = st.fixed_dictionaries(
    {},
    optional={
        "target": JSON | st.sampled_from(["entity:shared/sam", "query:a", "host:a", f"grain:{NOTE.address}"]),
        "summary": JSON | st.text(min_size=1, max_size=2_000),
        "evidence": JSON | st.lists(ADDRESSES, max_size=200),
        "severity": JSON | st.sampled_from(["high", "info"]),
        "guidance": JSON | st.text(max_size=2_000),
        "confidence": JSON | st.floats(-1, 2),
        "key": JSON | st.text(max_size=400),
        "auto_apply": JSON,
    },
)


@given(JSON | st.fixed_dictionaries({"findings": st.lists(JSON | ODD_FINDING, max_size=8)}), JSON)
def test_whatever_is_answered_nothing_comes_out_that_breaks_a_rule(answer: Any, probe: Any) -> None:
    asked, _ = ask(lambda _request: answer, probe=b"{}" if probe is None else json.dumps(probe).encode())
    assert asked.skipped in (None, "garbage", "wrong id")
    for finding in asked.findings:
        assert finding.target.scheme in ("entity", "grain", "query")
        assert 0 < len(finding.summary) <= 200
        assert len(finding.guidance) <= 600
        assert len(finding.key) <= 200
        assert finding.evidence
        assert set(finding.evidence) <= {BERLIN.address, NOTE.address}
        assert 0 <= finding.confidence <= 1
        assert finding.severity in ("info", "low", "medium", "high")
    if asked.skipped is None:
        told = answer["findings"]
        assert len(asked.findings) + sum(asked.dropped.values()) == len(told)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_whatever_bytes_are_answered_it_is_an_answer_or_one_reason(probe: bytes, answer: bytes) -> None:
    assert ask(answer, probe=probe)[0].skipped in (None, "garbage", "wrong id")
