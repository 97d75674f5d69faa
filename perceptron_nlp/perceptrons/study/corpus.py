"""A corpus for the study: tokens with labels and a small fixed set of features, in two parts.

| name | feature |
|---|---|
| w=, p=, n= | the word, the one before, the one after, in lower case |
| s1= s2= s3= | its last one, two, three letters, in lower case |
| f1= | its first letter, in lower case |
| shape= | its kinds of character, runs as one: ``Xx`` for ``Lisbon``, ``d-x`` for ``20-year`` |
| ps=, ns= | the last two letters of the word before and of the one after |

``<s>`` and ``</s>`` stand beyond the ends of a sentence; no feature is a tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import Corpus, open_corpus
from perceptron_nlp.perceptrons.inputs import encoded
from perceptron_nlp.tagger.sources import gold_labels

BEFORE, AFTER = "<s>", "</s>"


def word_features(words: Sequence[str], place: int) -> list[str]:
    """The features of the word at `place` in a sentence."""
    word = words[place]
    lower = word.lower()
    before = words[place - 1].lower() if place else BEFORE
    after = words[place + 1].lower() if place + 1 < len(words) else AFTER
    return [
        f"w={lower}", f"p={before}", f"n={after}",
        f"s1={lower[-1:]}", f"s2={lower[-2:]}", f"s3={lower[-3:]}", f"f1={lower[:1]}",
        f"shape={shape(word)}", f"ps={before[-2:]}", f"ns={after[-2:]}",
    ]  # fmt: skip


def shape(word: str) -> str:
    """The kinds of a word's characters (X upper, x lower, d digit, others as they are)."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
             for c in word)  # fmt: skip
    return "".join(kind for kind, _ in groupby(kinds))


class Features(NamedTuple):
    """Features of words, in the parts that every sparse matrix by rows has.

    data, indices : float64[non-zeros], all 1, and their columns, int32[non-zeros]
    indptr : int64[rows + 1], where each row begins in them
    shape : (rows, columns)
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]


TOKENS = 20_000
"""Words of a part that are used at most; a larger part is sampled."""

TENTH = 10

Labeled = tuple[Sequence[str], Sequence[str | None]]


@dataclass(frozen=True)
class Part:
    """Words as rows of features (a sparse matrix), with their labels, from so many sentences."""

    sentences: int
    X: Features
    y: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class StudyCorpus:
    """The two parts that the study learns from and tests on, with the features of train.

    ``name`` are the files, for headings; ``notes`` tell how the parts were made, for the reader.
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
    """The train files and the dev file of the corpus that comes with the source."""
    folder = Path(__file__).resolve().parents[3] / "data"
    train, dev = folder / "english-train.conllu", folder / "english-dev.conllu"
    if not (train.is_file() and dev.is_file()):
        raise ArgumentError(
            "DATA: name a tagged file to study; the sample corpus comes with the source of "
            "this library, not with the installed package"
        )
    return [str(train)], str(dev)


def read_study_corpus(
    data: Sequence[str | Corpus] = (),
    *,
    column: str | None = None,
    dev: str | Corpus | None = None,
    tokens: int = TOKENS,
) -> StudyCorpus:
    """The corpus of some files, cut into train and dev.

    data : files in any format that has labels, or opened ones; none means the sample corpus
    column : what to learn; the format's own when None, as UPOS in CoNLL-U
    dev : a file to test on; every tenth sentence of `data` when None, and with the sample
        corpus its own
    tokens : words of a part at most (>= 100); sentences are left out evenly
    """
    if tokens < 100:
        raise ArgumentError(f"tokens: {tokens} words are too few to study; give 100 or more")
    if not data:
        if dev is not None:
            raise ArgumentError("dev: name the file to train on too, as DATA")
        data, dev = sample_files()
    texts = [_opened(source) for source in data]
    learned = column if column is not None else _own_column(texts[0])
    sentences = [pair for text in texts for pair in _labeled(text, learned)]
    notes = []
    if dev is not None:
        held_out_text = _opened(dev)
        held_out = _labeled(held_out_text, learned)
        notes.append(f"dev is {Path(held_out_text.path).name}")
    else:
        sentences, held_out = _every_tenth(sentences)
        notes.append("dev is every tenth sentence, which train then does not have")
    files = ", ".join(Path(text.path).name for text in texts)
    train, dev_part = _parts(sentences, held_out, tokens, notes)
    return StudyCorpus(files, learned, train, dev_part, tuple(notes))


def _opened(source: str | Corpus) -> Corpus:
    return source if isinstance(source, Corpus) else open_corpus(source)


def _own_column(text: Corpus) -> str:
    if text.default_column is None:
        raise ArgumentError(
            f"column: {text.path} (read as {text.format}) has none to learn by itself; name one, "
            "or another file"
        )
    return text.default_column


def _labeled(text: Corpus, column: str) -> list[Labeled]:
    with text:
        found = [(sentence.words, gold_labels(sentence, column)) for sentence in text]
    return [pair for pair in found if pair[0]]


def _every_tenth(sentences: list[Labeled]) -> tuple[list[Labeled], list[Labeled]]:
    if len(sentences) < TENTH:
        raise ArgumentError(
            f"DATA: {len(sentences)} sentences are too few to hold every tenth one out; "
            f"give {TENTH} or more, or name a file with --dev"
        )
    train = [pair for number, pair in enumerate(sentences, start=1) if number % TENTH]
    return train, sentences[TENTH - 1 :: TENTH]


def _parts(
    sentences: list[Labeled], held_out: list[Labeled], tokens: int, notes: list[str]
) -> tuple[Part, Part]:
    chosen = _thinned("train", sentences, tokens, notes)
    tested = _thinned("dev", held_out, max(100, tokens // 5), notes)
    columns: dict[str, int] = {}
    train, dev = _part(chosen, columns, grow=True), _part(tested, columns, grow=False)
    if not len(dev):
        raise ArgumentError("dev: there is no word to test on")
    distinct = sorted(set(train.y.tolist()))
    if len(distinct) < 2:
        only = f" ({quote(distinct[0])})" if distinct else ""
        raise ArgumentError(
            f"DATA: there is nothing to learn: {len(distinct)} different labels{only}"
        )
    return train, dev


def _part(sentences: list[Labeled], columns: dict[str, int], *, grow: bool) -> Part:
    """The words that have a label; the others are only seen as neighbors."""
    labeled = [
        (word_features(words, place), label)
        for words, labels in sentences
        for place, label in enumerate(labels)
        if label is not None
    ]
    arrays = encoded([features for features, _ in labeled], columns, grow=grow)
    X = Features(*arrays, (len(labeled), len(columns)))
    return Part(len(sentences), X, np.array([label for _, label in labeled], dtype=np.str_))


def _thinned(name: str, sentences: list[Labeled], tokens: int, notes: list[str]) -> list[Labeled]:
    total = sum(len(words) for words, _ in sentences)
    every = -(-total // tokens)
    if every <= 1:
        return sentences
    notes.append(f"of {name}, one sentence in {every} is used ({total:,} words in all)")
    return sentences[::every]
