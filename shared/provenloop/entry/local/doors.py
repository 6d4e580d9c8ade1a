"""Doors of the local stack for what comes without HTTP in AWS: onto the bus, into the inbox, and to the reports.

They do what a client of AWS would, and no more: what is put waits for the next tick, as queued messages do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from provenloop.domain.inbound_source import read_sources
from provenloop.domain.inbox import INBOX_PREFIX, REPORT_PREFIX
from provenloop.entry.local.aws import LocalAws

DETAIL_TYPE = "AgentEvents"
#: The template has a rule for so many sources.
BUS_SOURCES = 4


def source_parameters(table: str) -> dict[str, str]:
    """The template's parameters for a table of sources, the first of which send on the bus.

    Raises:
        InternalError: it is none; the message says where.
    """
    names = list(read_sources(table))
    rules = {f"BusSource{number}": name for number, name in enumerate(names[:BUS_SOURCES], 1)}
    return {"InboundSources": table, **rules} if names else {}


def put_agent_events(aws: LocalAws, source: str, detail: Mapping[str, Any]) -> bool:
    """Put ``AgentEvents`` on the bus; whether there is one that took it."""
    if aws.event_bus is None:
        return False
    entry = {"EventBusName": aws.event_bus, "Source": source, "DetailType": DETAIL_TYPE, "Detail": json.dumps(detail)}
    answer = aws.client("events").put_events(Entries=[entry])
    return bool(answer["FailedEntryCount"] == 0)


def put_file(aws: LocalAws, name: str, body: bytes) -> bool:
    """Put a file into the inbox as ``<source>/<memory>/<file>``; whether there is an inbox."""
    if aws.inbox is None:
        return False
    aws.client("s3").put_object(Bucket=aws.inbox, Key=f"{INBOX_PREFIX}{name}", Body=body)
    return True


def read_report(aws: LocalAws, name: str) -> bytes | None:
    """What lies at a name among the reports; None where nothing does."""
    if aws.inbox is None:
        return None
    try:
        found: bytes = aws.client("s3").get_object(Bucket=aws.inbox, Key=f"{REPORT_PREFIX}{name}")["Body"].read()
    except ClientError:
        return None
    return found
