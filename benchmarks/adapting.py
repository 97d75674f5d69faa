"""Taggers for a kind of text that there is little of: four ways, measured on the genres of EWT.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/adapting.py [GENRE...]

One genre is left out of the training part, and then given in growing parts (its first documents,
up to a share of its words). Trained on the rest alone; gone on from that, on the part; trained on
both anew; and merged out of two taggers, of the rest and of the part. What a way leaves open (how
many epochs, which average, which weight) is chosen on the genre's documents in the dev part;
figures are UPOS accuracy, in percent, on its documents in the test part, of one seed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from corpora import treebank

import perceptron_nlp as pn

GENRES = ("weblog", "newsgroup", "email", "reviews", "answers")
SHARES = (5, 20, 100)
EPOCHS = (1, 2, 4, 8)
WEIGHTS = (0.1, 0.25, 0.5, 1.0)
NEWDOC = "# newdoc id = "


def documents(part: str) -> list[tuple[str, list[pn.Sentence]]]:
    """The documents of a part of EWT, each with its genre."""
    found: list[tuple[str, list[pn.Sentence]]] = []
    with open(treebank("EWT", part), encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    starts = [next((line for line in block.split("\n") if line.startswith(NEWDOC)), None)
              for block in blocks if block.strip()]
    for start, sentence in zip(starts, pn.read_conllu(treebank("EWT", part)), strict=True):
        if start is not None:
            found.append((start.removeprefix(NEWDOC).partition("-")[0], []))
        found[-1][1].append(sentence)
    return found


def of_genre(part: str, genre: str, is_in: bool = True) -> list[list[pn.Sentence]]:
    """The documents of a part that are of a genre, or of all others."""
    return [sentences for kind, sentences in documents(part) if (kind == genre) == is_in]


def flat(texts: Iterable[Sequence[pn.Sentence]]) -> list[pn.Sentence]:
    """The sentences of several documents."""
    return [sentence for text in texts for sentence in text]


def first_share(texts: Sequence[Sequence[pn.Sentence]], share: int) -> list[pn.Sentence]:
    """The first sentences of a genre, with so many percent of its words."""
    sentences = flat(texts)
    wanted = sum(len(s.words) for s in sentences) * share / 100
    chosen, words = [], 0
    for sentence in sentences:
        if words >= wanted:
            break
        chosen.append(sentence)
        words += len(sentence.words)
    return chosen


def accuracy(tagger: pn.Tagger, sentences: Sequence[pn.Sentence]) -> float:
    """Percent of the words labelled right."""
    return 100 * tagger.evaluate(sentences).accuracy


def best_of(ways: dict[str, pn.Tagger], dev: Sequence[pn.Sentence],
            test: Sequence[pn.Sentence]) -> tuple[str, float]:
    """The way that does best on dev, the first of equals, and its accuracy on test."""
    chosen = max(ways, key=lambda name: accuracy(ways[name], dev))
    return chosen, accuracy(ways[chosen], test)


def resumed(base: pn.Tagger, part: Sequence[pn.Sentence], average: str) -> dict[str, pn.Tagger]:
    """The tagger after so many epochs on a part; each goes on from the one before."""
    found: dict[str, pn.Tagger] = {}
    tagger, made = base, 0
    for epochs in EPOCHS:
        tagger = tagger.resume(part, epochs=epochs - made, average=average)
        made, average = epochs, "all"
        found[str(epochs)] = tagger
    return found


def rows(genre: str) -> Iterable[str]:
    """The rows of a genre, as Markdown."""
    given, dev, test = (of_genre(part, genre) for part in ("train", "dev", "test"))
    held_out, judged = flat(dev), flat(test)
    rest = flat(of_genre("train", genre, is_in=False))
    base = pn.train(rest, column="upos", resumable=True)
    alone = accuracy(base, judged)
    templates = base.model.templates
    yield f"| {genre} | 0 % | 0 | {alone:.2f} | | | | |"
    for share in SHARES:
        part = first_share(given, share)
        words = sum(len(sentence.words) for sentence in part)
        whole, new = (best_of(resumed(base, part, average), held_out, judged)
                      for average in ("all", "new"))
        own = pn.train(part, column="upos", templates=templates)
        merged = best_of({f"{weight:g}": pn.merge([base, own], weights=[1, weight])
                          for weight in WEIGHTS}, held_out, judged)
        anew = accuracy(pn.train([*rest, *part], column="upos", templates=templates), judged)
        yield (f"| {genre} | {share} % | {words:,} | {alone:.2f} | {whole[1]:.2f} ({whole[0]}) |"
               f" {new[1]:.2f} ({new[0]}) | {merged[1]:.2f} ({merged[0]}) | {anew:.2f} |")


def main(genres: Sequence[str]) -> None:
    """Print the table."""
    print("| genre left out | of it given | words | the rest alone | resumed (epochs) |"
          " resumed, new average (epochs) | merged (weight) | trained anew on both |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    begun = time.process_time()
    for genre in genres:
        for row in rows(genre):
            print(row, flush=True)
    print(f"\n{time.process_time() - begun:.0f} s of CPU", file=sys.stderr)


if __name__ == "__main__":
    unknown = {*sys.argv[1:]} - {*GENRES}
    if unknown:
        sys.exit(__doc__)
    main(sys.argv[1:] or GENRES)
