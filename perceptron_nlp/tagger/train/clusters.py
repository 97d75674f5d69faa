"""Raw text, and clusters of words that it shows in similar contexts.

A word is what stands around it: how much more often than by chance each common word stands one or
two words before or after it (positive pointwise mutual information, with the counts of the common
words raised to the power 3/4; Levy, Goldberg and Dagan, 2015, "Improving distributional similarity
with lessons learned from word embeddings"). These rows are brought down to few dimensions and put
together by spherical k-means.

The same text gives the same clusters on every machine, by reproducible matrix products. A library
for matrices adds numbers up in an order of its own, which changes with the processor and the number
of threads, and rounding makes the sums differ. Sums of whole numbers below 2**53 are exact in
double precision in any order. So matrices are rounded to whole numbers before they are multiplied;
all else is done element by element with operations that IEEE 754 rounds correctly (+ - * / and
square roots). Logarithms, which libraries round as they like, are read off a table of powers that
is made of square roots.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.formats import Corpus, open_corpus
from perceptron_nlp.sampling import draws
from perceptron_nlp.text.tagset import word_bytes

RawSource: TypeAlias = (
    "str | os.PathLike[str] | Corpus | RawText"
    " | Iterable[str | os.PathLike[str] | Corpus | Sequence[str]]"
)
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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
# Entries are rounded to whole numbers up to this before they are multiplied.
LARGEST = float(1 << 18)
# Rows of a sparse matrix that are made dense at a time.
BLOCK = 512
# Passes of the subspace iteration, and directions that it follows besides those wanted.
ITERATIONS = 4
SPARE = 16
# Where fewer of its words are in the training text, it is hardly the same language.
FEW_KNOWN = 0.25


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix of few entries that are not 0, row by row.

    starts : int64[n_rows + 1]; row r has the entries starts[r] to starts[r + 1]
    columns : int64[n_entries], distinct in a row
    values : float64[n_entries], whole numbers below 2**12
    n_columns : how wide the matrix is, below 2**16
    """

    starts: Ints
    columns: Ints
    values: Floats
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Rows of the matrix."""
        return len(self.starts) - 1

    def blocks(self, n_rows: int) -> Iterator[tuple[int, Floats]]:
        """The first rows, some hundreds at a time as a full matrix, with the first one's number."""
        for first in range(0, n_rows, BLOCK):
            last = min(first + BLOCK, n_rows)
            block = np.zeros((last - first, self.n_columns))
            at, end = self.starts[first], self.starts[last]
            rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
            block[rows, self.columns[at:end]] = self.values[at:end]
            yield first, block

    def times(self, right: Floats, n_rows: int) -> Floats:
        """The product of the first rows with a matrix of whole numbers up to LARGEST."""
        out = np.empty((n_rows, right.shape[1]))
        for first, block in self.blocks(n_rows):
            out[first : first + len(block)] = block @ right
        return out


def row_vectors(matrix: SparseRows, n_dimensions: int, n_rows: int) -> Floats:
    """Return the rows as points of few dimensions: U times the roots of the singular values.

    A randomized subspace iteration finds the right singular vectors of the first, heaviest rows,
    fewer than 2**16 (Halko, Martinsson and Tropp, 2011, "Finding structure with randomness",
    algorithm 4.4). Singular vectors of close values may come out mixed with each other, which moves
    no point relative to others. The points are float64[matrix.n_rows, dimensions], of no particular
    scale; there are fewer dimensions if the matrix has not so many rows or columns.
    """
    n_rows = min(n_rows, matrix.n_rows)
    width = min(n_dimensions + SPARE, n_rows, matrix.n_columns)
    signs = draws(2, matrix.n_columns * width, seed=1)
    basis = (2 * signs.reshape(matrix.n_columns, width) - 1).astype(np.float64)
    for _ in range(ITERATIONS):
        head = whole(matrix.times(basis, n_rows))
        image = np.zeros_like(basis)
        for first, block in matrix.blocks(n_rows):
            image += block.T @ head[first : first + len(block)]
        basis = whole(_orthogonal(image))
    points = whole(matrix.times(basis[:, :n_dimensions], matrix.n_rows))
    lengths = np.sqrt((points[:n_rows] ** 2).sum(0))
    return points / np.sqrt(np.where(lengths > 0, lengths, 1.0))


def whole(matrix: Floats) -> Floats:
    """Scaled so that the largest entry is about LARGEST, and rounded to whole numbers."""
    most = float(np.abs(matrix).max(initial=0.0))
    rounded: Floats = np.rint(matrix * (LARGEST / most)) if most else matrix
    return rounded


