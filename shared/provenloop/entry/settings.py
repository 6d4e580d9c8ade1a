"""Settings: what the environment says, read once a process.

Invariants: nothing but this module and ``clock`` reads the environment; importing never fails for a missing variable,
the first use does, and names it. Values never change while a process lives.

Powertools reads its own three variables (service name, metrics namespace, log level); they are listed here because the
template must set them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from provenloop.domain.errors import InternalError

TABLE = "PROVENLOOP_TABLE"
PASS_QUEUE_URL = "PROVENLOOP_PASS_QUEUE_URL"
EVENT_BUS = "PROVENLOOP_EVENT_BUS"
JOB_QUEUE_URL = "PROVENLOOP_JOB_QUEUE_URL"
ANCHOR_BUCKET = "PROVENLOOP_ANCHOR_BUCKET"
ANCHOR_KEY = "PROVENLOOP_ANCHOR_KEY"
BOOTSTRAP_SECRET = "PROVENLOOP_BOOTSTRAP_SECRET"
OIDC_ISSUER = "PROVENLOOP_OIDC_ISSUER"
OIDC_AUDIENCE = "PROVENLOOP_OIDC_AUDIENCE"
OIDC_CLAIMS = "PROVENLOOP_OIDC_CLAIMS"
REVIEW_WORKFLOW = "PROVENLOOP_REVIEW_WORKFLOW"
NOTICE_TOPIC = "PROVENLOOP_NOTICE_TOPIC"
CONSOLE_URL = "PROVENLOOP_CONSOLE_URL"
DISTIL_QUEUE_URL = "PROVENLOOP_DISTIL_QUEUE_URL"
DISTIL_MODEL = "PROVENLOOP_DISTIL_MODEL"
MODEL_URL = "PROVENLOOP_MODEL_URL"
MODEL_KEY_SECRET = "PROVENLOOP_MODEL_KEY_SECRET"
EMBEDDER = "PROVENLOOP_EMBEDDER"
VECTOR_INDEX = "PROVENLOOP_VECTOR_INDEX"
NOW = "PROVENLOOP_NOW"
DEV_TOKEN = "PROVENLOOP_DEV_TOKEN"
POLICY_PARAMETER = "POLICY_PARAMETER"
POLICY_FILE = "POLICY_FILE"

#: What the template sets for every function.
TEMPLATE_VARIABLES: tuple[str, ...] = (
    TABLE,
    PASS_QUEUE_URL,
    EVENT_BUS,
    JOB_QUEUE_URL,
    ANCHOR_BUCKET,
    ANCHOR_KEY,
    BOOTSTRAP_SECRET,
    OIDC_ISSUER,
    OIDC_AUDIENCE,
    OIDC_CLAIMS,
    POLICY_PARAMETER,
    REVIEW_WORKFLOW,
    NOTICE_TOPIC,
    CONSOLE_URL,
    DISTIL_QUEUE_URL,
    DISTIL_MODEL,
    MODEL_URL,
    MODEL_KEY_SECRET,
    EMBEDDER,
    VECTOR_INDEX,
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_LOG_LEVEL",
)
#: What only a local stack or a test sets; the template never does.
LOCAL_VARIABLES: tuple[str, ...] = (NOW, DEV_TOKEN, POLICY_FILE)
#: What an operator may set by hand: the settings of recipes for all memories that set none themselves.
RECIPE_VARIABLES: tuple[str, ...] = (
    "TITW_RECIPES_ENABLED",
    "TITW_EMBEDDER",
    "TITW_SEMANTIC_THRESHOLD",
    "TITW_COMPOSER_FLOOR",
    "TITW_COMPOSER_MIN_CONFIDENCE",
    "TITW_COMPOSER_TIMEOUT_MS",
    "TITW_COMPOSER_MODEL",
    "TITW_COMPOSER_DISABLED",
    "TITW_NEAR_MISS_LOGGING",
    "TITW_TIMEOUT_MS",
    "TITW_K",
    "TITW_RECIPE_TTL_DAYS",
)
BUILT_IN = "built-in"
_TITAN: Mapping[str, Literal[256, 512, 1024]] = {"titan-256": 256, "titan-512": 512, "titan-1024": 1024}


@dataclass(frozen=True, slots=True)
class Settings:
    """The variables as they were found. An empty one counts as missing."""

    values: Mapping[str, str]

    @property
    def table(self) -> str:
        """Name of the DynamoDB table."""
        return self._need(TABLE)

    @property
    def pass_queue_url(self) -> str:
        """URL of the queue that asks for passes."""
        return self._need(PASS_QUEUE_URL)

    @property
    def event_bus(self) -> str:
        """Name of the EventBridge bus that events are published on."""
        return self._need(EVENT_BUS)

    @property
    def job_queue_url(self) -> str:
        """URL of the queue that jobs go on from."""
        return self._need(JOB_QUEUE_URL)

    @property
    def anchor_bucket(self) -> str:
        """Name of the bucket that keeps anchors."""
        return self._need(ANCHOR_BUCKET)

    @property
    def anchor_key(self) -> str | None:
        """ARN of the KMS key that signs anchors; None where they are not signed."""
        return self.values.get(ANCHOR_KEY) or None

    @property
    def bootstrap_secret(self) -> str:
        """ARN of the secret that holds the bootstrap admin token."""
        return self._need(BOOTSTRAP_SECRET)

    @property
    def oidc_issuer(self) -> str | None:
        """Address of the OIDC issuer of people; None where people have tokens only."""
        return self.values.get(OIDC_ISSUER) or None

    @property
    def oidc_audience(self) -> str:
        """What the JWTs of people must have as audience."""
        return self._need(OIDC_AUDIENCE)

    @property
    def oidc_claims(self) -> str:
        """The table of claims, as JSON."""
        return self._need(OIDC_CLAIMS)

    @property
    def review_workflow(self) -> str:
        """ARN of the state machine that has recommendations reviewed."""
        return self._need(REVIEW_WORKFLOW)

    @property
    def notice_topic(self) -> str:
        """ARN of the topic of notices to reviewers."""
        return self._need(NOTICE_TOPIC)

    @property
    def console_url(self) -> str | None:
        """Address of the console that notices lead to; None where none is known."""
        return self.values.get(CONSOLE_URL) or None

    @property
    def distil_queue_url(self) -> str:
        """URL of the queue that distillations go on from."""
        return self._need(DISTIL_QUEUE_URL)

    @property
    def distil_model(self) -> str:
        """The model that distils."""
        return self._need(DISTIL_MODEL)

    @property
    def model_url(self) -> str:
        """Where models are asked."""
        return self._need(MODEL_URL)

    @property
    def model_key_secret(self) -> str | None:
        """ARN of the secret that holds the key of the models; None where they are off."""
        return self.values.get(MODEL_KEY_SECRET) or None

    @property
    def titan_dimensions(self) -> Literal[256, 512, 1024] | None:
        """How long the vectors are that Bedrock makes of requests; None where the built-in embedder does.

        Raises:
            InternalError: the variable names no embedder.
        """
        named = self.values.get(EMBEDDER) or BUILT_IN
        if named != BUILT_IN and named not in _TITAN:
            raise InternalError(f"{EMBEDDER} names no embedder")
        return _TITAN.get(named)

    @property
    def vector_index(self) -> str | None:
        """Name of the table's own vector index; None where vectors are items of the table."""
        return self.values.get(VECTOR_INDEX) or None

    @property
    def dev_token(self) -> str | None:
        """The bootstrap admin token of a local stack, instead of the secret."""
        return self.values.get(DEV_TOKEN) or None

    @property
    def policy_parameter(self) -> str | None:
        """Name of the SSM parameter that holds the host policy; None where the installation has none."""
        return self.values.get(POLICY_PARAMETER) or None

    @property
    def policy_file(self) -> str | None:
        """Path of the file that holds the host policy of a local stack, instead of the parameter."""
        return self.values.get(POLICY_FILE) or None

    def _need(self, name: str) -> str:
        value = self.values.get(name)
        if not value:
            raise InternalError(f"the environment variable {name} is not set")
        return value


def read_settings() -> Settings:
    """The settings of this process's environment, as it is now."""
    names = (*TEMPLATE_VARIABLES, *LOCAL_VARIABLES, *RECIPE_VARIABLES)
    return Settings({name: os.environ[name] for name in names if name in os.environ})
