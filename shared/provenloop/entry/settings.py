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
from typing import Literal, NoReturn

from provenloop.domain.errors import InternalError, ParameterError
from provenloop.domain.model_spec import ModelSpec, read_spec

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
GATEWAY_URL = "PROVENLOOP_GATEWAY_URL"
MODEL = "PROVENLOOP_MODEL"
GROUND_MODEL = "PROVENLOOP_GROUND_MODEL"
MODEL_KEY_SECRET = "PROVENLOOP_MODEL_KEY_SECRET"
EXTERNAL_KEYS_SECRET = "PROVENLOOP_EXTERNAL_KEYS_SECRET"
EMBEDDER = "PROVENLOOP_EMBEDDER"
VECTOR_INDEX = "PROVENLOOP_VECTOR_INDEX"
FUNCTIONS = "PROVENLOOP_FUNCTIONS"
INBOUND_SOURCES = "PROVENLOOP_INBOUND_SOURCES"
INBOX_BUCKET = "PROVENLOOP_INBOX_BUCKET"
INBOX_QUEUE_URL = "PROVENLOOP_INBOX_QUEUE_URL"
NOW = "PROVENLOOP_NOW"
DEV_TOKEN = "PROVENLOOP_DEV_TOKEN"
POLICY_PARAMETER = "POLICY_PARAMETER"
POLICY_FILE = "POLICY_FILE"
LLM_COMMAND = "PROVENLOOP_LLM_CMD"
ANALYZER_COMMANDS = "PROVENLOOP_ANALYZER_CMDS"

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
    GATEWAY_URL,
    MODEL,
    GROUND_MODEL,
    MODEL_KEY_SECRET,
    EXTERNAL_KEYS_SECRET,
    EMBEDDER,
    VECTOR_INDEX,
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_LOG_LEVEL",
)
#: What the template sets for the function that asks others.
ASKING_VARIABLES: tuple[str, ...] = (FUNCTIONS,)
#: What it sets for those that take events without HTTP, and for the one of them that reads files.
INBOUND_VARIABLES: tuple[str, ...] = (INBOUND_SOURCES,)
INBOX_VARIABLES: tuple[str, ...] = (*INBOUND_VARIABLES, INBOX_BUCKET, INBOX_QUEUE_URL)
#: What only a local stack or a test sets; the template never does, and a deployed function refuses to work with it.
LOCAL_VARIABLES: tuple[str, ...] = (NOW, DEV_TOKEN, POLICY_FILE, LLM_COMMAND, ANALYZER_COMMANDS)
#: Lambda sets this, and lets nobody else set it.
_WHERE = "AWS_EXECUTION_ENV"
#: What commands of a local stack do not see: what is ours, and the credentials of its account.
_OURS = ("AWS_", "PROVENLOOP_", "POLICY_", "POWERTOOLS_", "TITW_", "_X_AMZN_")
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
    def distil_model(self) -> ModelSpec:
        """The model that distils, and makes digests."""
        return self._spec(DISTIL_MODEL) or _missing(DISTIL_MODEL)

    @property
    def model(self) -> ModelSpec | None:
        """The model that makes findings; None where none does."""
        return self._spec(MODEL)

    @property
    def ground_model(self) -> ModelSpec | None:
        """The model that checks their evidence; None where the one that makes them does."""
        return self._spec(GROUND_MODEL)

    @property
    def model_url(self) -> str:
        """Where models of Anthropic are asked."""
        return self._need(MODEL_URL)

    @property
    def gateway_url(self) -> str:
        """Where models behind a gateway are asked."""
        return self._need(GATEWAY_URL)

    @property
    def model_key_secret(self) -> str | None:
        """ARN of the secret that holds the keys of the models; None where there is none."""
        return self.values.get(MODEL_KEY_SECRET) or None

    @property
    def external_keys_secret(self) -> str | None:
        """ARN of the secret that holds the keys of external analyzers; None where there is none."""
        return self.values.get(EXTERNAL_KEYS_SECRET) or None

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
    def functions(self) -> Mapping[str, str]:
        """Names in Lambda of the functions that this one asks, by their folders."""
        return dict(pair.split("=", 1) for pair in self._need(FUNCTIONS).split())

    @property
    def inbound_sources(self) -> str:
        """The table of sources of events without HTTP, as JSON; empty where there are none."""
        return self.values.get(INBOUND_SOURCES) or ""

    @property
    def inbox_bucket(self) -> str:
        """Name of the bucket that holds files of events."""
        return self._need(INBOX_BUCKET)

    @property
    def inbox_queue_url(self) -> str:
        """URL of the queue that tells of files, and asks to read on."""
        return self._need(INBOX_QUEUE_URL)

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

    @property
    def llm_command(self) -> str | None:
        """The command that stands in for all models of passes in a local stack."""
        return self.values.get(LLM_COMMAND) or None

    @property
    def analyzer_commands(self) -> tuple[str, ...]:
        """The commands that are external analyzers of a local stack, one a line."""
        lines = (line.strip() for line in self.values.get(ANALYZER_COMMANDS, "").splitlines())
        return tuple(line for line in lines if line)

    def _spec(self, name: str) -> ModelSpec | None:
        text = self.values.get(name)
        try:
            return read_spec(text, field=name) if text else None
        except ParameterError as error:
            raise InternalError(f"the environment variable {name}: {error.message}") from error

    def _need(self, name: str) -> str:
        value = self.values.get(name)
        return value or _missing(name)


def _missing(name: str) -> NoReturn:
    raise InternalError(f"the environment variable {name} is not set")


def read_settings() -> Settings:
    """The settings of this process's environment, as it is now.

    Raises:
        InternalError: this is a deployed function, and something is set that only a local stack may have.
    """
    names = (*TEMPLATE_VARIABLES, *ASKING_VARIABLES, *INBOX_VARIABLES, *LOCAL_VARIABLES, *RECIPE_VARIABLES)
    found = {name: os.environ[name] for name in names if name in os.environ}
    if os.environ.get(_WHERE, "").startswith("AWS_Lambda"):
        for name in found.keys() & set(LOCAL_VARIABLES):
            raise InternalError(f"the environment variable {name} is for local stacks only")
    return Settings(found)


def variables_of_commands() -> dict[str, str]:
    """What a command of a local stack sees of the environment as it is now."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
