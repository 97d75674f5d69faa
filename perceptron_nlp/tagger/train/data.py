"""Training sentences: read into numbers, with the labels of a column.

A CoNLL-U file of the usual form is scanned in the core; anything unusual is left to the checked
reader, with the same numbers, digest and errors.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.conllu.numbering import number_conllu
from perceptron_nlp._core.features.extract import hash64_each
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import CONLLU_COLUMNS, Corpus
from perceptron_nlp.tagger.encoded import (
    EncodedLabels,
    EncodedText,
    Objects,
    count_pairs,
    made,
    whole_text_needed,
)
from perceptron_nlp.tagger.sources import (
    Source,
    check_labeled,
    gold_labels,
    has_ten_columns,
    read_texts,
)
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import UNLABELED, UNLABELED_COLUMNS, TagSet, word_bytes, word_hash

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.word_tables import WordTables
    from perceptron_nlp.tagger.train.memory import MemoryLimit

Int32s = npt.NDArray[np.int32]

# Bytes of a file scanned at a time with a bound on memory, and tokens of other sources gathered
# before they are stored.
BLOCK = 1 << 21
GATHERED = 1 << 15


def label_hashes(labels: Iterable[str]) -> npt.NDArray[np.uint64]:
    """uint64[n_labels]: what a label is in the key of a feature."""
    return np.array([word_hash(label) for label in labels], np.uint64)


@dataclass(slots=True)
class Examples:
    """Sentences of one training run.

    sentences : the sentences
    gold : their labels, None where a word has none
    tags : all labels
    n_tokens, n_labeled : counts of words, and of words with a label
    digest : SHA-256 of words, labels and feature columns, in hexadecimal
    columns : names of the feature columns
    scheme : how labels were written before they were made others for learning (IOBES for spans,
        joint labels for features); None where they are as they were
    parts : None, or what parts of labels are learned: a mode of label_components.py
    n_first : words with a label of the first of several trainings, or 0
    """

    sentences: EncodedText
    gold: EncodedLabels
    tags: TagSet
    n_tokens: int
    n_labeled: int
    digest: str
    columns: tuple[str, ...] = field(default=())
    scheme: str | None = None
    parts: str | None = None
    n_first: int = 0

    @classmethod
    def read(
        cls,
        source: Source,
        column: str,
        feature_columns: Sequence[str],
        limit: MemoryLimit | None = None,
    ) -> Examples:
        """Read everything, so that a bad line is known before training begins.

        Raises FormatError, with file:line; also if no word is labeled; errors of a limit are those
        of `encode`.
        """
        sentences, gold, digest = encode(source, column, feature_columns, limit)
        n_labeled = gold.n_labeled
        check_labeled(n_labeled, source, column)
        try:
            tags = TagSet([label for label in gold.labels if label is not None])
        except ArgumentError as error:
            raise ArgumentError(f"{source.place}: column {column}: {error}") from None
        n_tokens = len(gold.numbers)
        return cls(sentences, gold, tags, n_tokens, n_labeled, digest, tuple(feature_columns))

    def with_columns(self, sentences: Sequence[Sentence], names: Sequence[str] = ()) -> Examples:
        """The same sentences with further columns, of which these are feature columns."""
        columns = (*self.columns, *names)
        return replace(self, sentences=EncodedText.of(sentences), columns=columns)

    def with_tables(
        self, tables: WordTables, given: Mapping[str, Sequence[tuple[str, ...]]] | None = None
    ) -> Examples:
        """Return the sentences with the columns of tables, or with those that are `given`."""
        taken = sorted({*tables.names} & {*self.columns})
        if taken:
            raise ArgumentError(
                f"fields: {quote(taken[0])} is the name of a column that the tagger"
                " makes itself; give the column of the input another name"
            )
        sentences = []
        for number, sentence in enumerate(self.sentences):
            columns = tables.columns(sentence.words)
            columns.update({name: values[number] for name, values in (given or {}).items()})
            sentences.append(with_columns(sentence, columns))
        return self.with_columns(sentences, tables.names)

    def relabeled(self, gold: Sequence[Sequence[str | None]], **changes: Any) -> Examples:
        """The same sentences with other labels, which are all that there are."""
        own = EncodedLabels.of(gold)
        tags = TagSet(label for label in own.labels if label is not None)
        return replace(self, gold=own, tags=tags, **changes)

    @property
    def with_none(self) -> Examples:
        """The same sentences, in which ``_`` is the label of the words that have none."""
        return self.relabeled(self.gold.with_none, n_labeled=self.n_tokens)

    def part(self, numbers: Sequence[int]) -> Examples:
        """Some of the sentences, by their numbers; all labels stay known."""
        gold = self.gold.select(numbers)
        return replace(
            self,
            sentences=self.sentences.select(numbers),
            gold=gold,
            n_tokens=len(gold.numbers),
            n_labeled=gold.n_labeled,
        )

    def label_ids(self) -> dict[str | None, int]:
        """The number of each label, -1 for no label."""
        return {**{label: i for i, label in enumerate(self.tags)}, None: -1}

    def gold_ids(self, limit: MemoryLimit | None = None) -> npt.NDArray[np.int32]:
        """int32[n_tokens]: label numbers, -1 for no label; in a file if there is a limit."""
        if limit is None:
            return self.gold.ids(self.label_ids())
        return self.gold.ids(self.label_ids(), limit.empty)

    def encoded(
        self, columns: Sequence[str]
    ) -> tuple[list[list[bytes]], list[npt.NDArray[np.int32]]]:
        """Distinct strings of each column in order of appearance, and each token's number."""
        found = [self.sentences.column(name) for name in columns]
        return [strings for strings, _ in found], [tokens for _, tokens in found]

    def vocabulary(self) -> npt.NDArray[np.uint32]:
        return vocabulary_of(self.sentences.column("form")[0])

    def unambiguous(self, count: int, share: float) -> dict[str, str]:
        """Words seen at least `count` times, one label making up at least `share` of them."""
        labels_of: dict[str, Counter[str]] = {}
        strings, tokens = self.sentences.column("form")
        for number, label_number, seen in count_pairs(tokens, self.gold.numbers):
            known = self.gold.labels[label_number]
            if known is not None:
                text = strings[number].decode("utf-8", "surrogatepass")
                labels_of.setdefault(text, Counter())[known] += seen
        chosen: dict[str, str] = {}
        for word in sorted(labels_of):
            counts = labels_of[word]
            label, most = min(counts.items(), key=lambda item: (-item[1], item[0]))
            if counts.total() >= count and most >= share * counts.total():
                chosen[word] = label
        return chosen

    def record(self) -> dict[str, Any]:
        """Counts and the digest, as they go into the model's training record."""
        return {
            "sentences": len(self.sentences),
            "tokens": self.n_tokens,
            "labeled": self.n_labeled,
            "sha256": self.digest,
        }


