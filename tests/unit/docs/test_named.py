"""What the pages name is there: verbs and options, files, targets of make, names of the package."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import VERBS, parser_of
from perceptron_nlp.cli.parsing import VerbParser

ROOT = Path(__file__).parents[3]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    if page.exists()
}
parser = functools.cache(parser_of)

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").is_dir(), reason="the documentation is not beside the tests"
)


@functools.cache
def sources() -> set[str]:
    """Return the names of all files."""
    return {path.name for place in ("*.py", "[!.]*/**/*.*") for path in ROOT.glob(place)}


def command_lines(text: str) -> list[str]:
    """Return every call of the program in a page, up to the end of its line, span or pipe."""
    joined = text.replace("\\\n", " ")
    return re.findall(r"perceptron-nlp ([a-z]+\b[^`\n|;]*)", joined)


@pytest.mark.parametrize("page", PAGES)
def test_every_verb_and_option_that_a_page_names_exists(page: str) -> None:
    for line in command_lines(PAGES[page]):
        verb, *rest = line.split()
        if verb not in VERBS:
            # Prose, such as "perceptron-nlp is …", has no option.
            assert not any(word.startswith("--") for word in rest), f"{page}: {line}"
            continue
        known: VerbParser = parser(verb)
        for word in rest:
            option = re.match(r"--?[a-z][a-z-]*", word)
            if option and word.startswith("-"):
                assert known.knows(option[0]), f"{page}: perceptron-nlp {verb} {option[0]}"


@pytest.mark.parametrize("page", PAGES)
def test_every_script_and_target_that_a_page_names_exists(page: str) -> None:
    text = PAGES[page]
    for script in re.findall(r"python ((?:benchmarks|scripts|docs)/[\w/.-]+\.py)", text):
        assert (ROOT / script).exists(), f"{page}: {script}"
    for module in re.findall(r"python -m (benchmarks[\w.]*)", text):
        place = ROOT / module.replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").exists(), f"{page}: {module}"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for target in re.findall(r"`make ([a-z]+)", text):
        assert target in targets, f"{page}: make {target}"
    for path in re.findall(r"`((?:perceptron_nlp|tests|benchmarks|scripts)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), f"{page}: {path}"
    for source in re.findall(r"`(?:[\w-]+/)*([\w-]+\.(?:py|pyx|pxd|h|c|supp))`", text):
        assert source in sources(), f"{page}: {source}"


def test_every_source_that_a_module_names_exists() -> None:
    for module in (ROOT / "perceptron_nlp").rglob("*.py"):
        named = re.findall(r"([\w-]+\.(?:py|pyx|pxd|h))\b(?![(.])", module.read_text("utf-8"))
        assert {*named} <= sources(), module


@pytest.mark.parametrize("folder", ["benchmarks", "scripts"])
def test_every_name_that_a_script_imports_from_the_package_exists(folder: str) -> None:
    scripts = sorted((ROOT / folder).rglob("*.py"))
    assert scripts
    for script in scripts:
        for found in ast.walk(ast.parse(script.read_text("utf-8"))):
            if isinstance(found, ast.ImportFrom) and f"{found.module}.".startswith(
                "perceptron_nlp."
            ):
                try:
                    module = importlib.import_module(str(found.module))
                except pn.MissingExtraError:
                    continue
                for name in found.names:
                    there = hasattr(module, name.name) or importlib.util.find_spec(
                        f"{found.module}.{name.name}"
                    )
                    assert there, f"{script}: {found.module}.{name.name}"


def test_the_map_of_the_core_names_every_header() -> None:
    headers = {path.name for path in (ROOT / "perceptron_nlp" / "_core").glob("*/*.h")}
    assert headers == set(re.findall(r"`([\w/]+\.h)`", PAGES["CONTRIBUTING.md"])) & headers


def test_the_map_names_every_folder_of_the_package() -> None:
    folders = {path.parent.name for path in (ROOT / "perceptron_nlp").glob("*/__init__.py")}
    assert folders <= set(re.findall(r"^\| `([\w/]+)/` \|", PAGES["CONTRIBUTING.md"], re.M))


def test_the_eight_files_to_begin_with_have_2500_lines_and_what_to_look_at() -> None:
    section = PAGES["CONTRIBUTING.md"].partition("## Eight files")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/.]+)` \| (.+) \|$", section, re.M)
    assert len(rows) == 8
    lines = 0
    for path, looked_at in rows:
        text = (ROOT / "perceptron_nlp" / path).read_text("utf-8")
        lines += text.count("\n")
        for name in re.findall(r"`(?:\w+\.)?(\w+)`", looked_at):
            assert re.search(rf"\b{name}\b", text), f"{path}: {name}"
    assert lines == pytest.approx(2_500, abs=100)


def test_what_readme_leads_a_reader_to_stands_in_the_file_that_it_links() -> None:
    rows = re.findall(r"^\| [^|]+ \| (`\w+`.*) \|$", PAGES["README.md"], re.M)
    led = [row for row in rows if "](perceptron_nlp/" in row]
    assert len(led) >= 4
    for row in led:
        names, path = re.match(r"(.+?) in \[[^]]+\]\(([^)]+)\)", row).groups()
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), f"{path}: {name}"


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_what_was_given_up(page: str) -> None:
    current, _, given_up = PAGES["CHANGELOG.md"].partition("### Given up")
    text = current if page == "CHANGELOG.md" else PAGES[page]
    cells = re.findall(r"^\| (.+?) \| ", given_up, re.M)
    gone = set(re.findall(r"`(?:Tagger\.)?(\w{5,}|--[a-z-]+)[`(]", " ".join(cells)))
    gone -= {"tokens", *VERBS}
    assert {"tag_columns", "spans", "--all-labels"} <= gone
    named = set(re.findall(r"`(?:tagger\.|Tagger\.)?(\w+|--[a-z-]+)[`(]", text))
    assert not gone & named
    for name in re.findall(r"\bTagger\.([a-z]\w+)", text):
        assert hasattr(pn.Tagger, name), f"{page}: Tagger.{name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_public_name_that_a_page_names_exists(page: str) -> None:
    for name, attribute in re.findall(r"\bpn\.(\w+)(?:\.(\w+))?", PAGES[page]):
        assert hasattr(pn, name), f"{page}: pn.{name}"
        if attribute and isinstance(getattr(pn, name), type):
            assert hasattr(getattr(pn, name), attribute) or attribute in getattr(
                getattr(pn, name), "__annotations__", {}
            ), f"{page}: pn.{name}.{attribute}"
