"""All that makes moto cheap enough for a whole system and its tests; none of it changes what moto does."""

from __future__ import annotations

from typing import Any

from provenloop.entry.local.plain_keys import compare_plainly
from provenloop.entry.local.plain_values import answer_plain_values
from provenloop.entry.local.read_once import read_once
from provenloop.entry.local.table_copies import copy_what_is_named
from provenloop.entry.local.table_queries import look_at_one_partition


def make_emulator_cheap() -> None:
    """Take the detours out of moto. Doing it again changes nothing."""
    copy_what_is_named()
    look_at_one_partition()
    answer_plain_values()
    compare_plainly()
    read_once()
    answer_botocore_only()


def answer_botocore_only() -> None:
    """Keep moto from laying out, at each start, some thousand answers for a library that nothing here sends with."""
    from moto.core import models

    names: Any = models
    names.RESPONSES_METHODS = []
