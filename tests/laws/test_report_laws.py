"""Laws of reports: figures are those of Evaluation, and no text of the data becomes markup."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.analysis import figures
from tests.oracles.pages import Page

HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "<!--",
    "-->",
    "]]>",
    "&amp;",
    "&lt;b&gt;",
    '"',
    "'",
    "`",
    "\u202eevil",
    "\x00",
    "\x07",
    "\u2028",
    "<img src=x onerror=alert(1)>",
    "שלום",
    "${title}",
    "$style",
    "\\u003c",
    "e\u0301",
    "😀",
    "javascript:alert(1)",
]
TEXTS = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8
)


def sentences(labels: list[str]) -> st.SearchStrategy[list[tuple[list[str], list[str | None]]]]:
    """Labeled sentences, some words without a label."""
    pair = st.tuples(TEXTS, st.sampled_from(labels) | st.none())
    return st.lists(st.lists(pair, min_size=1, max_size=7), min_size=1, max_size=8).map(
        lambda found: [([word for word, _ in one], [label for _, label in one]) for one in found]
    )


@st.composite
def texts(draw: st.DrawFn) -> list[tuple[list[str], list[str | None]]]:
    """Sentences of which one word at least has a label."""
    labels = draw(
        st.lists(
            TEXTS.filter(lambda text: not set(text) & set("\t\n\r")),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    found = draw(sentences(labels))
    return [*found, (["word"], [labels[0]])]


@pytest.fixture(autouse=True)
def quick_pngs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PNGs take long to draw, and have a test of their own."""
    monkeypatch.setattr(figures, "png", lambda drawn: b"\x89PNG")


@settings(max_examples=10)
@given(train=texts(), test=texts())
def test_a_page_has_the_figures_of_the_evaluation_and_no_markup_of_the_data(
    train: list[tuple[list[str], list[str | None]]], test: list[tuple[list[str], list[str | None]]]
) -> None:
    tagger = pn.train(train, epochs=2, templates="classic", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        title = test[0][0][0]
        report = pn.report(tagger, test, Path(folder) / "r", title=title)
        text = report.page.read_text("utf-8")
        pictures = [path.read_bytes() for path in report.pictures if path.suffix == ".svg"]
    page = Page(text)
    whole = page.data("figures")
    evaluation = tagger.evaluate(test)
    (column,) = whole["columns"]
    assert {name: column[name] for name in evaluation.to_dict()} == evaluation.to_dict()
    assert {(gold, label): n for gold, label, n in column["confusion"]} == {
        pair: n for pair, n in evaluation.confusion.items() if n
    }
    assert column["known"]["tokens"] == evaluation.known_tokens
    assert column["unknown"]["correct"] == evaluation.correct - evaluation.known_correct
    assert sum(part["tokens"] for part in column["lengths"]) == evaluation.tokens
    assert sum(part["correct"] for part in column["lengths"]) == evaluation.correct
    assert whole["model_bytes"] == len(tagger.to_bytes())
    names = {name for name, _ in page.elements}
    assert not names & {"img", "iframe", "object", "base", "form"}
    assert text.count("<link") == text.count('<link rel="icon" href="data:image/svg+xml,') == 1
    assert [attributes["type"] for attributes, _ in page.scripts] == ["application/json"]
    assert not [
        key
        for _, attributes in page.elements
        for key in attributes
        if key.startswith("on") or key == "src"
    ]
    links = [attributes["href"] for name, attributes in page.elements if name == "a"]
    assert {link[:1] for link in links} == {"#"} and {link[1:] for link in links} <= set(page.ids)
    assert not any(0x202A <= ord(c) <= 0x202E or ord(c) < 10 for c in text)
    assert len(page.ids) == len(set(page.ids))
    for picture in pictures:
        ElementTree.fromstring(picture)


def test_equal_runs_write_the_same_but_for_the_speed(
    tagger: pn.Tagger, small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    reports = [pn.report(tagger, small, tmp_path / name) for name in "ab"]
    found = [Page(report.page.read_text("utf-8")).data("figures") for report in reports]
    for whole in found:
        for column in whole["columns"]:
            del column["speed"]
    assert found[0] == found[1]
    for a, b in zip(reports[0].pictures, reports[1].pictures, strict=True):
        assert (a.name, a.read_bytes()) == (b.name, b.read_bytes())


def test_explanations_are_of_the_label_given_against_the_gold_one(
    small: list[tuple[list[str], list[str]]],
) -> None:
    tagger = pn.train(small[:6], epochs=3, seed=1)
    for words, gold in small[6:]:
        asked = [label if label in tagger.labels else None for label in gold]
        why = tagger.explain(words, against=asked)
        scores = tagger.scores(words)
        for i, (word, label) in enumerate(zip(why, asked, strict=True)):
            if label is not None and label != word.label:
                assert word.runner_up == label
                assert word.runner_up_score == scores[i][tagger.labels.index(label)]
            assert sum(feature.runner_up_weight for feature in word.features) == pytest.approx(
                word.runner_up_score, abs=1e-9
            )
