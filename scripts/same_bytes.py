"""Train one model of each kind on the sample corpus, and print what must be the same everywhere.

    python scripts/same_bytes.py [KIND ...]

A line for each kind: the SHA-256 of the model's file, that of the labels which the model, read from
that file, gives to other text, and the kind. `make everywhere` compares the lines of all compilers,
interpreters and processors.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "data"
sys.path.insert(0, str(DATA.parent))

import perceptron_nlp as pn  # noqa: E402

TRAIN, DEV = str(DATA / "english-train.conllu"), str(DATA / "english-dev.conllu")
CHUNKS = str(DATA / "english-chunks.columns")
FIELDS = ("form", "xpos", "chunk", "_")
TEXT = "They don't sink! Zoë's naïve 3-year-old paid $9.50 at 10:30, didn't she? \U0001f600 Fine."


def labels_of_words(tagger: pn.Tagger) -> object:
    """The labels of the dev set, one column or several."""
    return tagger.tag_sents(list(pn.open_corpus(DEV)))


def labels_of_chunks(tagger: pn.Tagger) -> object:
    """The chunks of words whose tags are known."""
    return tagger.tag_sents(list(pn.open_corpus(CHUNKS, fields=FIELDS)))


def labels_of_text(tagger: pn.Tagger) -> object:
    """Tokens, sentences and all columns of running text."""
    return [[(repr(token), token.lemma) for token in s] for s in tagger.tag_text(TEXT)]


KINDS: dict[str, tuple[dict[str, Any], Callable[[pn.Tagger], object]]] = {
    "exact": ({"dev": DEV}, labels_of_words),
    "fixed-table": ({"table_bits": 14, "epochs": 2}, labels_of_words),
    "whole-steps": ({"update": "perceptron", "epochs": 2}, labels_of_words),
    "beam": ({"beam": 3, "epochs": 2}, labels_of_words),
    "factored": ({"column": "feats", "epochs": 2}, labels_of_words),
    "clusters": ({"raw": [DEV], "epochs": 2}, labels_of_words),
    "spans": ({"column": "chunk", "fields": FIELDS}, labels_of_chunks),
    "lemmas": ({"column": ("upos", "lemma"), "epochs": 2}, labels_of_words),
    "segmentation": ({"column": "all", "epochs": 2}, labels_of_text),
}


def line(kind: str) -> str:
    """The hashes of a kind."""
    options, labels = KINDS[kind]
    tagger = pn.train(CHUNKS if kind == "spans" else TRAIN, seed=1, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pnlp"
        tagger.save(path)
        saved = path.read_bytes()
        told = repr(labels(pn.load(path)))
    hashes = (hashlib.sha256(one).hexdigest() for one in (saved, told.encode()))
    return " ".join([*(one[:32] for one in hashes), kind])


if __name__ == "__main__":
    for kind in sys.argv[1:] or KINDS:
        print(line(kind), flush=True)
