"""Reports of taggers of all kinds, and the folders they are written to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis import figures
from perceptron_nlp.pages.drawing import BLUE
from tests.oracles.pages import Page

Sentences = list[tuple[list[str], list[str]]]


@pytest.fixture(autouse=True)
def quick_pngs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PNGs take long to draw, and have a test of their own."""
    monkeypatch.setattr(figures, "png", lambda drawn: b"\x89PNG")


def written(tagger: pn.Tagger, data: object, folder: Path, **options: str) -> Page:
    """The page of a report."""
    return Page(pn.report(tagger, data, folder, **options).page.read_text("utf-8"))


def headings(page: Page) -> str:
    """All text of a page."""
    return " ".join(" ".join(page.texts).split())


CHARTS = ("learning", "lengths", "confusion")
FILES = [f"{name}.{kind}" for name in CHARTS for kind in ("svg", "png")]


def test_the_charts_stand_beside_the_page(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    report = pn.report(tagger, small, tmp_path / "new" / "r")
    assert sorted(os.listdir(tmp_path / "new" / "r")) == sorted(["index.html", *FILES])
    assert [path.name for path in report.pictures] == FILES
    assert report.evaluations["tag"].to_dict() == tagger.evaluate(small).to_dict()


def test_charts_are_text_as_it_is_written_in_both_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    labels = ["$A^{_$", "<B>", "C\x07"]
    data = [([f"w{i % 4}"], [labels[i % 3]]) for i in range(12)]
    pn.report(pn.train(data, epochs=2), data, tmp_path / "r")
    texts = ElementTree.parse(tmp_path / "r" / "confusion.svg").getroot().itertext()
    assert {"$A^{_$", "<B>", "C\\x07"} <= {text.strip() for text in texts}
    assert (tmp_path / "r" / "confusion.png").read_bytes().startswith(b"\x89PNG")


def test_charts_in_a_page_take_its_colors_and_have_ids_of_their_own(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    report = pn.report(tagger, small, tmp_path / "r")
    text = report.page.read_text("utf-8")
    within = text[text.index("<main>") :]
    assert "var(--good)" in within and BLUE not in within
    assert BLUE in (tmp_path / "r" / "lengths.svg").read_text("utf-8")
    used = set(re.findall(r'(?:url\(|xlink:href=")#([^)"]+)', text))
    assert used and used <= set(Page(text).ids)


def test_a_missing_library_names_the_extra_before_anything_is_read(
    tagger: pn.Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pn.MissingExtraError, match=r'pip install "perceptron-nlp\[report\]"'):
        pn.report(tagger, "nothing.txt", tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_calibrated_model_shows_whether_its_confidences_hold(tmp_path: Path) -> None:
    labeled = [
        ([f"w{(7 * i + j) % 60}" for j in range(8)], ["AB"[(i * j) % 2] for j in range(8)])
        for i in range(60)
    ]
    tagger = pn.train(labeled[:10], epochs=2).calibrate(labeled)
    report = pn.report(tagger, labeled, tmp_path / "r")
    page = Page(report.page.read_text("utf-8"))
    (column,) = page.data("figures")["columns"]
    assert (
        column["calibration"] == tagger.evaluate(labeled, calibration=True).to_dict()["calibration"]
    )
    assert "calibration error" in headings(page)
    assert tmp_path / "r" / "calibration.svg" in report.pictures


def test_spans_have_their_f1_with_an_interval(tmp_path: Path) -> None:
    labeled = [
        (["the", "cat", "sees", f"dogs{i}"], ["B-NP", "I-NP", "O", "B-NP"]) for i in range(12)
    ]
    tagger = pn.train(labeled, epochs=2)
    page = written(tagger, [*labeled, (["a", "b"], ["B-VP", "O"])], tmp_path / "r")
    (column,) = page.data("figures")["columns"]
    assert 0 < column["f1"] < 1
    low, high = column["f1_interval"]
    assert low <= column["f1"] <= high <= 1
    assert "F1 of spans" in headings(page) and "spans by type" in headings(page)


def test_several_columns_have_a_page_each_and_an_overview(tmp_path: Path) -> None:
    rows = "1\tThe\tthe\tDET\tDT\tDefinite=Def\t_\t_\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t_\t_\t_\t_\n"
    path = tmp_path / "t.conllu"
    path.write_text(f"{rows}\n" * 4)
    tagger = pn.train(path, column="upos,feats", epochs=2)
    report = pn.report(tagger, path, tmp_path / "r")
    names = ["index.html", "column-1.html", "column-2.html"]
    assert [page.name for page in report.pages] == names and report.page == report.pages[0]
    overview, *pages = [Page(page.read_text("utf-8")) for page in report.pages]
    assert [column["column"] for column in overview.data("figures")["columns"]] == ["upos", "feats"]
    assert list(report.evaluations) == ["upos", "feats"]
    for page in (overview, *pages):
        links = [attributes["href"] for name, attributes in page.elements if name == "a"]
        assert set(names) <= set(links)
        assert {f"#{id}" for id in page.ids} >= {link for link in links if link not in names}
    assert {"learning-1.svg", "learning-2.svg"} <= {path.name for path in report.pictures}
    only = written(tagger, path, tmp_path / "r", column="feats").data("figures")
    assert [column["column"] for column in only["columns"]] == ["feats"]
    assert not (tmp_path / "r" / "column-1.html").exists()


def test_columns_are_judged_as_they_are_tagged_together(tmp_path: Path) -> None:
    tagger = pn.load("en")
    gold = list(pn.read_conllu(Path(__file__).parents[3] / "data/english-test.conllu"))[:40]
    together = tagger.evaluate_columns(gold)
    found = pn.report(tagger, gold, tmp_path / "r").evaluations
    assert {name: one.accuracy for name, one in found.items()} == {
        name: one.accuracy for name, one in together.items()
    }
    assert found["feats"].accuracy != tagger.evaluate(gold, column="feats").accuracy


def mistaken(features: bool) -> tuple[pn.Tagger, Sentences]:
    """A tagger, and sentences in which it is wrong in ways that are known."""
    noun, verb = ("Case=Nom|Gender=Masc", "Case=Acc|Gender=Masc") if features else ("N", "V")
    train = [(["a", "runs"], ["_", noun])] * 4
    other = "Case=Nom|Gender=Fem" if features else verb
    return pn.train([*train, (["b"], [other])], epochs=3), [
        (["a", f"({i})", "runs", "now"], ["_", "_", other, "_"]) for i in range(9)
    ]


def test_a_cell_of_the_matrix_opens_the_sentences_of_its_tokens(tmp_path: Path) -> None:
    page = written(*mistaken(False), tmp_path / "r")
    cells = [a for name, a in page.elements if name == "button" and "popovertarget" in a]
    (target,) = {a["popovertarget"] for a in cells if a.get("aria-label") == "V, N: 9"}
    (sheet,) = [a for _, a in page.elements if a.get("id") == target]
    assert "popover" in sheet and sheet["role"] == "dialog"
    text = headings(page)
    assert all(f"({i}) [runs] now" in text for i in range(9))
    assert {a["popovertarget"] for a in cells} <= set(page.ids)


def test_confused_features_are_told_by_what_differs(tmp_path: Path) -> None:
    text = headings(written(*mistaken(True), tmp_path / "r"))
    assert "Gender: Fem → Masc" in text and "Case: Nom →" not in text


def test_the_worst_sentences_say_where_they_stand_and_why(tmp_path: Path) -> None:
    train = tmp_path / "train.txt"
    train.write_text("the/DET cat/NOUN runs/VERB\n")
    test = tmp_path / "test.txt"
    test.write_text("the/DET\nthe/NOUN cat/VERB\ncat/DET\n")
    text = headings(written(pn.train(train, epochs=3), test, tmp_path / "r"))
    assert text.index("line 2 · 2 of 2 tokens wrong") < text.index("line 3 · 1 of 1 token wrong")
    assert "seen in training" in text


def test_many_labels_have_pairs_but_no_matrix(tmp_path: Path) -> None:
    labeled = [([f"w{i}"], [f"L{i}"]) for i in range(60)]
    report = pn.report(pn.train(labeled, epochs=2), labeled, tmp_path / "r")
    assert "confusion.svg" not in {path.name for path in report.pictures}
    assert "54 more rows" in headings(Page(report.page.read_text("utf-8")))


def test_few_sentences_have_no_intervals(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    (column,) = written(tagger, small[:1], tmp_path / "r").data("figures")["columns"]
    assert column["accuracy_interval"] is None
    (column,) = written(tagger, small, tmp_path / "r").data("figures")["columns"]
    low, high = column["accuracy_interval"]
    assert low <= column["accuracy"] <= high


def test_tables_and_pictures_are_there_for_those_who_hear_them(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    page = written(tagger, small, tmp_path / "r")
    names = [name for name, _ in page.elements]
    assert names.count("caption") == names.count("table") >= 4
    assert all("scope" in attributes for name, attributes in page.elements if name == "th")
    charts = [
        attributes
        for name, attributes in page.elements
        if name == "svg" and attributes.get("class") == "chart"
    ]
    assert charts and all(chart["role"] == "img" and chart["aria-label"] for chart in charts)


def test_an_earlier_report_is_replaced_and_other_files_stay(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    place = tmp_path / "r"
    pn.report(tagger, small, place)
    (place / "notes.txt").write_text("mine")
    (place / "calibration.png").write_bytes(b"of an earlier report")
    pn.report(tagger, small[:3], place, title="Anew")
    assert "<h1>Anew</h1>" in (place / "index.html").read_text("utf-8")
    assert sorted(os.listdir(place)) == sorted(["index.html", "notes.txt", *FILES])


def test_an_empty_folder_is_taken(tagger: pn.Tagger, small: Sentences, tmp_path: Path) -> None:
    assert pn.report(tagger, small, tmp_path).page.exists()


def a_file(place: Path) -> Path:
    place.write_text("a file")
    return place


def within_a_file(place: Path) -> Path:
    return a_file(place) / "r"


def deep_within_a_file(place: Path) -> Path:
    return a_file(place) / "r" / "s"


def another_page(place: Path) -> Path:
    place.mkdir()
    (place / "index.html").write_text("<p>my home page")
    return place


def a_dangling_link(place: Path) -> Path:
    place.symlink_to("nowhere")
    return place


@pytest.mark.parametrize(
    "make, message",
    [
        (a_file, "is a file"),
        (within_a_file, "is a file, or lies in one"),
        (deep_within_a_file, "is a file, or lies in one"),
        (another_page, "holds other files"),
        (a_dangling_link, "is a link to a folder that is not there"),
    ],
)
def test_places_that_cannot_be_a_report_are_refused_and_left_alone(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    place = make(tmp_path / "r")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(pn.FileError, match=message):
        pn.report(tagger, small, place)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert before == after


def test_what_fails_on_the_way_leaves_the_earlier_report(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pn.report(tagger, small, tmp_path / "r")
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()}

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(pn.FileError, match="No space left"):
        pn.report(tagger, small[:2], tmp_path / "r")
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == before
    with pytest.raises(pn.FileError, match="No space left"):
        pn.report(tagger, small[:2], tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a kill of POSIX is needed")
def test_what_a_killed_run_left_behind_goes_and_what_others_named_so_stays(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    killed = """
import os, signal, sys
from perceptron_nlp.formats import replace
def files():
    yield sys.argv[1] + "/index.html", b"page"
    os.kill(os.getpid(), signal.SIGKILL)
replace.replace_files(files())
"""
    subprocess.run([sys.executable, "-c", killed, str(tmp_path)], check=False)
    assert len(os.listdir(tmp_path)) == 1
    (tmp_path / ".perceptron-nlp-report-999999999-x").mkdir()
    pn.report(tagger, small, tmp_path)
    left = [name for name in os.listdir(tmp_path) if name.startswith(".")]
    assert left == [".perceptron-nlp-report-999999999-x"]


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="whoever is root may write everywhere"
)
def test_a_folder_that_cannot_be_written_to_is_refused(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(pn.FileError, match="cannot be"):
        pn.report(tagger, small, tmp_path / "r")


@pytest.mark.parametrize("arguments, name", [((1, [], "r"), "tagger"), ((None, [], "r"), "tagger")])
def test_arguments_of_other_types_are_named(arguments: tuple[object, ...], name: str) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=name):
        pn.report(*arguments)


def test_a_folder_and_a_title_must_be_text(
    tagger: pn.Tagger, small: Sentences, tmp_path: Path
) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="folder"):
        pn.report(tagger, small, 3)
    with pytest.raises(pn.ArgumentTypeError, match="title"):
        pn.report(tagger, small, tmp_path, title=3)
    with pytest.raises(pn.FileError, match="cannot be read as a folder"):
        pn.report(tagger, small, "a\0b")


def test_columns_that_are_calibrated_have_confidences_beside_others(tmp_path: Path) -> None:
    sentences = [
        pn.Sentence(["a", "b", str(k)], {"upos": ["XYZ"[k % 3], "Y", "Z"], "note": ["x", "y", "x"]})
        for k in range(120)
    ]
    sure = pn.train(sentences[:20], column="upos", epochs=2).calibrate(sentences)
    both = pn.Tagger.joined([sure, pn.train(sentences, column="note", epochs=2)])
    assert not both.is_calibrated
    found = pn.report(both, sentences, tmp_path / "r").evaluations
    assert found["upos"].calibration is not None and found["note"].calibration is None
    assert "confidence" in (tmp_path / "r/column-1.html").read_text("utf-8")


def test_pages_have_an_icon_and_cells_grow_with_their_numbers(
    tagger: pn.Tagger, tmp_path: Path
) -> None:
    text = pn.report(tagger, [(["a"], ["X"])], tmp_path / "r").page.read_text("utf-8")
    assert '<link rel="icon" href="data:image/svg+xml,' in text and "img-src data:" in text
    rule = text.partition(".matrix button{")[2].partition("}")[0]
    # What is positioned absolutely does not widen its cell.
    assert "position:relative" in rule and "padding:0 .3rem" in rule


def test_a_report_says_whose_labels_it_judges(tmp_path: Path) -> None:
    sentences = [pn.Sentence(["a", "b"], {"upos": ["X", "Y"], "xpos": ["x", "y"]})] * 4
    both = pn.train(sentences, column=("upos", "xpos"), epochs=2)
    for column, said in ((None, "upos, xpos together"), ("xpos", "column xpos by itself")):
        written = pn.report(both, sentences, tmp_path / said[:4], column=column)
        assert said in written.pages[-1].read_text("utf-8")
