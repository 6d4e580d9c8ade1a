"""Each function may do what its work needs and nothing else, told apart by partition."""

from collections.abc import Iterator

import pytest

from provenloop.adapters.dynamodb import keys
from provenloop.domain.names import MemoryId
from provenloop.entry.local.account import ACCOUNT, REGION
from tests.template.reading import FUNCTIONS, TEMPLATE
from tests.template.rights import CHANGES, READS, TABLE_ARN, allows, statements

MEMORY = MemoryId("acme", "demo")
CLASSES = ("HEAD", "LOG", "GRAIN", "INDEX", "LOOP", "RECIPE", "AUDIT", "NOTE", "OUTBOX", "REPLAY", "LESSON")

#: A partition key of every kind the table has, made by the module that makes them all.
PARTITIONS = {
    **{name: keys.partition(MEMORY, name) for name in CLASSES},
    "REG": keys.registry("acme"),
    "TOKEN": keys.token("0" * 64).pk,
}
INDEXES = {
    "queue": keys.queue_partition(MEMORY, "pending"),
    "due": keys.wake_partition(3),
    "bytime": keys.outbox_partition(3),
    "bytime of memories": keys.MEMORIES,
    "bytime of tenants": keys.TENANTS,
    "queue of cards": keys.card_partition(MEMORY, "armed"),
    "bytime of lessons": keys.stream_partition(MEMORY),
    "bytime of applied lessons": keys.applied_partition(MEMORY),
}

ACTIONS = READS | CHANGES | {
    "Scan", "BatchWriteItem", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete",
    "TransactGetItems", "TransactWriteItems",
}  # fmt: skip

