"""Pseudo-labeled data: raw text with the labels that most teachers predict."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp.combine.merge import named_taggers
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.tagger.model.label_components import JOINT
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.clusters import RawSource, place_of, raw_sentences
from perceptron_nlp.text.tagset import TagSet, word_bytes

Teachers: TypeAlias = "Tagger | str | os.PathLike[str] | Sequence[Tagger | str | os.PathLike[str]]"

# Sentences that teachers label at a time: their labels as Python objects take some megabytes.
BATCH = 16_384


@dataclass(frozen=True, slots=True)
class PseudoLabeled:
    """Raw sentences and the labels that most teachers predict.

    words : the distinct words, in order of appearance
    tokens : int32[n_tokens]; the number of each word
    lengths : int64[n_sentences]; tokens in each sentence
    labels : int32[n_tokens]; the number of each label, -1 if teachers are divided
    agreed : share of the tokens with the same label from all teachers
    unknown : share of the tokens that no teacher saw in training
    """

    words: list[str]
    tokens: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    agreed: float
    unknown: float

    @property
    def digest(self) -> str:
        """SHA-256 of words and labels, in hexadecimal."""
        digest = hashlib.sha256(word_bytes("\n".join(self.words)))
        for numbers in (self.tokens, self.lengths, self.labels):
            digest.update(np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()


def take_teachers(teachers: Teachers, column: str | None = None) -> list[Tagger]:
    """Return the teachers, loaded if paths are given, after a check that they fit together.

    Of a teacher of several columns, `column` counts if it is among them, or else that of the first
    teacher, or else its first.

    Raises ArgumentTypeError if one is neither a Tagger nor a path; ArgumentError if there are none;
    they differ in column or labels; or one looks at columns in addition to the words, which raw
    text does not have; FileError, ModelError as for ``perceptron_nlp.load``.
    """
    given = [teachers] if isinstance(teachers, Tagger | str | os.PathLike) else teachers
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"teachers: taggers or paths are needed, not {type(given).__name__}"
        )
    taken: list[Tagger] = []
    for name, teacher in named_taggers("teachers", given):
        wanted = column or (taken[0].column if taken else teacher.column)
        teacher = teacher.by_column.get(wanted, teacher)
        _check_teacher(teacher, name, taken)
        taken.append(teacher)
    if not taken:
        raise ArgumentError("teachers: there are none; name at least one")
    return taken


def _check_teacher(teacher: Tagger, name: str, others: list[Tagger]) -> None:
    if teacher.model.feature_columns:
        raise ArgumentError(
            f"{name}: looks at the columns {', '.join(teacher.model.feature_columns)} in addition"
            " to the words, which raw text does not have"
        )
    if teacher.model.scheme == JOINT:
        raise ArgumentError(
            f"{name}: labels {teacher.column} with sets of features, which are learned in"
            " components; this cannot be distilled: train it"
        )
    if not others:
        return
    first = others[0]
    if teacher.column != first.column:
        raise ArgumentError(
            f"{name}: labels column {teacher.column}, and the first teacher {first.column};"
            " teachers must be of one column"
        )
    if teacher.labels != first.labels:
        odd = min({*teacher.labels} ^ {*first.labels})
        raise ArgumentError(
            f"{name}: has other labels than the first teacher (such as {quote(odd)}, which one"
            " of them lacks); train them on the same text"
        )


def pseudo_label(
    teachers: Sequence[Tagger], raw: RawSource, tags: TagSet, threads: int = 1
) -> PseudoLabeled:
    """Label raw text: each token gets the label that more than half of the teachers predict."""
    numbers: dict[str, int] = {}
    tokens, labels, lengths = array("i"), [np.empty(0, np.int32)], array("q")
    agreed = 0
    sentences = filter(None, raw_sentences(raw))
    while batch := list(islice(sentences, BATCH)):
        votes = np.array(
            [
                [
                    number
                    for given in teacher.tag_sents(batch, threads=threads)
                    for number in tags.ids_of(given)
                ]
                for teacher in teachers
            ],
            np.int32,
        )
        labels.append(majority(votes))
        agreed += int(np.count_nonzero((votes == votes[0]).all(axis=0)))
        lengths.extend(map(len, batch))
        for words in batch:
            tokens.extend([numbers.setdefault(word, len(numbers)) for word in words])
    if not lengths:
        raise FormatError("there is no sentence in the raw text", place_of(raw))
    known = np.array([any(teacher.model.knows(word) for teacher in teachers) for word in numbers])
    token_array = np.array(tokens, np.int32)
    return PseudoLabeled(
        list(numbers),
        token_array,
        np.array(lengths, np.int64),
        np.concatenate(labels),
        agreed / len(tokens),
        1 - float(np.mean(known[token_array])),
    )


def majority(votes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the number with more than half of the votes, int32[n_voters, n], or -1: int32[n]."""
    winners = np.full(votes.shape[1], -1, np.int32)
    for vote in votes:
        support = np.count_nonzero(votes == vote, axis=0)
        np.copyto(winners, vote, where=2 * support > len(votes))
    return winners
