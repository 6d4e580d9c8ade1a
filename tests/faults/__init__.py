"""Faults of AWS on demand, and deterministic interleavings, for tests.

Everything hangs on botocore's public client events, so it works the same on a plain boto3 client and on the client
that pynamodb holds (``Connection.client``), under moto as well as against a served emulator. What happens below the
hooks (botocore's own retries) is not simulated: a fault here is what the caller sees after all retries.

* ``FaultLayer`` with a plan of ``crash_before``, ``crash_after``, ``lost_request``, ``lost_reply``, ``resent``,
  ``throttle``, ``server_error``, ``late_server_error``, ``conflict``, ``unprocessed``: strikes at the nth call and
  records every call.
* ``Interleaving``: several actors in one thread, switching at each AWS call, the order given as a list of numbers.
* ``LateIndex``: queries of a GSI answer from the past until entries are released.
* ``RepeatedDeliveries``, ``redelivered``: SQS hands out a message again.
* ``ClientTokens``: the idempotency of ``ClientRequestToken``, which moto leaves out.
* ``SavedTable``: a table that is put back to a moment before.
* ``take_snapshot``, ``changes``, ``assert_unchanged``: a table compared item by item.
"""

from tests.faults.calls import Call
from tests.faults.deliveries import RepeatedDeliveries, redelivered
from tests.faults.hooks import unobserved
from tests.faults.interleaving import Interleaving, Outcome
from tests.faults.late_index import LateIndex
from tests.faults.layer import FaultLayer
from tests.faults.plan import (
    Crash,
    Fault,
    Kind,
    conflict,
    crash_after,
    crash_before,
    late_server_error,
    lost_reply,
    lost_request,
    resent,
    server_error,
    single_faults,
    throttle,
    unprocessed,
)
from tests.faults.saved import RawItems, SavedTable, raw_items
from tests.faults.schedules import schedules
from tests.faults.snapshot import Snapshot, assert_unchanged, changes, take_snapshot
from tests.faults.tokens import ClientTokens

__all__ = [
    "Call",
    "ClientTokens",
    "Crash",
    "Fault",
    "FaultLayer",
    "Interleaving",
    "Kind",
    "LateIndex",
    "Outcome",
    "RawItems",
    "RepeatedDeliveries",
    "SavedTable",
    "Snapshot",
    "assert_unchanged",
    "changes",
    "conflict",
    "crash_after",
    "crash_before",
    "late_server_error",
    "lost_reply",
    "lost_request",
    "raw_items",
    "redelivered",
    "resent",
    "schedules",
    "server_error",
    "single_faults",
    "take_snapshot",
    "throttle",
    "unobserved",
    "unprocessed",
]
