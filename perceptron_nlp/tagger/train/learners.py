"""What learns weights from training sentences: a table, and the core's loops over it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.frozenweights import FrozenWeights, bounds_by_group, rounded
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.factored import learn_factored
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp._core.train.search import learn_sequences
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.tagger.model.label_components import parts_of
from perceptron_nlp.tagger.model.weights import LARGEST, QuantizedWeights
from perceptron_nlp.tagger.train.data import Examples, label_hashes
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.text.tagset import SCHEMES

if TYPE_CHECKING:
    from perceptron_nlp.tagger.train.memory import MemoryLimit

Counts: TypeAlias = tuple[int, int, int]
"""Labeled tokens learned from, those of them that were mislabeled, and updates."""

# Sentences learned between two looks at a bound on memory.
BATCH = 256
# Steps that the heaviest weight must keep when the scale is chosen for sums; with fewer, rounding
# would begin to change labels.
FINE_STEPS = 128


def quantized(
    frozen: FrozenWeights, most: Sequence[int], scale: float | None = None
) -> QuantizedWeights:
    """Return weights rounded to a power of two, or to the scale that is given.

    It is the finest with which every sum of weights of all groups fits 16 bits, so that scores
    can be added in 16 bits; if that is too coarse, the finest with which every weight does.
    Where words have many features it is in eighths, since each step counts.

    most : how many features of each group a word has at most, 0 for any number
    """
    largest = float(np.abs(frozen.weights).max(initial=0.0))
    if not math.isfinite(largest):
        raise ArgumentError("values: weights have grown past all bounds; scale the values down")
    if scale is None:
        scale = _finest(LARGEST, largest)
        # Rounding may add half a step for each feature.
        room = LARGEST - (sum(most) + 1) / 2
        for_sums = 0.0
        if all(most) and room > 0:
            parts = 8 if max(most, default=1) > 1 else 1
            for_sums = _finest(room, _largest_sum(frozen, most), parts)
        if for_sums * largest >= FINE_STEPS:
            scale = for_sums
    arrays: dict[str, Any] = rounded(frozen, len(most), scale)
    return QuantizedWeights(scale=scale, table_bits=frozen.table_bits, **arrays)


def _finest(room: float, value: float, parts: int = 1) -> float:
    """The largest power of two, or parts of one, that keeps the value within the room."""
    if value <= 0:
        return 1.0
    power: float = 2.0 ** math.floor(math.log2(room / value))
    return power * math.floor(parts * room / value / power) / parts


def _largest_sum(frozen: FrozenWeights, most: Sequence[int]) -> float:
    """Return an upper bound of the sums of so many weights of each group, all of one label.

    In a fixed table every template may meet every row.
    """
    if frozen.table_bits is not None:
        return sum(most) * float(np.abs(frozen.weights).max(initial=0.0))
    high, low = (np.array(most) @ bound for bound in bounds_by_group(frozen, len(most)))
    return float(max(high.max(initial=0.0), -low.min(initial=0.0)))


class Learner:
    """A table of weights, and what learns them from sentences given by their numbers."""

    keeps_features = True
    """Whether a run may begin with the features that runs before it found, since it finds the same
    ones."""

    learn: Callable[[npt.NDArray[np.int64]], Counts]
    """Go over these sentences."""

    def __init__(self, table: WeightTable) -> None:
        self.table = table

    def average(self) -> FrozenWeights:
        """Return the averaged weights so far; learning can go on."""
        return self.table.average()


def weight_table(n_labels: int, options: LearningOptions) -> WeightTable:
    """Return an empty table as the options ask for."""
    return WeightTable(
        n_labels, table_bits=options.table_bits, gradients=options.update == "adagrad"
    )


def n_learned(examples: Examples) -> int:
    """Return how many labels, or label components, a table of these examples has."""
    if examples.parts is None:
        return len(examples.tags)
    return parts_of(examples.tags.labels, examples.parts).n_parts


class TemplateLearner(Learner):
    """Learns with templates, in the core.

    ``forced`` are tokens that get one label without being scored; with a limit of memory, what
    holds for all tokens lies in files (memory.py). `kept` are the keys of the features that there
    may be, and the numbers of their templates.
    """

    def __init__(
        self,
        examples: Examples,
        templates: Sequence[Template],
        options: LearningOptions,
        forced: Mapping[str, str],
        limit: MemoryLimit | None = None,
        kept: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]] | None = None,
    ) -> None:
        compiled = compile_templates(templates)
        strings, tokens = examples.encoded(compiled.columns)
        self._limit = limit
        always = {word: examples.tags.id_of(label) for word, label in forced.items()}
        self._options = options
        self._allowed = None
        if examples.scheme in SCHEMES:
            # Here, since few columns hold spans.
            from perceptron_nlp.text.spans import legal_steps

            self._allowed = np.array(legal_steps(examples.tags, options.is_right_to_left))
        self._parts = (
            None if examples.parts is None else parts_of(examples.tags.labels, examples.parts)
        )
        super().__init__(weight_table(n_learned(examples), options))
        if limit is not None:
            limit.watch(self.table, runs=options.n_runs)
        if kept is not None:
            for group in np.unique(kept[1]).tolist():
                self.table.update(kept[0][kept[1] == group], 0, 0.0, group=group)
        self._data = TrainingSet(
            FeatureProgram(compiled),
            self.table,
            strings=strings,
            tokens=tokens,
            lengths=examples.sentences.lengths,
            gold=examples.gold_ids(limit),
            label_hashes=label_hashes(examples.tags),
            forced=_labels_of(strings[0], always),
            min_count=options.min_count,
            n_open=None if kept is None else 0,
            space=limit,
        )
        self._learn_batch = self._core_loop()

    def learn(self, order: npt.NDArray[np.int64]) -> Counts:
        """See Learner."""
        if self._limit is None:
            return self._learn_batch(order)
        counts = np.zeros(3, np.int64)
        for at in range(0, len(order), BATCH):
            counts += self._learn_batch(order[at : at + BATCH])
            self._limit.check()
        examples, mistakes, updates = counts.tolist()
        return examples, mistakes, updates

    def _core_loop(self) -> Callable[[npt.NDArray[np.int64]], Counts]:
        """Return the core's update loop for these options, called with sentences' numbers."""
        options = self._options
        how: dict[str, Any] = {
            "rule": options.update,
            "rate": options.step,
            "right_to_left": options.is_right_to_left,
        }
        if options.width > 1 and self._parts is None:
            how |= {"beam": options.width, "cost": options.wrong_label_cost}
            return partial(learn_sequences, self._data, allowed=self._allowed, **how)
        how["margin"] = options.least_lead
        if self._parts is not None:
            return partial(learn_factored, self._data, self._parts, **how)
        return partial(learn, self._data, **how)


def _labels_of(words: Sequence[bytes], always: dict[str, int]) -> npt.NDArray[np.int32]:
    """Return the label that each word has without being scored, or -1."""
    if not always:
        return np.full(len(words), -1, np.int32)
    return np.array(
        [always.get(word.decode("utf-8", "surrogatepass"), -1) for word in words], np.int32
    )
