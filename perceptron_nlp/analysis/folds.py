"""The parts of a text that are held out in turn when it is tested on itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from perceptron_nlp import Sentence
from perceptron_nlp._checks import check_int
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import opens_document
from perceptron_nlp.sampling import permutation

FOLDS = 5
MAX_FOLDS = 1000
# Where the largest part has more than so many times the tokens of the smallest, documents are cut.
_UNEQUAL = 2
Work = TypeVar("Work")
Done = TypeVar("Done")


def deal(
    units: Sequence[Sequence[int]], sizes: Sequence[int], n_folds: int, seed: int
) -> list[list[int]]:
    """Deal units of sentences out, in random order, each to the fold that is smallest so far."""
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    filled = [0] * n_folds
    order = permutation(len(units), seed).tolist()
    # Those without any size come last, so that each fold gets one with.
    for unit in sorted(order, key=lambda unit: not sizes[unit]):
        fold = min(range(n_folds), key=lambda number: (filled[number], number))
        folds[fold] += units[unit]
        filled[fold] += sizes[unit]
    return [sorted(fold) for fold in folds]


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
    n_labelled = sum(map(bool, sizes))
    if n_labelled < 2:
        raise FormatError(
            "fewer than two sentences have labels; give more text, or text to test on", place
        )
    remarks = []
    wanted = n_folds or min(usual, n_labelled)
    if n_folds is None and wanted < usual:
        remarks.append(f"the text is cut into {wanted} parts, as few sentences have labels")
    if wanted > len(single):
        raise ArgumentError(f"folds: {wanted} is more than the {len(single)} sentences there are")
    if wanted > n_labelled:
        raise ArgumentError(
            f"folds: {wanted} is more than the {n_labelled} sentences that have labels"
        )
    whole = documents(sentences)
    if len(whole) > 1:
        of_documents = [sum(sizes[number] for number in unit) for unit in whole]
        if sum(map(bool, of_documents)) >= wanted:
            folds = deal(whole, of_documents, wanted, seed)
            filled = [sum(sizes[number] for number in fold) for fold in folds]
            if max(filled) <= _UNEQUAL * min(filled):
                return folds, remarks
        remarks.append(
            f"{len(whole)} documents are too few or too unequal for {wanted} parts, so sentences"
            " are dealt out; the score may be a little too good"
        )
    return deal(single, sizes, wanted, seed), remarks


def in_parallel(
    run: Callable[[Work], Done],
    works: Sequence[Work],
    threads: int,
    callback: Callable[[int, int], object] | None = None,
) -> list[Done]:
    """Return what `run` gives for each piece of work, in their order, several at a time."""
    if threads == 1:
        return _collected(map(run, works), len(works), callback)
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return _collected(pool.map(run, works), len(works), callback)


def _collected(
    results: Iterable[Done], total: int, callback: Callable[[int, int], object] | None
) -> list[Done]:
    found = []
    for result in results:
        found.append(result)
        if callback is not None:
            callback(len(found), total)
    return found


def documents(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Return the numbers of each document's sentences; one document where there are no marks."""
    found: list[list[int]] = []
    for number, sentence in enumerate(sentences):
        if not found or opens_document(sentence):
            found.append([])
        found[-1].append(number)
    return found
