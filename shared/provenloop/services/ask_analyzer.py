"""Asking one external analyzer: who it is, and then, page by page, what it finds. Whatever it does, nothing is raised.

All of its findings count or none: where one of its answers is missing or cannot be read, it is skipped with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from provenloop.domain.grain import Grain
from provenloop.domain.outside import OutsideFinding
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.external.answers import Probed, ReadAnswer, read_findings, read_probe
from provenloop.external.identity import is_who_it_should_be
from provenloop.external.protocol import PROBE, Pages, pages_of
from provenloop.services.external_port import ExternalAnalyzer, ExternalAnalyzers, ExternalFailure

#: What the caller needs of the time that is left, once this has been asked.
RESERVE_MS = 3_000
#: With less time than this nobody is asked.
LEAST_MS = 250


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking an external analyzer.

    ``skipped`` is why nothing of it counts: ``timeout``, ``too_large``, ``unreachable``, ``failed``, ``no key``,
    ``garbage``, ``wrong id``, or ``time`` where the caller's own was over; None where it answered. ``dropped`` counts
    its findings that do not count by reason (see ``external.answers``), and as ``grain_too_large`` the grains that it
    was not sent. ``title`` is what it calls itself, else its id. ``is_whole`` tells that it was sent every grain of
    its kinds and that no finding of it was one too many.
    """

    findings: tuple[OutsideFinding, ...] = ()
    skipped: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    title: str = ""
    is_whole: bool = False


class _SkippedError(Exception):
    """Nothing of the analyzer counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def ask_analyzer(
    registered: RegisteredAnalyzer,
    analyzers: ExternalAnalyzers,
    grains: Sequence[Grain],
    *,
    now: int,
    left_ms: Callable[[], int],
) -> Asked:
    """Ask an analyzer about some grains, of which it is sent those of the kinds it is registered for; with none of
    them, it is not asked.

    Args:
        left_ms: how much time the caller has left, in milliseconds.
    """
    pages = pages_of(grains, registered.needs, now)
    if not pages.requests:
        return _asked(registered.id, [], pages)
    try:
        asking = _Asking(registered, analyzers(registered), left_ms)
        probed = asking.who()
        answers = asking.about(pages)
    except _SkippedError as skipped:
        return Asked(skipped=skipped.reason, title=registered.id)
    except Exception:  # noqa: BLE001 - whatever goes wrong there, the caller goes on without it
        return Asked(skipped="failed", title=registered.id)
    return _asked(probed.title or registered.id, answers, pages)


def _asked(title: str, answers: Sequence[ReadAnswer], pages: Pages) -> Asked:
    dropped = Counter({"grain_too_large": pages.too_large} if pages.too_large else {})
    for answer in answers:
        dropped.update(answer.dropped)
    return Asked(
        findings=tuple(finding for answer in answers for finding in answer.findings),
        dropped=dict(dropped),
        title=title,
        is_whole=not (dropped["grain_too_large"] or dropped["too_many"]),
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """One analyzer while it is asked."""

    registered: RegisteredAnalyzer
    analyzer: ExternalAnalyzer
    left_ms: Callable[[], int]

    def who(self) -> Probed:
        probed = read_probe(self._answer(PROBE))
        if probed is None:
            raise _SkippedError("garbage")
        if not is_who_it_should_be(probed, self.registered):
            raise _SkippedError("wrong id")
        return probed

    def about(self, pages: Pages) -> list[ReadAnswer]:
        """Its answer to each page; it may cite what it was sent on earlier ones."""
        answers: list[ReadAnswer] = []
        sent: set[str] = set()
        for request, addresses in zip(pages.requests, pages.addresses, strict=True):
            sent |= addresses
            read = read_findings(self._answer(request), sent)
            if read is None:
                raise _SkippedError("garbage")
            answers.append(read)
        return answers

    def _answer(self, request: bytes) -> bytes:
        left = self.left_ms() - RESERVE_MS
        if left < LEAST_MS:
            raise _SkippedError("time")
        timeout_ms = min(self.registered.timeout_ms, left)
        answer = self.analyzer.ask(request, timeout_ms=timeout_ms, max_bytes=self.registered.max_bytes)
        if isinstance(answer, ExternalFailure):
            is_ours = answer.kind == "timeout" and timeout_ms < self.registered.timeout_ms
            raise _SkippedError("time" if is_ours else answer.kind)
        if len(answer) > self.registered.max_bytes:
            raise _SkippedError("too_large")
        return answer
