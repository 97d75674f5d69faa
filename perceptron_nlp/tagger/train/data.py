"""Training sentences as numbers: types, label numbers and lengths, column by column."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.train.numbered import (
    Digest,
    NumberedLabels,
    NumberedText,
    count_pairs,
    read_numbered,
)
from perceptron_nlp.tagger.train.sources import Source, check_labelled, gold_labels
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import TagSet, word_bytes, word_hash


def label_hashes(labels: Iterable[str]) -> npt.NDArray[np.uint64]:
    """uint64[n_labels]: what a label is in the key of a feature."""
    return np.array([word_hash(label) for label in labels], np.uint64)


def digest_sentence(
    digest: Digest, sentence: Sentence, evidence: Sequence[str], labels: Sequence[str | None]
) -> None:
    """Take a sentence's words, feature columns and labels into a digest."""
    for values in (sentence.words, *(sentence.column(name) for name in evidence)):
        digest.update(word_bytes("\t".join(values) + "\n"))
    digest.update(word_bytes("\t".join(label or "\n" for label in labels) + "\n\n"))


@dataclass(slots=True)
class Examples:
    """Sentences of one training run.

    Attributes
    ----------
    sentences : the sentences
    gold : their labels, None where a word has none
    tags : all labels
    n_tokens, n_labelled : counts of words, and of words with a label
    digest : SHA-256 of words, labels and feature columns, in hexadecimal
    columns : names of the feature columns
    scheme : how labels were written before they were made others for learning (IOBES for spans,
        joint labels for features); None where they are as they were
    parts : None, or what parts of labels are learned: a mode of attributes.py
    """

    sentences: Sequence[Sentence]
    gold: Sequence[Sequence[str | None]]
    tags: TagSet
    n_tokens: int
    n_labelled: int
    digest: str
    columns: tuple[str, ...] = field(default=())
    scheme: str | None = None
    parts: str | None = None

    @classmethod
    def read(cls, source: Source, column: str, evidence: Sequence[str]) -> Examples:
        """Read everything, so that a bad line is known before training begins.

        Raises
        ------
        FormatError : with file:line; also where no word is labelled
        """
        digest = hashlib.sha256()
        numbered = read_numbered(source, column, evidence, digest)
        if numbered is not None:
            n_tokens = len(numbered[1].numbers)
            return cls.checked(
                source,
                column,
                evidence,
                *numbered,
                n_tokens,
                numbered[1].n_labelled,
                numbered[1].labels,
                digest.hexdigest(),
            )
        sentences: list[Sentence] = []
        gold: list[Sequence[str | None]] = []
        counts: Counter[str | None] = Counter()
        for sentence in source:
            labels = gold_labels(sentence, column)
            digest_sentence(digest, sentence, evidence, labels)
            counts.update(labels)
            sentences.append(sentence)
            gold.append(labels)
        n_tokens = counts.total()
        return cls.checked(
            source,
            column,
            evidence,
            sentences,
            gold,
            n_tokens,
            n_tokens - counts[None],
            counts,
            digest.hexdigest(),
        )

    @classmethod
    def checked(
        cls,
        source: Source,
        column: str,
        evidence: Sequence[str],
        sentences: Sequence[Sentence],
        gold: Sequence[Sequence[str | None]],
        n_tokens: int,
        n_labelled: int,
        labels: Iterable[str | None],
        digest: str,
    ) -> Examples:
        """What was read of a source, if there is a label and all labels can be used."""
        check_labelled(n_labelled, source, column)
        try:
            tags = TagSet([label for label in labels if label is not None])
        except ArgumentError as error:
            raise ArgumentError(f"{source.place}: column {column}: {error}") from None
        return cls(sentences, gold, tags, n_tokens, n_labelled, digest, tuple(evidence))

    def part(self, numbers: Sequence[int]) -> Examples:
        """Some of the sentences, by their numbers; all labels stay known."""
        sentences: Sequence[Sentence]
        gold: Sequence[Sequence[str | None]]
        if isinstance(self.sentences, NumberedText):
            sentences = self.sentences.select(numbers)
            n_tokens = int(sentences.lengths.sum())
        else:
            sentences = [self.sentences[number] for number in numbers]
            n_tokens = sum(len(sentence.words) for sentence in sentences)
        if isinstance(self.gold, NumberedLabels):
            gold = self.gold.select(numbers)
            n_labelled = gold.n_labelled
        else:
            gold = [self.gold[number] for number in numbers]
            n_labelled = sum(label is not None for labels in gold for label in labels)
        return replace(
            self, sentences=sentences, gold=gold, n_tokens=n_tokens, n_labelled=n_labelled
        )

    def strings(self, name: str) -> list[Sequence[str]]:
        """The values of a column, sentence by sentence; ``form`` is the words."""
        if isinstance(self.sentences, NumberedText) and name in self.sentences.columns:
            return self.sentences.values(name)
        return [s.words if name == "form" else s.column(name) for s in self.sentences]

    def lengths(self) -> npt.NDArray[np.int64]:
        """int64[n_sentences]: words in each."""
        if isinstance(self.sentences, NumberedText):
            return self.sentences.lengths
        return np.array([len(s.words) for s in self.sentences], np.int64)

    def label_ids(self) -> dict[str | None, int]:
        """The number of each label, -1 for no label."""
        return {**{label: i for i, label in enumerate(self.tags)}, None: -1}

    def gold_ids(self) -> npt.NDArray[np.int32]:
        """int32[n_tokens]: label numbers, -1 for no label."""
        ids = self.label_ids()
        if isinstance(self.gold, NumberedLabels):
            return self.gold.ids(ids)
        return np.array([ids[label] for labels in self.gold for label in labels], np.int32)

    def numbered(self, columns: Sequence[str]) -> tuple[list[list[bytes]], npt.NDArray[np.int32]]:
        """Distinct strings of each column in order of appearance, and each token's number."""
        strings: list[list[bytes]] = []
        tokens = np.empty((len(columns), self.n_tokens), np.int32)
        for row, name in enumerate(columns):
            if isinstance(self.sentences, NumberedText) and name in self.sentences.columns:
                distinct, numbers = self.sentences.columns[name]
                tokens[row] = numbers[:]
                strings.append(distinct)
                continue
            seen: dict[str, int] = {}
            enter = seen.setdefault
            tokens[row] = [enter(word, len(seen)) for words in self.strings(name) for word in words]
            strings.append([word_bytes(word) for word in seen])
        return strings, tokens

    def vocabulary(self) -> list[bytes]:
        """Every distinct word, in order of appearance, as the core hashes it."""
        if isinstance(self.sentences, NumberedText):
            return self.sentences.columns["form"][0]
        return [
            word_bytes(word)
            for word in dict.fromkeys(
                word for sentence in self.sentences for word in sentence.words
            )
        ]

    def unambiguous(self, count: int, share: float) -> dict[str, str]:
        """Words seen at least `count` times, one label making up at least `share` of them."""
        labels_of = self._labels_of_words()
        chosen: dict[str, str] = {}
        for word in sorted(labels_of):
            counts = labels_of[word]
            label, most = min(counts.items(), key=lambda item: (-item[1], item[0]))
            if counts.total() >= count and most >= share * counts.total():
                chosen[word] = label
        return chosen

    def _labels_of_words(self) -> dict[str, Counter[str]]:
        labels_of: dict[str, Counter[str]] = {}
        if isinstance(self.sentences, NumberedText) and isinstance(self.gold, NumberedLabels):
            strings, tokens = self.sentences.columns["form"]
            for number, label_number, seen in count_pairs(tokens, self.gold.numbers):
                known = self.gold.labels[label_number]
                if known is not None:
                    text = strings[number].decode()
                    labels_of.setdefault(text, Counter())[known] += seen
            return labels_of
        for words, labels in zip(self.strings("form"), self.gold, strict=True):
            for word, label in zip(words, labels, strict=True):
                if label is not None:
                    labels_of.setdefault(word, Counter())[label] += 1
        return labels_of

    def record(self) -> dict[str, Any]:
        """Counts and the digest, as they go into the model's training record."""
        return {
            "sentences": len(self.sentences),
            "tokens": self.n_tokens,
            "labelled": self.n_labelled,
            "sha256": self.digest,
        }
