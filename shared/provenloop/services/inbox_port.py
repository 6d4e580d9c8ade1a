"""What reading files needs from the outside: the bucket that holds them, and the queue that asks to read on."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from provenloop.domain.inbox import Drop, Progress


class FileChangedError(Exception):
    """Another file lies under the key by now; it is a drop of its own."""


class FileGoneError(Exception):
    """Nothing lies under the key any more."""


class Block(NamedTuple):
    """Some bytes of a file, and whether they are its last."""

    data: bytes
    is_last: bool


class InboxBucket(Protocol):
    """Files as they were put, and reports beside them."""

    def block(self, drop: Drop, offset: int) -> Block:
        """The bytes from ``offset`` on, at most some MiB of them.

        Raises:
            FileChangedError, FileGoneError: the file of this drop is there no more.
            UnavailableError: the bucket did not answer.
        """

    def report(self, drop: Drop) -> str | None:
        """The report that lies beside the file now, of whatever drop; None where there is none.

        Raises:
            UnavailableError: the bucket did not answer.
        """

    def put_report(self, drop: Drop, text: str) -> None:
        """Put a report beside the file, in place of an earlier one.

        Raises:
            UnavailableError: the bucket did not take it.
        """


class InboxQueue(Protocol):
    """Asks to read on."""

    def send(self, drop: Drop, progress: Progress, delay_s: int) -> None:
        """Ask for the rest of a file after ``delay_s`` seconds (0 to 900), at least once.

        Raises:
            UnavailableError: the queue did not take it.
        """
