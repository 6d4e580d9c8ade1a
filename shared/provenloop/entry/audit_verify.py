"""Verifies an exported audit trail without the service: its chains, and that no anchor says otherwise.

    python -m provenloop.entry.audit_verify EXPORT... --tenant T [--memory M] [--anchors FOLDER|s3://BUCKET]
        [--public-key FILE]

The export is what ``GET .../audit`` answers, all its pages, taken after the last of the anchors; without a memory what
``GET /v1/audit`` does. Prints one JSON object; exit 0 where all holds, 1 with the first break, 2 where something cannot
be read.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from provenloop.domain.anchor import Anchor, anchor_from
from provenloop.domain.anchor_check import Difference, anchor_fault, difference
from provenloop.domain.audit import AuditEntry
from provenloop.domain.canonical import canonical_json
from provenloop.domain.chain_check import Break, verify_chain
from provenloop.domain.errors import LoopError
from provenloop.domain.instants import InstantError, days_before, parse_instant
from provenloop.domain.names import MemoryId, tenant_itself
from provenloop.domain.rsa_signature import PublicKey, PublicKeyError, is_signed, read_public_key

_BUCKET = "s3://"
Chains = Mapping[str, Sequence[AuditEntry]]


class UnreadableError(ValueError):
    """Something that was given is not what it should be."""


def read_export(lines: Iterable[str]) -> tuple[Chains, Break | None]:
    """The chains of an export, and the first line whose id is not that of its content.

    Raises:
        UnreadableError: a line is no entry at all.
    """
    chains: dict[str, list[AuditEntry]] = {}
    broken: Break | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry, claimed = _entry(line, number)
        chains.setdefault(entry.subject, []).append(entry)
        if entry.id != claimed and broken is None:
            broken = Break(entry.subject, entry.n, "the id is not that of the entry")
    return chains, broken


def _entry(line: str, number: int) -> tuple[AuditEntry, str]:
    try:
        fields = json.loads(line)
        claimed = fields.pop("id")
        at = _instant(fields.get("at"))
        return AuditEntry(str(fields["subject"]), int(fields["n"]), canonical_json(fields), at), str(claimed)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"line {number} of the export is no entry") from error


def _instant(text: object) -> int:
    try:
        return parse_instant(text)
    except InstantError:
        return 0


def chain_break(chains: Chains) -> Break | None:
    """The first break inside the chains."""
    found = (verify_chain(subject, entries) for subject, entries in sorted(chains.items()))
    return next((each for each in found if each is not None), None)


def anchor_break(
    anchors: Sequence[Anchor], memory: MemoryId, chains: Chains, key: PublicKey | None
) -> Difference | None:
    """The first difference to an anchor, oldest anchor first."""
    for anchor in anchors:
        found = anchor_fault(anchor) or _signature_fault(anchor, key) or difference(anchor, memory, chains)
        if found is not None:
            return found
    return None


def _signature_fault(anchor: Anchor, key: PublicKey | None) -> Difference | None:
    if key is None:
        return None
    if anchor.signature is None:
        return Difference(anchor.date, "", "the anchor is not signed")
    try:
        value = base64.b64decode(anchor.signature.value, validate=True)
    except binascii.Error:
        value = b""
    fits = is_signed(anchor.statement.encode(), value, key)
    return None if fits else Difference(anchor.date, "", "the anchor is not signed by that key")


def read_anchors(place: str, tenant: str) -> tuple[Anchor, ...]:
    """A tenant's anchors in a folder, as the bucket holds them, or in the bucket itself; oldest first.

    Raises:
        IntegrityError: one is none.
        UnavailableError: the bucket did not answer.
        UnreadableError: there is none, or one is another tenant's.
    """
    anchors = sorted(map(anchor_from, _texts(place, tenant)), key=lambda anchor: anchor.at)
    if not anchors or any(anchor.tenant != tenant for anchor in anchors):
        raise UnreadableError(f"no anchors of tenant {tenant} are there, or others under its name")
    return tuple(anchors)


def _texts(place: str, tenant: str) -> Iterator[str]:
    if place.startswith(_BUCKET):
        from provenloop.adapters.anchor_bucket import S3AnchorBucket

        return S3AnchorBucket(place.removeprefix(_BUCKET).rstrip("/")).texts(tenant)
    return (path.read_text(encoding="utf-8") for path in sorted(Path(place).rglob(f"{tenant}.json")))


def _gaps(anchors: Sequence[Anchor]) -> list[str]:
    """Days between the first and the last anchor that have none."""
    days = {anchor.date for anchor in anchors}
    gaps: list[str] = []
    day = max(days, default="")
    while days and day > min(days):
        day = days_before(day, 1)
        if day not in days:
            gaps.append(day)
    return gaps[::-1]


def main(arguments: Sequence[str]) -> int:
    """Verify and print; the exit status."""
    given = _parser().parse_args(arguments)
    try:
        answer = _verified(given)
    except (UnreadableError, PublicKeyError, LoopError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return 0 if answer["ok"] else 1


def _verified(given: argparse.Namespace) -> dict[str, Any]:
    memory = MemoryId(given.tenant, given.memory) if given.memory is not None else tenant_itself(given.tenant)
    key = read_public_key(given.public_key.read_bytes()) if given.public_key is not None else None
    anchors = read_anchors(given.anchors, given.tenant) if given.anchors is not None else ()
    lines = (line for path in given.export for line in path.read_text(encoding="utf-8").splitlines())
    chains, broken = read_export(lines)
    found = broken or chain_break(chains) or anchor_break(anchors, memory, chains, key)
    return {
        "ok": found is None,
        "subjects": len(chains),
        "entries": sum(map(len, chains.values())),
        "anchors": len(anchors),
        "gaps": _gaps(anchors),
        "signatures_checked": key is not None,
        "break": None if found is None else {name: getattr(found, name) for name in type(found).__slots__},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="audit_verify", description="Verifies an exported audit trail.")
    parser.add_argument("export", nargs="+", type=Path, help="JSON lines of GET .../audit, all pages in order")
    parser.add_argument("--tenant", required=True)
    parser.add_argument("--memory", help="left out for the trail of the tenant itself")
    parser.add_argument("--anchors", help="a folder with anchors, or s3://<bucket>")
    parser.add_argument("--public-key", type=Path, help="of the key that signs anchors, PEM or DER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
