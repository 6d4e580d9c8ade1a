"""``python -m tests.precision [ANALYZER ...]``: precision and recall on the corpus; 1 when any is below the gate.

A run of all analyzers is also held against the table in README.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.precision.bench.cases import CorpusError, analyzers, read_cases
from tests.precision.bench.report import HEAD, differences, line, waiting, wrong
from tests.precision.bench.run import judge_all, served
from tests.precision.bench.score import Score, score


def main(arguments: Sequence[str]) -> int:
    """Run the named analyzers' cases, or all; the exit status."""
    try:
        corpora = {name: read_cases(name) for name in arguments or analyzers()}
    except CorpusError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    judged = {name: cases for name, cases in corpora.items() if name in served()}
    verdicts = list(judge_all(case for cases in judged.values() for case in cases))
    scores = [score(name, [verdict for verdict in verdicts if verdict.case.analyzer == name]) for name in judged]
    _say(HEAD, *map(line, scores))
    _say(*(waiting(name, len(cases)) for name, cases in corpora.items() if name not in judged))
    _say(*(text for verdict in verdicts for text in wrong(verdict)))
    odd = [] if arguments else differences(scores)
    _say(*odd)
    return int(bool(odd) or not all(map(_passes, scores)))


def _passes(found: Score) -> bool:
    return found.passes


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{text}\n" for text in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
