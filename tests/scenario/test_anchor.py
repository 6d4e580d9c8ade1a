"""Anchors: what a day's anchor says, and that an export that was rewritten afterwards does not pass beside it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from provenloop.adapters.dynamodb.memory_index import DynamoMemoryIndex
from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.adapters.dynamodb.tokens import DynamoTokens
from provenloop.domain.anchor import Signature, anchor_from, leaf_of, root_of
from provenloop.domain.audit import AuditEntry, ChainHead, engine_author, next_entry
from provenloop.domain.canonical import canonical_json
from provenloop.domain.errors import UnavailableError
from provenloop.domain.instants import parse_instant, utc_day
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.entry import audit_verify
from provenloop.services.anchor import Anchored, anchor_tenants
from provenloop.services.audit_export import export_page
from provenloop.services.configure import ConfigChange, configure
from provenloop.services.memories import create_memory
from provenloop.services.tokens import MintRequest, mint_token
from tests.builders import DAY_MS, MEMORY, MINUTE_MS, Desk, make_call, make_principal
from tests.faults.tables import TABLE
from tests.store_fixture import REGION, first_pass, prepared


@cache
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Signer:
    """Signs as KMS does, with a key of the test."""

    def sign(self, message: str) -> Signature:
        signed = private_key().sign(message.encode(), padding.PKCS1v15(), hashes.SHA256())
        return Signature("the-key", "RSASSA_PKCS1_V1_5_SHA_256", base64.b64encode(signed).decode())


@dataclass
class Shelf:
    """A bucket in memory; ``down`` are tenants whose anchors it does not take."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)

    def anchored(self, date: str) -> frozenset[str]:
        return frozenset(tenant for day, tenant in self.kept if day == date)

    def put(self, date: str, tenant: str, text: str) -> bool:
        if tenant in self.down:
            raise UnavailableError("not now")
        is_new = (date, tenant) not in self.kept
        self.kept.setdefault((date, tenant), text)
        return is_new


@dataclass
class Office:
    """A memory with two decided findings and a configuration, and where its anchors go."""

    desk: Desk
    shelf: Shelf = field(default_factory=Shelf)
    signer: Signer | None = None

    def anchor(self, *, later: int = DAY_MS) -> Anchored:
        self.desk.now += later
        index = DynamoMemoryIndex(TABLE, REGION)
        return anchor_tenants(self.desk.store, index, self.shelf, self.signer, self.desk.now)

    @property
    def only(self) -> str:
        [text] = self.shelf.kept.values()
        return text

    def export(self) -> list[str]:
        return list(export_page(self.desk.store, self.desk.call()).lines)


def decided(desk: Desk) -> tuple[str, str]:
    first_pass(desk)
    rejected, applied = desk.finding("tool_failure"), desk.finding("contradiction_sweep")
    desk.reject(rejected)
    desk.approve_and_apply(applied)
    configure(desk.store, desk.call(), ConfigChange(analyzer="loop.staleness", enabled=False), "not needed")
    return rejected, applied


@pytest.fixture
def office(store: DynamoStore) -> Office:
    return Office(prepared(store, decided)[0])


@pytest.fixture
def ids(store: DynamoStore) -> tuple[str, str]:
    return prepared(store, decided)[1]


# what an anchor says


def test_an_anchor_holds_the_head_of_every_chain_by_digest_and_no_name(office: Office) -> None:
    assert office.anchor() == Anchored(1, 0, 0)
    anchor = anchor_from(office.only)
    desk = office.desk
    heads = {
        **{rec.id: rec.chain for rec in desk.store.all_recommendations(MEMORY)},
        "config:memory": desk.store.chain_ends(MEMORY)[0].head,
    }
    assert len(heads) == 3
    tenant = tenant_itself(MEMORY.tenant)
    [made] = [leaf_of(tenant, end.subject, end.head) for end in desk.store.chain_ends(tenant)]
    assert set(anchor.leaves) == {made, *(leaf_of(MEMORY, subject, head) for subject, head in heads.items())}
    assert (anchor.tenant, anchor.at, anchor.count) == ("acme", desk.now, 4)
    assert anchor.root == root_of(sorted(anchor.leaves))
    assert anchor.text == office.only == canonical_json(json.loads(office.only))
    assert "demo" not in office.only
    assert not any(subject in office.only for subject in heads)


