"""Builders for lessons: a guard's line, a card, and a desk at which guards report and people decide about cards."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from provenloop.adapters.dynamodb import keys, table
from provenloop.adapters.dynamodb.items import entity_of
from provenloop.domain.memory_config import MemoryConfig
from provenloop.domain.principal import Principal
from provenloop.lessons.card import COUNTERS, Card
from provenloop.lessons.line import Line, LineEvidence
from provenloop.services import card_actions, pass_lesson, report_lesson, settle_session, start_session
from provenloop.services.card_count import Count
from tests.builders import NOW, Desk, make_principal

GUARD = make_principal("guard", "write", kind="agent")
REVIEWER = make_principal("rita", "review", "read")
STATEMENT = "Read the migration guide before you touch a migration."


def make_line(
    detail: str = "edited a migration without reading the guide",
    *,
    project: str = "shop",
    category: str = "Migrations",
    signature: str = "edit-without-reading",
    source: str = "quality-gate",
    **more: Any,
) -> Line:
    """What a guard reports; ``evidence`` may be given as a mapping."""
    evidence = more.pop("evidence", {})
    seen = evidence if isinstance(evidence, LineEvidence) else LineEvidence(**evidence)
    return Line(project, category, signature, source, detail, evidence=seen, **more)


def make_card(**fields: Any) -> Card:
    """A candidate that was reported once."""
    given: dict[str, Any] = {
        "id": "a" * 26,
        "project": "shop",
        "project_key": "0" * 32,
        "category": "migrations",
        "signature": "edit-without-reading",
        "created_at": NOW,
        "reports": 1,
        **fields,
    }
    return Card(**given)


@dataclass
class Guards:
    """A desk for lessons."""

    desk: Desk
    guard: Principal = field(default=GUARD)
    reviewer: Principal = field(default=REVIEWER)

    def report(self, line: Line | None = None, /, *, key: str | None = None, **more: Any) -> dict[str, Any]:
        """Report a line, or one made of what is given."""
        call = self.desk.call(by=self.guard, key=key)
        return report_lesson.report_lesson(self.desk.store, call, line or make_line(**more))

    def reports(self, times: int, **more: Any) -> dict[str, Any]:
        """Report the same so often; the last answer."""
        return [self.report(**more) for _ in range(times)][-1]

    def act(
        self,
        card: str,
        action: str,
        statement: str | None = None,
        *,
        by: Principal | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """A person's action."""
        call = self.desk.call(by=by or self.reviewer, key=key)
        return card_actions.act_on_card(self.desk.store, call, card, action, "seen it happen", statement)

    def armed(self, statement: str = STATEMENT, **more: Any) -> Card:
        """A card that was reported once and armed."""
        card = self.report(**more)["card"]
        self.act(card, "arm", statement)
        return self.card(card)

    def start(self, session: str = "s1", project: str = "shop", parent: str | None = None) -> dict[str, Any]:
        """Start a session."""
        return start_session.start_session(self.desk.store, self.desk.call(by=self.guard), session, project, parent)

    def passes(
        self,
        session: str = "s1",
        project: str = "shop",
        category: str = "Migrations",
        signature: str = "edit-without-reading",
    ) -> dict[str, Any]:
        """Say that a rule was followed."""
        call = self.desk.call(by=self.guard)
        return pass_lesson.pass_lesson(
            self.desk.store, call, session, project=project, category=category, signature=signature
        )

    def end(self, session: str = "s1") -> dict[str, Any]:
        """End a session."""
        return settle_session.end_session(self.desk.store, self.desk.call(by=self.guard), session)

    def counts(self, card_id: str) -> tuple[int, int, int]:
        """Violations, suppressed and samples of a card."""
        card = self.card(card_id)
        return card.violations, card.suppressed, card.samples

    def card(self, card_id: str) -> Card:
        """A card as stored."""
        found = self.desk.store.card(self.desk.memory, card_id)
        assert found is not None
        return found

    def set(self, **settings: Any) -> None:
        """Store settings of lessons, whatever they are."""
        folds = settings.pop("folds", {})
        self.desk.plant(MemoryConfig(rev=1, lessons=settings, folds=folds))

    def count(self, card: Card, **add: int) -> None:
        """Count what sessions would."""
        counters = {name: add[name] for name in COUNTERS if name in add}
        self.desk.store.transact(self.desk.memory, [Count(card, None, add=counters)], self.desk.now)

    def items(self, item_class: str = "LESSON") -> list[Any]:
        """Everything of a class, as entities."""
        return [entity_of(row) for row in table.query(keys.partition(self.desk.memory, item_class))]

    def chain(self, card_id: str) -> list[tuple[str, str]]:
        """(from, to) of every audit entry of a card."""
        entries = self.desk.store.audit_entries(self.desk.memory, f"card:{card_id}")
        return [(body["from"], body["to"]) for body in (json.loads(entry.text) for entry in entries)]
