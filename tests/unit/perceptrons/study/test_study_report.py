"""The report: one page that holds everything, and the pictures beside it."""

from __future__ import annotations

import base64
import struct
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from perceptron_nlp.errors import FileError, MissingExtraError
from perceptron_nlp.perceptrons.study import made_folder, plotting, write_report
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.page import page, paragraph, table
from perceptron_nlp.perceptrons.study.sections import power_rows

NAMES = ["learning-curves", "order-spread", "margins", "cost-growth", "seven-steps", "separable"]
VOID = {"meta", "img"}


class Seen(HTMLParser):
    """Elements, their attributes and the text of a page; checks that tags close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def files(found: Study, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_report(found, tmp_path_factory.mktemp("out") / "new" / "folder")


@pytest.fixture(scope="module")
def html(files: list[Path]) -> str:
    return files[0].read_text(encoding="utf-8")


def test_the_files_are_the_page_and_its_pictures(files: list[Path]) -> None:
    assert [path.name for path in files] == ["study.html", *(f"{name}.png" for name in NAMES)]
    for path in files[1:]:
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", data[16:24])
        assert 600 < width < 1600 and 300 < height < 1200
        assert len(data) < 80_000


def test_the_page_loads_nothing_from_anywhere(html: str) -> None:
    seen = Seen(html)
    assert seen.open == []
    assert {tag for tag, _ in seen.elements} & {"script", "link", "iframe", "object"} == set()
    sources = [attributes["src"] or "" for _, attributes in seen.elements if "src" in attributes]
    assert len(sources) == len(NAMES)
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not any("href" in attributes or "style" in attributes for _, attributes in seen.elements)
    assert "url(" not in html and "@import" not in html and "http" not in html


def test_the_pictures_within_are_the_files(html: str, files: list[Path]) -> None:
    seen = Seen(html)
    images = [attributes for tag, attributes in seen.elements if tag == "img"]
    within = {base64.b64decode((image["src"] or "").partition(",")[2]) for image in images}
    assert within == {path.read_bytes() for path in files[1:]}
    assert all(image["alt"] for image in images)


def test_the_page_fits_phones_and_dark_rooms(html: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in html
    assert "prefers-color-scheme: dark" in html
    assert "max-width: 100%" in html and "overflow-x: auto" in html


def test_every_row_of_the_cost_table_is_in_the_page(html: str, found: Study) -> None:
    for quantity in ("elements", "bytes", "seconds"):
        rows = power_rows(found.growth, quantity)
        assert len(rows) >= 9
        assert all(cell in html for row in rows for cell in row)


def test_words_of_the_corpus_cannot_become_markup() -> None:
    made = page("<b>", [paragraph("a < b & c"), table(["<i>"], [["<u>"]])]).decode()
    assert "<b>" not in made and "<i>" not in made and "<u>" not in made
    assert "a &lt; b &amp; c" in made


def test_missing_matplotlib_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, found: Study, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for needs in (plotting, lambda: write_report(found, tmp_path / "none")):
        with pytest.raises(MissingExtraError, match=r'pip install "perceptron-nlp\[plot\]"'):
            needs()
    assert not (tmp_path / "none").exists()


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError, match=": cannot be made a folder: "):
            made_folder(place)
    assert (tmp_path / "file").read_text() == "here first"