def test_each_tenant_has_one_anchor_a_day_over_all_its_memories(office: Office) -> None:
    store = office.desk.store
    for tenant, name in [("acme", "other"), ("acme-b", "demo"), ("beta", "demo")]:
        stranger = replace(make_principal(), tenant=tenant)
        create_memory(store, make_call(stranger, memory=MemoryId(tenant, name)))
    assert office.anchor() == Anchored(3, 0, 0)
    assert {tenant: anchor_from(text).count for (_, tenant), text in office.shelf.kept.items()} == {
        "acme": 5,
        "acme-b": 1,
        "beta": 1,
    }
    first = dict(office.shelf.kept)
    assert office.anchor(later=MINUTE_MS) == Anchored(0, 3, 0)
    assert office.shelf.kept == first
    assert office.anchor(later=DAY_MS) == Anchored(3, 0, 0)


def test_a_tenant_without_a_memory_has_an_anchor_over_its_tokens(office: Office) -> None:
    tokens, numbers = DynamoTokens(TABLE, REGION, pause=lambda _attempt: None), iter(range(9000, 9010))
    for tenant in ("acme-b", "acme"):
        for label in ("one", "two"):
            call = make_call(replace(make_principal(), tenant=tenant), number=next(numbers))
            mint_token(office.desk.store, tokens, call, MintRequest(label, "human", "*", ("read",)))
    assert office.anchor() == Anchored(2, 0, 0)
    counts = {tenant: anchor_from(text).count for (_, tenant), text in office.shelf.kept.items()}
    assert counts == {"acme": 6, "acme-b": 2}


def test_a_tenant_that_fails_keeps_none_of_the_others_from_theirs_and_is_anchored_by_the_next_run(
    office: Office,
) -> None:
    create_memory(
        office.desk.store, make_call(replace(make_principal(), tenant="beta"), memory=MemoryId("beta", "demo"))
    )
    office.shelf.down = {"acme"}
    assert office.anchor() == Anchored(1, 0, 1)
    office.shelf.down = set()
    assert office.anchor(later=MINUTE_MS) == Anchored(1, 1, 0)


def test_a_key_that_does_not_sign_leaves_no_anchor_without_signature(office: Office) -> None:
    class Silent(Signer):
        def sign(self, message: str) -> Signature:
            del message
            raise UnavailableError("the key is disabled")

    office.signer = Silent()
    assert office.anchor() == Anchored(0, 0, 1)
    assert office.shelf.kept == {}


# holding an export against anchors


@dataclass
class Case:
    """Files of an audit, and what ``audit_verify`` says of them."""

    folder: Path
    lines: list[str]
    anchors: dict[tuple[str, str], str]
    capture: pytest.CaptureFixture[str]
    public_key: bytes | None = None

    def verify(self, *more: str) -> tuple[int, dict[str, Any]]:
        export = self.folder / "export.jsonl"
        export.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
        shelf = self.folder / "anchors"
        for (date, tenant), text in self.anchors.items():
            place = shelf / date / f"{tenant}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        key: list[str] = []
        if self.public_key is not None:
            (self.folder / "key.pem").write_bytes(self.public_key)
            key = ["--public-key", str(self.folder / "key.pem")]
        status = audit_verify.main(
            [str(export), "--tenant", "acme", "--memory", "demo", "--anchors", str(shelf), *key, *more]
        )
        said = self.capture.readouterr()
        return status, json.loads(said.out) if status != 2 else {"said": said.err}

    def broken(self) -> tuple[str, str]:
        """(subject, reason) of the break that is found."""
        status, answer = self.verify()
        assert (status, answer["ok"]) == (1, False)
        return answer["break"]["subject"], answer["break"]["reason"]


