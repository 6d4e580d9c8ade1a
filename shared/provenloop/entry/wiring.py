"""The composition root: which adapter stands behind which port, and where time and randomness come from.

Adapters are made when they are first used, so a function that needs no queue never imports the client of one. One
wiring serves a process; a test or a local stack may put another in its place.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from provenloop.domain.names import MemoryId
from provenloop.domain.people import ClaimRow, person_of, read_table
from provenloop.domain.policy import HostPolicy, TelemetryMode
from provenloop.domain.principal import Principal
from provenloop.entry import clock
from provenloop.entry.credentials import Credentials
from provenloop.entry.external_wiring import ExternalWiring
from provenloop.entry.inbound_wiring import InboundWiring
from provenloop.entry.policies import CACHE_MS, Policies
from provenloop.entry.recipe_wiring import RecipeWiring
from provenloop.entry.settings import Settings, read_settings
from provenloop.services.anchor_port import AnchorBucket, MemoryIndex, Signer
from provenloop.services.bus_port import EventBus, Outbox
from provenloop.services.dispatch_port import PassQueue, WakeIndex
from provenloop.services.job_port import JobQueue
from provenloop.services.outside_port import Outside
from provenloop.services.ports import Entropy, PolicySource, Store, Write
from provenloop.services.publish import Publisher
from provenloop.services.review_port import Notices, ReviewWorkflow, Untolds
from provenloop.services.token_port import TokenStore
from provenloop.services.waiting import Teller

if TYPE_CHECKING:
    from provenloop.adapters.functions import LambdaFunctions
    from provenloop.adapters.oidc.issuer import OidcIssuer

_FIRST_PAUSE_S = 0.025
_LONGEST_PAUSE_S = 0.8


class Wiring(RecipeWiring, ExternalWiring, InboundWiring):
    """What the handlers of a process work with.

    Args:
        settings: names of the table, the queue, the secret.
        now: gives epoch milliseconds.
        entropy: gives so many random bytes.
        pause: waits before a further try at a store that was busy; gets the number of the try, from 1.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        now: Callable[[], int] = clock.now_ms,
        entropy: Entropy = secrets.token_bytes,
        pause: Callable[[int], None] | None = None,
    ) -> None:
        self.settings = settings
        self.now = now
        self.entropy = entropy
        self._pause = pause or jittered_pause

    @property
    def telemetry(self) -> TelemetryMode:
        """How uses of memory are recorded."""
        return self.policy.policy.telemetry

    @property
    def policy(self) -> HostPolicy:
        """The host policy in force."""
        return self._policies.current(self.now())

    @cached_property
    def _policies(self) -> Policies:
        if self.settings.policy_file is not None:
            file = _policy_file(self.settings.policy_file)
            return Policies(file, cache_ms=0, is_local=True, commands=lambda: self.commands)
        if self.settings.policy_parameter is None:
            return Policies(None, commands=lambda: self.commands)
        from provenloop.adapters.policy_source import ParameterPolicy

        return Policies(ParameterPolicy(self.settings.policy_parameter), cache_ms=CACHE_MS)

    @cached_property
    def store(self) -> Store:
        """Memories."""
        from provenloop.adapters.dynamodb.store import DynamoStore

        return DynamoStore(self.settings.table, pause=self._pause, committed=self._committed)

    def _committed(self, memory: MemoryId, writes: Sequence[Write]) -> None:
        self.publisher.note(memory, writes)
        self.teller.note(memory, writes)

    @cached_property
    def publisher(self) -> Publisher:
        """What publishes the events of committed transactions."""
        return Publisher(lambda: self.store, lambda: self.bus)

    @cached_property
    def bus(self) -> EventBus:
        """Where events go."""
        from provenloop.adapters.event_bus import EventBridgeBus

        return EventBridgeBus(self.settings.event_bus)

    @cached_property
    def memory_index(self) -> MemoryIndex:
        """Every memory there is."""
        from provenloop.adapters.dynamodb.memory_index import DynamoMemoryIndex

        return DynamoMemoryIndex(self.settings.table)

    @cached_property
    def anchor_bucket(self) -> AnchorBucket:
        """Where anchors are kept."""
        from provenloop.adapters.anchor_bucket import S3AnchorBucket

        return S3AnchorBucket(self.settings.anchor_bucket)

    @cached_property
    def signer(self) -> Signer | None:
        """What signs anchors."""
        if self.settings.anchor_key is None:
            return None
        from provenloop.adapters.signing import KmsSigner

        return KmsSigner(self.settings.anchor_key)

    @cached_property
    def outbox(self) -> Outbox:
        """Where events wait that were left behind."""
        from provenloop.adapters.dynamodb.outbox import DynamoOutbox

        return DynamoOutbox(self.settings.table, pause=self._pause)

    @property
    def capabilities(self) -> frozenset[str]:
        """What this installation has of what analyzers need."""
        from provenloop.services.pass_settings import CAPABILITIES

        return CAPABILITIES | {"model"} if self.reflection_models is not None else CAPABILITIES

    def outside(self, left_ms: Callable[[], int]) -> Outside:
        """Whom a pass may ask that has so many milliseconds left."""
        from provenloop.entry.telemetry import tell_lost_rows

        return Outside(
            models=self.reflection_models,
            analyzers=self.external_analyzers,
            left_ms=left_ms,
            tell_lost=tell_lost_rows,
        )

    @cached_property
    def tokens(self) -> TokenStore:
        """Minted tokens."""
        from provenloop.adapters.dynamodb.tokens import DynamoTokens

        return DynamoTokens(self.settings.table, pause=self._pause)

    @cached_property
    def wake(self) -> WakeIndex:
        """Memories that are due."""
        from provenloop.adapters.dynamodb.wake import DynamoWakeIndex

        return DynamoWakeIndex(self.settings.table)

    @cached_property
    def queue(self) -> PassQueue:
        """Where passes are asked for."""
        from provenloop.adapters.sqs import SqsPassQueue

        return SqsPassQueue(self.settings.pass_queue_url)

    @cached_property
    def jobs(self) -> JobQueue:
        """Where jobs go on from."""
        from provenloop.adapters.sqs import SqsJobQueue

        return SqsJobQueue(self.settings.job_queue_url)

    @cached_property
    def functions(self) -> LambdaFunctions:
        """The other functions of this installation."""
        from provenloop.adapters.functions import LambdaFunctions

        # Only the function that asks knows their names; in a local stack another one may have made this wiring.
        return LambdaFunctions(read_settings().functions)

    @cached_property
    def reviews(self) -> ReviewWorkflow:
        """The workflow that has recommendations reviewed."""
        from provenloop.adapters.step_functions import StepFunctionsReviews

        return StepFunctionsReviews(self.settings.review_workflow)

    @cached_property
    def notices(self) -> Notices:
        """How reviewers hear that something waits."""
        from provenloop.adapters.notice import SnsNotices

        return SnsNotices(self.settings.notice_topic, self.settings.console_url)

    @cached_property
    def teller(self) -> Teller:
        """Tells waiting workflows what was decided."""
        return Teller(lambda: self.store, lambda: self.reviews)

    @cached_property
    def untolds(self) -> Untolds:
        """Workflows that were not told."""
        from provenloop.adapters.dynamodb.wait_rows import DynamoUntolds

        return DynamoUntolds(self.settings.table, pause=self._pause)

    @cached_property
    def credentials(self) -> Credentials:
        """Who is calling."""
        people = self._person if self.settings.oidc_issuer is not None else None
        return Credentials(self.tokens, self._bootstrap_secret, people)

    def _person(self, token: str, now: int) -> Principal:
        return person_of(self._issuer.claims(token, now), self._claims_table, now)

    @cached_property
    def _issuer(self) -> OidcIssuer:
        # Cryptography costs a cold start dearly, and most callers bring no JWT.
        from provenloop.adapters.oidc.issuer import OidcIssuer

        return OidcIssuer(self.settings.oidc_issuer or "", self.settings.oidc_audience)

    @cached_property
    def _claims_table(self) -> tuple[ClaimRow, ...]:
        return read_table(self.settings.oidc_claims)

    def _bootstrap_secret(self) -> str:
        if self.settings.dev_token is not None:
            return self.settings.dev_token
        from provenloop.adapters.secrets import read_secret

        return read_secret(self.settings.bootstrap_secret)


def _policy_file(path: str) -> PolicySource:
    from provenloop.adapters.policy_source import FilePolicy

    return FilePolicy(Path(path))


def jittered_pause(number: int) -> None:
    """Wait before try ``number`` (from 1): a random part of a span that doubles each time, so that rivals part."""
    time.sleep(random.uniform(0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**number)))  # noqa: S311 - spreads tries, keeps no secret


@dataclass
class _Process:
    current: Wiring | None = None
    entropy: Entropy = secrets.token_bytes


_process = _Process()


def wiring() -> Wiring:
    """The wiring of this process, made from its environment at the first call."""
    if _process.current is None:
        _process.current = Wiring(read_settings(), entropy=_process.entropy)
    return _process.current


def use_wiring(replacement: Wiring | None, *, entropy: Entropy = secrets.token_bytes) -> None:
    """Put another wiring in place; None makes a new one from the environment at the next call.

    Args:
        replacement: what the handlers work with from now on.
        entropy: what the new one draws random bytes from.
    """
    _process.current = replacement
    _process.entropy = entropy
