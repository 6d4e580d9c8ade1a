"""A program on this machine: it answers in time and in bounds, or fails with one kind, and nothing of it is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic

import pytest

from provenloop.adapters.bounded_process import ProcessFailure, run_bounded

MEGABYTE = 1_000_000
ECHO = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"


def run(
    program: str, stdin: bytes = b"", *, timeout_s: float = 20, max_bytes: int = MEGABYTE
) -> bytes | ProcessFailure:
    return run_bounded([sys.executable, "-c", program], stdin, timeout_s=timeout_s, max_bytes=max_bytes)


def test_a_program_answers_what_it_is_given() -> None:
    assert run("import sys; print(sys.stdin.read()[::-1], end='')", b"abc") == b"cba"


def test_long_texts_go_in_and_out_at_once_without_waiting_for_each_other() -> None:
    program = """
import sys
while chunk := sys.stdin.buffer.read1(1000):
    sys.stdout.buffer.write(chunk * 4)
"""
    given = b"0123456789" * 200_000
    answer = run(program, given, max_bytes=8 * MEGABYTE)
    assert isinstance(answer, bytes)
    assert len(answer) == 4 * len(given)


def test_a_program_that_writes_all_before_it_reads_anything_is_heard() -> None:
    program = "import sys; sys.stdout.write('x' * 500_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    assert run(program, b"y" * MEGABYTE) == b"x" * 500_000 + b"1000000\n"


def test_a_program_need_not_read_what_it_is_given() -> None:
    assert run("import os; os.close(0); print('no')", b"x" * MEGABYTE) == b"no\n"


def test_a_program_that_closes_its_output_before_it_has_read_all_ends_by_itself() -> None:
    program = """
import os, sys
sys.stdout.write("done"); sys.stdout.flush(); os.close(1)
os.read(0, 1)
while os.read(0, 65536): pass
"""
    assert run(program, b"y" * MEGABYTE) == b"done"


def test_arguments_reach_no_shell() -> None:
    argv = [sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo `id` *"]
    assert run_bounded(argv, b"", timeout_s=20, max_bytes=100) == b"$HOME; echo `id` *\n"


SEEN = "import os; os.environ.pop('LC_CTYPE', 0); print(sorted(os.environ))"


def test_a_program_sees_no_variable_but_those_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    argv = [sys.executable, "-c", SEEN]
    assert run_bounded(argv, b"", timeout_s=20, max_bytes=100) == b"['PATH']\n"
    assert run_bounded(argv, b"", timeout_s=20, max_bytes=100, environment={"A": "b"}) == b"['A']\n"


def test_an_answer_may_be_as_large_as_it_is_said_and_no_larger() -> None:
    assert run(ECHO, b"x" * 1000, max_bytes=1000) == b"x" * 1000
    assert run(ECHO, b"x" * 1001, max_bytes=1000) == ProcessFailure("too_large")


def test_a_program_that_never_stops_writing_is_stopped() -> None:
    begun = monotonic()
    assert run("import sys\nwhile True: sys.stdout.write('x' * 100_000)") == ProcessFailure("too_large")
    assert monotonic() - begun < 10


SLOW = {
    "sleeps": "import time; time.sleep(60)",
    "trickles": "import time\nwhile True: print(1, flush=True); time.sleep(.01)",
    "has closed its output": "import os, time; os.close(1); time.sleep(60)",
    "heeds no signal": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
    "left its output to another": "import subprocess; subprocess.Popen(['sleep', '60'])",
}


@pytest.mark.parametrize("program", SLOW.values(), ids=SLOW)
def test_a_program_ends_with_its_time(program: str) -> None:
    begun = monotonic()
    assert run(program, b"x" * MEGABYTE, timeout_s=1) == ProcessFailure("timeout")
    assert monotonic() - begun < 5


STARTS = """
import os, pathlib, subprocess, sys
child = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
if sys.argv[2] == "stays": child.wait()
"""


@pytest.mark.parametrize(("way", "timeout_s", "answer"), [("stays", 3, ProcessFailure("timeout")), ("leaves", 20, b"")])
def test_what_a_program_started_ends_with_it(
    tmp_path: Path, way: str, timeout_s: float, answer: bytes | ProcessFailure
) -> None:
    noted = tmp_path / "pid"
    argv = [sys.executable, "-c", STARTS, str(noted), way]
    assert run_bounded(argv, b"", timeout_s=timeout_s, max_bytes=100) == answer
    assert is_gone(int(noted.read_text()))


def is_gone(pid: int) -> bool:
    """Whether a process is dead, at once or as soon as its killer's signal is delivered."""
    ends_at = monotonic() + 5
    while monotonic() < ends_at:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # Nobody may have collected it yet.
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
    return False


@pytest.mark.parametrize("program", ["import sys; print(1); sys.exit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_an_end_with_another_code_than_0_is_a_failure(program: str) -> None:
    assert run(program) == ProcessFailure("failed")


@pytest.mark.parametrize("argv", [[], [""], ["/no/such/program"], ["/"], ["a\0b"]])
def test_what_cannot_be_started_is_out_of_reach(argv: list[str]) -> None:
    assert run_bounded(argv, b"", timeout_s=5, max_bytes=100) == ProcessFailure("unreachable")


def test_what_a_program_says_as_errors_is_neither_an_answer_nor_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("import sys; sys.stderr.write('a key' * 100_000); print('ok')") == b"ok\n"
    assert capfd.readouterr().err == ""
