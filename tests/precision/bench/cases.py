"""The corpus: one labelled case a line, ``corpus/<analyzer>.jsonl``.

| field | what it holds |
|---|---|
| name | a sentence that says what is so, unique in its file |
| class | what the case tries: ``plain``, ``threshold``, ``numbers``, ``negation`` ... |
| events | steps in the order of time, see ``steps`` |
| config | parameters of the analyzer in this memory, where they are not the defaults |
| expected | the findings: of each the labels (``as``) of the steps it must cite, all of them and no others |
| because | why the label is what it is, where that is not plain |

A finding about a tool as a whole is written ``* <labels>``; one that cites no grain by the parts of its target,
``budget/assembly``. A case without expected findings is a negative.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[1] / "corpus"
_FIELDS = {"name", "class", "events", "config", "expected", "because"}
_NEEDED = {"name", "class", "events", "expected"}


class CorpusError(ValueError):
    """A line of the corpus is no case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case; ``analyzer`` is the family without ``loop.``."""

    analyzer: str
    name: str
    tries: str
    events: Sequence[Mapping[str, Any]]
    expected: frozenset[str]
    config: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    because: str = ""

    @property
    def is_positive(self) -> bool:
        """Whether something must be found."""
        return bool(self.expected)


def analyzers(corpus: Path = CORPUS) -> tuple[str, ...]:
    """The analyzers that have cases, by name."""
    return tuple(sorted(path.stem for path in corpus.glob("*.jsonl")))


def read_cases(analyzer: str, corpus: Path = CORPUS) -> tuple[Case, ...]:
    """The cases of one analyzer in their order.

    Raises:
        CorpusError: no such file, or a line that is no case.
    """
    path = corpus / f"{analyzer}.jsonl"
    if not path.is_file():
        raise CorpusError(f"no cases for {analyzer}; there are some for {', '.join(analyzers(corpus))}")
    cases = tuple(_cases(analyzer, path.read_text(encoding="utf-8")))
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CorpusError(f"{path.name}: more than one case is called {min(twice)!r}")
    return cases


def _cases(analyzer: str, text: str) -> Iterator[Case]:
    for number, line in enumerate(text.splitlines(), start=1):
        given = json.loads(line)
        odd = (given.keys() - _FIELDS) | (_NEEDED - given.keys())
        if odd:
            raise CorpusError(f"{analyzer}.jsonl:{number}: {', '.join(sorted(odd))}")
        expected = frozenset(" ".join(sorted(finding.split())) for finding in given["expected"])
        yield Case(
            analyzer, given["name"], given["class"], given["events"], expected, given.get("config", {}),
            given.get("because", ""),
        )  # fmt: skip
