"""Notices to reviewers on an SNS topic, to which addresses are subscribed.

A notice holds ids, figures and words of ours: e-mail is no place for what an agent's memory says.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from provenloop.domain.instants import format_instant
from provenloop.services.review_port import Notice

_CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
_FIRST_LINE = {"review": "A recommendation waits for review.", "reminder": "A recommendation still waits for review."}
_SUBJECT = {"review": "Review wanted", "reminder": "Reminder: review wanted"}


class SnsNotices:
    """Implements ``services.review_port.Notices``.

    Args:
        topic_arn: where notices go.
        console_url: address of the console, which notices lead to; None for notices without a link.
    """

    def __init__(self, topic_arn: str, console_url: str | None, *, client: Any = None) -> None:
        self._topic = topic_arn
        self._console = console_url
        self._client: Any = client or botocore.session.get_session().create_client("sns", config=_CONFIG)

    def send(self, notice: Notice) -> bool:
        """See ``Notices``."""
        try:
            self._client.publish(
                TopicArn=self._topic,
                Subject=f"Provenloop: {_SUBJECT[notice.kind]} ({notice.severity})",
                Message="\n".join(lines_of(notice, self._console)),
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value}
                    for name, value in (
                        ("kind", notice.kind), ("severity", notice.severity),
                        ("tenant", notice.memory.tenant), ("memory", notice.memory.name),
                    )
                },
            )  # fmt: skip
        except (ClientError, BotoCoreError):
            return False
        return True


def lines_of(notice: Notice, console_url: str | None) -> list[str]:
    """The text of a notice, line by line."""
    lines = [
        _FIRST_LINE[notice.kind],
        "",
        f"memory: {notice.memory.name} (tenant {notice.memory.tenant})",
        f"recommendation: {notice.recommendation}",
        f"severity: {notice.severity}",
        f"analyzer: {notice.analyzer}",
        f"count: {notice.count}",
        f"proposed at: {format_instant(notice.created_at)}",
    ]
    if console_url:
        place = f"memories/{quote(notice.memory.name)}/recommendations/{notice.recommendation}"
        lines += ["", f"{console_url.rstrip('/')}#/{place}"]
    return lines
