"""What a package index shows of README.md leads somewhere, and what it says works today."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
index_page = runpy.run_path(str(ROOT / "scripts/index_page.py"))["index_page"]

RELATIVE = re.compile(r"\]\((?!https?:)[^)]*\)")
REPOSITORY = "https://example.org/somebody/perceptron_nlp"


def test_without_a_repository_links_leave_their_words_and_pictures_go() -> None:
    text = "See [the\npromises](docs/promises.md#m1) of [us](https://a.b/c).\n\n![x](y.png)\n\nEnd"
    assert index_page(text, None) == "See the\npromises of [us](https://a.b/c).\n\nEnd"


def test_with_a_repository_links_lead_to_its_pages_and_pictures_to_their_bytes() -> None:
    text = "[a](docs/a.md#b) ![p](docs/p.png) [c](mailto:d)"
    assert index_page(text, f"{REPOSITORY}/") == (
        f"[a]({REPOSITORY}/blob/HEAD/docs/a.md#b)"
        f" ![p]({REPOSITORY}/raw/HEAD/docs/p.png) [c](mailto:d)"
    )


@pytest.mark.parametrize("repository", [None, REPOSITORY])
def test_no_link_of_readme_is_relative_on_an_index(repository: str | None) -> None:
    assert RELATIVE.search(README)
    assert not RELATIVE.search(index_page(README, repository))


def test_links_into_the_repository_lead_to_files_that_are_there() -> None:
    page = index_page(README, REPOSITORY)
    places = re.findall(rf"\]\({REPOSITORY}/(?:blob|raw)/HEAD/([^)#]+)", page)
    assert len(places) > 30
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_the_package_gives_an_index_this_page_and_not_readme_itself() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "readme" in project["dynamic"] and "readme" not in project
    assert 'long_description=index_page["long_description"]()' in (ROOT / "setup.py").read_text(
        "utf-8"
    )


def test_the_first_command_of_readme_installs_what_is_there() -> None:
    commands = re.findall(r"^```sh\n(.*?)^```", README, re.S | re.M)[0].splitlines()
    assert commands[0].split("  #")[0].strip() == "pip install -e ."
    assert commands[1].startswith("# pip install perceptron-nlp")


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/tutorial.md"])
def test_a_page_says_where_the_sample_corpus_is_before_it_uses_it(page: str) -> None:
    before, used, _ = (ROOT / page).read_text("utf-8").partition("data/english-")
    assert used
    assert "checkout" in before.replace("\n", " ")


def test_pages_install_what_is_there() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for line in page.read_text("utf-8").splitlines():
            command, _, name = line.partition("pip install ")
            if name and not command.startswith("# "):
                assert not re.match(r"[\"']?perceptron[-_]nlp", name), f"{page}: {line}"
                assert not re.match(r"[\"']?\.", name), f"{page}: {line} lacks -e"
