"""Everything that a report tells of one column, as figures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perceptron_nlp.analysis.compare.outcomes import span_counts, word_counts
from perceptron_nlp.analysis.compare.significance import Counts, Interval, interval, resampled
from perceptron_nlp.tagger.evaluation import Evaluation, compare
from perceptron_nlp.tagger.explain.explanation import WordExplanation
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.sources import Source, gold_labels
from perceptron_nlp.text.sentence import Sentence

LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, None))
WORST = 10
MOST_EXPLAINED = 12
SHOWN_FEATURES = 6
# Of fewer sentences, samples say little.
FEWEST = 10
_LONG_ENOUGH = 0.1

Labels = list[list[str | None]]


@dataclass(frozen=True, slots=True)
class Share:
    """How many words of some kind are right.

    Attributes
    ----------
    name : which words
    words, right : how many there are, and how many of them are right
    interval : the middle 95 % of resampled shares; None where there are too few sentences
    """

    name: str
    words: int
    right: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """The share that is right, a fraction of 1; None where there are no words."""
        return self.right / self.words if self.words else None

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return {
            "name": self.name,
            "words": self.words,
            "right": self.right,
            "share": self.share,
            "interval": self.interval,
        }


@dataclass(frozen=True, slots=True)
class WorstSentence:
    """A sentence with many wrong words.

    Attributes
    ----------
    path, line : where it stands; line 0 where it is from no file
    words, gold, given : its words and labels; gold ones may be None
    why : for the first wrong words, by their place, why the label was given and not the gold one
    """

    path: str
    line: int
    words: tuple[str, ...]
    gold: Sequence[str | None]
    given: Sequence[str]
    why: dict[int, WordExplanation]

    @property
    def wrong(self) -> list[int]:
        """The places of the wrong words."""
        return [
            i for i, truth in enumerate(self.gold) if truth is not None and truth != self.given[i]
        ]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a report tells of one column.

    Attributes
    ----------
    evaluation : with calibration, if the model is calibrated
    accuracy, known, unknown : shares of words with intervals
    f1_interval : of the F1 of spans; None in other columns
    lengths : shares of the words of sentences of different lengths
    worst : the sentences with the most wrong words
    epochs : what the training record has of each epoch; empty where it has nothing
    train_words : labelled words of the training text; None where that is not known
    seconds, threads : how long tagging took in this run, after a round that was not timed, and by
        how many threads
    tagged_words : words tagged in that time
    """

    evaluation: Evaluation
    accuracy: Share
    known: Share
    unknown: Share
    f1_interval: Interval | None
    lengths: tuple[Share, ...]
    worst: tuple[WorstSentence, ...]
    epochs: list[dict[str, Any]]
    train_words: int | None
    seconds: float
    threads: int
    tagged_words: int

    @property
    def words_per_second(self) -> float:
        """Words tagged in a second of this run."""
        return self.tagged_words / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Evaluation.to_dict with the pairs of labels, and what else is above."""
        result = self.evaluation
        return {
            **result.to_dict(),
            "accuracy_interval": self.accuracy.interval,
            "f1_interval": self.f1_interval,
            "known": self.known.to_dict(),
            "unknown": self.unknown.to_dict(),
            "lengths": [share.to_dict() for share in self.lengths],
            "confusion": [
                [gold, given, count] for (gold, given), count in sorted(result.confusion.items())
            ],
            "epochs": self.epochs,
            "speed": {
                "words_per_second": self.words_per_second,
                "words": self.tagged_words,
                "seconds": self.seconds,
                "threads": self.threads,
            },
        }


def judge(tagger: Tagger, source: Source, column: str, threads: int) -> Judged:
    """Tag the sentences of a source that is held, and judge the labels.

    Parameters
    ----------
    tagger : of any columns
    source : the gold text
    column : the one to compare; where the tagger does not fill it, its first is compared
    threads : that tag

    Raises FormatError as Tagger.evaluate does.
    """
    part = tagger.by_column.get(column) or tagger.by_column[tagger.column]
    found: list[list[str]] = []
    rounds, seconds = 0, 0.0

    def label(sentences: list[Sequence[str]]) -> tuple[list[list[str]], list[list[float]] | None]:
        nonlocal rounds, seconds
        found.extend(part.tag_sents(sentences, threads=threads))
        start = time.perf_counter()
        while seconds < _LONG_ENOUGH:
            part.tag_sents(sentences, threads=threads)
            rounds, seconds = rounds + 1, time.perf_counter() - start
        if part.model.calibration is None:
            return found, None
        return part.tag_sents_with_confidences(sentences, threads=threads)

    result = compare(part.model, source, column, label)
    sentences = list(source)
    gold: Labels = [list(gold_labels(sentence, column)) for sentence in sentences]
    shares, f1_interval = _shares(part, sentences, gold, found, result.spans is not None)
    record = part.model.record
    train = record.get("train")
    return Judged(
        evaluation=result,
        accuracy=shares[0],
        known=shares[1],
        unknown=shares[2],
        f1_interval=f1_interval,
        lengths=tuple(share for share in shares[3:] if share.words),
        worst=_worst(part, sentences, gold, found),
        epochs=list(record.get("epochs") or []),
        train_words=train.get("labelled") if isinstance(train, dict) else None,
        seconds=seconds / rounds,
        threads=threads,
        tagged_words=sum(map(len, sentences)),
    )


def _shares(
    part: Tagger, sentences: list[Sentence], gold: Labels, given: list[list[str]], has_spans: bool
) -> tuple[list[Share], Interval | None]:
    """Of all words, of known and unknown ones, of sentences of each length; that of spans' F1."""
    known = [part.model.known(sentence.words) for sentence in sentences]
    names = ["all", "known", "unknown"]
    kept: list[Labels] = [gold]
    for wanted in (True, False):
        kept.append(
            [
                [
                    truth if seen == wanted else None
                    for truth, seen in zip(truths, marks, strict=True)
                ]
                for truths, marks in zip(gold, known, strict=True)
            ]
        )
    for low, high in LENGTHS:
        names.append(f"{low}+" if high is None else f"{low}–{high}")
        kept.append(
            [
                truths if low <= len(truths) <= (high or len(truths)) else [None] * len(truths)
                for truths in gold
            ]
        )
    counts = [word_counts(labels, given) for labels in kept]
    shares = [
        Share(name, int(count.gold.sum()), int(count.right.sum()), _interval(count))
        for name, count in zip(names, counts, strict=True)
    ]
    return shares, _interval(span_counts(gold, given)) if has_spans else None


