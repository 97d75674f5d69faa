"""Every example of docs/integrations.md is run, each library's if it is installed."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
from pathlib import Path

import pytest
from oracles.codeblocks import comment_after

from perceptron_nlp.cli.main import main

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")
LIBRARIES = {
    "spaCy": ["spacy"],
    "scikit-learn": ["sklearn"],
    "NLTK": ["nltk"],
    "Arrow": ["pyarrow"],
    "Polars": ["pyarrow", "polars"],
    "pandas": ["pyarrow", "pandas"],
    "DuckDB": ["pyarrow", "duckdb"],
    "Hugging Face datasets": ["pyarrow", "datasets"],
    "Parquet files": ["pyarrow"],
    "Model repositories": ["huggingface_hub"],
}
# Warnings of these libraries about each other.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        not (ROOT / "data").is_dir(), reason="the sample corpus is not beside the tests"
    ),
]
PIECES = re.split(r"^##+ (.*)\n", PAGE, flags=re.M)
SECTIONS = dict(zip(PIECES[1::2], PIECES[2::2], strict=True))


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """A folder with data/ and the model that all examples use, and the names of the first block."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "data", folder / "data")
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(PIECES[0], names) == 0
    return folder, names


def run(text: str, names: dict[str, object]) -> int:
    """Run the code in a part of the page; how many values were compared with their comments."""
    compared = 0
    for kind, block in re.findall(r"```(python|console)\n(.*?)```", text, re.S):
        if kind == "console":
            command, _, _ = block.removeprefix("$ perceptron-nlp ").partition("\n")
            assert main(command.split()) == 0
            continue
        lines = block.splitlines()
        for node in ast.parse(block).body:
            code = ast.get_source_segment(block, node) or ""
            if not isinstance(node, ast.Expr):
                exec(code, names)
                continue
            value = str(eval(code, names))
            expected = comment_after(lines, node.end_lineno or 0)
            if expected:
                assert value.startswith(expected.rstrip("…")), f"{code}: {value}"
                compared += 1
    return compared


@pytest.mark.parametrize("title", LIBRARIES)
def test_the_examples_give_what_their_comments_say(
    title: str, begun: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LIBRARIES[title]:
        pytest.importorskip(name, reason=f"{name} is not installed")
    folder, names = begun
    monkeypatch.chdir(folder)
    names = dict(names)
    if title == "spaCy":
        # What spaCy does by itself where the package is installed with its entry points.
        importlib.import_module("perceptron_nlp.integrations.spacy")
    if LIBRARIES[title][:1] == ["pyarrow"]:
        exec("from perceptron_nlp.integrations.arrow import tag_arrow", names)
    assert run(SECTIONS[title], names) >= 1


def test_every_section_with_code_is_run() -> None:
    assert {title for title, text in SECTIONS.items() if "```python" in text} == LIBRARIES.keys()
