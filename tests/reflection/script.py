"""A model that is played: it proposes everything that is labelled, and things that no model may propose, and has the
judge answer for it. What it says is made of what it is shown, so evidence that does not get here is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenloop.domain.model_cost import Usage
from tests.model_server import Play, says
from tests.reflection.bundles import Shown
from tests.reflection.corpus import NOT_THERE, Labelled
from tests.reflection.judge import Judge

_BLOCK = re.compile(r'\A<data label="(\S+)">\n(.*)\n</data>\Z', re.DOTALL)
_OTHER = f"grain:{'0123456789abcdef' * 4}"
_BYTES_PER_TOKEN = 4
#: So many proposals that break a rule are made about each memory.
BREAKING = 2
#: Breaking proposals: what makes them so. They begin with what no labelled one begins with.
BROKEN = "This is to be dropped"
_RULES: Sequence[Mapping[str, Any]] = (
    {"evidence": ["e999"]},
    {"evidence": []},
    {"target": "host:prompt/system"},
    {"target": "doc:handbook/chapter 1"},
    {"target": _OTHER},
    {"summary": " "},
)


@dataclass
class Script:
    """The model as asked about one memory.

    ``grounds`` and ``verifies`` say whether those stages judge; where not, they say yes to everything and are sure.
    What was asked is noted by summary: ``claimed`` of GROUND, ``judged`` of VERIFY with the answer that was given.
    """

    shown: Shown
    judge: Judge
    grounds: bool = True
    verifies: bool = True
    offered: list[str] = field(default_factory=list)
    claimed: list[str] = field(default_factory=list)
    judged: dict[str, tuple[bool, float]] = field(default_factory=dict)

    def play(self, body: Mapping[str, Any]) -> Play:
        """Answer a request; it is known by what its answer is to hold."""
        schema = body["output_config"]["format"]["schema"]
        [answers] = schema["properties"]
        fields = schema["properties"][answers]["items"]["properties"]
        items = list(_items(body))
        stages: Mapping[str, Callable[[Sequence[tuple[str, Any]]], list[Any]]] = {
            "evidence": self._discover, "supported": self._ground, "keep": self._verify, "guidance": self._enrich,
        }  # fmt: skip
        answer = {answers: next(stages[name] for name in stages if name in fields)(items)}
        return says(answer, usage=_charged(body, answer))

    @property
    def broken(self) -> Mapping[str, int]:
        """How many proposals that break a rule came to each stage."""
        kept = [summary for summary, (keep, _) in self.judged.items() if keep]
        stages = {"offered": self.offered, "claimed": self.claimed, "grounded": self.judged, "kept": kept}
        return {stage: sum(self._labelled(summary) is None for summary in seen) for stage, seen in stages.items()}

    def _discover(self, items: Sequence[tuple[str, Any]]) -> list[Any]:
        by_text = {item["text"]: label for label, item in items if label.startswith("evidence:")}
        labels = list(by_text.values())
        drafts = (self._proposed(draft, by_text) for draft in self.shown.memory.drafts)
        broken = (self._broken(number, labels) for number in range(BREAKING))
        made = sorted(
            (draft for draft in (*drafts, *broken) if draft is not None),
            key=lambda draft: self.judge.draw("order", draft["summary"]),
        )
        self.offered = [draft["summary"] for draft in made]
        return made

    def _proposed(self, draft: Labelled, by_text: Mapping[str, str]) -> dict[str, Any] | None:
        texts = [self.shown.text_of(label) for label in sorted(draft.cites)]
        if not all(text in by_text for text in texts):
            return None
        return _proposal(draft.says, self.shown.target_of(draft), [*(by_text[text] for text in texts), "e999"])

    def _broken(self, number: int, labels: Sequence[str]) -> dict[str, Any]:
        drawn = self.judge.draw(f"rule {number}", self.shown.memory.name)
        rule = _RULES[int(drawn * len(_RULES))]
        usual = _proposal(f"{BROKEN} ({number})", f"query:{BROKEN}", labels[:1])
        return {**usual, **rule}

    def _ground(self, items: Sequence[tuple[str, Any]]) -> list[Any]:
        return [self._grounded(item) for _, item in items]

    def _grounded(self, item: Mapping[str, Any]) -> dict[str, Any]:
        self.claimed.append(item["claim"])
        draft = self._labelled(item["claim"])
        is_there = draft is None or (NOT_THERE not in draft.premises and self._are_there(draft, item["evidence"]))
        said = not self.grounds or self.judge.says_yes("ground", item["claim"], rightly=is_there)
        return {"id": item["id"], "reason": "as judged", "supported": said}

    def _verify(self, items: Sequence[tuple[str, Any]]) -> list[Any]:
        return [self._verified(item) for _, item in items]

    def _verified(self, item: Mapping[str, Any]) -> dict[str, Any]:
        summary, draft = item["summary"], self._labelled(item["summary"])
        is_sound = draft is None or (draft.label in ("sound", "repeat") and self._are_there(draft, item["evidence"]))
        keep, confidence = True, 1.0
        if self.verifies and draft is not None:
            keep = self.judge.says_yes("verify", summary, rightly=is_sound)
            confidence = self.judge.confidence(summary, is_sound=is_sound)
        self.judged[summary] = (keep, confidence)
        return {"id": item["id"], "reason": "as judged", "keep": keep, "confidence": confidence}

    def _enrich(self, items: Sequence[tuple[str, Any]]) -> list[Any]:
        return [{"id": item["id"], "guidance": f"Look at {item['target']}."} for _, item in items]

    def _labelled(self, summary: str) -> Labelled | None:
        """What is labelled; of anything else the judge says yes, so that only rules can stop it."""
        return next((draft for draft in self.shown.memory.drafts if draft.says == summary), None)

    def _are_there(self, draft: Labelled, evidence: Sequence[str]) -> bool:
        return all(self.shown.text_of(label) in evidence for label in draft.cites)


def _proposal(summary: str, target: str, evidence: Sequence[str]) -> dict[str, Any]:
    return {"summary": summary, "target": target, "guidance": "", "evidence": list(evidence), "confidence": 0.99}


def _items(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The label and the fields of each block."""
    for message in body["messages"]:
        for block in message["content"]:
            [(label, inner)] = _BLOCK.findall(block["text"])
            yield label, json.loads(json.loads(inner))


def _charged(body: Mapping[str, Any], answer: object) -> Usage:
    """Tokens, taken to be four bytes long."""
    asked = json.dumps([body["system"], body["messages"], body["output_config"]], ensure_ascii=False)
    sizes = (len(text.encode()) // _BYTES_PER_TOKEN + 1 for text in (asked, json.dumps(answer)))
    return Usage(*sizes)
