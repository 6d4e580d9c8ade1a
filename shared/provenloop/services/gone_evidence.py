"""Closing what somebody outside found once nothing live bears it out, or its words are forgotten.

It needs nobody to be asked: whoever found it may be switched off, denied, or no longer registered.
"""

from __future__ import annotations

from collections.abc import Iterable

from provenloop.domain.commit import Change
from provenloop.domain.records import Due
from provenloop.services.examine import Examining
from provenloop.services.outside_findings import OutsideFindings
from provenloop.services.remark_index import DUE_SAID

_MOVED = frozenset({"supersede", "point", "merge", "remove", "forget", "change"})


def let_go(findings: OutsideFindings, examining: Examining, changes: Iterable[Change], due: Iterable[Due]) -> None:
    """Look at the findings that cite what commits moved, and at those whose evidence has lapsed.

    Raises:
        LeaseLostError: another pass took over.
    """
    moved = dict.fromkeys(change.address for change in changes if change.op in _MOVED)
    citing = findings.citing(moved) if moved else ()
    wanted = dict.fromkeys((*citing, *(row.ref for row in due if row.what == DUE_SAID)))

    def step(rec_id: str) -> None:
        again_at = findings.let_go(rec_id)
        if again_at is not None:
            examining.planted[Due(again_at, DUE_SAID, rec_id)] = None

    examining.take((Due(examining.views.now, DUE_SAID, rec_id) for rec_id in wanted), DUE_SAID, step)
