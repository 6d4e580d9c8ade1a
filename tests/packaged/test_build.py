"""What was built: no function with its layers is too large for Lambda, and nothing is shipped that nobody imports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from provenloop.entry.local.template import load_template
from tests.packaged.deployment import BUILT
from tests.packaged.emulator import PYTHON
from tests.template.reading import FUNCTIONS

#: Of a function with all its layers, unzipped: 250 MB.
LIMIT_BYTES = 250 * 1024 * 1024
#: Room that is left for what is yet to come.
AIM_BYTES = 180 * 1024 * 1024
MAX_LAYERS = 5
BUILD = BUILT.parent
WORKS = {
    "EmbedderLayer": (
        "from provenloop.adapters.wordllama_embedder import WordllamaEmbedder;"
        "assert len(WordllamaEmbedder().embed(['Why is it late?'])[0]) == WordllamaEmbedder.dimensions; print('done')"
    ),
    "ModelsLayer": "import anthropic; anthropic.Anthropic(api_key='key').messages; print('done')",
}

each_function = pytest.mark.parametrize("folder", sorted(FUNCTIONS))


def files(folder: Path) -> list[Path]:
    """Every file below."""
    return [path for path in folder.rglob("*") if path.is_file()]


def size(folder: Path) -> int:
    """Bytes of everything below."""
    return sum(path.stat().st_size for path in files(folder))


@each_function
def test_a_function_with_its_layers_is_far_smaller_than_lambda_takes(folder: str) -> None:
    function = load_template(BUILT)["Resources"][FUNCTIONS[folder].logical_id]["Properties"]
    everywhere = load_template(BUILT)["Globals"]["Function"]["Layers"]
    layers = [each["Ref"] for each in (*everywhere, *function.get("Layers", ()))]
    assert len(layers) <= MAX_LAYERS
    assert size(BUILD / FUNCTIONS[folder].logical_id) < 64 * 1024
    assert sum(size(BUILD / name) for name in (FUNCTIONS[folder].logical_id, *layers)) < AIM_BYTES < LIMIT_BYTES


def test_layers_hold_no_tests_no_caches_and_nothing_for_compilers() -> None:
    unneeded = {"tests", "__pycache__", ".pyc", ".a", ".c", ".cpp", ".h", ".pyx"}
    layers = [path for path in BUILD.glob("*Layer") if path.is_dir()]
    found = [path for layer in layers for path in files(layer) if unneeded & {*path.parts, path.suffix}]
    assert len(layers) == 4
    assert found == []


@pytest.mark.parametrize(("layer", "work"), WORKS.items())
def test_what_a_layer_holds_is_all_that_its_work_needs(layer: str, work: str) -> None:
    """With the other layers and what the runtime brings, and nothing of this environment."""
    paths = [str(BUILD / name / "python") for name in ("DependenciesLayer", "SharedLayer", layer)]
    program = f"import sys; sys.path[:0] = {paths!r}; {work}"
    done = subprocess.run([PYTHON, "-I", "-B", "-c", program], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
