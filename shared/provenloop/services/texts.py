"""Joins the texts that recommendations refer to. A forgotten or expired grain shows as ``[forgotten]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from provenloop.domain.grain import text_of
from provenloop.domain.names import MemoryId
from provenloop.domain.proposal import FORGOTTEN_TEXT, TextRef
from provenloop.domain.remark import Remark, is_remark
from provenloop.domain.visible import visible
from provenloop.services.ports import Store

TEMPLATES: Mapping[str, str] = {
    "tool_failure.cluster": "{tool} failed {errors} of {calls} calls ({percent} %) with: {signature}",
    "tool_failure.tool": "{tool} failed {errors} of {calls} calls ({percent} %) in {signatures} different ways",
    "contradiction.functional": "{subject} has {values} values of {relation} at once; the latest is {keep}",
    "duplicate.exact": "{count} facts say {subject} {relation} {object} in different spellings",
    "duplicate.near": "{count} observations say nearly the same: {text}",
    "fork.multi_head": "{relation} of {subject} was replaced twice over; of {values} values the latest is {keep}",
    "staleness.expired": "The validity of {label} ({kind}) ended at {ended}",
    "skill.stall": "{skill} was practised {practice_count} times and stands at {proficiency}",
    "goal.stagnation": "{goal} has been active for {age_days} days and stands at {progress}",
    "cold.grain": "{count} facts were not recalled, the oldest about {oldest}; {named} are named, {rest} are not",
    "coverage.gap": "{empty} of {asked} times ({percent} %) no answer was found to: {question}",
    "coverage.look_up": "{empty} of {asked} times ({percent} %) nothing was found for {relation} of {subject}",
    "budget.pressure": "{overflowed} of {assembled} contexts ({percent} %) dropped something for want of room",
    "retention.overdue": (
        "{named} grains of {namespace} are older than {max_age_days} days, the oldest from {oldest}; {rest} more follow"
    ),
    "outside.finding": "{text}",
    "outcome.regression": "{recommendation} did not hold for {horizon_days} days: {metric} {current}, was {baseline}",
}


class Texts:
    """Resolves references after one batch read of all the grains they name, and one of the remarks."""

    def __init__(self, store: Store, memory: MemoryId, refs: Iterable[TextRef], now: int) -> None:
        wanted = dict.fromkeys(ref.grain for ref in refs)
        names = [name for name in wanted if is_remark(name)]
        grains = [name for name in wanted if not is_remark(name)]
        self._grains = store.grains(memory, grains, now) if grains else {}
        self._remarks: Mapping[str, Remark] = store.remarks(memory, names) if names else {}

    def resolve(self, ref: TextRef) -> str:
        """The text a reference stands for, with whatever is hidden in it made visible."""
        if is_remark(ref.grain):
            remark = self._remarks.get(ref.grain)
            return (remark.text(ref.field) if remark is not None else "") or FORGOTTEN_TEXT
        grain = self._grains.get(ref.grain)
        text: str = visible(text_of(grain, ref.field)) if grain is not None else ""
        return text or FORGOTTEN_TEXT

    def joined(self, value: Any) -> Any:
        """A JSON value with every reference in it replaced by its text."""
        if isinstance(value, TextRef):
            return self.resolve(value)
        if is_ref(value):
            return self.resolve(TextRef(value["grain"], value["field"]))
        if isinstance(value, Mapping):
            return {name: self.joined(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.joined(item) for item in value]
        return value


def is_ref(value: Any) -> bool:
    """Whether a JSON value is a stored reference."""
    return isinstance(value, Mapping) and set(value) == {"grain", "field"}


def refs_within(value: Any) -> Iterator[TextRef]:
    """Every reference inside a JSON value."""
    if isinstance(value, TextRef):
        yield value
    elif is_ref(value):
        yield TextRef(value["grain"], value["field"])
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from refs_within(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from refs_within(item)


def render(template: str, args: Mapping[str, Any]) -> str:
    """A summary's text. A missing argument shows as such; an unknown template names itself."""

    class Visible(dict[str, Any]):
        def __missing__(self, name: str) -> str:
            return f"<{name} missing>"

    pattern = TEMPLATES.get(template)
    return pattern.format_map(Visible(args)) if pattern is not None else f"<{template}>"


def target_text(target: Mapping[str, Any]) -> str:
    """``scheme:part/part`` of a joined target."""
    return f"{target['scheme']}:{'/'.join(target['parts'])}"
