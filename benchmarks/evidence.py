"""What raw text gives, by cross-validation on EWT's training text, as Markdown.

The documents are dealt into five folds, and each fold is labeled by a tagger of the other four
(one run, a beam of 4, right to left). Dev sets are too small to see half of these differences; all
five folds have 200,000 words. ``--folds 0 2 4`` does these only.
"""

from __future__ import annotations

import argparse
import time

from corpora import treebank
from rawtext import raw_sentences

import perceptron_nlp as pn
from perceptron_nlp.sampling import permutation

FOLDS = 5
PLACES = (-1, 0, 1)
VARIANTS: dict[str, tuple[str, ...]] = {
    "list `default`": (),
    "… with 100 and 800 clusters": ("clusters100", "clusters800"),
    "… with an induced lexicon": ("induced",),
    "… with both": ("clusters100", "clusters800", "induced"),
}


def folds_of_documents(path: str) -> list[int]:
    """The fold of each sentence of a CoNLL-U file; those of a document stay together."""
    documents, document = [], -1
    with open(path, encoding="utf-8") as file:
        for line in file:
            document += line.startswith("# newdoc")
            if line.startswith("1\t"):
                documents.append(document)
    fold_of = {int(number): at % FOLDS for at, number in enumerate(permutation(document + 1, 7))}
    return [fold_of[number] for number in documents]


def measure(
    columns: tuple[str, ...],
    sentences: list[pn.Sentence],
    folds: list[int],
    raw: list[list[str]],
    chosen: list[int],
) -> str:
    """Cells of the table: percent right, CPU seconds and megabytes of a model."""
    templates = [
        *pn.preset("default"),
        *(pn.Template.parse(f"column:{name}[{place}]") for name in columns for place in PLACES),
    ]
    right = words = seconds = size = 0.0
    for fold in chosen:
        start = time.process_time()
        tagger = pn.train(
            [s for s, f in zip(sentences, folds, strict=True) if f != fold],
            column="upos",
            templates=templates,
            raw=raw if columns else None,
            beam=4,
            right_to_left=True,
        )
        seconds += time.process_time() - start
        size += len(tagger.to_bytes()) / 1e6
        result = tagger.evaluate([s for s, f in zip(sentences, folds, strict=True) if f == fold])
        right += result.correct
        words += result.tokens
    n = len(chosen)
    return f"{100 * right / words:.2f} | {seconds / n:.0f} | {size / n:.1f}"


def main() -> None:
    """Print the table, a row as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folds",
        type=int,
        nargs="+",
        choices=range(FOLDS),
        default=list(range(FOLDS)),
        metavar="N",
    )
    chosen = parser.parse_args().folds
    path = treebank("EWT", "train")
    sentences, raw = list(pn.open_corpus(path)), list(raw_sentences())
    folds = folds_of_documents(path)
    print("| EWT UPOS, cross-validated | right | CPU s | MB |\n|---|---|---|---|", flush=True)
    for name, columns in VARIANTS.items():
        cells = measure(columns, sentences, folds, raw, chosen)
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
