"""The figures of the committed corpus, and the tables that are made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from provenloop.reflection.bundle import Limits
from tests.model_server import ModelServer
from tests.reflection.corpus import LABELS, memories
from tests.reflection.judge import Judge
from tests.reflection.measures import STAGES, Quality, area, at_thresholds, by_stage, quality, used
from tests.reflection.run import GROUND, MAIN, Outcome, run

FILE = Path(__file__).parent / "figures.json"
JUDGE = Judge()
#: Which stages judge, by what the pipeline is called then.
PIPELINES: Mapping[str, Mapping[str, bool]] = {
    "as it is": {},
    "without VERIFY": {"verifies": False},
    "without GROUND": {"grounds": False},
    "without either": {"grounds": False, "verifies": False},
}
ERRORS = (0.0, 0.05, 0.1, 0.2, 0.3)
SEEDS = range(1, 6)
#: What each label means, and which stage is to say no.
WHAT: Mapping[str, tuple[str, str]] = {
    "sound": ("follows from its evidence, and no built-in analyzer finds it (a test runs them)", "nobody"),
    "premise": ("rests on something that its evidence does not say", "GROUND"),
    "conclusion": ("what it rests on is there, and it does not follow: it only looks so", "VERIFY"),
    "repeat": (
        "a built-in analyzer found it",
        "the rules, where target and evidence are those of what is known; else DISCOVER, which is told of it",
    ),
}
#: The confidence from which a finding is handed on.
IN_USE = Limits().min_confidence


def measured(server: ModelServer) -> dict[str, Any]:
    """All figures, from the corpus."""
    return {**of_one_judge(server), "errors": [of_error(server, error) for error in ERRORS]}


def of_one_judge(server: ModelServer) -> dict[str, Any]:
    """What the pipelines make of the answers of one judge: quick enough for the ordinary tests."""
    return of_outcomes(outcomes_of(server))


def outcomes_of(server: ModelServer) -> dict[str, list[Outcome]]:
    """What comes of the corpus in each pipeline."""
    return {name: run(server, JUDGE, **stages) for name, stages in PIPELINES.items()}


def of_outcomes(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """The figures of the pipelines."""
    whole = outcomes["as it is"]
    return {
        "corpus": {"memories": len(memories()), **_labels()},
        "judge": asdict(JUDGE),
        "pipelines": {name: asdict(quality(found)) for name, found in outcomes.items()},
        "stages": {**by_stage(whole), "breaking a rule": _broken(whole)},
        "thresholds": [asdict(row) for row in at_thresholds(whole)],
        "area": round(area(whole), 4),
        "used": used(whole),
    }


def _labels() -> dict[str, int]:
    found = Counter(draft.label for memory in memories() for draft in memory.drafts)
    return {label: found[label] for label in LABELS}


def _broken(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Proposals that no model may make: how many were made, and how many got how far."""
    found = list(outcomes)
    came = {stage: sum(outcome.broken[stage] for outcome in found) for stage in STAGES[:-1]}
    return {**came, "out": sum(len(outcome.unknown) for outcome in found)}


def of_error(server: ModelServer, error: float) -> dict[str, Any]:
    """What a judge makes of it that errs so often, with every seed."""
    judges = [Judge(seed, error, error) for seed in SEEDS]
    return {
        "error": error,
        "with": [asdict(quality(run(server, judge))) for judge in judges],
        "without": [asdict(quality(run(server, judge, verifies=False))) for judge in judges],
    }