def _orthogonal(matrix: Floats) -> Floats:
    """Columns of unit length that span what the columns do, at right angles to each other.

    By Cholesky's decomposition of the columns' products; a column that the ones before it span
    becomes 0.
    """
    columns = np.abs(matrix).max(0)
    matrix = np.rint(matrix * (LARGEST / np.where(columns > 0, columns, 1.0)))
    products = matrix.T @ matrix
    out = matrix.copy()
    for k, length in enumerate(np.diagonal(products).copy()):
        left = products[k, k]
        if left <= length * 1e-9:
            products[k, :] = products[:, k] = out[:, k] = 0.0
            continue
        row = products[k] / np.sqrt(left)
        row[:k] = 0.0
        out[:, k] /= row[k]
        out[:, k + 1 :] -= out[:, k, None] * row[k + 1 :]
        products -= row[:, None] * row
    return out


def word_clusters(
    sentences: Iterable[Sequence[str]], sizes: Sequence[int], min_count: int = MIN_COUNT
) -> list[dict[str, str]]:
    """Return for each size, at least 1, a mapping from lower-cased words to a cluster's number."""
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
    """Associations: how much more often than by chance each place is around each word."""
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
    """int64[n_points]: the cluster of each point; the first points are the first centers."""
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


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Sentences of raw text; several trainings that are given the same object share its clusters.

    Clusters are then learned once, from this text alone; those of raw text that is given in
    another form are learned from it and the training text.

    Attributes
    ----------
    sentences : the words of each, equal words being the same object
    n_tokens : how many words they have together
    digest : SHA-256 of the words, in hexadecimal
    lowered : how often each word is there, in lower case
    clusters : those learned already, by names of columns
    """

    sentences: list[list[str]]
    n_tokens: int
    digest: str
    lowered: Counter[str]
    clusters: dict[tuple[str, ...], list[dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, source: RawSource) -> RawText:
        """Read everything.

        Parameters
        ----------
        source : a path or a Corpus, or several, or lists of words (a Sentence is one). A file has
            a sentence a line, its words separated by spaces; of a CoNLL-U file the words are
            taken. A RawText is returned as it is

        Raises
        ------
        FileError : a file cannot be read
        FormatError : with file:line; also where there are no words
        ArgumentTypeError : something other than paths or lists of words
        """
        if isinstance(source, RawText):
            return source
        same: dict[str, str] = {}
        digest = hashlib.sha256()
        sentences, n_tokens = [], 0
        for words in raw_sentences(source):
            sentences.append([same.setdefault(word, word) for word in words])
            n_tokens += len(words)
            digest.update(word_bytes("\t".join(words) + "\n"))
        if not n_tokens:
            raise FormatError(
                "there are no words in the raw text; give text, a sentence a line, or leave it out",
                place_of(source),
            )
        lowered: Counter[str] = Counter()
        for word, count in Counter(itertools.chain.from_iterable(sentences)).items():
            lowered[word.lower()] += count
        return cls(sentences, n_tokens, digest.hexdigest(), lowered)

    def known_share(self, words: Iterable[str]) -> float:
        """Share of its words that are among others, whatever their case."""
        known = {word.lower() for word in words}
        return sum(self.lowered[word] for word in known) / self.n_tokens


def raw_sentences(source: Any) -> Iterator[Sequence[str]]:
    """The words of each sentence, as they are read; see RawText.read."""
    if isinstance(source, str | os.PathLike):
        yield from (sentence.words for sentence in _opened(source))
    elif isinstance(source, Corpus):
        yield from (sentence.words for sentence in source)
    elif isinstance(source, bytes) or not isinstance(source, Iterable):
        raise ArgumentTypeError(
            f"raw: a path or lists of words are needed, not {type(source).__name__}"
        )
    else:
        for number, item in enumerate(source):
            if isinstance(item, str | os.PathLike | Corpus):
                yield from raw_sentences(item)
            else:
                yield _words(item, number)


def _opened(path: str | os.PathLike[str]) -> Corpus:
    """CoNLL-U where it is that; else a sentence a line, even if there are slashes in its words."""
    corpus = open_corpus(path)
    if corpus.format == "text":
        corpus.read_as("lines")
    if corpus.format in ("conllu", "lines"):
        return corpus
    corpus.close()
    if os.fspath(path) == "-":
        raise ArgumentError(
            "raw: standard input must be text with a sentence a line; it was read"
            f" as {corpus.format}"
        )
    return open_corpus(path, format="lines")


def _words(item: Any, number: int) -> Sequence[str]:
    if isinstance(item, bytes) or not isinstance(item, Iterable):
        raise ArgumentTypeError(
            f"raw[{number}]: a list of words is needed, not {type(item).__name__}"
        )
    words = list(item)
    for word in words:
        if not isinstance(word, str):
            raise ArgumentTypeError(f"raw[{number}]: a word is a str, not {type(word).__name__}")
    return words


def place_of(source: Any) -> str:
    """Return the name of the raw text in messages: its files, or the argument's name."""
    items = [source] if isinstance(source, str | os.PathLike | Corpus) else source
    paths = [
        item.path if isinstance(item, Corpus) else os.fspath(item)
        for item in items
        if isinstance(item, str | os.PathLike | Corpus)
    ]
    return ", ".join(paths) or "raw"
