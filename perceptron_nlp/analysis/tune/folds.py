"""The parts of a text that are held out in turn when it is tested on itself."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp._checks import check_int
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.formats import opens_document
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.text.sentence import Sentence

MAX_FOLDS = 1000


def make_folds(examples: Examples, n_folds: int, seed: int) -> list[list[int]]:
    """The sentences of each fold, by their numbers, ascending.

    Whole documents where the text has marks of at least two, else single sentences, are dealt
    out in an order that the seed gives, each to the fold with the fewest words so far.

    Raises
    ------
    ArgumentError, ArgumentTypeError : not from 2 to 1,000 folds, more folds than documents or
        sentences, or a fold in which no word is labelled
    """
    check_int("folds", n_folds, 2, MAX_FOLDS)
    units = documents(examples.sentences)
    what = "documents"
    if len(units) < 2:
        units, what = [[number] for number in range(len(examples.sentences))], "sentences"
    if n_folds > len(units):
        raise ArgumentError(f"folds: {n_folds} is more than the {len(units)} {what} there are")
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    words = [0] * n_folds
    for number in permutation(len(units), seed).tolist():
        # An empty fold comes first, so that each gets something.
        fold = min(range(n_folds), key=lambda i: (words[i], i))
        folds[fold] += units[number]
        words[fold] += sum(len(examples.sentences[s].words) for s in units[number])
    for number, fold_sentences in enumerate(folds, 1):
        if not examples.part(fold_sentences).n_labelled:
            raise ArgumentError(
                f"folds: no word is labelled in part {number} of {n_folds}; have fewer"
            )
    return [sorted(fold_sentences) for fold_sentences in folds]


def documents(sentences: Sequence[Sentence]) -> list[list[int]]:
    """The numbers of each document's sentences; one document where there are no marks."""
    found: list[list[int]] = []
    for number, sentence in enumerate(sentences):
        if not found or opens_document(sentence):
            found.append([])
        found[-1].append(number)
    return found
