"""What stands behind events without HTTP: their sources, the inbox, and the queue that asks to read on.

Part of ``Wiring``. Only the functions that take such events know the names; in a local stack another one may have made
the wiring, so the environment is read when they ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from provenloop.domain.inbound_source import InboundSource, read_sources
from provenloop.entry.settings import read_settings
from provenloop.services.inbox_port import InboxBucket, InboxQueue


class InboundWiring:
    """The part of ``Wiring`` that events without HTTP come in by."""

    @cached_property
    def inbound_sources(self) -> Mapping[str, InboundSource]:
        """Who may send, by name.

        Raises:
            InternalError: the table is none.
        """
        return read_sources(read_settings().inbound_sources)

    @cached_property
    def inbox(self) -> InboxBucket:
        """Where files of events lie."""
        from provenloop.adapters.inbox_bucket import S3Inbox

        return S3Inbox(read_settings().inbox_bucket)

    @cached_property
    def inbox_queue(self) -> InboxQueue:
        """Where reading on is asked for."""
        from provenloop.adapters.sqs import SqsInboxQueue

        return SqsInboxQueue(read_settings().inbox_queue_url)