@pytest.fixture
def case(office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Case:
    """Two anchors, a day apart, with a decision between them and one after both."""
    office.signer = Signer()
    office.anchor()
    applied = office.desk.finding("contradiction_sweep", "applied")
    office.desk.roll_back(applied)
    office.anchor()
    configure(office.desk.store, office.desk.call(), ConfigChange(analyzer="loop.staleness", enabled=True), "again")
    public = private_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Case(tmp_path, office.export(), dict(office.shelf.kept), capsys, public)


def rewritten(lines: list[str], subject: str, change: Callable[[list[dict[str, Any]]], None]) -> list[str]:
    """A forger's export: one chain changed, and every number, link and id after it made to fit."""
    fields = [json.loads(line) for line in lines]
    own = [each for each in fields if each["subject"] == subject]
    change(own)
    previous, status, made = "", "", []
    for n, each in enumerate(own, 1):
        body = {**each, "n": n, "from": status, "previous": previous}
        del body["id"]
        previous, status = AuditEntry(subject, n, canonical_json(body), 0).id, each["to"]
        made.append(json.dumps({**body, "id": previous}))
    return [*(json.dumps(each) for each in fields if each["subject"] != subject), *made]


def test_a_trail_that_only_grew_passes_every_anchor_and_its_signature(case: Case) -> None:
    status, answer = case.verify()
    assert status == 0
    assert answer == {
        "ok": True,
        "subjects": 3,
        "entries": 8,
        "anchors": 2,
        "gaps": [],
        "signatures_checked": True,
        "break": None,
    }


def test_the_trail_of_the_tenant_itself_is_held_against_the_same_anchors(
    office: Office, case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its export has no memory; what a forger makes of it shows as in any other."""
    [line] = export_page(office.desk.store, make_call(memory=tenant_itself("acme"))).lines
    case.verify()
    export, forged = case.folder / "tenant.jsonl", case.folder / "forged.jsonl"
    export.write_text(f"{line}\n", encoding="utf-8")
    [other] = rewritten([line], "memory:demo", lambda own: own[0]["by"].update(label="bob"))
    forged.write_text(f"{other}\n", encoding="utf-8")
    shelf = ["--tenant", "acme", "--anchors", str(case.folder / "anchors")]
    assert audit_verify.main([str(export), *shelf]) == 0
    assert json.loads(capsys.readouterr().out)["subjects"] == 1
    assert audit_verify.main([str(forged), *shelf]) == 1
    assert json.loads(capsys.readouterr().out)["break"]["reason"] == "entry 1 is not the one that the anchor saw"


def test_without_anchors_a_chain_that_was_rewritten_as_a_whole_passes_and_with_them_it_does_not(
    case: Case, ids: tuple[str, str]
) -> None:
    rejected, _ = ids
    case.lines = rewritten(case.lines, rejected, lambda own: own[1]["by"].update(label="bob"))
    kept, case.anchors = case.anchors, {}
    status, answer = case.verify()
    assert status == 2
    export = case.folder / "export.jsonl"
    assert audit_verify.main([str(export), "--tenant", "acme", "--memory", "demo"]) == 0
    case.capture.readouterr()
    case.anchors = kept
    assert case.broken() == (rejected, "entry 2 is not the one that the anchor saw")
    assert answer["said"].startswith("no anchors of tenant acme")


def _drop(place: int) -> Callable[[list[dict[str, Any]]], None]:
    def drop(own: list[dict[str, Any]]) -> None:
        del own[place]

    return drop


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_dropped_entry_shows_wherever_it_stood_though_the_chain_fits_again(
    case: Case, ids: tuple[str, str], place: int
) -> None:
    _, applied = ids
    case.lines = rewritten(case.lines, applied, _drop(place))
    subject, reason = case.broken()
    assert subject == applied
    assert "the anchor saw" in reason or reason == "the lifecycle has no such step"


def test_an_entry_that_was_put_in_and_dated_back_shows(case: Case) -> None:
    chain = "config:memory"
    case.lines = rewritten(case.lines, chain, lambda own: own.insert(1, dict(own[0])))
    assert case.broken() == (chain, "entry 2 says it is older than the anchor, which did not see it")


def test_a_chain_that_was_invented_and_dated_back_shows(case: Case) -> None:
    at = parse_instant(json.loads(case.lines[0])["at"])
    entry = next_entry(ChainHead(), subject="zzz", before="", after="pending", by=engine_author("engine:x"), at=at)
    case.lines.append(json.dumps({**json.loads(entry.text), "id": entry.id}))
    assert case.broken() == ("zzz", "entry 1 says it is older than the anchor, which did not see it")


def test_a_chain_that_is_missing_as_a_whole_shows(case: Case, ids: tuple[str, str]) -> None:
    case.lines = [line for line in case.lines if json.loads(line)["subject"] != ids[0]]
    subject, reason = case.broken()
    assert subject == ""
    assert reason.startswith("a chain that the anchor saw is missing")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda fields: fields["by"].update(label="bob"), "the id is not that of the entry"),
        (lambda fields: fields.update(n=9), "the id is not that of the entry"),
        (lambda fields: fields.update(id="0" * 64), "the id is not that of the entry"),
        (lambda fields: fields.update(damaged=True), "the id is not that of the entry"),
    ],
)
def test_a_line_that_was_edited_shows_before_any_anchor_is_asked(
    case: Case, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    fields = json.loads(case.lines[2])
    change(fields)
    case.lines[2] = json.dumps(fields)
    assert case.broken()[1] == reason


def test_lines_in_another_order_show(case: Case) -> None:
    case.lines.reverse()
    assert case.broken()[1] == "an entry is missing or out of order"


def _forged(case: Case, **fields: Any) -> None:
    place = min(case.anchors)
    case.anchors[place] = canonical_json({**json.loads(case.anchors[place]), **fields})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"leaves": []}, "the anchor has another number of leaves than it says"),
        ({"leaves": [], "count": 0}, "the anchor's root is not that of its leaves"),
        ({"leaves": [], "count": 0, "root": root_of([])}, "the anchor is not signed by that key"),
        ({"signature": None}, "the anchor is not signed"),
        ({"signature": {"key": "k", "algorithm": "a", "value": "!"}}, "the anchor is not signed by that key"),
    ],
)
def test_an_anchor_that_was_forged_shows(case: Case, fields: dict[str, Any], reason: str) -> None:
    _forged(case, **fields)
    assert case.broken() == ("", reason)


def test_leaves_in_another_order_show(case: Case) -> None:
    anchor = anchor_from(min(case.anchors.items())[1])
    leaves = list(reversed(anchor.leaves))
    _forged(case, leaves=[list(leaf) for leaf in leaves], root=root_of(leaves))
    assert case.broken() == ("", "the anchor's leaves are not in order")


def test_days_without_an_anchor_are_named(case: Case, office: Office) -> None:
    office.anchor(later=3 * DAY_MS)
    case.anchors = dict(office.shelf.kept)
    _, answer = case.verify()
    assert answer["ok"]
    today = office.desk.now
    assert answer["gaps"] == [utc_day(today - 2 * DAY_MS), utc_day(today - DAY_MS)]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version":1}', "nothing", '{"version":2,"leaves":[],"signature":null}'],
)
def test_what_is_no_anchor_is_said_to_be_none(case: Case, text: str) -> None:
    case.anchors[min(case.anchors)] = text
    status, answer = case.verify()
    assert (status, answer["said"]) == (2, "not an anchor\n")


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"id":"x"}', '{"id":"x","subject":"s","n":"one"}'])
def test_a_line_that_is_no_entry_is_named_by_its_number(case: Case, line: str) -> None:
    case.lines[1] = line
    status, answer = case.verify()
    assert (status, answer["said"]) == (2, "line 2 of the export is no entry\n")


def test_an_entry_that_came_while_the_anchor_was_made_is_no_difference(office: Office, case: Case) -> None:
    desk = office.desk
    anchored_at = desk.now
    office.anchor()
    rec = desk.finding("tool_failure", "rejected")
    entry = next(iter(desk.store.audit_entries(MEMORY, rec)))
    assert isinstance(entry, AuditEntry)
    case.anchors = dict(office.shelf.kept)
    desk.now = anchored_at + DAY_MS - MINUTE_MS
    configure(desk.store, desk.call(), ConfigChange(analyzer="loop.staleness", enabled=False), "late")
    case.lines = office.export()
    assert case.verify()[0] == 0
