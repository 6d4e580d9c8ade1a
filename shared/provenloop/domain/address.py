"""Addresses: a grain's id, made of its identity under the memory's own random key.

``address = 8 hex of H(kind, namespace, topic) + 8 hex of H(relation) + 48 hex of H(exact identity)`` with H =
HMAC-SHA-256 under the memory's key. Everything about one subject shares 8 characters and one (subject, relation)
shares 16, so one strongly consistent query by prefix reads an entity or a cluster. A low-entropy value cannot be
confirmed by trial once the key is erased. Prefixes can collide: readers filter on the fields.

Topic and relation are folded (``normalise``), namespaces and identities are exact. The committed golden vectors in
tests/unit/domain pin this module: changing a byte here would orphan what is stored.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from provenloop.domain.canonical import canonical_json
from provenloop.domain.grain import GrainDraft
from provenloop.domain.text import nfc, normalise, normalise_relation

ADDRESS_CHARS = 64
ENTITY_CHARS = 8
CLUSTER_CHARS = 16
_RELATION_CHARS = CLUSTER_CHARS - ENTITY_CHARS
_IDENTITY_CHARS = ADDRESS_CHARS - CLUSTER_CHARS


class Addresses:
    """Makes addresses and key digests for one memory.

    Args:
        key: the memory's random key, 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def digest(self, *parts: str) -> str:
        """64 hex digits of H over the JSON array of ``parts``: the form of any text inside a stored key."""
        return hmac.new(self._key, canonical_json(list(parts)).encode(), sha256).hexdigest()

    def short(self, *parts: str) -> str:
        """The first 16 bytes of :meth:`digest`, as 32 hex digits."""
        return self.digest(*parts)[:32]

    def entity_prefix(self, kind: str, namespace: str, topic: str) -> str:
        """The 8 characters shared by all grains about one topic (subject, tool or name)."""
        return self.digest("topic", kind, namespace, normalise(topic))[:ENTITY_CHARS]

    def relation_part(self, relation: str) -> str:
        """The 8 characters that stand for one relation, in whatever spelling."""
        return self.digest("relation", normalise_relation(relation))[:_RELATION_CHARS]

    def cluster_prefix(self, kind: str, namespace: str, topic: str, relation: str) -> str:
        """The 16 characters shared by all grains of one (topic, relation)."""
        return self.entity_prefix(kind, namespace, topic) + self.relation_part(relation)

    def address(self, draft: GrainDraft, occurrence: tuple[str, ...] = ()) -> str:
        """The address of a draft.

        Args:
            draft: what becomes a grain.
            occurrence: identity of a draft that has none of its own: (memory, principal, request, index).
        """
        identity = draft.identity if draft.identity is not None else ("occurrence", *occurrence)
        exact = self.digest("identity", draft.kind, draft.namespace, *(nfc(part) for part in identity))
        return self.cluster_prefix(draft.kind, draft.namespace, draft.topic, draft.relation) + exact[:_IDENTITY_CHARS]

    def tool_key(self, namespace: str, tool: str) -> str:
        """The 32 hex digits under which one tool of one namespace is counted; its spelling is folded."""
        return self.short("tool", namespace, normalise(tool))


def cluster_of(address: str) -> str:
    """The (topic, relation) prefix of an address."""
    return address[:CLUSTER_CHARS]


def relation_of(address: str) -> str:
    """The relation part of an address."""
    return address[ENTITY_CHARS:CLUSTER_CHARS]


def is_address(text: str) -> bool:
    """Whether the text has the shape of an address: 64 lower-case hex digits."""
    return len(text) == ADDRESS_CHARS and all(char in "0123456789abcdef" for char in text)
