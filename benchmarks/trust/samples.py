"""The texts and models that the checks break."""

from __future__ import annotations

import functools
import io
import random
from pathlib import Path

import perceptron_nlp as pn
from benchmarks.trust.children import ROOT

DATA = ROOT / "data"
TRAIN = DATA / "english-train.conllu"
DEV = DATA / "english-dev.conllu"


@functools.cache
def small_model() -> bytes:
    """A model file's content: a tagger of a few hundred sentences."""
    sentences = list(pn.open_corpus(TRAIN))[:300]
    return pn.train(sentences, column="upos", epochs=2).to_bytes()


@functools.cache
def other_model() -> bytes:
    """Another model of about the same size."""
    sentences = list(pn.open_corpus(TRAIN))[:300]
    return pn.train(sentences, column="upos", epochs=2, seed=2).to_bytes()


@functools.cache
def _english() -> pn.Tagger:
    return pn.load("en")


def opened(data: bytes, format: str, errors: str = "strict") -> pn.Corpus:
    """A text in bytes, which is cut as English if it is running text."""
    corpus = pn.open_corpus(io.BytesIO(data), format=format, errors=errors)
    corpus.cut_by(_english().segmenter.sentences_in)
    return corpus


def words_of(path: Path = DEV) -> list[list[str]]:
    """The sentences of a file as lists of words."""
    return [list(sentence.words) for sentence in pn.open_corpus(path)]


def random_words(count: int, seed: int) -> list[str]:
    """Distinct words of 16 printable characters."""
    chance = random.Random(seed)
    letters = "".join(map(chr, range(33, 127)))
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(letters, k=16))] = None
    return list(found)
