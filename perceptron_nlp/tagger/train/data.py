"""Training sentences as numbers: types, label numbers and lengths, column by column."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.conllu.numbering import number_conllu
from perceptron_nlp._core.features.hashing import hash64_each
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats import CONLLU_COLUMNS
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.train.numbered import (
    Digest,
    NumberedLabels,
    NumberedText,
    TextSentences,
    count_pairs,
)
from perceptron_nlp.tagger.train.sources import Source, check_labelled, gold_labels
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import (
    UNLABELLED_COLUMNS,
    TagSet,
    known_labels,
    word_bytes,
    word_hash,
)


def label_hashes(labels: Iterable[str]) -> npt.NDArray[np.uint64]:
    """uint64[n_labels]: what a label is in the key of a feature."""
    return np.array([word_hash(label) for label in labels], np.uint64)


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


def read_numbered(
    source: Source, column: str, feature_columns: Sequence[str], digest: Digest
) -> tuple[NumberedText, NumberedLabels] | None:
    """The sentences of a source and the labels of a column, if it is CoNLL-U of the usual form.

    None where the source must be read sentence by sentence; nothing is used up then, and the
    digest has seen nothing.
    """
    scanned = columns_to_scan(column, feature_columns)
    texts = source.texts() if scanned else None
    if texts is None:
        return None
    is_none = column.lower() in UNLABELLED_COLUMNS
    found = number_conllu(
        [text for _, text in texts], scanned, underscore_is_none=is_none, digest=digest
    )
    if found is None:
        return None
    source.take(texts)
    strings, tokens, lengths = found
    labels = list(known_labels(column, [text.decode() for text in strings[-1]]))
    columns = {name: (strings[k], tokens[k]) for k, name in enumerate(("form", *feature_columns))}
    return (
        NumberedText(TextSentences(texts), np.arange(len(lengths)), lengths, columns),
        NumberedLabels(labels, tokens[-1], lengths),
    )


@dataclass(slots=True)
class Examples:
    """Sentences of one training run.

    sentences : the sentences
    gold : their labels, None where a word has none
    tags : all labels
    n_tokens, n_labelled : counts of words, and of words with a label
    digest : SHA-256 of words, labels and feature columns, in hexadecimal
    columns : names of the feature columns
    scheme : how labels were written before they were made others for learning (IOBES for spans,
        joint labels for features); None where they are as they were
    parts : None, or what parts of labels are learned: a mode of label_components.py
    """

    sentences: NumberedText
    gold: NumberedLabels
    tags: TagSet
    n_tokens: int
    n_labelled: int
    digest: str
    columns: tuple[str, ...] = field(default=())
    scheme: str | None = None
    parts: str | None = None

    @classmethod
    def read(cls, source: Source, column: str, feature_columns: Sequence[str]) -> Examples:
        """Read everything, so that a bad line is known before training begins.

        Raises FormatError, with file:line; also if no word is labeled.
        """
        digest = hashlib.sha256()
        found = read_numbered(source, column, feature_columns, digest)
        if found is None:
            sentences: list[Sentence] = []
            gold: list[Sequence[str | None]] = []
            for sentence in source:
                labels = gold_labels(sentence, column)
                digest_sentence(digest, sentence, feature_columns, labels)
                sentences.append(sentence)
                gold.append(labels)
            found = NumberedText.of(sentences), NumberedLabels.of(gold)
        return cls.checked(source, column, feature_columns, *found, digest.hexdigest())

    @classmethod
    def checked(
        cls,
        source: Source,
        column: str,
        feature_columns: Sequence[str],
        sentences: NumberedText,
        gold: NumberedLabels,
        digest: str,
    ) -> Examples:
        """Return what was read of a source, if there is a label and all labels can be used."""
        n_labelled = gold.n_labelled
        check_labelled(n_labelled, source, column)
        try:
            tags = TagSet([label for label in gold.labels if label is not None])
        except ArgumentError as error:
            raise ArgumentError(f"{source.place}: column {column}: {error}") from None
        n_tokens = len(gold.numbers)
        return cls(sentences, gold, tags, n_tokens, n_labelled, digest, tuple(feature_columns))

    def with_columns(self, sentences: Sequence[Sentence], names: Sequence[str] = ()) -> Examples:
        """The same sentences with further columns, of which these are feature columns."""
        columns = (*self.columns, *names)
        return replace(self, sentences=NumberedText.of(sentences), columns=columns)

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
        own = NumberedLabels.of(gold)
        tags = TagSet(label for label in own.labels if label is not None)
        return replace(self, gold=own, tags=tags, **changes)

    def part(self, numbers: Sequence[int]) -> Examples:
        """Some of the sentences, by their numbers; all labels stay known."""
        gold = self.gold.select(numbers)
        return replace(
            self,
            sentences=self.sentences.select(numbers),
            gold=gold,
            n_tokens=len(gold.numbers),
            n_labelled=gold.n_labelled,
        )

    def label_ids(self) -> dict[str | None, int]:
        """The number of each label, -1 for no label."""
        return {**{label: i for i, label in enumerate(self.tags)}, None: -1}

    def gold_ids(self) -> npt.NDArray[np.int32]:
        """int32[n_tokens]: label numbers, -1 for no label."""
        return self.gold.ids(self.label_ids())

    def numbered(self, columns: Sequence[str]) -> tuple[list[list[bytes]], npt.NDArray[np.int32]]:
        """Distinct strings of each column in order of appearance, and each token's number."""
        found = [self.sentences.column(name) for name in columns]
        tokens = np.empty((len(columns), self.n_tokens), np.int32)
        for row, (_, numbers) in enumerate(found):
            tokens[row] = numbers[:]
        return [strings for strings, _ in found], tokens

    def vocabulary(self) -> list[bytes]:
        """Every distinct word, in order of appearance, as the core hashes it."""
        return self.sentences.column("form")[0]

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
            "labelled": self.n_labelled,
            "sha256": self.digest,
        }


