"""Import of tool logs by the command line, against the whole local stack."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from provenloop.client import Options
from tests.faulty_service import Fault, FaultyServer
from tests.functions.api import Api
from tests.functions.command_line import CommandLine
from tests.functions.requests import ROOT

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

AIRLINE = ROOT / "events" / "transcripts" / "airline-agent.jsonl"


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, service: FaultyServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "CRITICAL")
    return CommandLine(service.url, capsys, str(tmp_path), Options(sleep=lambda _: None))


def written(folder: Path, name: str, *lines: Any) -> str:
    """The path of a file of JSON lines."""
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(file)


def test_real_transcripts_are_imported_once_and_give_the_findings_they_hold(
    cli: CommandLine, api: Api, tmp_path: Path
) -> None:
    runs = tmp_path / "airline.jsonl"
    runs.write_text("".join(AIRLINE.read_text(encoding="utf-8").splitlines(keepends=True)), encoding="utf-8")
    told = cli.json("import", str(runs))
    assert (told["read"]["runs"], told["read"]["calls"], told["read"]["errors"]) == (150, 904, 64)
    assert told["sent"] == {"stored": 904, "known": 0, "ignored": 0, "refused": 0, "reasons": []}
    again = cli.json("import", str(runs))
    assert again["sent"] == {"stored": 0, "known": 904, "ignored": 0, "refused": 0, "reasons": []}
    assert cli.json("run")["new_error_events"] == 64
    found = {row["details"]["tool"] for row in cli.json("list")["recommendations"]}
    assert found == {"book_reservation", "update_reservation_flights"}
    assert api.done("loop_health")["new_grains"] == 0


def test_files_of_all_forms_are_told_apart_and_counted_together(cli: CommandLine, tmp_path: Path) -> None:
    chat = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "Error: no"},
    ]
    blocks = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "b", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "ok"}]},
    ]
    plain = [{"tool": "c", "id": "1"}, {"id": "1", "error": "timed out"}, {"tool": "c", "id": "2"}, {"hello": 1}]
    files = [
        written(tmp_path, "chat.jsonl", *chat), written(tmp_path, "blocks.jsonl", *blocks),
        written(tmp_path, "plain.jsonl", *plain),
    ]  # fmt: skip
    told = cli.json("import", *files)
    assert told["read"]["by_tool"] == {"a": 1, "b": 1, "c": 1}
    assert (told["read"]["errors"], told["read"]["unanswered"], told["read"]["unreadable"]) == (2, 1, 1)
    assert told["sent"]["stored"] == 3
    assert cli("import", *files) == 0
    assert "3 calls of 3 tools, 2 of them errors" in cli.out
    assert "unanswered: 1" in cli.out


def test_a_log_that_has_grown_adds_what_is_new(cli: CommandLine, tmp_path: Path) -> None:
    lines = [{"tool": "t", "result": number} for number in range(100)]
    file = written(tmp_path, "grows.jsonl", *lines)
    assert cli.json("import", file)["sent"]["stored"] == 100
    written(tmp_path, "grows.jsonl", *lines, {"tool": "t", "error": "no"})
    assert cli.json("import", file)["sent"] == {"stored": 1, "known": 100, "ignored": 0, "refused": 0, "reasons": []}
    assert cli.json("import", file, "--session", "another")["sent"]["stored"] == 101


def test_stdin_is_a_file_too(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(b'{"tool": "t", "result": 1}\n'))
    monkeypatch.setattr("sys.stdin", given)
    assert cli.json("import", "-")["sent"]["stored"] == 1


def test_what_the_service_refuses_costs_no_other_call_and_is_told(cli: CommandLine, tmp_path: Path) -> None:
    lines = [{"tool": "t", "result": 1, "timestamp": f"{year}-01-01T00:00:00Z"} for year in (2026, 2199, 2026)]
    file = written(tmp_path, "future.jsonl", *lines)
    assert cli("import", file, "--json") == 1
    sent = json.loads(cli.out)["sent"]
    assert (sent["stored"], sent["refused"]) == (2, 1)
    assert "future" in sent["reasons"][0]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("nowhere.jsonl",), "file"),
        (("{file}", "--form", "xml"), "form"),
        (("{file}", "--started-at", "today"), "started_at"),
        (("{broken}",), "file"),
    ],
)
def test_what_cannot_be_read_is_an_error(
    cli: CommandLine, tmp_path: Path, arguments: tuple[str, ...], field: str
) -> None:
    file = written(tmp_path, "good.jsonl", {"tool": "t", "result": 1})
    broken = tmp_path / "broken.json"
    broken.write_text('[{"role":')
    named = [word.format(file=file, broken=broken) for word in arguments]
    problem = cli.refused("import", *named)
    assert (problem["code"], problem["field"]) == ("PVL-E011", field)


def test_a_file_without_a_call_is_an_error(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("import", written(tmp_path, "empty.jsonl")) == 1
    assert "0 calls" in cli.out


def test_a_service_that_is_gone_ends_it_and_the_next_import_goes_on(
    cli: CommandLine, service: FaultyServer, tmp_path: Path
) -> None:
    file = written(tmp_path, "log.jsonl", *({"tool": "t", "result": number} for number in range(200)))
    service.faults += [Fault(after=True), *[Fault()] * 4]
    assert cli.refused("import", file)["code"] == "PVL-E001"
    sent = cli.json("import", file)["sent"]
    assert sent["stored"] + sent["known"] == 200
    assert cli.refused("import", file, memory="nowhere")["code"] == "PVL-E040"
