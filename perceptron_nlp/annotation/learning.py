"""What is learned while a person annotates: a tagger, its confidences, what to ask for next.

All of it is a function of what was annotated and of the text, so the same work gives the same
proposals.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import perceptron_nlp as pn
from perceptron_nlp.annotation.asking import (
    Candidate,
    Worth,
    best_of,
    worth_of_doubtful,
    worth_of_new,
)
from perceptron_nlp.annotation.calibration import (
    COVERAGE,
    FOLDS,
    Calibration,
    CrossCalibration,
    Estimate,
    Judged,
    confidences,
    estimate,
)
from perceptron_nlp.annotation.goldfile import Record
from perceptron_nlp.annotation.labels import given_labels
from perceptron_nlp.annotation.pool import Item
from perceptron_nlp.crossfit import unheard

RUNS = 4
# From so many tokens on, confidences are cross-calibrated, and the accuracy is estimated.
CALIBRATED_FROM = 60
# Calibrated again when there are so many times as many tokens.
AGAIN = 1.15
# Sentences that are scored, of more a sample.
MOST_SCORED = 3500
ESTIMATED_BY = 500
MOST_RAW_TOKENS = 300_000
# Of the worth of a doubtful word, when it was annotated since.
_AGAIN_IN_DOUBT = 0.3
# So many tokens are in the queue for each one until proposals are too old.
_QUEUED = 6
_ALL = 1 << 60

# That of the model in use, the newest one, and two that an undo may lead back to.
_MOST_JOBS = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Learned:
    """The state of learning at one point of the work.

    Attributes
    ----------
    tagger : None as long as nothing is annotated and none was given
    calibration : of its confidences
    confidence : the mean on what is not annotated; None while there is none
    estimate : the accuracy there, by the sentences held out; None while there are none
    queue : sentences to ask for, the best first; empty for an order that is given
    again : the share of its worth that a word keeps when it is annotated
    """

    tagger: pn.Tagger | None
    calibration: Calibration
    confidence: float | None
    estimate: Estimate | None
    queue: Sequence[Candidate]
    again: float

    def asked(self, since: Iterable[str]) -> list[str]:
        """Return names of sentences to ask for, the best first, when words were annotated since."""
        return [one.name for one in best_of(self.queue, self.again, _ALL, since)]


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
        n_tokens = sum(len(item.words) for item in items)
        n_read = min(len(items), max(1, len(items) * MOST_RAW_TOKENS // n_tokens))
        self._raw = pn.RawText.read([item.words for item in _evenly(items, n_read)])
        self._counts = Counter(word for item in items for word in item.words)
        self._calibrated: tuple[Sequence[pn.Sentence], Calibration] = ([], Calibration())
        self._ahead: CrossCalibration | None = None

    def train(self, sentences: Sequence[pn.Sentence], column: str, **chosen: Any) -> pn.Tagger:
        """Return a tagger that labels greedily; `column` names one or several."""
        with unheard():
            return pn.train(list(sentences), column=column, runs=RUNS, raw=self._raw, **chosen)

    def learn_clusters(self) -> None:
        """Learn the clusters of the text, which the first training would wait for."""
        if not self._raw.clusters:
            column = self._columns[0]
            self.train([pn.Sentence(["a"], {column: ["_" if column == "feats" else "X"]})], column)

    def export(self, sentences: Sequence[pn.Sentence], name: str) -> pn.Tagger:
        """Return the tagger that is the result of the work, whose record has the file's name."""
        columns = self._filled(sentences)
        tagger = pn.train(list(sentences), column=columns, preset="accurate", raw=self._raw)
        record = {**tagger.model.record, "annotation": name}
        return pn.Tagger(tagger.model._replace(record=record))

    def learn(
        self,
        annotated: Sequence[pn.Sentence],
        waiting: Sequence[Item],
        held_out: Sequence[pn.Sentence] = (),
    ) -> Learned:
        """Return the state of learning.

        Parameters
        ----------
        annotated : sentences with labels, in the order in which they were annotated
        held_out : sentences with labels that were drawn at random, which nothing is learned from
        waiting : what is left, in the order of the text
        """
        n_tokens = sum(map(len, annotated))
        calibration = self._calibration(annotated, n_tokens)
        tagger = self._start if calibration.takes_start else None
        if tagger is None and n_tokens:
            # Several columns have choices of their own.
            columns = self._filled(annotated)
            chosen = calibration.chosen if len(columns) == 1 else {}
            tagger = self.train(annotated, ",".join(columns), **chosen)
        by_doubt = self._ranks and n_tokens >= COVERAGE
        scored = _evenly(waiting, MOST_SCORED if by_doubt else ESTIMATED_BY)
        sure: list[list[float]] = []
        confidence = found = None
        if tagger is not None and n_tokens >= CALIBRATED_FROM and scored:
            column, temperature = self._columns[0], calibration.temperature
            part = tagger.by_column[column]
            sure = confidences(part, [item.words for item in scored], temperature)
            flat = [x for own in sure for x in own]
            confidence = round(math.fsum(flat) / len(flat), 4)
            judged = [Judged.of(part, sentence, column, temperature) for sentence in held_out]
            found = estimate(confidence, judged)
        worth: list[Worth] = []
        if by_doubt:
            worth = worth_of_doubtful(scored, sure)
        elif self._ranks:
            scored = _evenly(waiting, MOST_SCORED)
            seen = {word for sentence in annotated for word in sentence.words}
            worth = worth_of_new(scored, seen, self._counts)
        candidates = [
            Candidate(item.name, len(item.words), own)
            for item, own in zip(scored, worth, strict=False)
        ]
        again = _AGAIN_IN_DOUBT if by_doubt else 0.0
        queue = best_of(candidates, again, _QUEUED * self._every)
        return Learned(tagger, calibration, confidence, found, queue, again)

    def _filled(self, annotated: Sequence[pn.Sentence]) -> list[str]:
        """Return the columns of which any word has a label; a person may begin with one of them."""
        return [
            column
            for column in self._columns
            if column == self._columns[0] or any(any(given_labels(s, column)) for s in annotated)
        ]

    def _calibration(self, annotated: Sequence[pn.Sentence], n_tokens: int) -> Calibration:
        """Return a calibration by the sentences that there were at a step of AGAIN.

        It is in use from half a step later on: by then the trainings that it takes are done, one
        with each call, so that none of them takes long.
        """
        if n_tokens < CALIBRATED_FROM or len(annotated) < FOLDS:
            return Calibration(takes_start=self._start is not None)
        steps = math.log(n_tokens / CALIBRATED_FROM) / math.log(AGAIN) + 1e-9
        used = max(0, math.floor(steps - 0.5))
        sentences = _at_step(annotated, used)
        if self._calibrated[0] != sentences:
            self._calibrated = sentences, self._calibrating(sentences).result()
        if math.floor(steps) > used:
            self._calibrating(_at_step(annotated, used + 1)).advance()
        return self._calibrated[1]

    def _calibrating(self, sentences: Sequence[pn.Sentence]) -> CrossCalibration:
        """Return the calibration by some sentences, as far as it is."""
        if self._ahead is None or self._ahead.sentences != sentences:
            column = self._columns[0]
            self._ahead = CrossCalibration(sentences, column, self.train, self._start)
        return self._ahead


