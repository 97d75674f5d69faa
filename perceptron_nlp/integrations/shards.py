"""A shard of the training sentences, and what learns from it, wherever that runs."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perceptron_nlp._version import __version__
from perceptron_nlp.combine.mix import Step, changes, difference, no_state
from perceptron_nlp.errors import ArgumentError, EngineError
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.integrations.filedealing import FiledExamples, deal_files, dealt_sentences
from perceptron_nlp.integrations.shardfiles import ShardFiles
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.tag.feature_function import Extractor
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import FunctionLearner, TemplateLearner
from perceptron_nlp.tagger.train.numbered import NumberedLabels, numbers_alone
from perceptron_nlp.tagger.train.options import LearningOptions

if sys.platform != "win32":
    import resource


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """All that a worker needs to learn from its sentences.

    Attributes
    ----------
    examples : the sentences, as numbers where templates are learnt with; or where they are read
    templates : their features; empty with a feature function
    features : the feature function, or None
    options : how to learn
    forced : words that get one label without being scored
    version : of this library, where the training was begun
    """

    examples: Examples | ShardFiles
    templates: tuple[Template, ...]
    features: Extractor | None
    options: LearningOptions
    forced: Mapping[str, str]
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an epoch, between two mixes.

    Attributes
    ----------
    number : how many mixes there were before it, which is what state it begins at
    seed, epoch : what decides the order of a shard's sentences
    part, parts : which of the equal parts of the epoch it is, from 0
    alone : whether there is one shard only
    """

    number: int
    seed: int
    epoch: int
    part: int
    parts: int
    alone: bool


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What learning from a shard came to: words, mistakes, updates, and how long it took.

    `seconds` is processor time, `elapsed` is by the clock; `bytes_sent` is the size of what the
    shard has changed, `peak_memory` the most bytes that the process has had (0: not known).
    """

    examples: int
    mistakes: int
    updates: int
    seconds: float
    elapsed: float
    bytes_sent: int
    peak_memory: int


def deal(
    examples: Examples, workers: int, templates: tuple[Template, ...], features: Extractor | None
) -> list[Examples] | list[ShardFiles]:
    """The sentences in `workers` shards, one after the other as cards are dealt.

    So each shard has its part of every kind of text that the sentences are of. Which it has does
    not depend on who reads them.
    """
    if isinstance(examples, FiledExamples):
        if features is not None:
            raise ArgumentError(
                "read_by: a feature function looks at whole sentences, which the"
                " program must read; leave read_by out"
            )
        return deal_files(examples, workers)
    dealt = [numbers.tolist() for numbers in dealt_sentences(len(examples.sentences), workers)]
    if features is not None:
        return [replace(part, sentences=list(part.sentences)) for part in map(examples.part, dealt)]
    columns = compile_templates(templates).columns
    return [_as_numbers(examples.part(numbers), columns) for numbers in dealt]


def _as_numbers(part: Examples, columns: Sequence[str]) -> Examples:
    """The same without sentence objects, and without columns that nobody looks at."""
    strings, tokens = part.numbered(columns)
    lengths, gold = part.lengths(), part.gold_ids()
    labels: list[str | None] = [*part.tags, None]
    return replace(
        part,
        sentences=numbers_alone(
            lengths, {name: (strings[row], tokens[row]) for row, name in enumerate(columns)}
        ),
        gold=NumberedLabels(
            labels, np.where(gold < 0, len(labels) - 1, gold).astype(np.int32), lengths
        ),
    )


def _peak_memory() -> int:
    if sys.platform == "win32":
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


class ShardWorker:
    """Learns from one shard, a piece of an epoch at a time, each from a state that is mixed.

    Parameters
    ----------
    shard : the shard

    Raises
    ------
    EngineError : the library is of another version here than where the training was begun
    FileError : files that it is to read are missing here, or others than where that was
    """

    def __init__(self, shard: Shard) -> None:
        if shard.version != __version__:
            raise EngineError(
                f"engine: a worker on {socket.gethostname()} has version {__version__} of"
                f" perceptron-nlp, and the training was begun with {shard.version}; install the"
                " same version everywhere"
            )
        examples = shard.examples
        if isinstance(examples, ShardFiles):
            examples = _as_numbers(examples.read(), compile_templates(shard.templates).columns)
        self._n_sentences = len(examples.sentences)
        self._learner = (
            TemplateLearner(examples, shard.templates, shard.options, dict(shard.forced))
            if shard.features is None
            else FunctionLearner(examples, shard.features, shard.options, dict(shard.forced))
        )
        self._state = no_state(shard.options.update == "adagrad")
        self._number = 0

    def learn(
        self, piece: Piece, given: RunState | None, step: Step | None
    ) -> tuple[ShardCounts, RunState]:
        """Learn a piece; what it came to, and what it changed.

        It can be called again with the same piece, and gives the same.

        Parameters
        ----------
        piece : the piece
        given : the state that the piece begins at; None where the worker can come to it by itself
        step : what makes that state of the one before it; None before the first mix

        Raises
        ------
        EngineError : the worker cannot come to the state by itself
        """
        begun_at, cpu = time.monotonic(), time.process_time()
        self._come_to(piece.number, given, step)
        self._learner.begin_at(self._state)
        order = permutation(self._n_sentences, piece.seed, piece.epoch)
        first, last = (len(order) * part // piece.parts for part in (piece.part, piece.part + 1))
        examples, mistakes, updates = self._learner.learn(order[first:last])
        after = RunState.of(self._learner.table, piece.epoch)
        changed = (changes if piece.alone else difference)(after, self._state)
        sent = sum(array.nbytes for array in changed.arrays().values())
        return ShardCounts(
            examples,
            mistakes,
            updates,
            time.process_time() - cpu,
            time.monotonic() - begun_at,
            sent,
            _peak_memory(),
        ), changed

    def _come_to(self, number: int, given: RunState | None, step: Step | None) -> None:
        if given is not None:
            self._state, self._number = given, number
        elif self._number == number - 1 and step is not None:
            self._state, self._number = step.applied(self._state), number
        if self._number != number:
            raise EngineError(
                f"engine: a worker is at mix {self._number}, and was asked to go on"
                f" from mix {number}"
            )