# Where the record of the training text has the sample of its sentences.
SAMPLE = "sample"
# A model keeps the lowest hashes of its training sentences, so many, each of so many bytes. Of all
# others, the sentences whose hashes are as low are among them, or were not trained on.
_SAMPLED, _HASH_BYTES = 128, 5
# Shorter sentences recur in any text.
_SHORTEST = 5
# A record may come from a stranger.
_IS_SAMPLE = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
# A share of known sentences that is no chance, and so many of them at least.
_SUSPECT_SHARE, _SUSPECT_COUNT = 0.2, 3
# Tokens hashed at a time: memory stays bounded, however much text there is.
_BATCH = 1 << 20

Hashes = npt.NDArray[np.uint64]


def with_sample(
    record: Mapping[str, Any],
    sentences: Sequence[Sentence],
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a training record with the sample of the sentences that were learned from."""
    kept = "" if before is None else _sample_in(before)
    if kept is None:
        return dict(record)
    lowest = _hashes_of(kept)
    for hashes in _sentence_hashes(sentences):
        lowest = np.unique(np.concatenate([lowest, hashes]))[:_SAMPLED]
    sample = base64.b64encode(lowest.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 3:].tobytes())
    return {**record, "train": {**record["train"], SAMPLE: sample.decode("ascii")}}


def trained_on(record: Mapping[str, Any], sentences: Sequence[Sentence], name: str) -> str | None:
    """Return a warning, which calls them `name`, if many sentences are in a model's training text.

    Models of several origins have no sample in their record, and get none.
    """
    sample = _sample_in(record)
    if sample is None:
        return None
    known = _hashes_of(sample)
    low = np.uint64(2**40) if len(known) < _SAMPLED else known[-1]
    told = np.empty(0, np.uint64)
    for hashes in _sentence_hashes(sentences):
        told = np.union1d(told, hashes[hashes <= low])
    judged, hits = len(told), int(np.isin(told, known).sum())
    if hits < max(_SUSPECT_COUNT, _SUSPECT_SHARE * judged):
        return None
    return (
        f"{name}: {hits:,} of {judged:,} sampled sentences are in the training text: on what it has"
        " learned from, a tagger is better than elsewhere"
    )


def _sample_in(record: Mapping[str, Any]) -> str | None:
    """Return the sample in a record; None where there is none that can be read."""
    counts = record.get("train")
    sample = counts.get(SAMPLE) if isinstance(counts, Mapping) else None
    if not isinstance(sample, str) or not _IS_SAMPLE.fullmatch(sample):
        return None
    return sample if len(base64.b64decode(sample)) % _HASH_BYTES == 0 else None


def _hashes_of(sample: str) -> Hashes:
    """Return the hashes in a sample, in ascending order."""
    data = np.frombuffer(base64.b64decode(sample), np.uint8).reshape(-1, _HASH_BYTES)
    padded = np.zeros((len(data), 8), np.uint8)
    padded[:, 3:] = data
    return np.unique(padded.view(">u8").ravel().astype(np.uint64))


def _sentence_hashes(sentences: Sequence[Sentence]) -> Iterator[Hashes]:
    """Hashes, below 2**40, of the sentences that are long enough, batch by batch."""
    text = NumberedText.of(sentences)
    strings, tokens = text.column("form")
    lengths = text.lengths
    types = np.asarray(hash64_each(strings), np.uint64)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        begin = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, begin + _BATCH, "right")))
        own = lengths[first:last]
        starts = ends[first:last] - own - begin
        places = np.arange(own.sum()) - np.repeat(starts, own)
        # Odd factors that differ with the place: the order of words counts.
        mixed = types[tokens[begin : int(ends[last - 1])]] * (
            places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C16) + np.uint64(1)
        )
        mixed ^= mixed >> np.uint64(29)
        long = own >= _SHORTEST
        if long.any():
            sums = np.add.reduceat(mixed, starts[own > 0])[long[own > 0]]
            yield (sums * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(24)
        first = last
