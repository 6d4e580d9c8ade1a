"""The tables of README.md and shared/API.md say what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from hypothesis import settings

from provenloop.domain.bus_events import COMMON_FIELDS, EVENT_FIELDS
from provenloop.domain.errors import error_classes
from provenloop.entry.mcp.protocol import VERSIONS
from provenloop.entry.mcp.tools import tools
from provenloop.entry.operations import MEMORY, OPERATIONS
from provenloop.entry.problems import status_of
from provenloop.services.export import LineField

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
API = (ROOT / "shared" / "API.md").read_text(encoding="utf-8")
LONGEST = 199


def test_every_operation_is_listed_with_its_scope_and_no_other() -> None:
    rows = re.findall(r"^\| `([A-Z]+ [^`]+)` \| ([a-z +-]+) \| (.+) \|$", API, re.MULTILINE)
    expected = [
        (f"{op.method} {op.path.replace(MEMORY, '…')}", " + ".join(op.scopes) or "-", op.summary.rstrip("."))
        for op in OPERATIONS
    ]
    assert rows == expected


def test_every_tool_and_action_is_listed_with_its_operation_and_no_other() -> None:
    [section] = re.findall(r"^## MCP\n(.+?)^## ", API, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `(\w+)`(?: (\w+))? \| `([^`]+)` \|$", section, re.MULTILINE)
    assert rows == [
        (name, action or "", f"{op.method} {op.path.replace(MEMORY, '…')}")
        for name, tool in tools().items()
        for action, op in tool.operations.items()
    ]
    assert all(f" {version}" in section for version in VERSIONS)


def test_every_error_code_is_listed_with_its_status_and_no_other() -> None:
    rows = {code: int(status) for code, status in re.findall(r"^\| (PVL-E\d{3}) \| (\d{3}) \|", API, re.MULTILINE)}
    assert rows == {cls.code: status_of(cls) for cls in error_classes()}


def test_every_event_is_listed_with_its_fields_and_no_other() -> None:
    [section] = re.findall(r"^## Events\n(.+?)^## ", README, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([A-Z]\w+) \| .+ \| (.+) \|$", section, re.MULTILINE)
    assert [(kind, tuple(re.findall(r"`(\w+)`", fields))) for kind, fields in rows] == list(EVENT_FIELDS.items())
    introduction = section.partition("\n|")[0]
    assert [name for name in COMMON_FIELDS if f"`{name}`" not in introduction] == []


def test_every_line_of_an_export_is_listed_and_no_other() -> None:
    [section] = re.findall(r"^## Export\n(.+?)^## ", API, re.MULTILINE | re.DOTALL)
    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == get_args(LineField)


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= LONGEST


def test_the_nightly_profile_runs_as_many_times_more_examples_as_the_readme_says_of_every_property() -> None:
    [times] = re.findall(r"`HYPOTHESIS_PROFILE=nightly` runs (\d+) times", README)
    dev, nightly = (settings.get_profile(name).max_examples for name in ("dev", "nightly"))
    assert nightly == int(times) * dev
    tests = [file for file in (ROOT / "tests").rglob("*.py") if file.name != "conftest.py"]
    assert [file.name for file in tests if re.search(r"max_examples=\d", file.read_text(encoding="utf-8"))] == []
