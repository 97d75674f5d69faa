"""What is learned while a person annotates: a tagger, its confidences, what to ask for next.

All of it is a function of what was annotated and of the text, so the same work gives the same
proposals. The strategy and its settings come from simulations: benchmarks/annotation.py.
"""

from __future__ import annotations

import heapq
import logging
import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.annotation.labels import label_names
from perceptron_nlp.annotation.pool import Item

FOLDS = 5
RUNS = 4
# From so many tokens on, confidences are cross-calibrated, and the accuracy is estimated.
CALIBRATED_FROM = 60
# Calibrated again when there are so many times as many tokens.
AGAIN = 1.15
# Up to so many tokens, words are asked for that are common and were not seen; then doubtful ones.
COVERAGE = 1000
# Sentences that are scored, of more a sample.
MOST_SCORED = 4000
ESTIMATED_BY = 500
MOST_RAW_TOKENS = 300_000
# In scores; where there are too few tokens to find out.
TEMPERATURE = 2.0
_IN_BATCH = 0.3
# Of a sentence's length, so that short ones are not all that is asked for.
_MORE = 3
_Z = 1.96

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, with its interval of 95 %."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, share: float, half_width: float) -> Estimate:
        """Return an estimate in the middle of its interval."""
        return cls(share, max(0.0, share - half_width), min(1.0, share + half_width))

    @classmethod
    def of_counts(cls, right: int, total: int) -> Estimate:
        """Return a share that was counted in a random sample (Wilson's interval)."""
        share, square = right / total, _Z * _Z
        middle = (share + square / (2 * total)) / (1 + square / total)
        half = math.sqrt(share * (1 - share) / total + square / (4 * total * total))
        half *= _Z / (1 + square / total)
        return cls(share, round(middle - half, 9), round(middle + half, 9))


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far scores can be believed.

    Attributes
    ----------
    temperature : what scores are divided by before the softmax
    half_width : of the interval of 95 % around a mean confidence
    takes_start : whether the tagger given at the start does better than the one that was trained
    chosen : what the automatic configuration chose then, which scores are comparable with
    """

    temperature: float = TEMPERATURE
    half_width: float = 1.0
    takes_start: bool = True
    chosen: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Learned:
    """The state of learning at one point of the work.

    Attributes
    ----------
    tagger : None as long as nothing is annotated and none was given
    calibration : of its confidences
    estimate : the accuracy on what is not annotated; None while that cannot be told
    queue : names of sentences to ask for, the best first; empty for an order that is given
    """

    tagger: pn.Tagger | None
    calibration: Calibration
    estimate: Estimate | None
    queue: tuple[str, ...]


@contextmanager
def unheard() -> Iterator[None]:
    """Keep what training logs in this thread to itself."""
    logger, mine = logging.getLogger("perceptron_nlp"), threading.get_ident()

    def others(record: logging.LogRecord) -> bool:
        return record.thread != mine

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


class Learner:
    """Learn from annotated sentences, again and again.

    Parameters
    ----------
    items : the sentences of the text, whose clusters of words are learned once
    columns : to be learned; the first is what confidences are about
    ranks : whether it tells what to ask for next
    every : about how many tokens are annotated until it is asked again
    start : a tagger to propose with until the trained one is better, or None
    """

    def __init__(
        self,
        items: Sequence[Item],
        columns: Sequence[str],
        ranks: bool,
        every: int,
        start: pn.Tagger | None = None,
    ) -> None:
        self._columns = list(columns)
        self._ranks = ranks
        self._every = every
        self._start = start
        self._raw = pn.RawText.read(_sample([item.words for item in items], MOST_RAW_TOKENS))
        self._counts = Counter(word for item in items for word in item.words)
        self._calibrated: tuple[list[pn.Sentence], Calibration] = ([], Calibration())

    def train(self, sentences: Sequence[pn.Sentence], column: str, **chosen: Any) -> pn.Tagger:
        """Return a tagger that labels greedily; `column` names one or several."""
        with unheard():
            return pn.train(list(sentences), column=column, runs=RUNS, raw=self._raw, **chosen)

    def learn_clusters(self) -> None:
        """Learn the clusters of the text, which the first training would wait for."""
        column = self._columns[0]
        self.train([pn.Sentence(["a"], {column: ["_" if column == "feats" else "X"]})], column)

    def export(self, sentences: Sequence[pn.Sentence]) -> pn.Tagger:
        """Return the tagger that is the result of the work."""
        return pn.train(list(sentences), column=self._columns, preset="accurate", raw=self._raw)

    def learn(self, annotated: Sequence[pn.Sentence], waiting: Sequence[Item]) -> Learned:
        """Return the state of learning.

        Parameters
        ----------
        annotated : sentences with labels, in the order in which they were annotated
        waiting : what is left, in the order of the text
        """
        n_tokens = sum(map(len, annotated))
        calibration = self._calibration(annotated, n_tokens)
        tagger = self._start if calibration.takes_start else None
        if tagger is None and n_tokens:
            # Several columns have choices of their own.
            chosen = calibration.chosen if len(self._columns) == 1 else {}
            tagger = self.train(annotated, ",".join(self._columns), **chosen)
        by_doubt = self._ranks and n_tokens >= COVERAGE
        most = MOST_SCORED if by_doubt else ESTIMATED_BY
        scored = waiting[:: -(-len(waiting) // most) or 1]
        sure: list[Floats] = []
        if tagger is not None and n_tokens >= CALIBRATED_FROM:
            part = tagger.by_column[self._columns[0]]
            sure = [
                probabilities(part, item.words, calibration.temperature).max(1) for item in scored
            ]
        mean = float(np.concatenate(sure).mean()) if sure else 0.0
        estimate = Estimate.of(round(mean, 6), calibration.half_width) if sure else None
        queue: tuple[str, ...] = ()
        if by_doubt:
            queue = self._best(scored, self._doubts(scored, sure), _IN_BATCH)
        elif self._ranks:
            some = waiting[:: -(-len(waiting) // MOST_SCORED) or 1]
            seen = {word for sentence in annotated for word in sentence.words}
            unseen = [
                {word: math.sqrt(self._counts[word]) for word in item.words if word not in seen}
                for item in some
            ]
            queue = self._best(some, unseen, 0.0)
        return Learned(tagger, calibration, estimate, queue)

    def _doubts(self, items: Sequence[Item], sure: Sequence[Floats]) -> list[dict[str, float]]:
        """Return the worth of asking for each word of each sentence."""
        mass: Counter[str] = Counter()
        found: list[dict[str, float]] = []
        for item, confidences in zip(items, sure, strict=True):
            doubts: dict[str, float] = {}
            for word, confidence in zip(item.words, confidences.tolist(), strict=True):
                # What the last bits of a softmax are depends on the machine.
                doubt = round(1 - confidence, 6)
                mass[word] += doubt
                doubts[word] = max(doubt, doubts.get(word, 0.0))
            found.append(doubts)
        return [
            {word: doubt * math.sqrt(mass[word]) for word, doubt in doubts.items()}
            for doubts in found
        ]

    def _best(
        self, items: Sequence[Item], worth: Sequence[dict[str, float]], again: float
    ) -> tuple[str, ...]:
        """Return names of sentences of most worth a token; a word of the batch counts `again`."""
        batch: set[str] = set()

        def score(at: int) -> float:
            total = sum(x * (again if word in batch else 1) for word, x in worth[at].items())
            return round(total / (len(items[at].words) + _MORE), 9)

        heap = [(-score(at), at) for at in range(len(items))]
        heapq.heapify(heap)
        chosen: list[str] = []
        n_tokens = 0
        while heap and (n_tokens < 3 * self._every or len(chosen) < FOLDS):
            at = heap[0][1]
            now = (-score(at), at)
            # Scores only fall, so one that is still the first is the best.
            if now > heap[0]:
                heapq.heapreplace(heap, now)
                continue
            heapq.heappop(heap)
            chosen.append(items[at].name)
            batch |= worth[at].keys()
            n_tokens += len(items[at].words)
        return tuple(chosen)

    def _calibration(self, annotated: Sequence[pn.Sentence], n_tokens: int) -> Calibration:
        """Return a calibration by the sentences that there were at the last step of AGAIN."""
        if n_tokens < CALIBRATED_FROM or len(annotated) < FOLDS:
            return Calibration(takes_start=self._start is not None)
        step = math.floor(math.log(n_tokens / CALIBRATED_FROM) / math.log(AGAIN) + 1e-9)
        enough = CALIBRATED_FROM * AGAIN**step
        sentences: list[pn.Sentence] = []
        count = 0
        for sentence in annotated:
            sentences.append(sentence)
            count += len(sentence)
            if count >= enough and len(sentences) >= FOLDS:
                break
        if self._calibrated[0] != sentences:
            self._calibrated = sentences, self._cross_calibrated(sentences)
        return self._calibrated[1]

    def _cross_calibrated(self, sentences: Sequence[pn.Sentence]) -> Calibration:
        leads: list[Floats] = []
        right: list[npt.NDArray[np.bool_]] = []
        column = self._columns[0]
        model = self.train(sentences, column).model
        chosen = {"templates": model.templates, "right_to_left": model.right_to_left}
        for fold in range(FOLDS):
            rest = [s for number, s in enumerate(sentences) if number % FOLDS != fold]
            part = self.train(rest, column, **chosen)
            _judge(part, sentences[fold::FOLDS], column, leads, right)
        found = _fitted(leads, right)
        if self._start is None:
            return Calibration(*found[:2], takes_start=False, chosen=chosen)
        leads, right = [], []
        part = self._start.by_column[self._columns[0]]
        _judge(part, sentences, self._columns[0], leads, right)
        start = _fitted(leads, right)
        better = start[2] > found[2]
        return Calibration(*(start if better else found)[:2], takes_start=better, chosen=chosen)


def probabilities(part: pn.Tagger, words: Sequence[str], temperature: float) -> Floats:
    """Return float64[n_words, n_labels]: the softmax of the scores over the temperature."""
    scores = part.scores(words) / temperature
    powers = np.exp(scores - scores.max(1, keepdims=True))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def _judge(
    part: pn.Tagger,
    sentences: Sequence[pn.Sentence],
    column: str,
    leads: list[Floats],
    right: list[npt.NDArray[np.bool_]],
) -> None:
    """Append by how much each label falls short of the best, and if the best is the gold one."""
    labels = np.array(label_names(part), object)
    for sentence in sentences:
        scores = part.scores(sentence.words)
        leads += list(scores - scores.max(1, keepdims=True))
        best = labels[scores.argmax(1)]
        right.append(best == np.array(sentence.column(column), object))


def _fitted(
    leads: Sequence[Floats], right: Sequence[npt.NDArray[np.bool_]]
) -> tuple[float, float, float]:
    """Return the temperature of least loss, half the width of the interval, and the accuracy."""
    widest = max(map(len, leads))
    # Folds need not know the same labels.
    table = np.full((len(leads), widest), -np.inf)
    for row, own in zip(table, leads, strict=True):
        row[: len(own)] = own
    is_right = np.concatenate(right)

    def sure(temperature: float) -> Floats:
        found: Floats = 1 / np.exp(table / temperature).sum(1)
        return found

    def loss(temperature: float) -> float:
        chance = np.clip(sure(temperature), 1e-6, 1 - 1e-6)
        return round(float(-np.log(np.where(is_right, chance, 1 - chance)).mean()), 9)

    best = min((2.0 ** (step / 2) for step in range(-6, 17)), key=loss)
    best = min((best * 2 ** (step / 16) for step in range(-7, 8)), key=loss)
    spread = float((is_right - sure(best)).std())
    accuracy = float(is_right.mean())
    return best, round(_Z * spread / math.sqrt(len(is_right)), 6), accuracy


def _sample(sentences: Sequence[Sequence[str]], most: int) -> list[Sequence[str]]:
    """Return sentences of at most about so many tokens, evenly out of all."""
    n_tokens = sum(map(len, sentences))
    return list(sentences[:: max(1, -(-n_tokens // most))])


def schedule(sizes: Sequence[int], every: int) -> tuple[int, int]:
    """Return after which sentences the model in use, and the newest, are trained.

    Parameters
    ----------
    sizes : tokens of the sentences that were annotated, in order
    every : proposals are never older than so many tokens

    Returns
    -------
    (active, newest): as counts of sentences. A model is trained while one sentence more is
    annotated, so that nobody waits, and is then in use
    """
    n_tokens = active = newest = at_active = at_newest = 0
    for number, size in enumerate(sizes, 1):
        n_tokens += size
        active, at_active = newest, at_newest
        if n_tokens - at_newest >= min(every // 2, max(1, n_tokens // 4)):
            newest, at_newest = number, n_tokens
        if n_tokens - at_active > every or n_tokens <= 2 * every:
            newest, at_newest = number, n_tokens
            active, at_active = newest, at_newest
    return active, newest
