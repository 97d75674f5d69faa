"""The report: one page that holds everything, and the pictures beside it."""

from __future__ import annotations

import re
import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perceptron_nlp.errors import FileError, MissingExtraError
from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.pictures import all_pictures
from perceptron_nlp.perceptrons.study.report import (
    check_libraries,
    made_folder,
    report,
    write_report,
)
from tests.oracles.pages import Page

NAMES = ["learning-curves", "order-spread", "margins", "seven-steps", "separable"]


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
    page = Page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "iframe", "object", "img"}
    links = [own for _, own in page.elements if {"href", "src"} & own.keys()]
    assert all(own.get("href", "").startswith("data:") for own in links) and len(links) == 1
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in html and set(re.findall(r"url\((.)", html)) == {"#"}


def test_every_picture_is_in_the_page_and_says_what_it_shows(html: str) -> None:
    charts = [
        attributes
        for tag, attributes in Page(html).elements
        if tag == "svg" and attributes.get("class") == "chart"
    ]
    # Panels stand by themselves, to be read on a phone.
    assert len(charts) == 2 + 1 + 2 + 4 + 3
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in charts)


def test_the_page_fits_phones_and_dark_rooms(html: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in html
    assert "light-dark(" in html and "overflow:auto" in html


def test_charts_in_the_page_have_no_color_that_the_theme_does_not_know(html: str) -> None:
    charts = re.findall(r'<svg[^>]* class="chart".*?</svg>', html, re.DOTALL)
    assert charts and not re.findall(r"(?:fill|stroke): #\w+", " ".join(charts))


def test_charts_in_the_page_say_what_their_files_say(found: Study, html: str) -> None:
    for picture in all_pictures(found).values():
        for _, _, file in picture.panels:
            told = re.findall(r"<text[^>]*>([^<]*)</text>", file.decode())
            assert told and all(f">{text}</text>" in html for text in told)


def test_learners_and_orders_have_names(html: str) -> None:
    text = " ".join(Page(html).texts)
    for code in re.findall(r"\b[LO]\d+\b", text):
        assert re.search(rf"\w \([^()]*{code}", text), code


def test_names_of_the_corpus_cannot_become_markup(found: Study) -> None:
    named = replace(found, corpus=replace(found.corpus, name="<b>\x07 & c", column="<u>"))
    page = report(named, all_pictures(named)).decode()
    assert "<b>" not in page and "<u>" not in page and "\x07" not in page
    assert "&lt;b&gt;\\x07 &amp; c" in page


def test_missing_matplotlib_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, found: Study, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for needs in (check_libraries, lambda: write_report(found, tmp_path / "none")):
        with pytest.raises(MissingExtraError, match=r'pip install "perceptron-nlp\[report\]"'):
            needs()
    assert not (tmp_path / "none").exists()


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError, match=": cannot be made a folder: "):
            made_folder(place)
    assert (tmp_path / "file").read_text() == "here first"
