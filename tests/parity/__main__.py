"""``python -m tests.parity [FOLDER]``: judges every scenario of a folder; 1 when any of them mismatches."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.parity.runner.report import judge_folder, lines, new_stack, summary
from tests.parity.runner.scenarios import FolderError

OWN = Path(__file__).parent / "data"


def main(arguments: Sequence[str]) -> int:
    """Judge the folder that is named, or the committed one; the exit status."""
    folder = Path(arguments[0]) if arguments else OWN
    found = []
    try:
        with new_stack() as stack:
            for judgement in judge_folder(stack, folder):
                found.append(judgement)
                sys.stdout.writelines(f"{line}\n" for line in lines(judgement))
    except FolderError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(summary(found) + "\n")
    return int(any(judgement.kind == "mismatch" for judgement in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
