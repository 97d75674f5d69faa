"""Training sentences, encoded: those of one training, and the sample that its record keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.tagger.encoded import EncodedLabels, EncodedText, count_pairs
from perceptron_nlp.tagger.sources import Source, check_labelled
from perceptron_nlp.tagger.train.reading import encode
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import TagSet, word_hash

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.word_tables import WordTables
    from perceptron_nlp.tagger.train.memory import MemoryLimit


def label_hashes(labels: Iterable[str]) -> npt.NDArray[np.uint64]:
    """uint64[n_labels]: what a label is in the key of a feature."""
    return np.array([word_hash(label) for label in labels], np.uint64)


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

    sentences: EncodedText
    gold: EncodedLabels
    tags: TagSet
    n_tokens: int
    n_labelled: int
    digest: str
    columns: tuple[str, ...] = field(default=())
    scheme: str | None = None
    parts: str | None = None

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
            "labeled": self.n_labelled,
            "sha256": self.digest,
        }
