"""Who is named by the facts that a model is shown, as far as their relations tell."""

from __future__ import annotations

from collections.abc import Iterator

from provenloop.domain.pseudonyms import people_in
from provenloop.reflection.bundle import Bundle, Evidence

_MAX_RELATION_WORDS = 3


def people_shown(bundle: Bundle) -> Iterator[str]:
    """Subjects and values of facts about people, such as ``ann reports_to bob``."""
    for item in bundle.evidence:
        if item.kind == "fact":
            yield from _people(item)


def _people(item: Evidence) -> Iterator[str]:
    """A fact is shown as subject, relation and value in one text; its target names the subject."""
    subject = item.target.partition("/")[2]
    told = item.text.removeprefix(subject).split()
    for many in range(1, min(_MAX_RELATION_WORDS, len(told) - 1) + 1):
        yield from people_in(subject, " ".join(told[:many]), " ".join(told[many:]))