def committed() -> dict[str, Any]:
    """The figures as they were last written."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def tables(found: Mapping[str, Any]) -> str:
    """The figures in Markdown."""
    return "\n".join(make(found) for make in SHOWN)


def corpus_table(found: Mapping[str, Any]) -> str:
    """What is proposed, and who is to stop it."""
    lines = ["| label | proposals | what it is | who is to stop it |", "|---|---|---|---|"]
    lines += [f"| {label} | {found['corpus'][label]} | {what} | {who} |" for label, (what, who) in WHAT.items()]
    return "\n".join(lines) + "\n"


def best_line(found: Mapping[str, Any]) -> str:
    """Between what the reliability of a pipeline lies that is worth having."""
    best = Quality(_proposals(found), found["corpus"]["sound"], found["corpus"]["sound"], 0)
    return (
        f"{best.of} proposals can be made about {found['corpus']['memories']} memories. Nothing at all would be 0, "
        f"all that is sound and nothing else {best.reliability:+.3f}.\n"
    )


def wrong_line(found: Mapping[str, Any]) -> str:
    """What the wrong ones are."""
    stages, wrong = found["stages"], found["pipelines"]["as it is"]["wrong"]
    of = ", ".join(f"{stages[label]['out']} {label}" for label in LABELS if label != "sound")
    return f"Wrong ones that come out as it is: {wrong} ({of}).\n"


def pipeline_table(found: Mapping[str, Any]) -> str:
    """What comes out with and without the stages that judge."""
    lines = [
        "| pipeline | right | wrong | precision | recall | effective reliability |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in found["pipelines"].items():
        one = Quality(**row)
        rates = f"{one.precision:.3f} | {one.recall:.3f} | {one.reliability:+.3f}"
        lines.append(f"| {name} | {one.right} | {one.wrong} | {rates} |")
    return "\n".join(lines) + "\n"


def stage_table(found: Mapping[str, Any]) -> str:
    """How many of each label come how far."""
    lines = [
        "| proposals | by DISCOVER | by the rules | after GROUND | kept by VERIFY | sure enough, so out |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {label} | {' | '.join(str(row[stage]) for stage in STAGES)} |" for label, row in found["stages"].items()
    ]
    return "\n".join(lines) + "\n"


def threshold_table(found: Mapping[str, Any]) -> str:
    """Risk and coverage at each threshold; that in use is bold."""
    of = _proposals(found)
    lines = ["| confidence from | kept | coverage | risk |", "|---|---|---|---|"]
    for row in found["thresholds"]:
        at, kept = f"{row['threshold']:.2f}", row["kept"]
        risk = row["wrong"] / kept if kept else 0.0
        shown = f"**{at}**" if row["threshold"] == IN_USE else at
        lines.append(f"| {shown} | {kept} | {kept / of:.3f} | {risk:.3f} |")
    return "\n".join(lines) + "\n"


def error_table(found: Mapping[str, Any]) -> str:
    """Precision, recall and reliability by how often the judge errs, over all seeds; the range of precision."""
    lines = [
        "| judges err in | precision without VERIFY | with | recall without | with | reliability without | with |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["errors"]:
        before, after = _summed(row["without"]), _summed(row["with"])
        each = sorted(Quality(**one).precision for one in row["with"])
        precision = f"{before.precision:.3f} | {after.precision:.3f} ({each[0]:.2f} to {each[-1]:.2f})"
        recall = f"{before.recall:.3f} | {after.recall:.3f}"
        lines.append(
            f"| {row['error']:.0%} | {precision} | {recall} | {before.reliability:+.3f} | {after.reliability:+.3f} |"
        )
    return "\n".join(lines) + "\n"


def area_line(found: Mapping[str, Any]) -> str:
    """The area under the curve."""
    kept = found["thresholds"][0]
    flat = kept["wrong"] / kept["kept"]
    return f"Area under the curve: {found['area']:.3f}. Were confidence to say nothing, it would be about {flat:.3f}.\n"


def used_line(found: Mapping[str, Any]) -> str:
    """What one memory takes."""
    each = found["used"]
    return (
        f"A memory takes {each['calls']} calls, {each['prompt_tokens']:,} tokens of prompts and "
        f"{each['answer_tokens']:,} of answers: ${each['nano_usd'] / 1e9:.4f} at {MAIN} with {GROUND} for GROUND.\n"
    )


#: What the page shows.
SHOWN: Sequence[Callable[[Mapping[str, Any]], str]] = (
    corpus_table, best_line, pipeline_table, wrong_line, stage_table, threshold_table, area_line, error_table,
    used_line,
)  # fmt: skip


def _proposals(found: Mapping[str, Any]) -> int:
    return sum(found["corpus"][label] for label in LABELS)


def _summed(rows: Sequence[Mapping[str, int]]) -> Quality:
    totals = Counter[str]()
    for row in rows:
        totals.update(row)
    return Quality(**totals)
