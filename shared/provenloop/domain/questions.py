"""Questions: what was asked of a memory, as grains of their own kind.

A question's grain keeps its first wording, and is what its counts belong to. It is never listed or recalled as memory.
"""

from __future__ import annotations

from provenloop.domain.grain import GrainDraft
from provenloop.domain.secrets import redact
from provenloop.domain.terms import wording_of
from provenloop.domain.text import nfc, normalise, normalise_relation

MAX_QUESTION_CHARS = 2048


def asked(namespace: str, question: str) -> GrainDraft:
    """The question of a text; wordings that differ in case, punctuation and stop words are one question."""
    text = redact(nfc(question))[0][:MAX_QUESTION_CHARS]
    wording = wording_of(text)
    return GrainDraft("question", namespace, wording, "", ("asked", wording), {"text": text})


def looked_up(namespace: str, subject: str | None, relation: str | None) -> GrainDraft:
    """The question of a read by subject, relation or both, in whatever spelling."""
    body = {
        name: redact(nfc(text))[0] for name, text in (("subject", subject), ("relation", relation)) if text is not None
    }
    about, what = normalise(body.get("subject", "")), normalise_relation(body.get("relation", ""))
    return GrainDraft("question", namespace, about, what, ("looked up", about, what), body)
