"""How small a model can be: size, accuracy and loading time of models within sizes, and of peers.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/size.py
    python benchmarks/size.py --whole TREEBANK …

Trains UPOS on EWT, compresses by its dev part, and prints a Markdown table. Loading is in
milliseconds of CPU, the least of nine. With --whole: all columns and segmentation of treebanks,
folders with train, dev and test parts, compressed by dev, and learned again with the features that
fit; F1 from text, in percent, of test.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora import treebank
from cputime import Job, least_of

import perceptron_nlp as pn

SIZES = ("1.1MB", "650kB", "400kB", "300kB", "200kB")
# Between the presets fast and default: pairs of endings, but not of words.
ENDINGS = (
    "word.suffix3[-1] word.suffix3[0]",
    "word.suffix3[0] word.suffix3[1]",
    "shape4[0] shape4[1]",
)
REPEATS = 9
WHOLE_SIZES = ("2MB", "1MB")
WHOLE_SCORES = ("Tokens", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas")
Tagged = list[list[tuple[str, str]]]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--whole", metavar="TREEBANK", nargs="+", type=Path)
    chosen = parser.parse_args()
    if chosen.whole:
        whole_models(chosen.whole)
    else:
        models_of_one_column()


def whole_models(treebanks: list[Path]) -> None:
    """Print the table of models that segment and fill every column."""
    print(f"| treebank, model | size | {' | '.join(WHOLE_SCORES)} |")
    print("|---|--:|" + "--:|" * len(WHOLE_SCORES))
    for folder in treebanks:
        train, dev, test = (
            str(next(folder.glob(f"*-{part}.conllu*"))) for part in ("train", "dev", "test")
        )
        options: dict[str, Any] = {"dev": dev, "column": "all", "seed": 1}
        tagger = pn.train(train, **options)
        name = folder.name.removeprefix("UD_")
        whole_row(f"{name}, whole", tagger, test)
        for size in WHOLE_SIZES:
            whole_row(f"{name}, {size}, compressed", tagger.compress(size, dev=dev), test)
            again = pn.train(train, size=size, **options)
            whole_row(f"{name}, {size}, learned again", again, test)


def whole_row(name: str, tagger: pn.Tagger, test: str) -> None:
    """A line of the table for a model that segments and fills every column."""
    found = tagger.evaluate_text(test)
    cells = [f"{100 * found[name].f1:.2f}" if name in found else "–" for name in WHOLE_SCORES]
    print(f"| {name} | {len(tagger.to_bytes()):,} | {' | '.join(cells)} |", flush=True)


def models_of_one_column() -> None:
    """Print the table of models of UPOS, and of peers."""
    train, dev, test = (treebank("EWT", part) for part in ("train", "dev", "test"))
    print("| model | size | dev | test | load |\n|---|--:|--:|--:|--:|")
    endings = [*map(str, pn.preset("fast")), *ENDINGS]
    lists: dict[str, dict[str, Any]] = {
        "`default`": {},
        "`fast`": {"preset": "fast"},
        "`fast` and pairs of endings": {"templates": endings},
    }
    for name, options in lists.items():
        options |= {"dev": dev, "runs": 1}
        tagger = pn.train(train, **options)
        row(name, tagger, dev, test)
        for size in SIZES:
            smaller = tagger.compress(size, dev=dev)
            if smaller is not tagger:
                found = smaller.model.record["compressed"]["steps"] or "all"
                row(
                    f"{name}, {size} [{smaller.model.weights.n_rows:,} rows, {found} steps]",
                    smaller,
                    dev,
                    test,
                )
                again = pn.train(train, size=size, **options)
                row(f"{name}, {size}, learned again", again, dev, test)
    sentences = {
        part: tagged(path) for part, path in (("train", train), ("dev", dev), ("test", test))
    }
    for package, peer in (("nltk", nltk_peer), ("pycrfsuite", crfsuite_peer)):
        if importlib.util.find_spec(package) is None:
            print(f"| {package} | not installed | | | |")
        else:
            peer(sentences)


def row(name: str, tagger: pn.Tagger, dev: str, test: str) -> None:
    """A line of the table for one of our models."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        tagger.save(path)
        print(
            f"| {name} | {path.stat().st_size:,} | {100 * tagger.evaluate(dev).accuracy:.2f} |"
            f" {100 * tagger.evaluate(test).accuracy:.2f} |"
            f" {milliseconds(lambda: pn.load(path)):.1f} |",
            flush=True,
        )


def milliseconds(job: Job) -> float:
    """Of CPU, the least of several."""
    return 1000 * least_of(REPEATS, job)


def tagged(path: str) -> Tagged:
    """Sentences as pairs of words and tags."""
    return [
        list(zip(sentence.words, sentence.column("upos"), strict=True))
        for sentence in pn.read_conllu(path)
    ]


def accuracy(tag: Callable[[list[str]], list[str]], sentences: Tagged) -> float:
    """Percent of the words labeled right."""
    right = total = 0
    for sentence in sentences:
        found = tag([word for word, _ in sentence])
        right += sum(a == b for a, (_, b) in zip(found, sentence, strict=True))
        total += len(sentence)
    return 100 * right / total


def nltk_peer(sentences: dict[str, Tagged]) -> None:
    """NLTK's averaged perceptron, 10 epochs, its model pickled."""
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger(load=False)
    tagger.train(sentences["train"], nr_iter=10)
    state = pickle.dumps((tagger.model.weights, tagger.tagdict, tagger.classes), 4)

    def tag(words: list[str]) -> list[str]:
        return [label for _, label in tagger.tag(words)]

    print(
        f"| NLTK | {len(state):,} | {accuracy(tag, sentences['dev']):.2f} |"
        f" {accuracy(tag, sentences['test']):.2f} |"
        f" {milliseconds(lambda: pickle.loads(state)):.1f} |",
        flush=True,
    )


def crfsuite_peer(sentences: dict[str, Tagged]) -> None:
    """python-crfsuite with the features of its tutorial, 30 passes of averaged perceptron."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer("ap", verbose=False)
    trainer.set_params({"max_iterations": 30})
    for sentence in sentences["train"]:
        trainer.append(crf_features([word for word, _ in sentence]), [t for _, t in sentence])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.crfsuite")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)

        def tag(words: list[str]) -> list[str]:
            return list(tagger.tag(crf_features(words)))

        print(
            f"| python-crfsuite | {os.path.getsize(path):,} |"
            f" {accuracy(tag, sentences['dev']):.2f} | {accuracy(tag, sentences['test']):.2f} |"
            f" {milliseconds(lambda: pycrfsuite.Tagger().open(path)):.1f} |",
            flush=True,
        )


def crf_features(words: list[str]) -> list[list[str]]:
    """The features of each word: itself, its ending, its case, its neighbours."""
    padded = ["<s>", *words, "</s>"]
    return [
        [
            f"w={word.lower()}",
            f"s3={word[-3:]}",
            f"s2={word[-2:]}",
            f"t={word.istitle()}",
            f"u={word.isupper()}",
            f"d={word.isdigit()}",
            f"p={before.lower()}",
            f"n={after.lower()}",
        ]
        for before, word, after in zip(padded, words, padded[2:], strict=False)
    ]


if __name__ == "__main__":
    main()
