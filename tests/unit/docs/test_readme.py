"""What README.md and the pages show is what happens: shell sessions and Python are run."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from oracles.codeblocks import code_blocks, commands, first_missing, run_python

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

ROOT = Path(__file__).parents[3]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
# The import name of each optional library, and the extra that brings it.
LIBRARIES = {
    "nltk": "nltk",
    "pycrfsuite": "bench",
    "ufal": "bench",
    "spacy": "spacy",
    "sklearn": "sklearn",
    "scipy": "sklearn",
    "matplotlib": "report",
    "pyarrow": "arrow",
    "polars": "test",
    "pandas": "test",
    "duckdb": "test",
    "datasets": "test",
    "huggingface_hub": "hub",
    "fastapi": "test",
    "pydantic": "test",
}

# The reader of model files is run by tests/unit/trust, the integrations by a test of their own;
# what engines are told is in the tests that start them; tours are walked by tests/tours.
ELSEWHERE = {"docs/model-format.md", "docs/integrations.md", "docs/engines.md"}
# Its servers are started and spoken to by a test of their own.
ELSEWHERE |= {"docs/howto/other-desks.md"}
ELSEWHERE |= {page for page in PAGES if page.startswith("docs/tours/")}

pytestmark = [
    pytest.mark.skipif(
        not (ROOT / "data").is_dir(), reason="the sample corpus is not beside the tests"
    ),
    # Libraries warn about themselves.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of code of one kind in a page."""
    return [block.code for block in code_blocks(PAGES[page], (kind,))]


def with_blocks(kind: str) -> list[str]:
    return [page for page in PAGES if page not in ELSEWHERE and blocks(page, kind)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with data/ in it."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def need_libraries(page: str) -> None:
    """Skip a page whose optional libraries are not all here."""
    named = set(re.findall(r"^(?:import|from) (\w+)", "".join(blocks(page, "python")), re.M))
    for name in sorted(named & set(LIBRARIES)):
        pytest.importorskip(name, reason=f"{page} needs the extra {LIBRARIES[name]}")


def run(command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a line of a session prints: standard error, then standard output."""
    echoed, _, program = command.rpartition(" | ")
    text = " ".join(shlex.split(echoed)[1:]) + "\n" if echoed else ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    words = shlex.split(program)
    assert words[0] == "perceptron-nlp"
    assert main(words[1:]) == 0
    out, err = capfd.readouterr()
    return err + out


@pytest.mark.parametrize("page", with_blocks("console"))
def test_the_shell_sessions_print_what_they_show(
    page: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    need_libraries(page)
    pieces = [piece for session in blocks(page, "console") for piece in commands(session)]
    assert pieces
    for command, shown in pieces:
        missing = first_missing(shown, run(command, capfd, monkeypatch).splitlines())
        assert missing is None, f"{command!r} does not print {missing!r}"


@pytest.mark.parametrize("page", with_blocks("python"))
def test_the_python_gives_what_its_comments_say(page: str) -> None:
    need_libraries(page)
    names: dict[str, object] = {}
    assert sum(run_python(block, names) for block in blocks(page, "python"))


@pytest.mark.parametrize("page", PAGES)
def test_python_imports_what_a_reader_has(page: str) -> None:
    code = "".join(block.code for block in code_blocks(PAGES[page], ("python",)))
    imported = set(re.findall(r"^(?:>>> )?(?:import|from) (\w+)", code, re.M))
    ours = {"perceptron_nlp", "numpy", *LIBRARIES, "ray", "pyspark", "xxhash"}
    assert imported <= ours | sys.stdlib_module_names


@pytest.mark.parametrize("page", PAGES)
def test_a_page_whose_commands_draw_names_the_extra_that_they_need(page: str) -> None:
    code = "".join(block.code for block in code_blocks(PAGES[page], ("sh", "console")))
    if re.search(
        r"--report\b|--chart\b|--to html\b|^\$ perceptron-nlp (?:study|serve)", code, re.M
    ):
        assert "extra `report`" in PAGES[page] or ".[report]" in PAGES[page]


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", PAGES[page]):
        place = os.path.normpath(ROOT / Path(page).parent / link)
        assert os.path.exists(place), f"{page}: {link}"


def test_each_public_name_is_on_exactly_one_page_of_the_reference() -> None:
    reference = [text for page, text in PAGES.items() if page.startswith("docs/reference/")]
    named = re.findall(
        r"^(?:   ~|\.\. auto(?!module)\w+:: )perceptron_nlp\.(\w+)$", "".join(reference), re.M
    )
    wanted = set(pn.__all__) - {"__version__"}
    assert sorted(named) == sorted(wanted), "each stands on one of the pages of docs/reference"
    lists = re.findall(r"^\.\. autosummary::\n((?:   .*\n|\n)+)", "".join(reference), re.M)
    assert lists and all("   :toctree: names\n" in one for one in lists), "a page for each name"


def test_what_dir_does_not_show_is_listed_as_such() -> None:
    listed = PAGES["docs/reference/data.md"].partition("not shown by `dir(")[2]
    assert set(re.findall(r"~perceptron_nlp\.(\w+)", listed)) == set(pn.__all__) - set(dir(pn))


@pytest.mark.parametrize("name", ["report-desktop", "report-phone", "report-sentences"])
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_report_in_pictures_has_the_figure_of_the_text_beside_it(page: str, name: str) -> None:
    (accuracy,) = re.findall(r"# upos: ([\d.]+ %) of", PAGES[page])
    picture = (ROOT / "docs" / "images" / f"{name}.png").read_bytes()
    # The figures of the page that was drawn (tests/unit/pages).
    _, _, figures = picture.partition(b"tEXtDescription\0")
    assert figures.startswith(accuracy.encode()), "make pictures"


def test_the_citation_is_of_this_version() -> None:
    assert f'version: "{pn.__version__}"' in (ROOT / "CITATION.cff").read_text("utf-8")
