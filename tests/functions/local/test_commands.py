"""``python -m provenloop.entry.local``: starting, refusing to start, stopping."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from provenloop.entry.local import __main__ as command
from provenloop.entry.local import commands

SMALL = Path(__file__).parent / "small"


@contextlib.contextmanager
def _dev(**variables: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """``dev`` on the small system in a process of its own, and what it said when it was ready."""
    code = "import sys; from pathlib import Path; from provenloop.entry.local import commands; "
    code += f"sys.exit(commands.dev(Path({str(SMALL)!r})))"
    environment = {**os.environ, "PORT": "0", **variables}  # noqa: TID251 - of the process to start
    arguments = [sys.executable, "-c", code]
    with subprocess.Popen(  # noqa: S603 - this interpreter and the code above
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said: list[str] = []
            assert process.stdout is not None
            while not said or said[-1] != "Stop with Ctrl-C.":
                line = process.stdout.readline()
                assert line, process.stderr.read() if process.stderr else ""
                said.append(line.rstrip("\n"))
            yield process, said
        finally:
            process.kill()


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_dev_serves_says_where_and_stops_cleanly() -> None:
    with _dev(PROVENLOOP_DEV_TOKEN="chosen", PROVENLOOP_NOW="2026-01-01T00:00:00Z") as (process, said):
        url = said[0].removeprefix("Provenloop is at ")
        assert url.startswith("http://127.0.0.1:")
        assert "Admin token: chosen" in said
        assert "Not carried out here: Warehouse (AWS::Kinesis::Stream)" in said
        environment = httpx.get(f"{url}/x", trust_env=False).json()["environment"]
        assert environment["PROVENLOOP_DEV_TOKEN"] == "chosen"
        assert environment["PROVENLOOP_NOW"] == "1767225600000"
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "\nStopped.\n")
    assert "Traceback" not in errors


def test_outside_a_clone_it_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_root", lambda: None)
    assert command.main(["dev"]) == 1
    assert "needs a clone" in capsys.readouterr().err


def test_without_the_development_environment_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "moto" else object())
    assert command.main(["demo"]) == 1
    assert "needs the development environment (make setup): moto is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["http", "65536", "-1", "\u0661"])
def test_a_port_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    monkeypatch.setenv("PORT", port)
    assert command.main(["dev"]) == 1
    assert "PORT must be a number" in capsys.readouterr().err


def test_a_template_that_cannot_be_carried_out_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text("Resources: {}\nParameters: {A: {Type: String}}\n", encoding="utf-8")
    with pytest.raises(commands.CannotStartError, match="A has no default"):
        commands.dev(tmp_path)


def test_the_clone_is_found_from_the_package() -> None:
    assert command.find_root() == Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("arguments", [[], ["fly"], ["dev", "more"]])
def test_an_unknown_command_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
