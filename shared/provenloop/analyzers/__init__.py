"""The built-in analyzers: pure functions from a read-only view to drafts, in the order in which a pass runs them."""

from provenloop.analyzers.contract import Analyzer
from provenloop.analyzers.contradiction_sweep import ContradictionSweep
from provenloop.analyzers.tool_failure import ToolFailure

ANALYZERS: tuple[Analyzer, ...] = (ToolFailure(), ContradictionSweep())
