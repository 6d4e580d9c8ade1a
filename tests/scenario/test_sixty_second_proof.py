"""The sixty-second proof on the local stack; tests/packaged runs the same on the deployed one."""

from __future__ import annotations

from pathlib import Path

from provenloop.entry.local.stack import LocalStack
from tests.scenario.sixty_second_proof import sixty_second_proof

ROOT = Path(__file__).parents[2]
ADMIN = "token-of-the-administrator"
NOW_MS = 1_800_000_000_000


def test_the_sixty_second_proof_holds_on_the_local_stack() -> None:
    with LocalStack(ROOT, dev_token=ADMIN, now_ms=NOW_MS) as stack, stack.client_as(ADMIN) as admin:
        sixty_second_proof(admin)
