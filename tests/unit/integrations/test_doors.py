"""Whatever takes a model takes what ``load`` takes: the name of a bundled one, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main
from perceptron_nlp.cli.tag_folder import tag_file

WORDS = ["The", "old", "man", "sold", "it", "."]
TEXT = "The old man sold it.\n"


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CoNLL-U file in a working folder that has no model."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gold.conllu"
    tagger = pn.load("en")
    labels = tagger.tag(WORDS, columns=tagger.columns)
    pn.write_conllu([pn.Sentence(WORDS, labels)] * 60, path)
    (tmp_path / "text.txt").write_text(TEXT)
    return path


def arrow_tagger() -> list[str]:
    arrow = pytest.importorskip("perceptron_nlp.integrations.arrow", exc_type=pn.MissingExtraError)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"tokens": [WORDS]})
    found = arrow.ArrowTagger("en", columns=["upos"])(table)["upos"].to_pylist()
    assert arrow.tag_arrow("en", table)["upos"].to_pylist() == found
    pq.write_table(table, "t.parquet")
    assert b"".join(arrow.tag_parquet("en", "t.parquet")).startswith(b"PAR1")
    return list(found[0])


def folder_job() -> list[str]:
    arrow = pytest.importorskip("perceptron_nlp.integrations.arrow", exc_type=pn.MissingExtraError)
    options = {"column": "upos", "format": "auto", "fields": None, "field": None, "keep": False}
    assert tag_file(arrow.ArrowTagger("en"), options, "gold.conllu", "out.conllu")[1] is None
    return list(next(iter(pn.read_conllu("out.conllu"))).column("upos"))


def spacy_pipeline() -> list[str]:
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    tokenizer = {"@tokenizers": "perceptron_tokenizer", "model": "en"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("perceptron_tagger", config={"model": "en"})
    return [token.pos_ for token in nlp(TEXT.strip())]


def nltk_tagger() -> list[str]:
    nltk = pytest.importorskip("perceptron_nlp.compat.nltk", exc_type=pn.MissingExtraError)
    for tagger in (nltk.PerceptronTagger(loc="en"), nltk.PerceptronTagger(lang="en")):
        assert [tag for _, tag in tagger.tag(WORDS)] == pn.load("en").by_column["xpos"].tag(WORDS)
    return pn.load("en").tag(WORDS)


DOORS: list[Callable[[], list[str]]] = [
    lambda: pn.load("en").tag(WORDS),
    lambda: pn.merge(["en"]).tag(WORDS),
    arrow_tagger,
    folder_job,
    spacy_pipeline,
    nltk_tagger,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", DOORS, ids=["load", "merge", "arrow", "folder", "spacy", "nltk"])
def test_a_door_opens_the_bundled_model_by_its_name(gold: Path, door: Any) -> None:
    assert door() == pn.load("en").tag(WORDS)


def test_what_looks_into_models_opens_the_bundled_one_by_its_name(gold: Path) -> None:
    assert pn.read_model("en").columns == pn.load("en").columns
    assert pn.inspect("en").to_dict()
    assert pn.compare("en", "en", gold).to_dict()
    teacher = pn.distill("en", raw="text.txt", train=gold, column="upos", preset="fast", epochs=1)
    assert teacher.tag(WORDS) == pn.load("en").tag(WORDS)


@pytest.mark.parametrize(
    "command",
    [
        "tag en text.txt -o out.conllu",
        "tag en gold.conllu -o out.conllu --mmap",
        "evaluate en gold.conllu",
        "inspect en",
        "explain en text.txt --column upos",
        "compress en --size 40MB -o small.model",
        "merge en en --model merged.model",
        "calibrate en gold.conllu -o calibrated.model",
        "compare en en gold.conllu",
        "resume en gold.conllu --model further.model",
    ],
)
def test_a_verb_opens_the_bundled_model_by_its_name(
    gold: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = main(command.split()), capsys.readouterr().err
    assert "no such file" not in said
    # It keeps no state.
    assert code == (2 if command.startswith("resume") else 0), said