class Digest(Protocol):
    """A digest of the text, such as hashlib has."""

    def update(self, data: bytes, /) -> None:
        """Take bytes in."""


def digest_sentence(
    digest: Digest, sentence: Sentence, feature_columns: Sequence[str], labels: Sequence[str | None]
) -> None:
    """Take a sentence's words, feature columns and labels into a digest."""
    for values in (sentence.words, *(sentence.column(name) for name in feature_columns)):
        digest.update(word_bytes("\t".join(values) + "\n"))
    digest.update(word_bytes("\t".join(label or "\n" for label in labels) + "\n\n"))


def columns_to_scan(column: str, feature_columns: Sequence[str]) -> list[int]:
    """Return the places in CoNLL-U of words, feature columns and labels; none if one is missing."""
    names = ("form", *feature_columns, column.lower())
    if not {*names} <= {*CONLLU_COLUMNS[1:]}:
        return []
    return [CONLLU_COLUMNS.index(name) for name in names]


class _Column:
    """The distinct strings of a column in order of appearance, and the number of each token's."""

    def __init__(self, limit: MemoryLimit | None) -> None:
        self.numbers: dict[Any, int] = {}
        self._limit = limit
        self._pieces: list[Int32s] = []
        self._file = None if limit is None else limit.file()
        self._gathered = array("i")

    def add(self, values: Iterable[Any]) -> None:
        """Add a sentence's values."""
        enter = self.numbers.setdefault
        self._gathered.extend([enter(value, len(self.numbers)) for value in values])
        if len(self._gathered) >= GATHERED:
            self._flush()

    def add_encoded(self, values: Iterable[Any], tokens: Int32s) -> None:
        """Add many tokens' values: the distinct ones in order of appearance, and each token's."""
        self._flush()
        enter = self.numbers.setdefault
        known = np.array([*(enter(value, len(self.numbers)) for value in values), 0], np.int32)
        self._append(known[tokens])

    def tokens(self) -> Int32s:
        """Return int32[n_tokens]: the numbers; called once, in the end."""
        self._flush()
        if self._limit is not None and self._file is not None:
            return self._limit.mapped(self._file)
        return np.concatenate([np.empty(0, np.int32), *self._pieces])

    def _flush(self) -> None:
        if self._gathered:
            self._append(np.frombuffer(self._gathered, np.int32))
            self._gathered = array("i")

    def _append(self, numbers: Int32s) -> None:
        if self._limit is not None and self._file is not None:
            self._limit.write(self._file, numbers)
        else:
            self._pieces.append(numbers)


