"""Fuzzing of what is done in two ways: the fast one must give what the plain one gives."""

from __future__ import annotations

import functools
import io
import random
import re
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import perceptron_nlp as pn
from benchmarks.trust import samples
from perceptron_nlp.tagger.model.file import model_to_bytes

_LETTERS = [
    "a",
    "B",
    "9",
    "-",
    ".",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\x85",
    "\u00a0",
    "\u0130",
    "\u2028",
    "\ud800",
    "\udfff",
    "\ufeff",
    "\ufffd",
    "\U0001f600",
    "e\u0301",
    "'",
    '"',
    "?!",
    "...",
    "http://a.b/c",
    "\u0645",
    "\u4e2d",
    "x" * 70,
    "\u00df" * 40,
]


def same(what: str, left: object, right: object) -> None:
    """Raise AssertionError where two ways of doing something gave different things."""
    if left != right:
        raise AssertionError(f"{what}: {str(left)[:80]} and {str(right)[:80]}")


def odd_text(data: bytes) -> str:
    """Text made of what is rare in text, the same for the same bytes."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in data)


def fill_as_bytes(data: bytes) -> None:
    """CoNLL-U filled in as bytes, and sentence by sentence."""
    whole = data + b"\n\n"
    for tagger in (_tagger(), _whole()):
        corpus = pn.open_corpus(io.BytesIO(whole), format="conllu")
        fill = tagger.labelers.filler(corpus)
        done = None if fill is None else fill(whole)
        if done is None:
            return
        corpus = pn.open_corpus(io.BytesIO(whole), format="conllu")
        sentences = list(corpus)
        words = [sentence.words for sentence in sentences]
        # Where labels might be kept, each column is labeled with an object of every word.
        none: Any = {name: [[None] * len(own) for own in words] for name in tagger.columns}
        labels = tagger.tag_sents(words, columns=tagger.columns, keep=none)
        written = [
            corpus.rewrite(sentence, {name: own[at] for name, own in labels.items() if own[at]})
            for at, sentence in enumerate(sentences)
        ]
        same("filled in", done, ("".join(written) + corpus.tail).encode())
        same("lists", tagger.tag_sents(words, columns=tagger.columns), labels)


def number(data: bytes) -> None:
    """CoNLL-U learnt from as numbers, and as sentences."""
    sentences = list(pn.open_corpus(io.BytesIO(data), format="conllu"))
    learnt = [
        pn.train(source, epochs=1, templates="fast", column="upos").model
        for source in (pn.open_corpus(io.BytesIO(data), format="conllu"), sentences)
    ]
    same("learnt", *(model_to_bytes(model.replace(record={})) for model in learnt))


def cut_text(data: bytes) -> None:
    """Running text: no character is lost, and pieces of text are labeled as words are."""
    text = odd_text(data)
    sentences = _tagger().tag_text(text)
    end = 0
    for token in (token for sentence in sentences for token in sentence.tokens):
        same("between tokens", text[end : token.start].strip(), "")
        same("token", text[token.start : token.end], token.form)
        end = token.end
    same("behind the last", text[end:].strip(), "")
    # Running text is read as training writes such words; words in lists are not.
    read = _tagger().labelers.segmenter.cutter.as_read
    same(
        "labels",
        [sentence.labels for sentence in sentences],
        _tagger().tag_sents([read(sentence.forms) for sentence in sentences], threads=2),
    )


def write_text(data: bytes) -> None:
    """Running text written as CoNLL-U from bytes to bytes, and its tokens as objects."""
    tagger = _whole()
    filler = tagger.labelers.text_filler()
    assert filler is not None
    for threads in (1, 2):
        corpus = pn.open_corpus(io.BytesIO(data), format="text")
        pieces = filler.texts(corpus, lambda n: 1, threads)
        written = b"".join(pieces)
        same("left to be read otherwise", list(corpus), [])
        if threads == 1:
            alone = written
        same("by threads", written, alone)
    sentences = list(pn.open_corpus(io.BytesIO(written), format="conllu"))
    words = [w for s in tagger.tag_text(data.decode("utf-8-sig")) for w in s]
    same("words", [word for sentence in sentences for word in sentence], [w.form for w in words])
    for name in tagger.columns:
        filled = [label for sentence in sentences for label in sentence.column(name)]
        same(name, filled, [word.labels[name] for word in words])


def learn_all(data: bytes) -> None:
    """CoNLL-U with ranges: learned from with segmentation and lemmas, and held against itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learned.conllu"
        path.write_bytes(data)
        tagger = pn.train(path, column="all", epochs=1, preset="fast")
        tagger.tag_text("I can't go.")
        tagger.evaluate_text(path)


def buffers(data: bytes) -> None:
    """Words out of buffers, and as strings."""
    words = _words(data)
    if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
        words = [word.encode("utf-8", "replace").decode() for word in words]
    texts = [word.encode() for word in words]
    tokens = np.cumsum([0, *map(len, texts)])
    chance = random.Random(data)
    cuts = sorted(chance.randrange(len(words) + 1) for _ in range(3))
    numbers, labels = (
        _tagger().tag_arrays(b"".join(texts), tokens, cuts, threads=2).labels[_tagger().column]
    )
    sentences = [words[begin:end] for begin, end in pairwise(cuts)]
    same(
        "labels",
        [labels[number] for number in numbers.tolist()],
        [tag for tags in _tagger().tag_sents(sentences) for tag in tags],
    )


def explain(data: bytes) -> None:
    """What explains labels, counts ways of labeling or tells scores, and the labels."""
    words = _words(data)[:30]
    for kind in ("greedy", "beam"):
        tagger = _taggers()[kind]
        labels = tagger.tag(words)
        explained = tagger.explain(words)
        same("explained", explained.labels, labels)
        few = words[:6]  # all ways of labeling many words are slow to go through
        same("best of all", pn.k_best(tagger, few, 3)[0][0], tagger.tag(few))
        same("with confidences", tagger.tag_sents([words], confidences=True)[0], [labels])
        scores = tagger.scores(words)
        for word, row in zip(explained, scores, strict=True):
            same("score", word.score, row[tagger.labels.index(word.learned)])
            total = sum(feature.weight for feature in word.features)
            same("sum", round(total, 6), round(word.score, 6))


def _words(data: bytes) -> list[str]:
    text = odd_text(data)
    pieces: Sequence[str] = text.split(" ")
    return [*pieces[:200], *(text[:3] if data else "")]


def with_ranges(count: int = 4) -> bytes:
    """A text some of whose sentences have multiword tokens."""
    sentences = samples.TRAIN.read_bytes().split(b"\n\n")
    ranged = [one for one in sentences if re.search(rb"^\d+-\d", one, re.MULTILINE)]
    return b"\n\n".join([*ranged[:count], *sentences[: 2 * count], b""])


@functools.cache
def whole_model() -> bytes:
    """A model that cuts text, and whose columns agree."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learned.conllu"
        path.write_bytes(with_ranges(12))
        return pn.train(path, column="all", epochs=1, preset="fast").to_bytes()


@functools.cache
def _whole() -> pn.Tagger:
    return pn.Tagger.from_bytes(whole_model())


@functools.cache
def _taggers() -> dict[str, pn.Tagger]:
    sentences = list(pn.open_corpus(samples.TRAIN))[:150]
    dev = list(pn.open_corpus(samples.DEV))[:60]
    return {
        "greedy": pn.train(sentences, dev=dev, column="upos", epochs=2),
        "beam": pn.train(sentences, dev=dev, column="upos", epochs=2, beam=3),
    }


def _tagger() -> pn.Tagger:
    return _taggers()["greedy"]
