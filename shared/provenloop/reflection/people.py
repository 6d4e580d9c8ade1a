"""Who is named by the facts that a model is shown, as far as their relations tell."""

from __future__ import annotations

from collections.abc import Iterator

from provenloop.domain.pseudonyms import people_in
from provenloop.reflection.bundle import Bundle


def people_shown(bundle: Bundle) -> Iterator[str]:
    """Subjects and values of facts about people, such as ``ann reports_to bob``."""
    for item in bundle.evidence:
        if item.fact is not None:
            yield from people_in(*item.fact)
