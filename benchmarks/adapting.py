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
    starts = [
        next((line for line in block.split("\n") if line.startswith(NEWDOC)), None)
        for block in blocks
        if block.strip()
    ]
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
    """Percent of the words labeled right."""
    return 100 * tagger.evaluate(sentences).accuracy


def best_of(
    ways: dict[str, pn.Tagger], dev: Sequence[pn.Sentence], test: Sequence[pn.Sentence]
) -> tuple[str, float]:
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


Row = tuple[int, int, list[float], list[str]]


def rows(genre: str) -> Iterable[Row]:
    """For each part of a genre: its share, its words, the figures, and what was chosen for them."""
    given, dev, test = (of_genre(part, genre) for part in ("train", "dev", "test"))
    held_out, judged = flat(dev), flat(test)
    rest = flat(of_genre("train", genre, is_in=False))
    base = pn.train(rest, column="upos", runs=1, resumable=True)
    alone = accuracy(base, judged)
    templates = base.model.templates
    for share in SHARES:
        part = first_share(given, share)
        own = pn.train(part, column="upos", runs=1, templates=templates)
        merged = {f"{weight:g}": pn.merge([base, own], weights=[1, weight]) for weight in WEIGHTS}
        chosen = [
            best_of(taggers, held_out, judged)
            for taggers in (resumed(base, part, "all"), resumed(base, part, "new"), merged)
        ]
        anew = accuracy(
            pn.train([*rest, *part], column="upos", runs=1, templates=templates), judged
        )
        yield (
            share,
            sum(len(sentence.words) for sentence in part),
            [round(figure, 2) for figure in (alone, *(right for _, right in chosen), anew)],
            ["", *(name for name, _ in chosen), ""],
        )


def line(genre: str, row: Row) -> str:
    """A row as Markdown."""
    share, words, figures, names = row
    cells = [
        f"{figure:.2f}" + (f" ({name})" if name else "")
        for figure, name in zip(figures, names, strict=True)
    ]
    return f"| {genre} | {share} % | {words:,} | {' | '.join(cells)} |"


def main(genres: Sequence[str]) -> None:
    """Print the table, and then the means over genres."""
    print(
        "| genre left out | of it given | words | the rest alone | resumed (epochs) |"
        " resumed, new average (epochs) | merged (weight) | trained anew on both |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    found: dict[int, list[Row]] = {}
    for genre in genres:
        for row in rows(genre):
            print(line(genre, row), flush=True)
            found.setdefault(row[0], []).append(row)
    for share, some in found.items():
        means = [sum(column) / len(some) for column in zip(*(row[2] for row in some), strict=True)]
        words = sum(row[1] for row in some) // len(some)
        print(line("mean", (share, words, means, [""] * len(means))))


if __name__ == "__main__":
    unknown = {*sys.argv[1:]} - {*GENRES}
    if unknown:
        sys.exit(__doc__)
    main(sys.argv[1:] or GENRES)
