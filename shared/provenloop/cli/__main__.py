"""``python -m provenloop.cli`` is ``provenloop``."""

import sys

from provenloop.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
