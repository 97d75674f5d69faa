"""The reader of docs/model-format.md, written from the page alone, scores as the library does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.formats import open_tensors

PAGE = Path(__file__).resolve().parents[3] / "docs" / "model-format.md"
TEMPLATES = [
    "word[0]",
    "word[-1]",
    "word[2]",
    "word[-2] word[1]",
    "tag[-1]",
    "tag[-1] word[0]",
    "bias",
]


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    reader: dict[str, Any] = {}
    exec(compile(code[1], str(PAGE), "exec"), reader)
    return reader


@pytest.mark.parametrize("table_bits", [None, 6])
@pytest.mark.parametrize("update", ["perceptron", "adagrad"])
def test_the_reader_of_the_page_reproduces_labels_and_scores(
    page: dict[str, Any],
    small: list[tuple[list[str], list[str]]],
    tmp_path: Path,
    table_bits: int | None,
    update: str,
) -> None:
    path = tmp_path / "a.model"
    tagger = pn.train(
        small,
        templates=TEMPLATES,
        epochs=4,
        update=update,
        beam=1,
        right_to_left=False,
        table_bits=table_bits,
    )
    tagger.save(path)
    model, arrays = page["read"](path)
    rows = page["rows_of"](model, arrays)
    # What the page says that it leaves out.
    seen_as = tagger._labeler.decoder.seen_as
    for words, _ in [*small, (["Nobody", "knew", "Zoë", "."], [])]:
        tags, scores = page["tag"](model, rows, [*map(seen_as, words)])
        assert tags == tagger.tag(words)
        assert np.array_equal(scores, tagger.scores(words))


@pytest.mark.parametrize("table_bits", [None, 6])
def test_the_reader_of_the_page_reads_compressed_models_too(
    page: dict[str, Any],
    small: list[tuple[list[str], list[str]]],
    tmp_path: Path,
    table_bits: int | None,
) -> None:
    path = tmp_path / "a.model"
    whole = pn.train(
        small, templates=TEMPLATES, epochs=4, beam=1, right_to_left=False, table_bits=table_bits
    )
    tagger = whole.compress(len(whole.to_bytes()) * 4 // 5, force=True)
    assert tagger.model.packed
    tagger.save(path)
    model, arrays = page["read"](path)
    assert np.array_equal(arrays["vocabulary"], tagger.model.vocabulary)
    rows = page["rows_of"](model, arrays)
    for words, _ in [*small, (["Nobody", "knew", "Zoë", "."], [])]:
        tags, scores = page["tag"](model, rows, words)
        assert tags == tagger.tag(words)
        assert np.array_equal(scores, tagger.scores(words))


def test_the_reader_of_the_page_reads_the_tightest_form(
    page: dict[str, Any], small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    path = tmp_path / "a.model"
    columns = [pn.Sentence(words, {"upos": tags, "xpos": tags}) for words, tags in small]
    options: dict[str, Any] = {"beam": 1, "right_to_left": False}
    whole = pn.train(columns, column="upos,xpos", templates=TEMPLATES, epochs=4, **options)
    tagger = whole.compress(len(whole.to_bytes()) * 3 // 5, force=True)
    tagger.save(path)
    model, arrays = page["read"](path)
    rows = page["rows_of"](model, arrays)
    own = pn.load(path).by_column["upos"]
    assert {"text.more", "text.record", "0.order"} <= {*arrays}
    for words, _ in small:
        tags, scores = page["tag"](model, rows, words)
        assert tags == own.tag(words)
        assert np.array_equal(scores, own.scores(words))


def test_the_reader_of_the_page_is_as_sure_as_the_library(
    page: dict[str, Any], small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    path = tmp_path / "a.model"
    wrong = [(words, [*labels[1:], labels[0]]) for words, labels in small]
    tagger = pn.train(small, templates=TEMPLATES, epochs=4, beam=1, right_to_left=False)
    tagger = tagger.calibrate([*small, *small, *small, *wrong])
    tagger.save(path)
    model, arrays = page["read"](path)
    rows = page["rows_of"](model, arrays)
    for words, _ in [*small, (["Nobody", "knew", "Zoë", "."], [])]:
        scores = page["tag"](model, rows, words)[1]
        assert page["confidences"](model, scores) == pytest.approx(tagger.confidences(words))
    assert all(
        f"`{name}`" in PAGE.read_text("utf-8") for name in [*model, *arrays, *model["calibration"]]
    )


def test_the_page_names_every_part_of_a_model(
    tagger: pn.Tagger, page: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.model"
    tagger.save(path)
    model, arrays = page["read"](path)
    text = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in text for name in [*model, *arrays])


def test_the_page_tells_every_part_of_a_model_that_cuts_text_and_gives_lemmas(
    page: dict[str, Any], pipeline: pn.Tagger, tmp_path: Path
) -> None:
    path = tmp_path / "fr.model"
    pipeline.save(path)
    text = PAGE.read_text("utf-8")
    metadata, _ = open_tensors(path.read_bytes(), "fr.model")[::-1]
    for name in metadata:
        assert f"\n| `{name}` |" in text
    (lemma,) = json.loads(metadata["more"])
    segmentation = json.loads(metadata["segmentation"])
    for described in (json.loads(metadata["model"]), lemma["model"], segmentation["cut"]):
        assert [key for key in described if f"\n| `{key}` |" not in text] == []
    _, arrays = page["read"](path)
    # Two columns, then the stages of segmentation, as the page numbers them.
    assert {name.partition(".")[0] for name in arrays} == {"0", "2", "4", "6", "vocabulary"}
    lengths = arrays["2.lemmas.lengths"].astype(int)
    ends = np.cumsum(lengths)
    known = bytes(arrays["2.lemmas.forms"]).decode("utf-8")
    assert "dormir\tVERB" in known and len(bytes(arrays["2.lemmas.forms"])) == ends[-1]
    place = [
        bytes(arrays["2.lemmas.forms"])[end - length : end]
        for end, length in zip(ends, lengths, strict=True)
    ].index(b"dormir\tVERB")
    # Two forms, dort and dorment, and "arbre" has two; "bois" has one.
    assert arrays["2.lemmas.only"][place] == 0
    assert set(segmentation["certain"].values()) <= {"I", "T", "S"}
    assert (
        segmentation["cut"]["labels"] == ["I", "S", "T"][3 - len(segmentation["cut"]["labels"]) :]
    )
    assert segmentation["splits"]["labels"] == ["_", "r1|e|le", "r2|à|le"]
