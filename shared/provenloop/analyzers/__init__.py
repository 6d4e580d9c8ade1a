"""The built-in analyzers: pure functions from a read-only view to drafts, in the order in which a pass runs them."""

from provenloop.analyzers.budget_pressure import BudgetPressure
from provenloop.analyzers.cold_grains import ColdGrains
from provenloop.analyzers.contract import Analyzer
from provenloop.analyzers.contradiction_sweep import ContradictionSweep
from provenloop.analyzers.coverage_gap import CoverageGap
from provenloop.analyzers.duplicate_sweep import DuplicateSweep
from provenloop.analyzers.fork_surfacing import ForkSurfacing
from provenloop.analyzers.goal_stagnation import GoalStagnation
from provenloop.analyzers.outcome_review import OutcomeReview
from provenloop.analyzers.retention_sweep import RetentionSweep
from provenloop.analyzers.skill_stall import SkillStall
from provenloop.analyzers.staleness import Staleness
from provenloop.analyzers.tool_failure import ToolFailure

ANALYZERS: tuple[Analyzer, ...] = (
    ToolFailure(),
    DuplicateSweep(),
    ContradictionSweep(),
    ForkSurfacing(),
    Staleness(),
    SkillStall(),
    GoalStagnation(),
    ColdGrains(),
    CoverageGap(),
    BudgetPressure(),
    OutcomeReview(),
    RetentionSweep(),
)
