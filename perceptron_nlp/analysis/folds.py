"""The parts of a text that are held out in turn when it is tested on itself."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp import Sentence
from perceptron_nlp._checks import check_int
from perceptron_nlp.crossfit import by_size
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import opens_document

FOLDS = 5
MAX_FOLDS = 1000
# Where the largest part has more than so many times the tokens of the smallest, documents are cut.
_UNEQUAL = 2


def make_folds(
    sentences: Sequence[Sentence],
    sizes: Sequence[int],
    n_folds: int | None,
    seed: int,
    usual: int = FOLDS,
    place: str = "train",
) -> tuple[list[list[int]], list[str]]:
    """Cut a text into folds of whole documents, or of sentences where documents do not suit.

    Raises FormatError if fewer than two sentences have labels; ArgumentError, ArgumentTypeError if
    `n_folds` is out of range, or more than there are sentences, or sentences with labels.
    """
    if n_folds is not None:
        check_int("folds", n_folds, 2, MAX_FOLDS)
    single = [[number] for number in range(len(sizes))]
    n_labeled = sum(map(bool, sizes))
    if n_labeled < 2:
        raise FormatError(
            "fewer than two sentences have labels; give more text, or text to test on", place
        )
    remarks = []
    wanted = n_folds or min(usual, n_labeled)
    if n_folds is None and wanted < usual:
        remarks.append(f"the text is cut into {wanted} parts, as few sentences have labels")
    if wanted > len(single):
        raise ArgumentError(f"folds: {wanted} is more than the {len(single)} sentences there are")
    if wanted > n_labeled:
        raise ArgumentError(
            f"folds: {wanted} is more than the {n_labeled} sentences that have labels"
        )
    whole = documents(sentences)
    if len(whole) > 1:
        of_documents = [sum(sizes[number] for number in unit) for unit in whole]
        if sum(map(bool, of_documents)) >= wanted:
            folds = by_size(whole, of_documents, wanted, seed)
            filled = [sum(sizes[number] for number in fold) for fold in folds]
            if max(filled) <= _UNEQUAL * min(filled):
                return folds, remarks
        remarks.append(
            f"{len(whole)} documents are too few or too unequal for {wanted} parts, so sentences"
            " are dealt out; the score may be a little too good"
        )
    return by_size(single, sizes, wanted, seed), remarks


def documents(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Return the numbers of each document's sentences; one document where there are no marks."""
    found: list[list[int]] = []
    for number, sentence in enumerate(sentences):
        if not found or opens_document(sentence):
            found.append([])
        found[-1].append(number)
    return found
