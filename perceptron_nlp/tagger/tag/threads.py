"""Many sentences labeled by several threads; the result does not depend on how many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from perceptron_nlp._checks import check_int
from perceptron_nlp._core.tag.decode import KeptSets, SentenceDecoder
from perceptron_nlp.tagger.tag.constraints import Keep

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


# Fewer sentences than this are not worth a second thread.
CHUNK = 512
MAX_THREADS = 1024
# Words whose scores are looked at together, and scores: enough to keep NumPy busy, few enough to
# stay in a cache, or at least small.
PIECE_WORDS = 2048
PIECE_SCORES = 1 << 18

T = TypeVar("T")
Use: TypeAlias = "Callable[[range, npt.NDArray[np.int64], npt.NDArray[np.float64]], T]"

Label = Callable[[list[Sequence[str]], Sequence[Keep] | None], list[list[str]]]


def check_threads(threads: object) -> None:
    """Raise unless it is a possible number of threads."""
    check_int("threads", threads, 1, MAX_THREADS)


def label_lists(
    decoder: SentenceDecoder, sentences: list[Sequence[str]], kept: KeptSets | None, threads: int
) -> list[list[str | None]]:
    """Return the labels that the decoder gives, by several threads."""
    if len(sentences) <= CHUNK:
        labels: list[list[str | None]] = decoder.tag(sentences, kept)
        return labels
    # Here, since lists that one thread labels do without.
    from perceptron_nlp._core.tag.crew import Crew

    return Crew(decoder, threads - 1).lists(sentences, kept)


def label_in_chunks(
    label: Label, batch: list[Sequence[str]], keep: Sequence[Keep] | None, threads: int
) -> list[list[str]]:
    """One list of labels a sentence, from a function that labels some sentences."""
    if threads == 1 or len(batch) <= CHUNK:
        return label(batch, keep)
    starts = range(0, len(batch), CHUNK)
    chunks = [batch[at : at + CHUNK] for at in starts]
    keeps = [None if keep is None else keep[at : at + CHUNK] for at in starts]
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return [labels for found in pool.map(label, chunks, keeps) for labels in found]


def in_pieces(
    run: Callable[[range], T], lengths: Sequence[int], n_labels: int, threads: int
) -> list[T]:
    """Return what `run` gives for parts of a batch, each small enough to hold all its scores.

    `run` takes the numbers of the sentences of a piece. Where pieces end depends on the lengths of
    sentences and the number of labels, not on the threads.
    """
    room = max(1, min(PIECE_WORDS, PIECE_SCORES // n_labels))
    ends, words = [0], 0
    for number, length in enumerate(lengths, 1):
        words += length
        if words >= room or number == len(lengths):
            ends.append(number)
            words = 0
    pieces = [range(a, b) for a, b in itertools.pairwise(ends)]
    if threads == 1 or len(pieces) == 1:
        return [run(piece) for piece in pieces]
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, pieces))
