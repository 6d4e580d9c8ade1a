"""Questions: what was asked of a memory, as grains of their own kind.

A question's grain keeps its first wording, and is what its counts belong to. It is never listed or recalled as memory.
"""

from __future__ import annotations

from provenloop.domain.grain import GrainDraft
from provenloop.domain.secrets import redact
from provenloop.domain.terms import wording_of
from provenloop.domain.text import nfc, normalise, normalise_relation

MAX_QUESTION_CHARS = 2048


def question_of(
    namespace: str, text: str | None = None, subject: str | None = None, relation: str | None = None
) -> GrainDraft:
    """The question of a free text, of a look-up by subject, relation or both, or of a text asked about those.

    Wordings that hold the same terms are one question, since they find the same; so are spellings of a subject or
    relation. Secrets are taken out.
    """
    given = (("text", text), ("subject", subject), ("relation", relation))
    body = {name: redact(nfc(value))[0][:MAX_QUESTION_CHARS] for name, value in given if value is not None}
    wording = wording_of(body["text"]) if "text" in body else ""
    about, what = normalise(body.get("subject", "")), normalise_relation(body.get("relation", ""))
    return GrainDraft("question", namespace, wording or about, what, (wording, about, what), body)
