"""A program on this machine, asked once, with an end in time and in size whatever it does.

What it reads is written while what it writes is read, so neither side waits for the other. It runs in a process group
of its own, all of which is killed at the end: what it started and left behind ends with it, unless that has moved to
another group (``setsid``), which whoever runs this machine may want of their program.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, Any, Literal, cast

#: Why there is no answer: it took too long, said too much, could not be started, or ended with another code than 0.
ProcessFailureKind = Literal["timeout", "too_large", "unreachable", "failed"]
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class ProcessFailure:
    """Why a program gave no answer."""

    kind: ProcessFailureKind


def run_bounded(
    argv: Sequence[str],
    stdin: bytes,
    *,
    timeout_s: float,
    max_bytes: int,
    environment: Mapping[str, str] | None = None,
) -> bytes | ProcessFailure:
    """What a program writes when it is given ``stdin``. No shell is in between, and nobody sees what it says as errors.

    Args:
        argv: the program and its arguments.
        stdin: all that it can read; it need not read it.
        timeout_s: when it must have closed its output and ended with code 0.
        max_bytes: how much it may write.
        environment: all variables that it sees; by default only where the programs of the system are.
    """
    ends_at = monotonic() + timeout_s
    try:
        process = subprocess.Popen(  # noqa: S603 - whoever runs this machine chose the program
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict({"PATH": os.defpath} if environment is None else environment),
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError, IndexError):
        return ProcessFailure("unreachable")
    try:
        return _Talk(process, stdin, max_bytes).until(ends_at)
    finally:
        _end(process)


class _Talk:
    """What is still to be written to a program, and what it has written so far."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, max_bytes: int) -> None:
        self._process = process
        # Pipes were asked for, so there are some.
        self._stdin, self._stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        self._unwritten = memoryview(stdin)
        self._chunks: list[bytes] = []
        self._room = max_bytes

    def until(self, ends_at: float) -> bytes | ProcessFailure:
        """The whole answer, if it and the end of the program come in time."""
        with selectors.DefaultSelector() as selector:
            self._open(selector)
            while self._stdout in _waited_for(selector):
                ready = selector.select(max(ends_at - monotonic(), 0))
                if monotonic() >= ends_at:
                    return ProcessFailure("timeout")
                for key, _ in ready:
                    self._go_on(selector, key.fileobj)
                if self._room < 0:
                    return ProcessFailure("too_large")
        # It may read to the end before it ends itself.
        self._stdin.close()
        return self._ended(ends_at)

    def _open(self, selector: selectors.BaseSelector) -> None:
        os.set_blocking(self._stdin.fileno(), False)
        selector.register(self._stdin, selectors.EVENT_WRITE)
        selector.register(self._stdout, selectors.EVENT_READ)

    def _go_on(self, selector: selectors.BaseSelector, stream: Any) -> None:
        is_done = self._write() if stream is self._stdin else self._read()
        if is_done:
            selector.unregister(stream)
            stream.close()

    def _write(self) -> bool:
        try:
            written = os.write(self._stdin.fileno(), self._unwritten[:_CHUNK])
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return True
        self._unwritten = self._unwritten[written:]
        return not self._unwritten

    def _read(self) -> bool:
        chunk = os.read(self._stdout.fileno(), _CHUNK)
        self._chunks.append(chunk)
        self._room -= len(chunk)
        return not chunk

    def _ended(self, ends_at: float) -> bytes | ProcessFailure:
        try:
            code = self._process.wait(max(ends_at - monotonic(), 0))
        except subprocess.TimeoutExpired:
            return ProcessFailure("timeout")
        return b"".join(self._chunks) if code == 0 else ProcessFailure("failed")


def _waited_for(selector: selectors.BaseSelector) -> set[Any]:
    return {key.fileobj for key in selector.get_map().values()}


def _end(process: subprocess.Popen[bytes]) -> None:
    # A group keeps its number as long as anything in it lives, and is gone otherwise.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
