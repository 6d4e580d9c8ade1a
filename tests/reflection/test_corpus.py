"""The corpus is large enough, well formed, and about what no built-in analyzer finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from provenloop.adapters.dynamodb.store import DynamoStore
from provenloop.domain.recommendation import family_of
from tests.precision.bench.cases import Case
from tests.precision.bench.play import MEMORY, Play, empty_table
from tests.reflection.corpus import LABELS, CorpusError, Memory, memories

MEMORIES = memories()
LEAST = 40
#: So many tests play the memories, for tests run side by side.
PARTS = 5


def test_there_are_enough_memories_findings_and_decoys_of_every_kind() -> None:
    assert len(MEMORIES) >= LEAST
    labels = Counter(draft.label for memory in MEMORIES for draft in memory.drafts)
    assert set(labels) == set(LABELS)
    assert labels["sound"] >= LEAST
    assert labels["premise"] + labels["conclusion"] >= labels["sound"]
    assert sum(not any(draft.is_right for draft in memory.drafts) for memory in MEMORIES) >= 5


def found_by_programs(memory: Memory, store: DynamoStore) -> Counter[tuple[str, frozenset[str]]]:
    """What a pass without models finds: which analyzer, and the labels of what it cites."""
    empty_table()
    play = Play(Case("tool_failure", memory.name, "plain", memory.grains, frozenset()), store)
    play.run()
    return Counter(
        (family_of(rec.analyzer).removeprefix("loop."), frozenset(play.labels[address][0] for address in rec.evidence))
        for rec in store.all_recommendations(MEMORY)
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_built_in_analyzers_find_what_the_corpus_says_and_nothing_else(store: DynamoStore, part: int) -> None:
    differ = {}
    for memory in MEMORIES[part::PARTS]:
        said = Counter((found.analyzer, found.cites) for found in memory.found)
        found = found_by_programs(memory, store)
        if found != said:
            differ[memory.name] = (found, said)
    assert not differ


def test_no_finding_that_counts_is_one_of_a_built_in_analyzer() -> None:
    for memory in MEMORIES:
        programs = {found.cites for found in memory.found}
        assert programs.isdisjoint(draft.cites for draft in memory.drafts if draft.label != "repeat"), memory.name
        assert programs == {draft.cites for draft in memory.drafts if draft.label == "repeat"}, memory.name


DRAFT = {"label": '"sound"', "says": '"so"', "target": '"grain:a"', "cites": '"a"', "premises": '{ a = "it is" }'}


def written(folder: Path, grains: str = '{ as = "a", note = "x" }', times: str = "1", **draft: str) -> Path:
    fields = "\n".join(f"{name} = {value}" for name, value in {**DRAFT, **draft}.items())
    drafts = f"[[memory.drafts]]\n{fields}\n" * int(times)
    (folder / "some.toml").write_text(f'[[memory]]\nname = "one"\ngrains = [{grains}]\n{drafts}')
    return folder


def test_a_well_formed_memory_is_read(tmp_path: Path) -> None:
    [memory] = memories(written(tmp_path))
    assert [(draft.label, draft.cites) for draft in memory.drafts] == [("sound", frozenset("a"))]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"label": '"true"'}, "do not agree"),
        ({"cites": '"a b"'}, "no grains of it"),
        ({"cites": '""'}, "no grains of it"),
        ({"premises": '{ none = "it is" }'}, "do not agree"),
        ({"label": '"premise"', "trick": '"x"'}, "do not agree"),
        ({"label": '"conclusion"'}, "trick"),
        ({"why": '"x"'}, "why"),
        ({"times": "2"}, "two drafts"),
        ({"grains": '{ note = "x" }'}, "a label of its own"),
    ],
)
def test_what_is_not_well_formed_is_refused(tmp_path: Path, wrong: dict[str, str], said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        memories(written(tmp_path, **wrong))


def test_two_memories_of_one_name_are_refused(tmp_path: Path) -> None:
    text = (written(tmp_path) / "some.toml").read_text()
    (tmp_path / "other.toml").write_text(text)
    with pytest.raises(CorpusError, match="'one'"):
        memories(tmp_path)
