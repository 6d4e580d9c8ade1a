"""One emulator: a ministack process of its own, on a free port of 127.0.0.1, ended with the tests that use it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-ministack" / "bin" / "python"
REGION = "us-east-1"
#: The emulator takes this pair for the account's root; everyone else is who their role says.
ROOT_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

START_TRIES = 300
PAUSE_S = 0.1
STOP_S = 10


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator. ``log`` is where it writes."""

    endpoint: str
    log: Path

    def client(self, service: str, keys: dict[str, str] | None = None) -> Any:
        """A boto3 client; as the account's root if no other credentials are given."""
        root = {name.lower(): value for name, value in ROOT_KEYS.items()}
        credentials: dict[str, Any] = root if keys is None else keys
        session: Any = boto3.Session(region_name=REGION, **credentials)
        return session.client(service, endpoint_url=self.endpoint)

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which an AWS tool reaches this emulator."""
        return environment(AWS_ENDPOINT_URL=self.endpoint, AWS_DEFAULT_REGION=REGION, **ROOT_KEYS)


def environment(**more: str) -> dict[str, str]:
    """This process's environment and ``more``, for a child; nothing in it is read here."""
    return {**os.environ, **more}  # noqa: TID251 - a child needs PATH and HOME


@contextmanager
def running_emulator(folder: Path) -> Iterator[Emulator]:
    """An emulator that lives as long as the ``with``.

    Args:
        folder: an empty folder for everything it writes.

    Raises:
        RuntimeError: its environment is missing, or it did not start.
    """
    if not PYTHON.exists():
        raise RuntimeError(f"{PYTHON.relative_to(ROOT)} is missing: `make packaged` makes it")
    port = _free_port()
    log = folder / "ministack.log"
    variables = environment(
        AUTH="true",
        BIND_HOST="127.0.0.1",
        GATEWAY_PORT=str(port),
        STATE_DIR=str(folder / "state"),
        TMPDIR=str(folder),
        AWS_DEFAULT_REGION=REGION,
        **ROOT_KEYS,
    )
    command = [str(PYTHON), "-m", "tests.packaged.ministack_server"]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own module, in our own environment
            command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            emulator = Emulator(f"http://127.0.0.1:{port}", log)
            _await_start(process, emulator)
            yield emulator
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_start(process: subprocess.Popen[bytes], emulator: Emulator) -> None:
    for _ in range(START_TRIES):
        try:
            process.wait(PAUSE_S)
            break
        except subprocess.TimeoutExpired:
            if _answers(emulator):
                return
    raise RuntimeError(f"the emulator did not start:\n{emulator.log.read_text(errors='replace')[-2000:]}")


def _answers(emulator: Emulator) -> bool:
    try:
        return httpx.get(f"{emulator.endpoint}/_ministack/health").is_success
    except httpx.TransportError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End it and the functions it has running; they are one process group."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
