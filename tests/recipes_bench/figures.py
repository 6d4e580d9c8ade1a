"""The figures of the committed data, and the tables that are made of them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tests.recipes_bench import data_sets
from tests.recipes_bench.measures import BAND, EMBEDDER, THRESHOLDS, at_threshold, judge, offered, pair_rows

FILE = Path(__file__).parent / "figures.json"
SETS = {
    "999 paraphrases": data_sets.paraphrases,
    "banking77": data_sets.banking77,
    "banking77, held out": data_sets.banking77_held_out,
}
PAIR_FILES = ("hard-pairs.json", "unseen-pairs.json")


def measured() -> dict[str, Any]:
    """All figures, from the data."""
    return {
        "embedder": EMBEDDER.tag,
        "band": asdict(BAND),
        "sampled": sampled(),
        "sets": {name: of_set(name) for name in SETS},
        "pairs": {name: of_pairs(name) for name in PAIR_FILES},
    }


def of_set(name: str) -> dict[str, Any]:
    """One set of questions."""
    return of_questions(SETS[name]())


def sampled() -> dict[str, Any]:
    """Every tenth of the 999, asked of all of them: quick enough for the ordinary tests."""
    questions = SETS["999 paraphrases"]()
    return of_questions(replace(questions, asked=questions.asked[::10]))


def of_questions(questions: data_sets.Questions) -> dict[str, Any]:
    """What the ladder makes of questions."""
    judged = judge(questions)
    return {
        "asked": len(questions.asked),
        "exact": sum(each.exact is not None for each in judged),
        "exact_right": sum(each.exact is True for each in judged),
        "offered": asdict(offered(judged)),
        "rows": [asdict(at_threshold(judged, threshold)) for threshold in THRESHOLDS],
    }


def of_pairs(name: str) -> dict[str, Any]:
    """One file of pairs."""
    same, look_alikes = pair_rows(data_sets.pairs_of(data_sets.DATA / name))
    return {"same": asdict(same), "look_alikes": [asdict(row) for row in look_alikes]}


def committed() -> dict[str, Any]:
    """The figures as they were last written."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def tables(found: dict[str, Any]) -> str:
    """The figures in Markdown."""
    return f"{set_table(found)}\n{offered_table(found)}\n{pair_table(found)}"


def set_table(found: dict[str, Any]) -> str:
    """Served, right, composer and missed of every set at every threshold; that in use is bold."""
    head = "".join(f" {name} ({figures['asked']:,}) |" for name, figures in found["sets"].items())
    lines = [f"| serve from |{head}", "|---|" + "---|" * len(found["sets"])]
    for place, threshold in enumerate(THRESHOLDS):
        cells = [_cell(figures["rows"][place], figures["asked"]) for figures in found["sets"].values()]
        is_used = threshold == found["band"]["threshold"]
        lines.append(f"| {f'**{threshold:.2f}**' if is_used else f'{threshold:.2f}'} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def offered_table(found: dict[str, Any]) -> str:
    """Where the right recipe stands in the serve-or-compose band."""
    lines = [
        "| set | asked | exact hits (right) | right one nearest | another one nearest | right one among the offered |",
        "|---|---|---|---|---|---|",
    ]
    for name, figures in found["sets"].items():
        band = figures["offered"]
        exact = f"{figures['exact']} ({figures['exact_right']})"
        numbers = f"{band['first_right']} | {band['first_wrong']} | {band['anywhere']}"
        lines.append(f"| {name} | {figures['asked']} | {exact} | {numbers} |")
    return "\n".join(lines) + "\n"


def pair_table(found: dict[str, Any]) -> str:
    """What becomes of labelled pairs, by file and kind."""
    lines = ["| file | kind | pairs | served | composer | missed |", "|---|---|---|---|---|---|"]
    for name, figures in found["pairs"].items():
        for row in (*figures["look_alikes"], figures["same"]):
            kind = row["kind"] if row is figures["same"] else f"look-alikes: {row['kind']}"
            numbers = f"{row['pairs']} | {row['served']} | {row['composer']} | {row['missed']}"
            lines.append(f"| {name.removesuffix('.json')} | {kind} | {numbers} |")
    return "\n".join(lines) + "\n"


def _cell(row: dict[str, Any], asked: int) -> str:
    """Share served, precision of that, and how many go to the composer and are missed."""
    precision = row["right"] / row["served"] if row["served"] else 1.0
    return f"{row['served'] / asked:.1%}, {precision:.3f}; {row['composer']} / {row['missed']}"
