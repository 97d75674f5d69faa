"""Clusters of words that stand in like places, learnt from raw text.

A word is what stands around it: how much more often than by chance each common word stands one or
two words before or after it (positive pointwise mutual information, with the counts of the common
words raised to the power 3/4; Levy, Goldberg and Dagan, 2015, "Improving distributional similarity
with lessons learned from word embeddings"). These rows are brought down to few dimensions and put
together by spherical k-means.

The same text gives the same clusters on every machine: see exactsums.py. Logarithms, which
libraries round as they like, are read off a table of powers that is made of square roots.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from perceptron_nlp.tagger.train.exactsums import (
    LARGEST,
    Floats,
    Ints,
    SparseRows,
    row_vectors,
    whole,
)

MIN_COUNT = 4
# Of more words than this, the commonest: time grows with them.
MOST_WORDS = 100_000
# Common words, of which places are made; the other words and the sentence's edges are two more.
PLACES = 2000
# How far from the word, and how much it counts.
OFFSETS = {-1: 1.0, 1: 1.0, -2: 0.6, 2: 0.6}
# Pairs seen less often than this are damped by the root of their share of it.
ENOUGH = 10
DIMENSIONS = 64
# The dimensions are found with the commonest words, to which all others are then added.
HEAVIEST = 8000
ROUNDS = 12
# Steps to a factor of two.
STEPS = 16


def word_clusters(
    sentences: Iterable[Sequence[str]], sizes: Sequence[int], min_count: int = MIN_COUNT
) -> list[dict[str, str]]:
    """For each number of clusters, the cluster of each lower-cased word.

    Parameters
    ----------
    sentences : the words of each
    sizes : how many clusters, at least 1 each; where there are fewer words, so many
    min_count : words seen less often are left out, at least 1

    Returns
    -------
    one mapping a size, from lower-cased words to decimal numbers; empty where no word is common
        enough
    """
    words, tokens = _numbered(sentences, min_count)
    if not words:
        return [{} for _ in sizes]
    points = row_vectors(_associations(tokens, len(words)), DIMENSIONS, HEAVIEST)
    points = _on_sphere(points)
    return [
        {word: str(cluster) for word, cluster in zip(words, nearest, strict=True)}
        for nearest in (_k_means(points, size).tolist() for size in sizes)
    ]


def _numbered(sentences: Iterable[Sequence[str]], min_count: int) -> tuple[list[str], Ints]:
    """The common words, the commonest first, and all words of the text by number.

    A rare word has the number len(words); two edges, len(words) + 1, are around each sentence.
    """
    counts: Counter[str] = Counter()
    seen: dict[str, int] = {}
    # Machine words: a list would take four times as much of a long text.
    flat = array("q", [-1, -1])
    for sentence in sentences:
        lowered = [word.lower() for word in sentence]
        counts.update(lowered)
        flat.extend([seen.setdefault(word, len(seen)) for word in lowered])
        flat.extend((-1, -1))
    words = sorted(
        (word for word, count in counts.items() if count >= min_count),
        key=lambda word: (-counts[word], word),
    )[:MOST_WORDS]
    numbers = np.full(len(seen) + 1, len(words), np.int64)
    numbers[-1] = len(words) + 1
    for number, word in enumerate(words):
        numbers[seen[word]] = number
    return words, numbers[np.frombuffer(flat, np.int64)]


def _associations(tokens: Ints, n_words: int) -> SparseRows:
    """How much more often than by chance each place is around each word."""
    n_places = min(PLACES, n_words)
    place_of = np.minimum(np.arange(n_words + 2), n_places)
    place_of[-1] = n_places + 1
    n_columns = len(OFFSETS) * (n_places + 2)
    cells, values = [], []
    for number, (offset, weight) in enumerate(OFFSETS.items()):
        here = tokens[2:-2]
        there = tokens[2 + offset : len(tokens) - 2 + offset]
        known = here < n_words
        pairs, counts = np.unique(
            here[known] * (n_places + 2) + place_of[there[known]], return_counts=True
        )
        rows, places = np.divmod(pairs, n_places + 2)
        strength = weight * _information(rows, places, counts)
        kept = strength >= 0.5
        cells.append((rows * n_columns + number * (n_places + 2) + places)[kept])
        values.append(np.rint(strength[kept]))
    order = np.argsort(np.concatenate(cells), kind="stable")
    rows, columns = np.divmod(np.concatenate(cells)[order], n_columns)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_words))])
    return SparseRows(starts, columns, np.concatenate(values)[order], n_columns)


def _information(rows: Ints, places: Ints, counts: Ints) -> Floats:
    """Positive pointwise mutual information of pairs, damped, in STEPS to the bit."""
    of_word = np.bincount(rows, counts)[rows]
    of_place = np.bincount(places, counts)
    smoothed = np.sqrt(of_place) * np.sqrt(np.sqrt(of_place))
    ratio = counts * math.fsum(smoothed) / (of_word * smoothed[places])
    # The table's powers of two grow by the STEPS-th root of 2, a root of roots.
    root = 2.0
    for _ in range(STEPS.bit_length() - 1):
        root = math.sqrt(root)
    powers = np.cumprod(np.full(64 * STEPS, root))
    strength: Floats = np.searchsorted(powers, ratio) * np.minimum(1.0, np.sqrt(counts / ENOUGH))
    return strength


def _on_sphere(points: Floats) -> Floats:
    """Points moved to the same distance from the origin, whole numbers."""
    points = whole(points)
    lengths = np.sqrt((points**2).sum(1))
    return np.rint(points * (LARGEST / np.where(lengths > 0, lengths, 1.0))[:, None])


def _k_means(points: Floats, n_clusters: int) -> Ints:
    """int64[n_points]: the cluster of each point; the first points are the first centres."""
    centres = points[:n_clusters].copy()
    nearest = np.zeros(len(points), np.int64)
    for _ in range(ROUNDS):
        nearest = np.concatenate(
            [(points[at : at + 4096] @ centres.T).argmax(1) for at in range(0, len(points), 4096)]
        )
        sums = np.zeros_like(centres)
        for dimension in range(points.shape[1]):
            sums[:, dimension] = np.bincount(nearest, points[:, dimension], len(centres))
        moved = _on_sphere(sums)
        kept = np.bincount(nearest, minlength=len(centres)) > 0
        centres[kept] = moved[kept]
    return nearest
