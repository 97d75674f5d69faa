"""Opinions of taggers that have not seen a sentence on its labels.

The sentences are cut into folds, and each fold is scored by taggers that are trained on the
others (the cross-validation of van Halteren, 2000, "The detection of inconsistency in manually
tagged text"). Equal sentences are held out together, so that none vouches for its own copy.

There are two kinds of taggers. One tags as usual. The other sees the gold labels of the words
around, on both sides, which a tagger of new text never does, and no label of the word itself.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perceptron_nlp import Sentence, Template
from perceptron_nlp.crossfit import by_size, crossfit
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.tagger.model.label_components import JOINT, features_of
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task, Trainer, resolve_templates
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.text.tagset import TagSet

BESIDE = "label-beside"
KINDS = ("words", "labels beside")
# Labels that are kept of each word: its gold label and those that score highest.
MAX_CHOICES = 17
_PATTERNS = """
b[-1] b[1] b[-2]+b[-1] b[1]+b[2] b[-1]+b[1] b[-2]+b[-1]+b[1] b[-1]+b[1]+b[2]
b[-1]+lower[0] lower[0]+b[1] b[-1]+lower[0]+b[1] b[-1]+lower.suffix3[0]+b[1]
"""
_PIECES = ("-1", "1", "-2", "2")


@dataclass(frozen=True, slots=True)
class Opinions:
    """Scores of the labeled words.

    labels : all labels as they are written in the column, in code point order
    words, gold : int64[n]: the labeled words, by their numbers in the text, and their labels
    choices : int64[n, n_choices]: the numbers of labels, ascending
    scores : float64[n, n_choices, 2]: of each kind of tagger, mean over its runs
    votes : int64[n, n_choices]: of how many taggers each was the first choice
    taggers : how many taggers have scored each word
    """

    labels: tuple[str, ...]
    words: npt.NDArray[np.int64]
    gold: npt.NDArray[np.int64]
    choices: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    votes: npt.NDArray[np.int64]
    taggers: int

    @property
    def agreement(self) -> float:
        """The share of first choices that are the gold label."""
        gold = self.votes[self.choices == self.gold[:, None]]
        return float(gold.sum()) / (self.taggers * len(self.words))


def fold_sentences(examples: Examples, n_folds: int, seed: int, place: str) -> list[list[int]]:
    """The sentences of each fold by their numbers, ascending; equal ones are in the same fold."""
    groups: dict[Sequence[str], list[int]] = {}
    for number, sentence in enumerate(examples.sentences):
        groups.setdefault(tuple(sentence), []).append(number)
    if len(groups) < 2:
        many = len(examples.sentences)
        raise FormatError(
            ("there is one sentence alone" if many == 1 else f"all {many:,} sentences are the same")
            + "; labels are checked by taggers trained on the other sentences, so give more text",
            place,
        )
    if n_folds > len(groups):
        raise ArgumentError(
            f"folds: {n_folds} is more than the {len(groups)} different sentences there are"
        )
    units = list(groups.values())
    sizes = [sum(len(examples.sentences[number]) for number in unit) for unit in units]
    return by_size(units, sizes, n_folds, seed)


def with_labels_beside(
    examples: Examples, options: LearningOptions
) -> tuple[Examples, LearningOptions]:
    """The same for a tagger that sees the labels around a word, in place of those it gave."""
    names = examples.columns
    sentences = [
        Sentence.from_reader(
            tuple(sentence),
            {
                **{name: sentence.column(name) for name in names},
                BESIDE: tuple(label or "" for label in labels),
            },
            "",
            0,
            None,
        )
        for sentence, labels in zip(examples.sentences, examples.gold, strict=True)
    ]
    templates = [
        template
        for template in resolve_templates(options, names)
        if not any(atom.kind == "tag" for atom in template.atoms)
    ]
    return (
        examples.with_columns(sentences, [BESIDE]),
        replace(options, templates=(*templates, *beside_templates(examples.parts is not None))),
    )


def beside_templates(in_pieces: bool) -> tuple[Template, ...]:
    """Return the templates of labels around a word; none sees the label of the word itself."""
    texts = [
        " ".join(atom.replace("b[", f"column:{BESIDE}[") for atom in pattern.split("+"))
        for pattern in _PATTERNS.split()
    ]
    if in_pieces:
        texts += [f"column:{BESIDE}.word.pieces[{offset}]" for offset in _PIECES]
    return check_templates(texts)


class CrossTagger:
    """Trains and asks so many taggers of each kind a fold, with the options that leave nothing
    open.
    """

    def __init__(
        self, examples: Examples, options: LearningOptions, column: str, runs: int
    ) -> None:
        self._column = column
        self._runs = runs
        self._kinds = [(examples, options), with_labels_beside(examples, options)]
        self._examples = examples
        inside = examples.tags.labels
        written = [features_of(label) if examples.scheme == JOINT else label for label in inside]
        self.labels = TagSet(written).labels
        numbers = {label: number for number, label in enumerate(self.labels)}
        shown = np.array([numbers[label] for label in written], np.int64)
        # Columns of scores, those of one written label side by side.
        self._order = np.argsort(shown, kind="stable")
        self._first = np.searchsorted(shown[self._order], np.arange(len(self.labels)))
        self._gold = np.where((ids := examples.gold_ids()) >= 0, shown[ids], -1)
        self._starts = np.concatenate([[0], np.cumsum(examples.sentences.lengths)])

    @property
    def gold(self) -> npt.NDArray[np.int64]:
        """int64[n_words]: the number of each word's label as it is written, -1 for none."""
        return self._gold

    def ask(
        self, folds: Sequence[Sequence[int]], threads: int, done: Callable[[int], object]
    ) -> Opinions:
        """The opinions of all words; `done` is called with the number of folds that are scored."""
        found = list(crossfit(folds, self._labelers, self._ask_fold, threads, lambda n, _: done(n)))
        words, choices, scores, votes = (
            np.concatenate([part[place] for part in found]) for place in range(4)
        )
        order = np.argsort(words, kind="stable")
        return Opinions(
            self.labels,
            words[order],
            self._gold[words[order]],
            choices[order],
            scores[order],
            votes[order],
            len(self._kinds) * self._runs,
        )

    def _labelers(self, numbers: list[int]) -> list[list[Labeler]]:
        return [
            [self._labeler(examples.part(numbers), options, run) for run in range(self._runs)]
            for examples, options in self._kinds
        ]

    def _ask_fold(
        self, labelers: list[list[Labeler]], held_out: list[int]
    ) -> tuple[npt.NDArray[np.generic], ...]:
        found = [
            one for number in held_out if (one := self._ask_sentence(number, labelers)) is not None
        ]
        if not found:
            return self._nothing()
        return tuple(np.concatenate([part[place] for part in found]) for place in range(4))

    def _nothing(self) -> tuple[npt.NDArray[np.generic], ...]:
        n = min(MAX_CHOICES, len(self.labels))
        return (
            np.zeros(0, np.int64),
            np.zeros((0, n), np.int64),
            np.zeros((0, n, len(self._kinds))),
            np.zeros((0, n), np.int64),
        )

    def _labeler(self, examples: Examples, options: LearningOptions, run: int) -> Labeler:
        if not examples.n_labeled:
            raise ArgumentError("folds: all labeled words are in one part; have other folds")
        seeded = replace(options, seed=(options.seed + run) % 2**64)
        task = Task(examples=examples, column=self._column, options=seeded)
        return Labeler(Trainer(task, log_level=logging.DEBUG).run())

    def _ask_sentence(
        self, number: int, labelers: Sequence[Sequence[Labeler]]
    ) -> tuple[npt.NDArray[np.generic], ...] | None:
        """Words, choices, scores and votes of a sentence; None without labeled words."""
        words = np.arange(self._starts[number], self._starts[number + 1])
        known = np.flatnonzero(self._gold[words] >= 0)
        if not len(known):
            return None
        rows = np.arange(len(known))[:, None]
        means, firsts = [], np.zeros((len(known), len(self.labels)), np.int64)
        for (examples, _), runs in zip(self._kinds, labelers, strict=True):
            scored = [
                self._as_written(labeler.scores(examples.sentences[number])[known])
                for labeler in runs
            ]
            for scores in scored:
                firsts[rows[:, 0], scores.argmax(1)] += 1
            means.append(functools.reduce(np.add, scored) / len(scored))
        both = functools.reduce(np.add, means)
        both[rows[:, 0], self._gold[words[known]]] = np.inf
        best = np.argsort(-both, axis=1, kind="stable")[:, :MAX_CHOICES]
        choices = np.sort(best, axis=1)
        return (
            words[known],
            choices,
            np.stack([mean[rows, choices] for mean in means], axis=2),
            firsts[rows, choices],
        )

    def _as_written(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Scores of labels as they are written: of several that look the same, the highest."""
        if self._examples.scheme is None:
            # As they are learned.
            return scores
        found: npt.NDArray[np.float64] = np.maximum.reduceat(
            scores[:, self._order], self._first, axis=1
        )
        return found
