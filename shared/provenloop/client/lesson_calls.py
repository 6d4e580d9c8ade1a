"""Lessons, cards and sessions."""

from __future__ import annotations

from typing import Unpack

from provenloop.client import forms
from provenloop.client.calls import Calls


class LessonCalls(Calls):
    """Operations of the lesson bus. ``key`` is an Idempotency-Key of the caller's own; else each call has a new one."""

    def report_lesson(
        self,
        project: str,
        category: str,
        signature: str,
        detail: str,
        *,
        key: str | None = None,
        **rest: Unpack[forms.ReportRequestRest],
    ) -> forms.ReportReply:
        """Report what went wrong; equal reports merge into one card."""
        body = {"project": project, "category": category, "signature": signature, "detail": detail, **rest}
        return self._write(forms.ReportReply, self.path_in_memory("/lessons"), body, key)

    def pass_lesson(self, *, key: str | None = None, **fields: Unpack[forms.PassRequest]) -> forms.LessonPassReply:
        """Say that a rule fired and was followed."""
        return self._write(forms.LessonPassReply, self.path_in_memory("/lessons/pass"), {**fields}, key)

    def digest_lessons(self, session: str, *, key: str | None = None) -> forms.DigestReply:
        """Have a model distil what went wrong in a session into candidate cards."""
        return self._write(forms.DigestReply, self.path_in_memory("/lessons/digest"), {"session": session}, key)

    def lessons(self, **query: Unpack[forms.LessonsQuery]) -> forms.LessonsReply:
        """Lines of a project or of all, the newest first."""
        return self._read(forms.LessonsReply, self.path_in_memory("/lessons"), query)

    def lesson_stats(self) -> forms.LessonStatsReply:
        """Figures about lessons, and the settings in force."""
        return self._read(forms.LessonStatsReply, self.path_in_memory("/lessons/stats"))

    def start_session(
        self, session: str, project: str, *, key: str | None = None, **rest: Unpack[forms.StartRequestRest]
    ) -> forms.StartReply:
        """Start a session, or resume it: the rules of its project."""
        path = self.path_in_memory("/sessions/{id}/start", id=session)
        return self._write(forms.StartReply, path, {"project": project, **rest}, key)

    def end_session(self, session: str, *, key: str | None = None) -> forms.EndReply:
        """End a session: what was followed, and what was not broken, counts once."""
        return self._write(forms.EndReply, self.path_in_memory("/sessions/{id}/end", id=session), None, key)

    def context(self, **query: Unpack[forms.ContextQuery]) -> forms.ContextReply:
        """What an agent is told when it begins: rules, applied lessons and what waits, as a block within a budget."""
        return self._read(forms.ContextReply, self.path_in_memory("/context"), query)

    def cards(self, **query: Unpack[forms.CardsQuery]) -> forms.CardsReply:
        """Cards by project and status; those that are armed are the rules."""
        return self._read(forms.CardsReply, self.path_in_memory("/cards"), query)

    def card(self, card: str) -> forms.CardReply:
        """One card with its evidence and audit trail; of an id any unique prefix will do, here and below."""
        return self._read(forms.CardReply, self.path_in_memory("/cards/{id}", id=card))

    def replay_card(self, card: str, **query: Unpack[forms.ReplayQuery]) -> forms.ReplayReply:
        """Which past lessons and passes the key of a card matches."""
        return self._read(forms.ReplayReply, self.path_in_memory("/cards/{id}/replay", id=card), query)

    def act_on_card(
        self,
        card: str,
        action: str,
        because: str,
        *,
        key: str | None = None,
        **rest: Unpack[forms.CardActionRequestRest],
    ) -> forms.CardActionReply:
        """Arm, reject, demote, archive, edit or revive a card; people only."""
        path = self.path_in_memory("/cards/{id}/{action}", id=card, action=action)
        return self._write(forms.CardActionReply, path, {"because": because, **rest}, key)

    def migrate_cards(self, because: str, *, key: str | None = None) -> forms.MigrateReply:
        """Merge cards that fold to one key; people only."""
        return self._write(forms.MigrateReply, self.path_in_memory("/cards/migrate"), {"because": because}, key)