def _interval(counts: Counts) -> Interval | None:
    """The percentile interval of the bootstrap over the sentences that count for something."""
    some = counts.gold + counts.given > 0
    if int(some.sum()) < FEWEST:
        return None
    return interval(
        resampled([Counts(counts.gold[some], counts.given[some], counts.right[some])])[0]
    )


def _worst(
    part: Tagger, sentences: list[Sentence], gold: Labels, given: list[list[str]]
) -> tuple[WorstSentence, ...]:
    """The sentences with the most wrong words; of equals the shorter ones, then the first."""
    wrong = [
        sum(
            truth is not None and truth != label
            for truth, label in zip(truths, labels, strict=True)
        )
        for truths, labels in zip(gold, given, strict=True)
    ]
    order = sorted(
        (i for i, count in enumerate(wrong) if count), key=lambda i: (-wrong[i], len(gold[i]), i)
    )[:WORST]
    inputs, window = part.model.inputs(sentences), part.window
    found = []
    for i in order:
        explained = part.explain_sents(
            [inputs[i]],
            before=inputs[max(0, i - window) : i],
            after=inputs[i + 1 : i + 1 + window],
            against=[gold[i]],
            top=SHOWN_FEATURES,
        )[0]
        sentence = WorstSentence(
            sentences[i].path, sentences[i].line_of(0), sentences[i].words, gold[i], given[i], {}
        )
        sentence.why.update((k, explained[k]) for k in sentence.wrong[:MOST_EXPLAINED])
        found.append(sentence)
    return tuple(found)
