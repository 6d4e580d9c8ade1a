"""The class that programs use."""

from __future__ import annotations

import sys
import weakref
from types import TracebackType
from typing import Self

from provenloop.client.access_calls import AccessCalls
from provenloop.client.errors import ProvenloopError
from provenloop.client.lesson_calls import LessonCalls
from provenloop.client.loop_calls import LoopCalls
from provenloop.client.memory_calls import MemoryCalls
from provenloop.client.outbox import Outbox
from provenloop.client.recipe_calls import RecipeCalls
from provenloop.client.transport import Options, Transport


class Provenloop(MemoryCalls, LoopCalls, LessonCalls, RecipeCalls, AccessCalls):
    """One memory of a service, as the principal of a token sees it. Threads may share it.

    Use it as a context manager, or call ``close``: it sends what still waits. Whoever does neither has it sent when
    the program ends, or reads on stderr how many events were not.

    Args:
        url: where the service is, such as ``https://abc.execute-api.eu-west-1.amazonaws.com``.
        token: bearer token; None for what asks nobody who they are.
        memory: name of the memory; None for what is about none.

    Raises:
        ProvenloopError: the address or the token is none. Every method raises it where a call does not succeed.
    """

    def __init__(
        self, url: str, token: str | None, memory: str | None = None, *, options: Options | None = None
    ) -> None:
        known = options or Options()
        super().__init__(Transport(url, token, known), memory, known)
        self._finalizer = weakref.finalize(self, _close_at_last, self._outbox, self.transport)

    def close(self) -> None:
        """Send what waits, and give the connections back.

        Raises:
            ProvenloopError: some events could not be sent; they are its ``unsent``.
        """
        try:
            self._outbox.close()
        finally:
            self._finalizer.detach()
            self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ProvenloopError as unsent:
            if error is None:
                raise
            # The error that is on its way is the one to be told; this one must not take its place.
            error.add_note(f"provenloop: {unsent}")


def _close_at_last(outbox: Outbox, transport: Transport) -> None:
    """One try for what nobody flushed, when the program ends or the client is gone."""
    try:
        outbox.close(attempts=1)
    except ProvenloopError as error:
        sys.stderr.write(f"provenloop: {error}\n")
    transport.close()
