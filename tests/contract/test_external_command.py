"""External analyzers that are programs of this machine: real processes, of any behaviour, within bounds."""

from __future__ import annotations

import os
import shlex
import sys
from time import monotonic

import pytest

from provenloop.adapters.external_command import CommandAnalyzer
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.services.ask_analyzer import Asked, ask_analyzer
from provenloop.services.external_port import ExternalFailure
from tests.builders import NOW, make_grain

REQUEST = b'{"loop_analyzer":1,"op":"probe"}' + b" " * 900_000
ECHO = "import sys; sys.stdout.write(sys.stdin.read().strip())"


def ask(program: str, *, timeout_ms: int = 10_000, max_bytes: int = 1_000_000) -> bytes | ExternalFailure:
    line = shlex.join([sys.executable, "-c", program])
    return CommandAnalyzer(line, {}).ask(REQUEST, timeout_ms=timeout_ms, max_bytes=max_bytes)


def test_a_program_reads_the_question_and_writes_the_answer() -> None:
    assert ask(ECHO) == REQUEST.strip()


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("import time; time.sleep(60)", "timeout"),
        ("import os, time; os.close(1); time.sleep(60)", "timeout"),
        ("import sys; sys.stdout.write('x' * 100_000_000)", "too_large"),
        ("import sys\nwhile True: sys.stdout.write('x' * 10_000); sys.stderr.write('y' * 10_000)", "too_large"),
        ("raise SystemExit(3)", "failed"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "failed"),
    ],
)
def test_whatever_a_program_does_it_ends_in_time_and_is_a_failure(program: str, kind: str) -> None:
    begun = monotonic()
    failure = ask(program, timeout_ms=1_000 if kind == "timeout" else 20_000)
    assert isinstance(failure, ExternalFailure)
    assert failure.kind == kind
    assert monotonic() - begun < 15


def test_a_program_that_reads_nothing_is_heard_and_one_that_writes_first_does_not_wait_for_ever() -> None:
    assert ask("print('{}')") == b"{}\n"
    assert ask("import sys; print('x' * 500_000); sys.stdout.flush(); sys.stdin.read()") == b"x" * 500_000 + b"\n"


def test_a_program_sees_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    line = shlex.join([sys.executable, "-c", "import os; os.environ.pop('LC_CTYPE', 0); print(dict(os.environ))"])
    answer = CommandAnalyzer(line, {"PATH": os.defpath}).ask(b"", timeout_ms=10_000, max_bytes=1_000)
    assert answer == f"{ {'PATH': os.defpath} }\n".encode()


@pytest.mark.parametrize("line", ["", "  ", "there-is-no-such-program", "'open"])
def test_what_is_no_program_is_not_reached(line: str) -> None:
    assert CommandAnalyzer(line, {}).ask(b"", timeout_ms=1_000, max_bytes=10) == ExternalFailure("unreachable")


def test_a_line_is_split_as_a_shell_would_and_reaches_none() -> None:
    line = f"{shlex.quote(sys.executable)} -c 'import sys; print(sys.argv[1:])' \"a b\" '$HOME;' `id` > x"
    answer = CommandAnalyzer(line, {}).ask(b"", timeout_ms=10_000, max_bytes=1_000)
    assert answer == b"['a b', '$HOME;', '`id`', '>', 'x']\n"


FINDER = """
import json, sys
asked = json.load(sys.stdin)
if asked["op"] == "probe":
    print(json.dumps({"id": "ext.finder/1", "title": "Finder"}))
else:
    [grain] = asked["grains"]
    finding = {"target": "entity:shared/sam", "summary": grain["fields"]["object"], "evidence": [grain["hash"]]}
    print(json.dumps({"findings": [finding]}))
"""


def test_a_whole_conversation_with_a_program() -> None:
    line = shlex.join([sys.executable, "-c", FINDER])
    registered = RegisteredAnalyzer("ext.finder/1", f"command:{line}", ("fact",))
    asked = ask_analyzer(
        registered, lambda _: CommandAnalyzer(line, {}), [make_grain("Paris")], now=NOW, left_ms=lambda: 60_000
    )
    assert asked == Asked(asked.findings, None, {}, "Finder", is_whole=True)
    assert [finding.summary for finding in asked.findings] == ["Paris"]
