"""Every key of the one table. No other module builds or takes apart a key.

Long on purpose: the table below is the one place that tells what is read how, and it is complete and free of collisions
only as long as every key is made here. Each function is one line.

``M`` = ``T#<tenant>#M#<memory>``. Each class of items has a partition of its own, so that IAM can separate the
functions' rights by leading key. Free text never stands in a key: it enters as a digest under the memory's key.
Numbers are padded to 12 digits, instants (epoch ms) to 15.

| question | read | partition | sort key |
|---|---|---|---|
| what is new, who holds the lease, when is something due? | one query | M#HEAD | begins_with ``0#`` |
| what did an admin set? | get | M#HEAD | ``1#CONFIG`` |
| take the next number | update | M#HEAD | ``0#LOG`` |
| entries after a number | query | M#LOG | ``L#<seq>`` between |
| one grain; one entity; one (subject, relation) | get; query | M#GRAIN | ``<address>``; its first 8 or 16 characters |
| a grain's earlier versions | query | M#GRAIN | begins_with ``H#<address>#`` |
| what a grain superseded | query | M#GRAIN | begins_with ``P#<address>#`` |
| one tool's window | query | M#INDEX | ``R#TOOL#<tool key>#<day>[#<signature>]`` between |
| how often was one question asked? | query | M#INDEX | ``R#ASK#<question>#<day>`` between |
| how full were contexts? | query | M#INDEX | ``R#BUDGET#<day>`` between |
| how often was a grain read? | get | M#INDEX | ``R#READ#<address>`` |
| which texts hold a term, which remarks a word or a citation? | get | M#INDEX | ``W#<term digest>`` |
| single recalls | query | M#INDEX | begins_with ``R#RECALL#`` |
| what is due | query | M#INDEX | ``D#<instant>#<what>#<ref>`` up to now |
| what may be like this text? | query | M#INDEX | ``N#<token>#<size>#<address>`` between |
| where is a text indexed? | get | M#INDEX | ``NT#<address>`` |
| the oldest grains of a namespace | query | M#INDEX | ``AG#<family>#<namespace>#<instant>#<address>`` |
| how many there are | get | M#INDEX | ``AC#<family>#<namespace>`` |
| one recommendation; those of a prefix | get; query | M#LOOP | ``REC#<id>``; begins_with |
| dedup keys of one group | query | M#LOOP | begins_with ``KEY#<group>#`` |
| checkpoints of a recommendation | query | M#LOOP | begins_with ``CHK#<id>#`` |
| a recommendation and one of its checkpoints | batch get | M#LOOP | ``REC#<id>``, ``CHK#<id>#<horizon>`` |
| all checkpoints | query | M#LOOP | begins_with ``CHK#`` |
| what did not hold; one of it | query; get | M#LOOP | begins_with ``REGR#``; ``REGR#<id>`` |
| all counting watches | query | M#LOOP | begins_with ``WATCH#`` |
| what somebody outside said; the newest of it | batch get; query, backwards | M#LOOP | ``REMARK#<name>``; begins_with |
| how far has an outside analyzer looked? | get | M#LOOP | ``LOOKED#<family>`` |
| inverse of an apply; outcome of a pass | get | M#LOOP | ``UNDO#<id>``; ``RUN#<id>`` |
| the audit chain of a subject; all chains | query | M#AUDIT | begins_with ``<subject>#``; all |
| the reasons of a subject | query | M#NOTE | begins_with ``<subject>#`` |
| where a chain ends that no recommendation ends; all | get; query | M#LOOP | ``END#<subject>``; begins_with |
| one event that waits to be published | get | M#OUTBOX | ``<audit id>`` |
| what is left of a memory that is erased; all it holds | query | each but M#AUDIT | all |
| one job | get | M#LOOP | ``JOB#<id>`` |
| one distillation; what it is made of | get | M#RECIPE | ``DIS#<id>``; ``ENV#<id>`` |
| what models cost and recipes saved | query | M#RECIPE | ``LED#<instant>#<id>`` between |
| has this request been answered? | get | M#REPLAY | ``<digest>`` |
| the review queue of one status | query of index ``queue`` | M#Q#<status> | ``<3 - severity>#<created>#<id>`` |
| memories with something to do | query of index ``due`` | WAKE#<shard> | instant up to now |
| events that wait to be published | query of index ``bytime`` | OUTBOX#<shard> | ``<instant>#<audit id>`` |
| every memory of every tenant | query of index ``bytime`` | MEMORIES | ``<tenant>#<name>`` |
| every tenant that has a chain of its own | queries of index ``bytime`` | TENANTS | ``<tenant>#<subject>`` |
| one memory, also when it was erased | get | T#<tenant>#REG | ``MEM#<name>`` |
| which executions wait for a recommendation? | query | M#LOOP | begins_with ``WAIT#<id>#`` |
| what is an execution to be told? | get | M#OUTBOX | ``CALL#<audit id>#<execution>`` |
| executions that were not told yet | query of index ``bytime`` | OUTBOX#CALL#<shard> | ``<instant>#<audit id>`` |
| one card; those of a prefix; all | get; query | M#LESSON | ``CARD#<id>``; begins_with |
| the newest evidence of a card | query, backwards | M#LESSON | begins_with ``CEV#<card>#`` |
| the rules of a project, newest first | query, backwards | M#LESSON | begins_with ``RULES#<project key>#`` |
| the lessons of a project, newest first | query, backwards | M#LESSON | begins_with ``LINE#<project key>#`` |
| all lessons of a memory, newest first | query of index ``bytime``, backwards | M#LINES | ``<seq>`` |
| applied lessons, newest first | query of index ``bytime``, backwards | M#APPLIED | ``<instant>#<address>`` |
| one session, its rules, what it followed and broke | query | M#LESSON | begins_with ``SES#<session>`` |
| in which sessions was a card followed? | query | M#LESSON | begins_with ``CPS#<card>#`` |
| cards by status and project | query of index ``queue`` | M#C#<status> | ``<project key>#<created>#<id>`` |
| a tenant's memories, labels | query, get | T#<tenant>#REG | ``MEM#<name>``, ``LABEL#<label digest>``, ``TOK#<id>`` |
| the recipe of a request; of a scope; of a memory | get; query | M#RECIPE | ``RCP#<scope>#<signature>``; begins_with |
| what a recipe said before | query | M#RECIPE | begins_with ``RCV#<scope>#<signature>#`` |
| may a recipe serve a request? | batch get | M#RECIPE, M#HEAD | ``RCP#..``, ``0#LOG``, ``1#CONFIG`` |
| what was said of a recipe's hits; of one | query; get | M#RECIPE | ``FBK#<scope>#<signature>#<hit>`` |
| has a scope's index of vectors moved? | get | M#RECIPE | ``VEC#<scope>#<space>#HEAD`` |
| how far has a scope vectors, by embedder? | get | M#RECIPE | ``VEC#<scope>#UPTO`` |
| the vectors of a scope | batch get | M#RECIPE | ``VEC#<scope>#<space>#R#<n>`` |
| the vector of a recipe, where the store indexes it | get | M#RECIPE | ``VEC#<scope>#<space>#I#<signature>`` |
| a token | get | TOKEN#<sha256> | ``TOKEN`` |
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from provenloop.domain.names import MemoryId

WAKE_SHARDS = 8
HEADS_PREFIX = "0#"
LOG_HEAD = "0#LOG"
PASS_HEAD = "0#PASS"
TIMER_HEAD = "0#TIMER"
CONFIG = "1#CONFIG"
TOKEN_SORT = "TOKEN"
RECOMMENDATION_PREFIX = "REC#"
WATCH_PREFIX = "WATCH#"
CHECKPOINT_PREFIX = "CHK#"
REGRESSION_PREFIX = "REGR#"
REMARK_PREFIX = "REMARK#"
CHAIN_END_PREFIX = "END#"
CARD_PREFIX = "CARD#"
RULE_PREFIX = "RULES#"
LESSON_PREFIX = "LINE#"
SESSION_PREFIX = "SES#"
MEMORY_PREFIX = "MEM#"
RECIPE_PREFIX = "RCP#"
RECIPE_VERSION_PREFIX = "RCV#"
DISTILLATION_PREFIX = "DIS#"
LEDGER_PREFIX = "LED#"
TOKEN_ID_PREFIX = "TOK#"
#: Hash of index ``bytime`` for the registry rows of all memories.
MEMORIES = "MEMORIES"
#: Hash of index ``bytime`` for the chains of tenants themselves.
TENANTS = "TENANTS"
TOOL_PREFIX = "R#TOOL#"
ASK_PREFIX = "R#ASK#"
READ_PREFIX = "R#READ#"
RECALL_PREFIX = "R#RECALL#"
#: Sorts after every digit, letter and '#': the upper end of a range of sort keys.
LAST = "~"
#: Behind a sort key: sorts after that key and before every longer one of printable characters.
FIRST_AFTER = "\x01"


class Key(NamedTuple):
    """Primary key of one item."""

    pk: str
    sk: str


def number(value: int) -> str:
    """A count or revision inside a sort key."""
    return f"{value:012d}"


def instant(at: int) -> str:
    """An instant (epoch ms) inside a sort key."""
    return f"{at:015d}"


def memory_prefix(memory: MemoryId) -> str:
    """What all partitions of one memory begin with."""
    return f"T#{memory.tenant}#M#{memory.name}"


def partition(memory: MemoryId, item_class: str) -> str:
    """The partition of one item class: HEAD, LOG, GRAIN, INDEX, LOOP, RECIPE, AUDIT, NOTE, OUTBOX, REPLAY, LESSON."""
    return f"{memory_prefix(memory)}#{item_class}"


def memory_of(pk: str) -> MemoryId:
    """The memory a partition key belongs to (names hold no ``#``)."""
    _, tenant, _, name, *_ = pk.split("#")
    return MemoryId(tenant, name)


def registry(tenant: str) -> str:
    """The partition of a tenant's own items."""
    return f"T#{tenant}#REG"


def memory_row(memory: MemoryId) -> Key:
    """A memory in its tenant's registry."""
    return Key(registry(memory.tenant), f"{MEMORY_PREFIX}{memory.name}")


def token(digest: str) -> Key:
    """A token, found by the SHA-256 of its secret."""
    return Key(f"TOKEN#{digest}", TOKEN_SORT)


def token_id(tenant: str, token_id: str) -> Key:
    """Where a tenant's token is found by its id."""
    return Key(registry(tenant), f"{TOKEN_ID_PREFIX}{token_id}")


def label(tenant: str, text: str) -> Key:
    """The claim on a token label."""
    return Key(registry(tenant), f"LABEL#{sha256(text.encode()).hexdigest()[:32]}")


def log_entry(seq: int) -> str:
    """Sort key of a log entry."""
    return f"L#{number(seq)}"


def seq_of(sort: str) -> int:
    """The number of a log entry, from its sort key."""
    return int(sort.removeprefix("L#"))


def history(address: str, head_rev: int) -> str:
    """Sort key of a grain's earlier version."""
    return f"{history_prefix(address)}{number(head_rev)}"


def history_prefix(address: str) -> str:
    """What the sort keys of all earlier versions of a grain begin with."""
    return f"H#{address}#"


def predecessors(address: str, seq: int) -> str:
    """Sort key of what one commit superseded by a grain."""
    return f"{predecessors_of(address)}{number(seq)}"


def predecessors_of(address: str) -> str:
    """What the sort keys of everything superseded by a grain begin with."""
    return f"P#{address}#"


def tool_day(tool_key: str, day: str) -> str:
    """Sort key of a tool's totals of one UTC day."""
    return f"{TOOL_PREFIX}{tool_key}#{day}"


def tool_key_of(sort: str) -> str:
    """The tool a rollup row belongs to."""
    return sort.removeprefix(TOOL_PREFIX).split("#", 1)[0]


def signature_day(tool_key: str, day: str, signature: str) -> str:
    """Sort key of one signature's counts of one UTC day."""
    return f"{tool_day(tool_key, day)}#{signature}"


def ask_day(question: str, day: str) -> str:
    """Sort key of one question's counts of one UTC day."""
    return f"{ASK_PREFIX}{question}#{day}"


def question_of(sort: str) -> str:
    """The question that counts belong to."""
    return sort.removeprefix(ASK_PREFIX).split("#", 1)[0]


def assembly_day(day: str) -> str:
    """Sort key of the contexts assembled on one UTC day."""
    return f"R#BUDGET#{day}"


def read_days(address: str) -> str:
    """Sort key of how often one grain was read."""
    return f"{READ_PREFIX}{address}"


def term(digest: str) -> str:
    """Sort key of the texts that hold a term."""
    return f"W#{digest}"


def term_segment(digest: str, n: int) -> str:
    """Sort key of earlier grains that hold a term."""
    return f"{term_segments(digest)}{number(n)}"


def term_segments(digest: str) -> str:
    """What the sort keys of all segments of a term begin with."""
    return f"{term(digest)}#"


def recall(at: int, recall_id: str) -> str:
    """Sort key of one recall."""
    return f"{RECALL_PREFIX}{instant(at)}#{recall_id}"


def due(at: int, what: str, ref: str) -> str:
    """Sort key of a declared instant."""
    return f"{due_upto(at)}{what}#{ref}"


def due_upto(at: int) -> str:
    """What the sort keys of the instants at ``at`` begin with."""
    return f"D#{instant(at)}#"


def aged(family: str, namespace_key: str, at: int, address: str) -> str:
    """Sort key of a grain in one analyzer's set of a namespace's old grains."""
    return f"{aged_namespace(family, namespace_key)}{instant(at)}#{address}"


def aged_namespace(family: str, namespace_key: str) -> str:
    """What the sort keys of one such set begin with."""
    return f"AG#{family}#{namespace_key}#"


def aged_count(family: str, namespace_key: str) -> str:
    """Sort key of the size of one such set."""
    return f"AC#{family}#{namespace_key}"


def near_posting(token: str, size: int, address: str) -> str:
    """Sort key of an observation under one of its tokens."""
    return f"{near_postings(token, size)}{address}"


def near_postings(token: str, size: int) -> str:
    """What the sort keys of the observations of one size under one token begin with."""
    return f"N#{token}#{number(size)}#"


def near_text(address: str) -> str:
    """Sort key of what is kept of an indexed observation."""
    return f"NT#{address}"


def finding_key(family: str, group: str, dedup_key: str) -> str:
    """Sort key of what is known of one dedup key."""
    return f"{finding_group(group)}{family}#{dedup_key}"


def finding_group(group: str) -> str:
    """What the sort keys of one group begin with, whichever analyzers look at it."""
    return f"KEY#{group}#"


def recommendation(rec_id: str) -> str:
    """Sort key of a recommendation; also of a prefix of its id."""
    return f"{RECOMMENDATION_PREFIX}{rec_id}"


def checkpoint(rec_id: str, horizon_ms: int) -> str:
    """Sort key of one planned measurement."""
    return f"{checkpoints_of(rec_id)}{number(horizon_ms)}"


def checkpoints_of(rec_id: str) -> str:
    """What the sort keys of a recommendation's checkpoints begin with."""
    return f"{CHECKPOINT_PREFIX}{rec_id}#"


def watch(subject_key: str, rec_id: str) -> str:
    """Sort key of a watch."""
    return f"{WATCH_PREFIX}{subject_key}#{rec_id}"


def regression(rec_id: str) -> str:
    """Sort key of the record that a recommendation did not hold."""
    return f"{REGRESSION_PREFIX}{rec_id}"


def remark(name: str) -> str:
    """Sort key of what somebody outside said; names sort by time."""
    return f"{REMARK_PREFIX}{name}"


def looked(family: str) -> str:
    """Sort key of how far an outside analyzer has looked."""
    return f"LOOKED#{family}"


def wait(rec_id: str, execution: str) -> str:
    """Sort key of an execution that waits for a recommendation."""
    return f"{waits_of(rec_id)}{execution}"


def waits_of(rec_id: str) -> str:
    """What the sort keys of all executions about a recommendation begin with."""
    return f"WAIT#{rec_id}#"


def callback(audit_id: str, execution: str) -> str:
    """Sort key of what an execution is to be told."""
    return f"CALL#{audit_id}#{execution}"


def callback_shard(memory: MemoryId) -> str:
    """Hash of index ``bytime`` for what a memory's executions are to be told."""
    return callback_partition(int(wake_shard(memory).rpartition("#")[2]))


def callback_partition(shard: int) -> str:
    """Hash of index ``bytime``: one shard of the executions that were not told yet."""
    return f"OUTBOX#CALL#{shard}"


def callback_order(at: int, audit_id: str) -> str:
    """Range of index ``bytime`` for what an execution is to be told: by age."""
    return f"{instant(at)}#{audit_id}"


def undo(rec_id: str) -> str:
    """Sort key of the inverse of an apply."""
    return f"UNDO#{rec_id}"


def run(run_id: str) -> str:
    """Sort key of a pass outcome."""
    return f"RUN#{run_id}"


def job(job_id: str) -> str:
    """Sort key of a job."""
    return f"JOB#{job_id}"


def distillation(job_id: str) -> str:
    """Sort key of a distillation."""
    return f"{DISTILLATION_PREFIX}{job_id}"


def envelope(job_id: str) -> str:
    """Sort key of the envelope of a distillation."""
    return f"ENV#{job_id}"


def ledger_row(at: int, row_id: str) -> str:
    """Sort key of a row of the ledger."""
    return f"{ledger_from(at)}{row_id}"


def ledger_from(at: int) -> str:
    """What the sort keys of the ledger's rows at ``at`` begin with: before them stand all earlier ones."""
    return f"{LEDGER_PREFIX}{instant(at)}#"


def chain(subject: str, n: int) -> str:
    """Sort key of an audit entry and of its note."""
    return f"{chain_of(subject)}{number(n)}"


def chain_of(subject: str) -> str:
    """What the sort keys of one subject's chain begin with."""
    return f"{subject}#"


def place_in_chain(sort: str) -> tuple[str, int]:
    """Subject and number of an audit entry, from its sort key; number 0 where it is none that we made."""
    subject, _, digits = sort.rpartition("#")
    return (subject, int(digits)) if digits.isdecimal() else (sort, 0)


def chain_end(subject: str) -> str:
    """Sort key of where a chain ends that no recommendation ends."""
    return f"{CHAIN_END_PREFIX}{subject}"


def recipe(scope_key: str, signature: str) -> str:
    """Sort key of a recipe."""
    return f"{recipes_of(scope_key)}{signature}"


def recipes_of(scope_key: str) -> str:
    """What the sort keys of a scope's recipes begin with."""
    return f"{RECIPE_PREFIX}{scope_key}#"


def recipe_version(scope_key: str, signature: str, revision: int) -> str:
    """Sort key of what a recipe said in an earlier revision."""
    return f"{recipe_versions(scope_key, signature)}{number(revision)}"


def recipe_versions(scope_key: str, signature: str) -> str:
    """What the sort keys of everything that a recipe said before begin with."""
    return f"{RECIPE_VERSION_PREFIX}{scope_key}#{signature}#"


def hit_feedback(scope_key: str, signature: str, hit: str) -> str:
    """Sort key of what was said of one hit."""
    return f"{hit_feedbacks(scope_key, signature)}{hit}"


def hit_feedbacks(scope_key: str, signature: str) -> str:
    """What the sort keys of everything said of a recipe's hits begin with."""
    return f"FBK#{scope_key}#{signature}#"


def vector_head(scope_key: str, space: str) -> str:
    """Sort key of the list of a scope's vectors."""
    return f"VEC#{scope_key}#{space}#HEAD"


def embedded(scope_key: str) -> str:
    """Sort key of how far a scope's recipes have vectors."""
    return f"VEC#{scope_key}#UPTO"


def vector_row(scope_key: str, space: str, n: int) -> str:
    """Sort key of one row of vectors."""
    return f"VEC#{scope_key}#{space}#R#{number(n)}"


def vector_item(scope_key: str, space: str, name: str) -> str:
    """Sort key of a vector that the store indexes."""
    return f"{vector_items(scope_key, space)}{name}"


def vector_items(scope_key: str, space: str) -> str:
    """What the sort keys of a scope's vectors begin with, where the store indexes them."""
    return f"VEC#{scope_key}#{space}#I#"


def vector_partition(memory: MemoryId, scope_key: str, space: str) -> str:
    """Hash of the store's own vector index: vectors of two scopes, memories or tenants never meet in one search."""
    return f"{memory_prefix(memory)}#{scope_key}#{space}"


def queue_partition(memory: MemoryId, status: str) -> str:
    """Hash of index ``queue``: the recommendations of one status."""
    return f"{memory_prefix(memory)}#Q#{status}"


def queue_order(severity_rank: int, created_at: int, rec_id: str) -> str:
    """Range of index ``queue``: severity descending, then age, then id."""
    return f"{3 - severity_rank}#{instant(created_at)}#{rec_id}"


def card(card_id: str) -> str:
    """Sort key of a card; also of a prefix of its id."""
    return f"{CARD_PREFIX}{card_id}"


def card_evidence(card_id: str, seq: int) -> str:
    """Sort key of what one line says for a card."""
    return f"{evidence_of(card_id)}{number(seq)}"


def evidence_of(card_id: str) -> str:
    """What the sort keys of all evidence of a card begin with."""
    return f"CEV#{card_id}#"


def rule(project_key: str, armed_at: int, card_id: str) -> str:
    """Sort key of a rule."""
    return f"{rules_of(project_key)}{instant(armed_at)}#{card_id}"


def rules_of(project_key: str) -> str:
    """What the sort keys of all rules of a project begin with."""
    return f"{RULE_PREFIX}{project_key}#"


def lesson(project_key: str, seq: int, address: str) -> str:
    """Sort key of a line's place in the stream of its project."""
    return f"{lessons_of(project_key)}{number(seq)}#{address}"


def lessons_of(project_key: str) -> str:
    """What the sort keys of all lines of a project begin with."""
    return f"{LESSON_PREFIX}{project_key}#"


def place_in_stream(sort: str) -> tuple[int, str]:
    """Number and address of a line, from the sort key of its place."""
    _, _, seq, address = sort.split("#")
    return int(seq), address


def session(session_key: str) -> str:
    """Sort key of a session, and what those of everything in it begin with."""
    return f"{SESSION_PREFIX}{session_key}"


def session_rules(session_key: str, n: int) -> str:
    """Sort key of some of the rules that were put before a session."""
    return f"{session(session_key)}#R#{number(n)}"


def session_pass(session_key: str, card_id: str) -> str:
    """Sort key of a rule that a session followed."""
    return f"{session(session_key)}#P#{card_id}"


def card_pass(card_id: str, session_key: str) -> str:
    """Sort key of a session in which a card was followed."""
    return f"{passes_of(card_id)}{session_key}"


def passes_of(card_id: str) -> str:
    """What the sort keys of all sessions begin with in which a card was followed."""
    return f"CPS#{card_id}#"


def session_breach(session_key: str, card_id: str, seq: int) -> str:
    """Sort key of a rule that a session broke."""
    return f"{session(session_key)}#V#{card_id}#{number(seq)}"


def stream_partition(memory: MemoryId) -> str:
    """Hash of index ``bytime`` for all lines of a memory."""
    return f"{memory_prefix(memory)}#LINES"


def applied_partition(memory: MemoryId) -> str:
    """Hash of index ``bytime`` for the facts of a memory that are applied lessons."""
    return f"{memory_prefix(memory)}#APPLIED"


def applied_order(at: int, address: str) -> str:
    """Range of index ``bytime`` for an applied lesson: by age."""
    return f"{instant(at)}#{address}"


def card_partition(memory: MemoryId, status: str) -> str:
    """Hash of index ``queue``: the cards of one status."""
    return f"{memory_prefix(memory)}#C#{status}"


def card_order(project_key: str, created_at: int, card_id: str) -> str:
    """Range of index ``queue`` for a card: by project, then age, then id."""
    return f"{cards_of(project_key)}{instant(created_at)}#{card_id}"


def cards_of(project_key: str) -> str:
    """What the places of all cards of a project begin with."""
    return f"{project_key}#"


def _shard(memory: MemoryId) -> int:
    """Memories are spread over shards, so that no partition of an index runs hot."""
    return sha256(memory_prefix(memory).encode()).digest()[0] % WAKE_SHARDS


def wake_shard(memory: MemoryId) -> str:
    """Hash of index ``due``."""
    return wake_partition(_shard(memory))


def wake_partition(shard: int) -> str:
    """The name of one shard of index ``due``."""
    return f"WAKE#{shard}"


def outbox_shard(memory: MemoryId) -> str:
    """Hash of index ``bytime`` for a memory's events that wait to be published."""
    return outbox_partition(_shard(memory))


def outbox_partition(shard: int) -> str:
    """The name of one shard of unpublished events."""
    return f"OUTBOX#{shard}"


def outbox_order(at: int, event_id: str) -> str:
    """Range of index ``bytime`` for an event: by age."""
    return f"{instant(at)}#{event_id}"


def memory_order(memory: MemoryId) -> str:
    """Range of index ``bytime`` for a memory: all of one tenant stand together (``#`` sorts before every letter)."""
    return f"{memory.tenant}#{memory.name}"


def memory_named(order: str) -> MemoryId:
    """The memory that :func:`memory_order` names."""
    tenant, _, name = order.partition("#")
    return MemoryId(tenant, name)


def tenant_order(tenant: str, subject: str) -> str:
    """Range of index ``bytime`` for a chain of a tenant itself, by tenant as in :func:`memory_order`."""
    return f"{tenant}#{subject}"


def tenant_named(order: str) -> str:
    """The tenant that :func:`tenant_order` names."""
    return order.partition("#")[0]
