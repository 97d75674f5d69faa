"""Votes on the labels of raw text: of taggers, and of files that other programs have labeled."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.tagger.sources import Source, check_labeled, gold_labels
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.clusters import RawSource, place_of, raw_sentences
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import TagSet, word_bytes

# Sentences that are voted on at a time: their labels as Python objects take some megabytes.
BATCH = 16_384
# Sums of weights that differ by less are equal.
_EQUAL = 1 + 1e-9

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PseudoLabeled:
    """Raw sentences and the labels that most voters give.

    words : the distinct words, in order of appearance
    tokens : int32[n_tokens]; the number of each word
    lengths : int64[n_sentences]; tokens in each sentence
    labels : int32[n_tokens]; the number of each label, -1 if voters are divided
    weights : float64[n_sentences]; the weight of the weightiest voter on each sentence, at most 1
    agreed : share of the tokens on which all who vote agree
    unknown : share of the tokens that no teacher saw in training; 0 without teachers
    """

    words: list[str]
    tokens: Ints
    lengths: npt.NDArray[np.int64]
    labels: Ints
    weights: Floats
    agreed: float
    unknown: float

    @property
    def record(self) -> dict[str, Any]:
        """What the training record says of them: counts, and the SHA-256 of words and labels."""
        digest = hashlib.sha256(word_bytes("\n".join(self.words)))
        for numbers in (self.tokens, self.lengths, self.labels):
            digest.update(np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes())
        counts = {"sentences": len(self.lengths), "tokens": len(self.tokens)}
        return {**counts, "sha256": digest.hexdigest()}


@dataclass(frozen=True, slots=True)
class Hand:
    """The labels of sentences that another program wrote.

    name : its file, or the argument's name
    weight : what its vote counts
    labels : the distinct ones
    said : by the words of a sentence, for each time that the file has it: the number of each word's
        label, -1 for none, and the confidence in it, 0 to 1
    """

    name: str
    weight: float
    labels: list[str]
    said: dict[tuple[str, ...], list[tuple[Ints, Floats]]]

    @classmethod
    def read(cls, source: Source, column: str, weight: float) -> Hand:
        """Read a file. Raises FileError, FormatError."""
        numbers: dict[str | None, int] = {None: -1}
        said: dict[tuple[str, ...], list[tuple[Ints, Floats]]] = {}
        for sentence in source:
            labels = gold_labels(sentence, column)
            own = [numbers.setdefault(label, len(numbers) - 1) for label in labels]
            heard = np.array(own, np.int32), _confidences(sentence, column)
            said.setdefault(tuple(sentence.words), []).append(heard)
        check_labeled(len(numbers) - 1, source, column)
        return cls(source.place, weight, [label for label in numbers if label is not None], said)


def _confidences(sentence: Sentence, column: str) -> Floats:
    """Return what MISC says of the labels of a column, as ``tag --confidence`` writes it; else 1.

    Raises FormatError for what is no number from 0 to 1.
    """
    found = np.ones(len(sentence))
    for at, misc in enumerate(sentence.column("misc") if "misc" in sentence.columns else ()):
        pairs = dict(pair.split("=", 1) for pair in misc.split("|") if pair.startswith("Conf"))
        value = pairs.get(f"Conf[{column}]", pairs.get("Conf"))
        if value is None:
            continue
        try:
            found[at] = float(value)
        except ValueError:
            found[at] = -1
        if not 0 <= found[at] <= 1:
            message = f"MISC: Conf={quote(value)} is no number from 0 to 1"
            raise FormatError(message, sentence.path, sentence.line_of(at))
    return found


def pseudo_label(
    teachers: Sequence[Tagger],
    raw: RawSource | None,
    tags: TagSet,
    threads: int = 1,
    hands: Sequence[Hand] = (),
) -> PseudoLabeled:
    """Label raw text, and that of the hands, with what has more than half of the votes.

    Teachers vote on all sentences, and weigh 1; hands on their own. A vote supports its label by
    its weight times the confidence in it. A token without such a label has -1.
    """
    numbers: dict[str, int] = {}
    tokens, labels, lengths, weights = array("i"), [np.empty(0, np.int32)], array("q"), array("d")
    agreed, sentences = 0, _text(raw, hands)
    factors = np.array([1.0] * len(teachers) + [hand.weight for hand in hands])
    while batch := list(islice(sentences, BATCH)):
        texts = [words for words, _ in batch]
        votes = np.full((len(factors), sum(map(len, texts))), -1, np.int32)
        sure = np.ones(votes.shape)
        heaviest = np.full(len(batch), bool(teachers), np.float64)
        for row, teacher in enumerate(teachers):
            votes[row] = tags.ids_of(chain.from_iterable(teacher.tag_sents(texts, threads=threads)))
        for row, hand in enumerate(hands, len(teachers)):
            _hear(hand, batch, tags, votes[row], sure[row], heaviest)
        labels.append(majority(votes, factors, sure))
        agreed += int(np.count_nonzero(((votes == votes.max(axis=0)) | (votes < 0)).all(axis=0)))
        weights.extend((heaviest / factors.max()).tolist())
        lengths.extend(map(len, texts))
        for words in texts:
            tokens.extend([numbers.setdefault(word, len(numbers)) for word in words])
    if not lengths:
        raise FormatError("there is no sentence in the raw text", place_of(raw))
    known = np.array([any(one.model.knows(word) for one in teachers) for word in numbers])
    numbered = np.array(tokens, np.int32)
    own = [*numbers], numbered, np.array(lengths, np.int64), np.concatenate(labels)
    unknown = 1 - float(np.mean(known[numbered])) if teachers else 0.0
    return PseudoLabeled(*own, np.array(weights), agreed / len(tokens), unknown)


def majority(votes: Ints, weights: Floats | None = None, sure: Floats | None = None) -> Ints:
    """Return the number with more than half of the weight of those who vote, or -1: int32[n].

    votes : int32[n_voters, n]; -1 for none
    weights, sure : float64[n_voters], and float64[n_voters, n], 0 to 1: the share of its weight by
        which a vote supports its number; None for 1
    """
    support = (votes >= 0) * (1.0 if weights is None else weights[:, np.newaxis])
    total = support.sum(axis=0)
    support = support if sure is None else support * sure
    winners = np.full(votes.shape[1], -1, np.int32)
    for vote in votes:
        found = np.where(votes == vote, support, 0.0).sum(axis=0)
        np.copyto(winners, vote, where=2 * found > total * _EQUAL)
    return winners


def _text(raw: RawSource | None, hands: Sequence[Hand]) -> Iterator[tuple[Sequence[str], int]]:
    """Yield the raw sentences, and those of the hands that are not among them.

    Each comes with the number of times that it was there before, to find what hands say of it.
    """
    before: Counter[tuple[str, ...]] = Counter()
    for words in () if raw is None else raw_sentences(raw):
        key = tuple(words) if hands else ()
        if words:
            yield words, before[key]
            before[key] += bool(hands)
    for hand in hands:
        for key, said in hand.said.items():
            for number in range(before[key], len(said)):
                yield key, number
            before[key] = max(before[key], len(said))


def _hear(
    hand: Hand,
    batch: Sequence[tuple[Sequence[str], int]],
    tags: TagSet,
    votes: Ints,
    sure: Floats,
    heaviest: Floats,
) -> None:
    """Write what a hand says of sentences into `votes` and `sure`, and its weight if it does."""
    ids = np.array([*tags.ids_of(hand.labels), -1], np.int32)
    end = 0
    for at, (words, number) in enumerate(batch):
        start, end = end, end + len(words)
        said = hand.said.get(tuple(words), ())
        if number < len(said):
            votes[start:end], sure[start:end] = ids[said[number][0]], said[number][1]
            heaviest[at] = max(heaviest[at], hand.weight)
