"""A person's corpus as the study wants it: words with features and labels, in two parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.study.features import Columns, Ones, word_features
from perceptron_nlp.text.sentence import Sentence

TOKENS = 20_000
"""Words of a part that are used at most; a larger part is thinned."""

TENTH = 10

Labelled = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Part:
    """Words as rows of features, with their labels.

    Attributes
    ----------
    sentences : how many sentences they come from
    X : sparse matrix, a row for each word
    y : the labels
    """

    sentences: int
    X: Ones
    y: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class StudyCorpus:
    """What the study learns from and tests on.

    Attributes
    ----------
    name : the files, for headings
    column : the column that is learnt
    train, dev : the two parts; features are those of train
    notes : how the parts were made, in sentences for the reader
    """

    name: str
    column: str
    train: Part
    dev: Part
    notes: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """The labels of train in order."""
        return sorted(set(self.train.y.tolist()))


def sample_files() -> tuple[list[str], str]:
    """The train files and the dev file of the corpus that comes with the source.

    Raises
    ------
    ArgumentError
        where the library was installed without it
    """
    folder = Path(__file__).resolve().parents[2] / "data"
    train, dev = folder / "english-train.conllu", folder / "english-dev.conllu"
    if not (train.is_file() and dev.is_file()):
        raise ArgumentError(
            "DATA: name a tagged file to study; the sample corpus comes with the source of "
            "this library, not with the installed package"
        )
    return [str(train)], str(dev)


def read_study_corpus(
    data: Sequence[str] = (),
    *,
    column: str | None = None,
    dev: str | None = None,
    tokens: int = TOKENS,
) -> StudyCorpus:
    """The corpus of some files, cut into train and dev.

    Parameters
    ----------
    data : files in any format that has labels; none means the sample corpus
    column : what to learn; the format's own when None, as UPOS in CoNLL-U
    dev : a file to test on; every tenth sentence of `data` when None
    tokens : words of a part at most (>= 100); sentences are left out evenly

    Raises
    ------
    ArgumentError
        when nothing can be learnt from the files: no labels, one label, too few sentences
    FileError, FormatError
        as `open_corpus`
    """
    if tokens < 100:
        raise ArgumentError(f"tokens: {tokens} words are too few to study; give 100 or more")
    if not data:
        if dev is not None:
            raise ArgumentError("dev: name the file to train on too, as DATA")
        data, dev = sample_files()
    sentences: list[Labelled] = []
    names = []
    for path in data:
        found, name = _labelled(path, column)
        sentences += found
        names.append(name)
    notes = []
    if dev is not None:
        held_out, _ = _labelled(dev, column or names[0])
        notes.append(f"dev is {Path(dev).name}")
    else:
        sentences, held_out = _every_tenth(sentences)
        notes.append("dev is every tenth sentence, which train then does not have")
    files = ", ".join(Path(path).name for path in data)
    train, dev_part = _parts(sentences, held_out, tokens, notes)
    return StudyCorpus(files, column or names[0], train, dev_part, tuple(notes))


def _labelled(path: str, column: str | None) -> tuple[list[Labelled], str]:
    with open_corpus(path) as corpus:
        name = column if column is not None else corpus.default_column
        if name is None:
            raise ArgumentError(
                f"DATA: {corpus.path} has no labels (it is read as {corpus.format}); "
                "name a tagged file"
            )
        found = [_words_and_labels(sentence, name) for sentence in corpus]
    return [pair for pair in found if pair[0]], name


def _words_and_labels(sentence: Sentence, column: str) -> Labelled:
    return sentence.words, sentence.column(column)


def _every_tenth(sentences: list[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    if len(sentences) < TENTH:
        raise ArgumentError(
            f"DATA: {len(sentences)} sentences are too few to hold every tenth one out; "
            f"give {TENTH} or more, or name a file with --dev"
        )
    train = [pair for number, pair in enumerate(sentences, start=1) if number % TENTH]
    return train, sentences[TENTH - 1 :: TENTH]


def _parts(
    sentences: list[Labelled], held_out: list[Labelled], tokens: int, notes: list[str]
) -> tuple[Part, Part]:
    chosen = _thinned("train", sentences, tokens, notes)
    tested = _thinned("dev", held_out, max(100, tokens // 5), notes)
    columns = Columns()
    rows = [columns.learn(word_features(words, i)) for words, _ in chosen
            for i in range(len(words))]  # fmt: skip
    points = [columns.known(word_features(words, i)) for words, _ in tested
              for i in range(len(words))]  # fmt: skip
    train = Part(len(chosen), Ones(rows, len(columns)), _labels(chosen))
    dev = Part(len(tested), Ones(points, len(columns)), _labels(tested))
    if not len(dev):
        raise ArgumentError("dev: there is no word to test on")
    distinct = sorted(set(train.y.tolist()))
    if len(distinct) < 2:
        only = f" ({quote(distinct[0])})" if distinct else ""
        raise ArgumentError(
            f"DATA: there is nothing to learn: {len(distinct)} different labels{only}"
        )
    return train, dev


def _thinned(
    name: str, sentences: list[Labelled], tokens: int, notes: list[str]
) -> list[Labelled]:
    total = sum(len(words) for words, _ in sentences)
    every = -(-total // tokens)
    if every <= 1:
        return sentences
    notes.append(f"of {name}, one sentence in {every} is used ({total:,} words in all)")
    return sentences[::every]


def _labels(sentences: list[Labelled]) -> NDArray[np.str_]:
    return np.array([label for _, labels in sentences for label in labels], dtype=np.str_)
