"""The models that come along: each knows how sure it is, and none without that can be made."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main
from perceptron_nlp.tagger.model.file import model_to_bytes

ROOT = Path(__file__).parents[3]
MODELS = sorted((Path(pn.__file__).parent / "models").glob("*.model"))
LISTS = sorted((ROOT / "data" / "abbreviations").glob("*.txt"))
SCRIPT = ROOT / "scripts" / "make_model.py"
PLAIN = ROOT / "benchmarks" / "plain_english.conllu"


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_column_of_a_bundled_model_is_calibrated(path: Path) -> None:
    for column, part in pn.load(path).by_column.items():
        assert part.model.calibration is not None, column
        assert part.model.record["calibration"]["words"] >= 1000, column


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_tagger_holds_no_arrays_that_its_file_has_and_makes_them_again(path: Path) -> None:
    tagger, model = pn.load(path), pn.read_model(path)
    for own, other in zip(tagger.model.parts_by_column, model.parts_by_column, strict=True):
        assert own.weights._buffers is None
        assert own.weights.n_cells == len(other.weights.buffers["weights"])
        for name, array in other.weights.buffers.items():
            assert (getattr(own.weights, name) == getattr(other.weights, name)).all(), name
            assert own.weights.buffers[name] == array
    assert tagger.to_bytes() == model_to_bytes(model)


def test_the_english_model_tells_how_sure_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english = pn.load("en")
    sure = english.confidences(["They", "do", "n't", "sink", "zyxt"])
    assert all(0 < x <= 1 for x in sure) and sure[0] > 0.99 > sure[4]
    lines = [f"{i}\t{word}" + "\t_" * 8 for i, word in enumerate(["They", "sink"], 1)]
    (tmp_path / "a.conllu").write_text("\n".join(lines) + "\n\n", "utf-8")
    assert main(["tag", "en", str(tmp_path / "a.conllu"), "--confidence", "--quiet"]) == 0
    assert capsys.readouterr().out.count("Conf") >= 2


@pytest.mark.skipif(not SCRIPT.exists(), reason="the script is not beside the tests")
def test_a_model_that_cannot_be_calibrated_is_not_written(
    small: list[tuple[list[str], list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("train", "dev", "test"):
        sentences = [pn.Sentence(words, {"upos": labels}) for words, labels in small]
        pn.write_conllu(sentences, tmp_path / f"xx_y-ud-{part}.conllu")
    made = tmp_path / "xx.model"
    monkeypatch.syspath_prepend(SCRIPT.parent)
    monkeypatch.setattr(sys, "argv", ["make_model.py", str(tmp_path), "-o", str(made)])
    with pytest.raises(SystemExit, match="a model without calibration cannot be bundled"):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert not made.exists()


@pytest.mark.skipif(not SCRIPT.exists(), reason="the script is not beside the tests")
def test_a_whole_model_is_made_of_a_treebank_and_raw_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ROOT / "data"
    for part in ("train", "dev", "test"):
        shutil.copy(data / f"english-{part}.conllu", tmp_path / f"en_x-ud-{part}.conllu")
    raw, made = tmp_path / "raw.txt", tmp_path / "en.model"
    words = (sentence.words for sentence in pn.read_conllu(data / "english-dev.conllu"))
    raw.write_text("".join(" ".join(own) + "\n" for own in words), "utf-8")
    given = [str(tmp_path), "-o", str(made), "--raw", str(raw), "--plain", "40"]
    given += ["--text", str(data / "harbor.txt")]
    monkeypatch.syspath_prepend(SCRIPT.parent)
    monkeypatch.setattr(sys, "argv", ["make_model.py", *given])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    tagger = pn.load(made)
    assert tagger.columns == ("upos", "xpos", "feats", "lemma")
    assert all(part.model.calibration is not None for part in tagger.by_column.values())
    assert "lower[-2] shape4[-3]" in map(str, tagger.model.templates)
    ((first, *_), *_) = tagger.tag_text("The boats sail.")
    assert first.labels["lemma"] == "the"
    assert f"{made}: {made.stat().st_size:,} bytes" in capsys.readouterr().out
    card = json.loads(made.with_suffix(".json").read_text("utf-8"))
    assert (card["language"], card["bytes"]) == ("en", made.stat().st_size)
    assert card["small"]["text"]["UPOS"] > 50


@pytest.mark.skipif(not PLAIN.exists(), reason="the sentences are not beside the tests")
def test_the_english_model_knows_plain_sentences() -> None:
    english = pn.load("en").by_column["upos"]
    sentences = list(pn.read_conllu(PLAIN))
    assert len(sentences) > 400
    labels = english.tag_sents([list(sentence) for sentence in sentences])
    right = verbs = found = tokens = 0
    for sentence, given in zip(sentences, labels, strict=True):
        gold, marks = sentence.column("upos"), sentence.column("misc")
        tokens += len(gold)
        right += sum(map(str.__eq__, gold, given))
        present = [label for label, mark in zip(given, marks, strict=True) if mark != "_"]
        verbs, found = verbs + len(present), found + present.count("VERB")
    print(f"{100 * right / tokens:.2f} % of {tokens} tokens, {found} of {verbs} verbs")
    assert right >= 0.96 * tokens and found >= 0.8 * verbs


def test_the_english_model_tags_the_sentences_that_people_try_first() -> None:
    (sentence,) = pn.load("en").tag_text("The dog sleeps.")
    assert [token.labels["upos"] for token in sentence] == ["DET", "NOUN", "VERB", "PUNCT"]


def test_the_english_model_knows_titles_and_references() -> None:
    text = "Prof. Dr. Lee et al. agree, cf. pp. 3 and 4. They met Capt. Roe in Rm. 12."
    found = [" ".join(token.form for token in one) for one in pn.load("en").tag_text(text)]
    assert found == [
        "Prof. Dr. Lee et al. agree , cf. pp. 3 and 4 .",
        "They met Capt. Roe in Rm. 12 .",
    ]


@pytest.mark.parametrize("listed", LISTS, ids=lambda path: path.stem)
def test_models_are_cut_with_the_abbreviations_of_their_language(listed: Path) -> None:
    own = [word.removesuffix(".") for word in listed.read_text("utf-8").split()]
    folders = (ROOT / "data" / "models", Path(pn.__file__).parent / "models")
    names = (listed.stem, f"{listed.stem}-*")
    models = [path for one in folders for name in names for path in one.glob(f"{name}.model")]
    assert own == sorted(set(own)) and models
    for path in models:
        segmentation = pn.load(path).model.segmentation
        assert segmentation is not None
        listed_there = {*segmentation.abbreviations}
        assert {*own} <= listed_there and all(len(word) == 1 for word in listed_there - {*own})
