"""How fast taggers tag: this library and its peers in one run. Prints Markdown, draws a PNG.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/speed.py [--png speed.png] [--rounds N]

All train on EWT (the peers on the first sentences, where they are slow: their speed does not
depend on it) and tag EWT test, lists of str in and lists of str out, unless said otherwise.
Tokens per CPU second, the best of several rounds that take turns; two threads by the clock. The
border's floor is what it costs to look at every word and to build the lists, without tagging.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpora import treebank

import perceptron_nlp as pn

Sentences = list[list[str]]
Work = Callable[[], object]
PEER_SENTENCES = 2000
REPEATS = 5


def ours(train: str, test: Sentences) -> dict[str, Work]:
    """This library, with both lists of templates."""
    works: dict[str, Work] = {}
    for templates in ("fast", "default"):
        tagger = pn.train(train, templates=templates, update="perceptron", epochs=3, beam=1,
                          right_to_left=False)
        data = tagger.to_bytes()
        tagger.tag_sents(test)
        works[f"{templates}, text seen before"] = lambda t=tagger: t.tag_sents(test)
        works[f"{templates}, new text"] = Fresh(data, test)
        works[f"{templates}, CoNLL-U bytes in and out"] = Whole(tagger, treebank("EWT", "test"))
    return works


class Fresh:
    """Tags with a tagger that remembers nothing; making it is not counted."""

    def __init__(self, data: bytes, test: Sentences) -> None:
        self._data = data
        self._test = test
        self.ready()

    def ready(self) -> None:
        """A new tagger."""
        self._tagger = pn.Tagger.from_bytes(self._data)

    def __call__(self) -> None:
        self._tagger.tag_sents(self._test)


class Whole:
    """Fills a file's text in, without Python objects of its words."""

    def __init__(self, tagger: pn.Tagger, path: str) -> None:
        corpus = pn.open_corpus(path)
        fill = tagger.filler(corpus)
        assert fill is not None
        self._fill = fill
        self._text = Path(path).read_bytes()

    def __call__(self) -> None:
        self._fill(self._text)


def floor(test: Sentences) -> dict[str, Work]:
    """What iterating the lists and building others costs alone."""
    label = "NOUN"
    return {"floor: look at every word, build the lists":
            lambda: [[label for _ in sentence] for sentence in test]}


def nltk_peer(train: list[pn.Sentence], test: Sentences) -> dict[str, Work]:
    """NLTK's averaged perceptron."""
    from nltk.tag.perceptron import PerceptronTagger
    tagger = PerceptronTagger(load=False)
    tagger.train([list(zip(s.words, s.column("upos"), strict=True)) for s in train], nr_iter=1)
    return {"NLTK PerceptronTagger": lambda: [tagger.tag(sentence) for sentence in test]}


def crfsuite_peer(train: list[pn.Sentence], test: Sentences) -> dict[str, Work]:
    """python-crfsuite with words, affixes and neighbours; features are made in Python."""
    import pycrfsuite

    def features(words: list[str]) -> list[list[str]]:
        return [[f"w={word.lower()}", f"s={word[-3:]}", f"p={words[i - 1] if i else ''}",
                 f"n={words[i + 1] if i + 1 < len(words) else ''}"]
                for i, word in enumerate(words)]

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    for sentence in train:
        trainer.append(features(list(sentence.words)), sentence.column("upos"))
    trainer.set_params({"max_iterations": 2})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(os.path.join(folder, "model"))
        tagger = pycrfsuite.Tagger()
        tagger.open(os.path.join(folder, "model"))
    return {"python-crfsuite": lambda: [tagger.tag(features(sentence)) for sentence in test]}


def sklearn_peer(train: list[pn.Sentence], test: Sentences) -> dict[str, Work]:
    """scikit-learn's Perceptron over hashed words and affixes, no history."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import Perceptron
    hasher = FeatureHasher(1 << 18, input_type="string")

    def rows(sentences: Sentences) -> object:
        return hasher.transform([f"w={word.lower()}", f"s={word[-3:]}"]
                                for sentence in sentences for word in sentence)

    model = Perceptron(max_iter=3, tol=None)
    model.fit(rows([list(s.words) for s in train]), [t for s in train for t in s.column("upos")])
    return {"scikit-learn Perceptron": lambda: model.predict(rows(test))}


PEERS = {"nltk": nltk_peer, "python-crfsuite": crfsuite_peer, "scikit-learn": sklearn_peer}
NOT_MEASURED = ("ltp-extension", "vowpalwabbit")


def best(works: dict[str, Work], rounds: int, tokens: int) -> dict[str, float]:
    """Tokens per CPU second, the best of the rounds."""
    seconds = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            for _ in range(REPEATS if tokens / seconds[name] > 1e6 else 1):
                if isinstance(work, Fresh):
                    work.ready()
                start = time.process_time()
                work()
                seconds[name] = min(seconds[name], time.process_time() - start)
    return {name: tokens / second for name, second in seconds.items()}


def two_threads(tagger: pn.Tagger, test: Sentences) -> float:
    """How many times faster two threads tag than one, by the clock."""
    many = test * 40
    seconds = {}
    for threads in (1, 2):
        tagger.tag_sents(many, threads=threads)
        seconds[threads] = min(_clock(lambda n=threads: tagger.tag_sents(many, threads=n))
                               for _ in range(3))
    return seconds[1] / seconds[2]


def _clock(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def draw(speeds: dict[str, float], path: str) -> None:
    """Bars on a logarithmic scale."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    names = sorted(speeds, key=speeds.__getitem__)
    figure, axes = pyplot.subplots(figsize=(9, 0.42 * len(names) + 1), layout="constrained")
    axes.barh(names, [speeds[name] for name in names])
    axes.bar_label(axes.containers[0], [f"{speeds[name] / 1e6:.2f} M" for name in names])
    axes.set_xscale("log")
    axes.set_xlabel("tokens per CPU second (EWT test)")
    axes.margins(x=0.15)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--png", help="where to draw the table")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    test = [list(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))]
    tokens = sum(map(len, test))
    train = list(pn.read_conllu(treebank("EWT", "train")))[:PEER_SENTENCES]
    works, missing = {**ours(treebank("EWT", "train"), test), **floor(test)}, list(NOT_MEASURED)
    peers = []
    for name, peer in PEERS.items():
        try:
            found = peer(train, test)
        except ImportError:
            missing.append(name)
            continue
        peers += found
        works.update(found)
    speeds = best(works, chosen.rounds, tokens)
    fastest = max((speeds[name] for name in peers), default=float("nan"))
    print(f"# Tagging speed ({tokens:,} tokens of EWT test, one core, Python "
          f"{sys.version.split()[0]})\n")
    print("| | M tokens per CPU second | times the fastest peer |")
    print("|---|---|---|")
    for name in sorted(speeds, key=speeds.__getitem__, reverse=True):
        print(f"| {name} | {speeds[name] / 1e6:.3f} | {speeds[name] / fastest:.1f} |")
    tagger = pn.train(treebank("EWT", "train"), templates="fast", update="perceptron", epochs=1,
                      beam=1, right_to_left=False)
    print(f"\nTwo threads: {two_threads(tagger, test):.2f} times one.")
    print(f"Not measured here: {', '.join(missing)}.")
    if chosen.png:
        draw(speeds, chosen.png)


if __name__ == "__main__":
    main()