#: What recording events needs, however they came in.
RECORDING = {
    "HEAD": frozenset({"GetItem", "Query", "UpdateItem"}),
    "LOG": frozenset({"PutItem"}),
    "GRAIN": frozenset({"BatchGetItem", "PutItem", "UpdateItem"}),
    "INDEX": frozenset({"PutItem"}),
    "REPLAY": frozenset({"PutItem"}),
}
#: Everything a function may do to the table. What is not listed is refused.
EXPECTED: dict[str, dict[str, frozenset[str]]] = {
    "ingest": {
        "TOKEN": frozenset({"GetItem"}),
        **RECORDING,
    },
    "inbound": RECORDING,
    "inbox": RECORDING,
    "analyze": {
        "TOKEN": frozenset({"GetItem"}),
        "HEAD": frozenset({"GetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem"}),
        "LOG": frozenset({"BatchGetItem", "Query", "PutItem"}),
        "GRAIN": frozenset({"BatchGetItem", "Query", "PutItem", "UpdateItem"}),
        "INDEX": frozenset({"BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem", "ConditionCheckItem"}),
        "AUDIT": frozenset({"PutItem"}),
        "OUTBOX": frozenset({"PutItem", "DeleteItem"}),
        "NOTE": frozenset({"BatchGetItem", "PutItem"}),
        "LESSON": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}),
        "RECIPE": frozenset({"PutItem"}),
    },
    "apply": {
        "TOKEN": frozenset({"GetItem"}),
        "HEAD": frozenset({"Query", "UpdateItem"}),
        "LOG": frozenset({"Query", "PutItem"}),
        "GRAIN": frozenset(
            {
                "GetItem",
                "BatchGetItem",
                "Query",
                "PutItem",
                "UpdateItem",
                "DeleteItem",
                "ConditionCheckItem",
            }
        ),
        "INDEX": frozenset({"BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "RECIPE": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "AUDIT": frozenset({"PutItem"}),
        "NOTE": frozenset({"Query", "PutItem", "DeleteItem"}),
        "OUTBOX": frozenset({"PutItem", "DeleteItem"}),
        "REPLAY": frozenset({"GetItem", "PutItem"}),
        "LESSON": frozenset({"GetItem", "Query", "UpdateItem", "DeleteItem"}),
    },
    "loop_api": {
        "TOKEN": frozenset({"GetItem", "BatchGetItem", "PutItem", "ConditionCheckItem"}),
        "REG": frozenset({"Query", "PutItem"}),
        "HEAD": frozenset({"GetItem", "Query", "PutItem", "UpdateItem"}),
        "LOG": frozenset({"BatchGetItem", "Query", "PutItem"}),
        "GRAIN": frozenset({"BatchGetItem", "Query", "PutItem"}),
        "INDEX": frozenset({"BatchGetItem", "Query", "PutItem"}),
        "LOOP": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem"}),
        "AUDIT": frozenset({"Query", "PutItem"}),
        "NOTE": frozenset({"Query", "PutItem"}),
        "OUTBOX": frozenset({"PutItem", "DeleteItem"}),
        "REPLAY": frozenset({"GetItem", "PutItem"}),
        "LESSON": frozenset({"Query"}),
        "RECIPE": frozenset({"Query"}),
    },
    "lessons": {
        "TOKEN": frozenset({"GetItem"}),
        "HEAD": frozenset({"GetItem", "Query", "UpdateItem"}),
        "LOG": frozenset({"Query", "PutItem"}),
        "GRAIN": frozenset({"BatchGetItem", "PutItem"}),
        "INDEX": frozenset({"BatchGetItem", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "Query", "PutItem"}),
        "AUDIT": frozenset({"Query", "PutItem"}),
        "NOTE": frozenset({"Query", "PutItem"}),
        "OUTBOX": frozenset({"PutItem", "DeleteItem"}),
        "REPLAY": frozenset({"GetItem", "PutItem"}),
        "RECIPE": frozenset({"PutItem"}),
        "LESSON": frozenset(
            {"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"}
        ),
    },
    "jobs": {
        "TOKEN": frozenset({"GetItem"}),
        "REG": frozenset({"GetItem", "PutItem"}),
        "HEAD": frozenset({"Query", "UpdateItem", "DeleteItem"}),
        "LOG": frozenset({"Query", "PutItem", "DeleteItem"}),
        "GRAIN": frozenset({"BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"}),
        "INDEX": frozenset({"BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "Query", "PutItem", "DeleteItem"}),
        "RECIPE": frozenset({"Query", "DeleteItem"}),
        "AUDIT": frozenset({"PutItem"}),
        "NOTE": frozenset({"Query", "PutItem", "DeleteItem"}),
        "REPLAY": frozenset({"Query", "DeleteItem"}),
        "OUTBOX": frozenset({"Query", "DeleteItem"}),
        "LESSON": frozenset({"Query", "DeleteItem"}),
    },
    "recipes": {
        "TOKEN": frozenset({"GetItem"}),
        "HEAD": frozenset({"GetItem", "BatchGetItem", "Query"}),
        "RECIPE": frozenset({"GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "PutItem"}),
        "AUDIT": frozenset({"Query", "PutItem"}),
        "NOTE": frozenset({"Query", "PutItem", "DeleteItem"}),
        "OUTBOX": frozenset({"PutItem", "DeleteItem"}),
        "REPLAY": frozenset({"GetItem", "PutItem"}),
    },
    "mcp": {
        "TOKEN": frozenset({"GetItem"}),
    },
    "distil": {
        "HEAD": frozenset({"GetItem", "Query"}),
        "RECIPE": frozenset({"GetItem", "BatchGetItem", "PutItem", "DeleteItem"}),
        "LOOP": frozenset({"GetItem", "PutItem"}),
        "AUDIT": frozenset({"PutItem"}),
    },
    "approval": {
        "LOOP": frozenset({"BatchGetItem", "Query", "PutItem"}),
    },
    "dispatch": {
        "HEAD": frozenset({"UpdateItem"}),
        "OUTBOX": frozenset({"BatchGetItem", "DeleteItem"}),
    },
    "anchor": {
        "LOOP": frozenset({"Query"}),
    },
}
EXPECTED_INDEXES = {
    "ingest": frozenset[str](),
    "inbound": frozenset[str](),
    "inbox": frozenset[str](),
    "analyze": frozenset[str](),
    "apply": frozenset[str](),
    "loop_api": frozenset({"queue"}),
    "lessons": frozenset({"queue", "queue of cards", "bytime of lessons", "bytime of applied lessons"}),
    "jobs": frozenset[str](),
    "recipes": frozenset[str](),
    "distil": frozenset[str](),
    "mcp": frozenset[str](),
    "approval": frozenset[str](),
    "dispatch": frozenset({"due", "bytime"}),
    "anchor": frozenset({"bytime of memories", "bytime of tenants"}),
}
BOOTSTRAP_TOKEN = ("secretsmanager:GetSecretValue", "Secret")
HOST_POLICY, NAMES = (("ssm:GetParameter", name) for name in ("Policy", "Names of the policy"))
BEGIN_JOB = ("sqs:SendMessage", "JobQueue")
PUBLISH = ("events:PutEvents", "EventBus")
TELL = ("states:SendTaskSuccess", "Any")
ASKED = ("Ingest", "LoopApi", "Analyze", "Apply", "Lessons", "Recipes")
START_REVIEW = ("states:StartExecution", "Reviews")
OTHER_RIGHTS = {
    "ingest": frozenset({BOOTSTRAP_TOKEN, HOST_POLICY, NAMES}),
    "inbound": frozenset({HOST_POLICY, NAMES}),
    "inbox": frozenset(
        {
            HOST_POLICY,
            NAMES,
            ("s3:GetObject", "Files"),
            ("s3:GetObject", "Reports"),
            ("s3:PutObject", "Reports"),
            ("s3:ListBucket", "InboxBucket"),
            ("sqs:SendMessage", "InboxQueue"),
        }
    ),
    "analyze": frozenset({BOOTSTRAP_TOKEN, HOST_POLICY, NAMES, PUBLISH, TELL}),
    "loop_api": frozenset({BOOTSTRAP_TOKEN, HOST_POLICY, NAMES, PUBLISH, TELL, START_REVIEW}),
    "apply": frozenset({BOOTSTRAP_TOKEN, PUBLISH, TELL, BEGIN_JOB}),
    "jobs": frozenset({BOOTSTRAP_TOKEN, BEGIN_JOB}),
    "lessons": frozenset({BOOTSTRAP_TOKEN, HOST_POLICY, NAMES, PUBLISH}),
    "recipes": frozenset({BOOTSTRAP_TOKEN, HOST_POLICY, NAMES, PUBLISH, ("sqs:SendMessage", "DistilQueue")}),
    "distil": frozenset({HOST_POLICY, NAMES}),
    "mcp": frozenset({BOOTSTRAP_TOKEN, *(("lambda:InvokeFunction", name) for name in ASKED)}),
    "anchor": frozenset({("s3:ListBucket", "AnchorBucket"), ("s3:PutObject", "Anchors")}),
    "approval": frozenset({HOST_POLICY, NAMES, TELL, START_REVIEW, ("sns:Publish", "Notices")}),
    "dispatch": frozenset({("sqs:SendMessage", "PassQueue"), PUBLISH, TELL}),
}

POLICY = f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter"
#: Objects are named by the days to come, or by whoever puts them; nothing else may be named by a pattern.
ANCHORS = f"{TEMPLATE.attribute('AnchorBucket', 'Arn')}/anchors/*"
FILES, REPORTS = (f"{TEMPLATE.attribute('InboxBucket', 'Arn')}/{prefix}/*" for prefix in ("inbox", "reports"))

each_function = pytest.mark.parametrize("folder", sorted(FUNCTIONS))


@each_function
def test_a_function_may_do_to_each_partition_exactly_what_its_work_needs(folder: str) -> None:
    granted = {
        name: frozenset(action for action in ACTIONS if allows(folder, action, [key]))
        for name, key in PARTITIONS.items()
    }

    assert {name: actions for name, actions in granted.items() if actions} == EXPECTED[folder]


@each_function
def test_a_function_may_query_only_the_index_it_works_from(folder: str) -> None:
    granted = {
        (index, action)
        for index, key in INDEXES.items()
        for action in ACTIONS
        if allows(folder, action, [key], index=index.split()[0])
    }

    assert granted == {(index, "Query") for index in EXPECTED_INDEXES[folder]}


@each_function
def test_an_index_right_is_no_right_to_the_partitions_of_another_kind(folder: str) -> None:
    own = EXPECTED_INDEXES[folder]
    for index in INDEXES:
        alike = {name for name in own if name.split()[0] == index.split()[0]}
        strangers = [key for name, key in (PARTITIONS | INDEXES).items() if name not in {index, *alike}]
        assert index not in own or not any(allows(folder, "Query", [key], index=index.split()[0]) for key in strangers)


@each_function
def test_one_batch_read_may_span_every_class_the_function_batch_reads(folder: str) -> None:
    batched = [PARTITIONS[name] for name, actions in EXPECTED[folder].items() if "BatchGetItem" in actions]

    assert not batched or allows(folder, "BatchGetItem", batched)


@each_function
def test_one_foreign_key_in_a_batch_read_refuses_the_whole(folder: str) -> None:
    batched = [PARTITIONS[name] for name, actions in EXPECTED[folder].items() if "BatchGetItem" in actions]

    assert not allows(folder, "BatchGetItem", [*batched, PARTITIONS["REG"]])


@each_function
def test_audit_text_is_never_changed_by_anyone(folder: str) -> None:
    for action in ("UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLUpdate", "PartiQLDelete"):
        assert not allows(folder, action, [PARTITIONS["AUDIT"]])


@each_function
def test_no_right_on_the_table_is_without_a_partition_or_broader_than_one_table(folder: str) -> None:
    allowed = {TABLE_ARN, *(f"{TABLE_ARN}/index/{index.split()[0]}" for index in INDEXES)}
    for statement in statements(folder):
        if any(action.startswith("dynamodb:") for action in statement.actions):
            assert statement.resources <= allowed
            assert statement.partitions


@each_function
def test_no_right_holds_a_wildcard(folder: str) -> None:
    for statement in statements(folder):
        # A callback token is itself what it gives a right to: AWS knows no resource for it.
        named_by_nothing = {"*"} if statement.actions == {"states:SendTaskSuccess"} else set()
        patterns = {ANCHORS, FILES, REPORTS, f"{POLICY}-names-?", *named_by_nothing}
        named = (*statement.actions, *(statement.resources - patterns))
        assert not [each for each in named if "*" in each or "?" in each]


@each_function
def test_a_function_has_the_other_rights_it_needs_and_no_more(folder: str) -> None:
    expected = {(action, _ARNS[name]) for action, name in OTHER_RIGHTS[folder]}

    assert set(_others(folder)) == expected


@each_function
def test_a_function_has_a_role_of_its_own(folder: str) -> None:
    # SAM makes one role for each function that names none, and puts the function's policies on it.
    assert "Role" not in FUNCTIONS[folder].raw


_ARNS = {
    "Secret": TEMPLATE.attribute("BootstrapSecret", "Id"),
    "PassQueue": TEMPLATE.attribute("PassQueue", "Arn"),
    "Policy": POLICY,
    "Names of the policy": f"{POLICY}-names-?",
    "EventBus": TEMPLATE.attribute("EventBus", "Arn"),
    "JobQueue": TEMPLATE.attribute("JobQueue", "Arn"),
    "DistilQueue": TEMPLATE.attribute("DistilQueue", "Arn"),
    "AnchorBucket": TEMPLATE.attribute("AnchorBucket", "Arn"),
    "Anchors": ANCHORS,
    "InboxBucket": TEMPLATE.attribute("InboxBucket", "Arn"),
    "InboxQueue": TEMPLATE.attribute("InboxQueue", "Arn"),
    "Files": FILES,
    "Reports": REPORTS,
    "Any": "*",
    **{name: TEMPLATE.attribute(f"{name}Function", "Arn") for name in ASKED},
    "Reviews": TEMPLATE.attribute("ReviewApproval", "Arn"),
    "Notices": TEMPLATE.attribute("NoticeTopic", "TopicArn"),
}


def _others(folder: str) -> Iterator[tuple[str, str]]:
    for statement in statements(folder):
        for action in statement.actions:
            if not action.startswith("dynamodb:"):
                yield from ((action, resource) for resource in statement.resources)