class _Reading:
    """One source as it is read: the learned column and the feature columns."""

    def __init__(
        self, column: str, feature_columns: Sequence[str], limit: MemoryLimit | None
    ) -> None:
        self.digest = hashlib.sha256()
        self.columns = {name: _Column(limit) for name in ("form", *feature_columns)}
        self.labels = _Column(limit)
        self.lengths = array("q")
        self._column = column
        self._feature_columns = feature_columns
        self._none = UNLABELED if column.lower() in UNLABELED_COLUMNS else None
        self._scanned = columns_to_scan(column, feature_columns)

    def read(self, source: Source) -> Objects:
        """Read all sentences, which are kept."""
        texts = source.texts() if self._scanned else None
        if texts is not None and self._scan([text for _, text in texts]):
            source.take(texts)
            return Objects(lambda: list(read_texts(texts)))
        sentences = list(source)
        self._add(sentences)
        return made(sentences)

    def read_bounded(self, source: Source) -> Objects:
        """Read all sentences block by block; none is kept."""
        for corpus in source.corpora if self._scanned else ():
            if has_ten_columns(corpus):
                self._scan_blocks(corpus)
            self._add(sentence for sentence in corpus if sentence.words)
        if not (source.corpora and self._scanned):
            self._add(source)
        return Objects(_no_objects)

    def _scan_blocks(self, corpus: Corpus) -> None:
        """Read the sentences up to the first unusual ones, or those that no empty line ends."""
        corpus.reopen()
        while block := corpus.take_blocks(BLOCK, 8 * BLOCK):
            if not self._scan([block]):
                corpus.put_back(block)
                return

    def _scan(self, texts: Sequence[bytes | bytearray]) -> bool:
        """Read CoNLL-U of the usual form; if it is not, return False, and nothing is read."""
        found = number_conllu(
            texts, self._scanned, underscore_is_none=self._none is not None, digest=self.digest
        )
        if found is None:
            return False
        strings, tokens, lengths = found
        for k, column in enumerate(self.columns.values()):
            column.add_encoded(strings[k], tokens[k])
        values = [text.decode() for text in strings[-1]]
        labels = [None if value == self._none else value for value in values]
        self.labels.add_encoded(labels, tokens[-1])
        self.lengths.frombytes(lengths.astype(np.int64).tobytes())
        return True

    def _add(self, sentences: Iterable[Sentence]) -> None:
        for sentence in sentences:
            labels = gold_labels(sentence, self._column)
            digest_sentence(self.digest, sentence, self._feature_columns, labels)
            self.columns["form"].add(map(word_bytes, sentence.words))
            for name in self._feature_columns:
                self.columns[name].add(map(word_bytes, sentence.column(name)))
            self.labels.add(labels)
            self.lengths.append(len(labels))


def encode(
    source: Source, column: str, feature_columns: Sequence[str], limit: MemoryLimit | None = None
) -> tuple[EncodedText, EncodedLabels, str]:
    """Return the sentences of a source, the labels of a column, and the SHA-256 of both.

    With a limit, the source is gone over once, and the numbers lie in files. Raises FormatError,
    with file:line; FileError if a file cannot be read, or a temporary one not be written;
    MemoryLimitError if the distinct strings alone are too many.
    """
    reading = _Reading(column, feature_columns, limit)
    whole = reading.read(source) if limit is None else reading.read_bounded(source)
    lengths = np.array(reading.lengths, np.int64)
    columns = {name: ([*one.numbers], one.tokens()) for name, one in reading.columns.items()}
    return (
        EncodedText(whole, np.arange(len(lengths), dtype=np.int32), lengths, columns),
        EncodedLabels([*reading.labels.numbers], reading.labels.tokens(), lengths),
        reading.digest.hexdigest(),
    )


def _no_objects() -> list[Sentence]:
    raise whole_text_needed()


def vocabulary_of(words: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Return uint32[n], ascending: what TaggerModel keeps of words, four bytes each.

    That is a tenth of their size; one unknown word in some 100,000 is taken for a known one.
    """
    halves = np.sort((np.asarray(hash64_each(words)) >> np.uint64(32)).astype(np.uint32))
    # np.unique would import NumPy's masked arrays.
    found: npt.NDArray[np.uint32] = halves[np.append(True, np.diff(halves) != 0)[: len(halves)]]
    return found