class Trainings:
    """Models learned at points of the work.

    Parameters
    ----------
    learner : learns
    every : proposals are never older than so many tokens
    background : whether a thread trains while the person goes on; the results are the same
    """

    def __init__(self, learner: Learner, every: int, background: bool) -> None:
        self._learner = learner
        self._every = every
        self._threads = ThreadPoolExecutor(1) if background else None
        self._jobs: dict[tuple[str, ...], Future[Learned]] = {}

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def warm_up(self) -> None:
        """Begin to learn what the first training would wait for, in the background."""
        if self._threads is not None:
            self._threads.submit(self._learner.learn_clusters)

    def prepare(self, records: Sequence[Record], waiting: Callable[[], Iterable[Item]]) -> None:
        """Begin to learn what will be needed, in the background; see learned."""
        if self._threads is not None:
            for count in dict.fromkeys(self._points(records)):
                self._job(records, count, waiting)

    def learned(self, records: Sequence[Record], waiting: Callable[[], Iterable[Item]]) -> Learned:
        """Return the state of learning that proposals come from; wait for it where need be.

        Parameters
        ----------
        records : what was annotated, in order; nothing is learned from those held out
        waiting : gives what may still be asked for
        """
        return self._job(records, self._points(records)[0], waiting).result()

    def asked(self, records: Sequence[Record], waiting: Callable[[], Iterable[Item]]) -> list[str]:
        """Return names of sentences to ask for, the best first; parameters are those of learned."""
        since = records[self._points(records)[0] :]
        words = {word for record in since for word in record.sentence.words}
        return self.learned(records, waiting).asked(words)

    def _points(self, records: Sequence[Record]) -> tuple[int, int]:
        sizes = [0 if record.is_check else len(record.sentence) for record in records]
        return schedule(sizes, self._every)

    def _job(
        self, records: Sequence[Record], count: int, waiting: Callable[[], Iterable[Item]]
    ) -> Future[Learned]:
        """Return the learning after some records, begun, or done where nothing runs beside."""
        key = tuple(record.text for record in records[:count])
        job = self._jobs.get(key)
        if job is None:
            learned = [record.sentence for record in records[:count] if not record.is_check]
            held_out = [record.sentence for record in records[:count] if record.is_check]
            later = [r.item for r in records[count:] if r.item is not None]
            left = sorted([*waiting(), *later], key=lambda item: item.start)
            if self._threads is not None:
                job = self._threads.submit(self._learner.learn, learned, left, held_out)
            else:
                job = Future()
                job.set_result(self._learner.learn(learned, left, held_out))
            while len(self._jobs) >= _MOST_JOBS:
                del self._jobs[next(iter(self._jobs))]
            self._jobs[key] = job
        return job


def _evenly(found: Sequence[T], most: int) -> Sequence[T]:
    """Return so many at most, evenly out of all."""
    if len(found) <= most:
        return found
    return [found[at * len(found) // most] for at in range(most)]


def _at_step(annotated: Sequence[pn.Sentence], step: int) -> Sequence[pn.Sentence]:
    """Return the first sentences with CALIBRATED_FROM tokens times AGAIN for each step."""
    ends = itertools.accumulate(map(len, annotated))
    enough = bisect.bisect_left(list(ends), CALIBRATED_FROM * AGAIN**step - 1e-6)
    return annotated[: max(enough + 1, FOLDS)]


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
