"""What insight costs and how right it is. Prints Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/insight.py [NAME…]

NAMEs are measurements (default: all). Times are CPU seconds of one core, the least of several
rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from corpora import treebank

import perceptron_nlp as pn

ROUNDS = 3
BEST = 10


def least(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of several rounds."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def each(sentences: list[list[str]], work: Callable[[list[str]], object]) -> None:
    """Do something with each sentence, and keep nothing of it."""
    for words in sentences:
        work(words)


def explain() -> str:
    """How fast EWT test is explained, with all features and with few, and its k best found."""
    tagger = pn.train(treebank("EWT", "train"), seed=1)
    sentences = [list(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))]
    few = sentences[:200]
    n_words, n_few = sum(map(len, sentences)), sum(map(len, few))
    jobs: list[tuple[str, int, Callable[[], object]]] = [
        ("`explain`: labels, runners-up, scores, margins", n_words,
         lambda: each(sentences, tagger.explain)),
        ("the same, and every feature made", n_words,
         lambda: each(sentences, lambda words: [
             word.features for word in tagger.explain(words)])),
        ("`explain(…, top=5)`, and these features made", n_words,
         lambda: each(sentences, lambda words: [
             word.features for word in tagger.explain(words, top=5)])),
        ("the same as dictionaries", n_words,
         lambda: each(sentences, lambda words: tagger.explain(words).to_dict(top=5))),
        ("the same as HTML", n_few,
         lambda: each(few, lambda words: tagger.explain(words).to_html())),
        (f"`k_best`, k = {BEST}", n_few,
         lambda: each(few, lambda words: tagger.k_best(words, BEST))),
        ("`tag`, one sentence at a time", n_words,
         lambda: each(sentences, tagger.tag)),
    ]
    lines = [f"## Why: EWT test, {n_words:,} words, the default preset\n",
             "| | words / CPU s |", "|---|---|"]
    lines += [f"| {name} | {count / least(work):,.0f} |" for name, count, work in jobs]
    return "\n".join(lines)


MEASUREMENTS: dict[str, Callable[[], str]] = {"explain": explain}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"what to measure: {', '.join(MEASUREMENTS)} (default: all)")
    chosen = parser.parse_args().names or list(MEASUREMENTS)
    for name in chosen:
        if name not in MEASUREMENTS:
            parser.error(f"unknown measurement {name}; there are {', '.join(MEASUREMENTS)}")
    print("# Insight\n")
    for name in chosen:
        print(MEASUREMENTS[name]() + "\n", flush=True)


if __name__ == "__main__":
    main()
