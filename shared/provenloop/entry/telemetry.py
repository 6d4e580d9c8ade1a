"""Logs and metrics of the entry room.

Invariants: a log line holds ids, names, codes and counts; never a payload, a token, a key or the text of an unexpected
error. Metrics are EMF lines on standard output and cost no call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from logging import LogRecord
from types import TracebackType
from typing import Any

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import MetricUnit, SchemaValidationError, single_metric
from aws_lambda_powertools.metrics.functions import is_metrics_disabled

from provenloop.domain.ledger import LedgerRow
from provenloop.entry.reply import Reply
from provenloop.services.call import Call

# Where in our code a line was written says nothing here: it is always this module.
_logger = Logger(location=None)
#: What the logging of the standard library has for itself, and takes from nobody.
_RESERVED = frozenset(vars(LogRecord("", 0, "", 0, "", None, None))) | {"asctime"}
_CODE_ROOT = "provenloop"


def log_answer(operation: str, reply: Reply, **context: Any) -> None:
    """One line for each answered request."""
    _logger.info("answered", extra=_present(operation=operation, status=reply.status, **context))


def log_outcome(operation: str, outcome: str, **context: Any) -> None:
    """One line for each piece of work that nobody waits for."""
    _logger.info("done", extra=_present(operation=operation, outcome=outcome, **context))


def log_gate(outcome: str, own: Mapping[str, str], **context: Any) -> None:
    """One line for each request that a recipe served, or that the composer sent on: where theirs and ours have the same
    name, ours is told.
    """
    taken = {"level", "location", "message", "timestamp", "service", "outcome"}
    theirs = {name: value for name, value in own.items() if name not in taken and name not in _RESERVED}
    _logger.info("[BRAIN GATE]", extra={**theirs, **_present(outcome=outcome, **context)})


def log_warning(what: str, **context: Any) -> None:
    """One line for what an operator should look at; nothing failed for it."""
    _logger.warning(what, extra=_present(**context))


def tell_lost_rows(call: Call, rows: Sequence[LedgerRow]) -> None:
    """One line for each row that may not be in the ledger, with what it would say of the cost; and their number."""
    for row in rows:
        log_warning(
            "a row of the ledger may be lost",
            row=row.id,
            component=row.component,
            model=row.model,
            cost_nano_usd=row.cost_nano_usd,
            tenant=call.memory.tenant,
            memory=call.memory.name,
            correlation_id=call.request_id,
        )
    count("LedgerRowsLost", len(rows))


def log_error(operation: str, error: BaseException, *, detail: str | None = None, **context: Any) -> None:
    """One line for an error that nobody outside is told about: its type and place, and ``detail`` if it is ours."""
    place = _place_of(error.__traceback__)
    fields = _present(operation=operation, error=type(error).__name__, at=place, detail=detail, **context)
    _logger.error("failed", extra=fields)


def count(name: str, value: int) -> None:
    """Add to a metric; where nothing happened, nothing is said. What is counted has been written: it never fails."""
    # A single metric is written even where metrics are switched off; the switch is for all of them.
    if not value or is_metrics_disabled():
        return
    try:
        with single_metric(name=name, unit=MetricUnit.Count, value=value):
            pass
    except SchemaValidationError as error:
        log_error("count", error)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _place_of(traceback: TracebackType | None) -> str | None:
    """The innermost line of our own code: ``module:line``. A place is no payload, and a bare type names no fault."""
    place = None
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if module.startswith(_CODE_ROOT):
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
