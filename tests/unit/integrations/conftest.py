"""What the tests of integrations share: a tagger of three columns, and sentences for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.integrations.filedealing import reader_of
from perceptron_nlp.integrations.shardtraining import LocalCrew, Round, Sharding, ShardMixer
from perceptron_nlp.tagger.train.loop import Task

PENN = {"NOUN": "NN", "PROPN": "NNP", "VERB": "VB", "DET": "DT", "ADJ": "JJ", "PUNCT": "."}


@pytest.fixture(scope="session")
def annotated(small: list[tuple[list[str], list[str]]]) -> list[pn.Sentence]:
    """The small sentences with UPOS, XPOS and features."""
    return [
        pn.Sentence(
            words,
            {
                "upos": labels,
                "xpos": [PENN.get(label, label[:2]) for label in labels],
                "feats": [feats(word, label) for word, label in zip(words, labels, strict=True)],
            },
        )
        for words, labels in small
    ]


def feats(word: str, label: str) -> str:
    """Features of a word, if it has any."""
    if label in ("NOUN", "PROPN"):
        return "Case=Nom|Number=" + ("Plur" if word.endswith("s") else "Sing")
    return "Tense=Past" if word.endswith("ed") else "_"


@pytest.fixture(scope="session")
def three(annotated: list[pn.Sentence]) -> pn.Tagger:
    """A tagger of three columns."""
    return pn.train(annotated, column=("upos", "xpos", "feats"), epochs=3)


class Here:
    """An engine whose workers are in this process, one after the other."""

    def __init__(self, workers: int, *, read_by: str = "program", **more: Any) -> None:
        self.read = reader_of(read_by)
        self.rounds: list[Round] = []
        self.sharding = Sharding(workers=workers, **more)

    def mixer(self, task: Task) -> ShardMixer:
        """See loop.Engine."""
        return ShardMixer(self.sharding, LocalCrew, self.rounds, task)


@pytest.fixture(scope="session")
def here() -> type[Here]:
    """An engine without processes of its own."""
    return Here


@pytest.fixture(scope="session")
def model(tagger: pn.Tagger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of the tagger of small sentences."""
    path = tmp_path_factory.mktemp("model") / "small.model"
    tagger.save(path)
    return path


@pytest.fixture
def folder(small: list[tuple[list[str], list[str]]], tmp_path: Path) -> Path:
    """A folder with two CoNLL-U files, one of them deeper down, a Parquet file and another."""
    pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra arrow is not installed")
    place = tmp_path / "in"
    (place / "deeper").mkdir(parents=True)
    sentences = [pn.Sentence(words, {"upos": labels}) for words, labels in small]
    pn.write_conllu(sentences, place / "a.conllu")
    pn.write_conllu(sentences[:3], place / "deeper" / "b.conllu")
    words = pa.array([list(words) for words, _ in small[3:]], pa.list_(pa.string()))
    parquet.write_table(pa.table({"tokens": words}), place / "words.parquet")
    (place / "readme.txt").write_text("not to be tagged")
    return place
