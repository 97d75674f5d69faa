"""Features made by a person's own Python function instead of templates.

The function is called as ``function(tokens, i, history)`` for word ``i`` of ``tokens`` (a
Sentence: a sequence of its words, with their other columns in ``tokens.columns``), where
``history`` is the list of labels already given in this sentence, in the order in which they were
given. It returns features: strings, or a mapping from string to number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.tagger.explain.forward_trace import (
    ComparedFeatures,
    ForwardTrace,
    WeighedFeature,
)
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.constraints import Keep, Lexicon, allowed_by, lower_cased
from perceptron_nlp.tagger.tag.threads import T, Use, in_pieces, label_in_chunks
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import word_bytes

Floats: TypeAlias = npt.NDArray[np.float64]
Features: TypeAlias = Iterable[str] | Mapping[str, float]
Extractor: TypeAlias = Callable[[Sentence, int, list[str]], Features]


def reading_order(n: int, right_to_left: bool) -> range:
    """The places of a sentence of n words in the order in which they are labeled."""
    return range(n - 1, -1, -1) if right_to_left else range(n)


def extractor_name(function: Extractor) -> str:
    """Return the name of a function in a model file: its module and qualified name."""
    if not callable(function):
        raise ArgumentTypeError(f"features: a function is needed, not {type(function).__name__}")
    module = getattr(function, "__module__", None) or "?"
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def extract(
    function: Extractor,
    sentence: Sentence,
    i: int,
    history: list[str],
    record: dict[int, Features] | None = None,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64] | None]:
    """Keys and values of one word's features; None stands for values of 1.

    Raises ArgumentTypeError if the function returned something other than strings, or strings with
    numbers; ArgumentError if a value is not finite.
    """
    found = function(sentence, i, history)
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise ArgumentTypeError(
            f"features: {extractor_name(function)} returned {type(found).__name__};"
            " strings, or a mapping from string to number, are needed"
        )
    if isinstance(found, set | frozenset):
        # Its own order is that of the day's hashes, and sums would round in it.
        found = sorted(found, key=str)
    if record is not None:
        record[i] = found = found if isinstance(found, Mapping) else list(found)
    keys = []
    for name in found:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"features: {extractor_name(function)} returned a feature of type"
                f" {type(name).__name__}; a str is needed"
            )
        keys.append(hash64(word_bytes(name)))
    if not isinstance(found, Mapping):
        return np.array(keys, np.uint64), None
    try:
        values = np.array(list(found.values()), np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"features: {extractor_name(function)} returned a value that is no number"
        ) from None
    except OverflowError:
        raise ArgumentError(
            f"features: {extractor_name(function)} returned a number that is too large for a float"
        ) from None
    if not np.isfinite(values).all():
        bad = list(found)[int(np.argmin(np.isfinite(values)))]
        raise ArgumentError(
            f"features: the value of {quote(bad)} from {extractor_name(function)} is not finite"
        )
    return np.array(keys, np.uint64), values


class FunctionLabeller:
    """A model with a feature function, ready to label; see TemplateLabeller."""

    # A function needs to see the sentences.
    words_alone = False
    written_labels: tuple[str, ...] = ()

    def __init__(
        self,
        model: TaggerModel,
        decoder: SentenceDecoder,
        function: Extractor,
        lexicon: Lexicon | None = None,
    ) -> None:
        extractor_name(function)
        self.decoder = decoder
        self.model = model
        self.function = function
        self._allowed = allowed_by(lexicon, model)

    def prepared(
        self,
        sentences: Sequence[Sequence[str]],
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        known: Mapping[str, list[list[str]]] = MappingProxyType({}),
    ) -> list[Sequence[str]]:
        """Return the sentences as they are: a function sees one at a time."""
        return list(sentences)

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """Return the labels of sentences."""

        def label(some: list[Sequence[str]], kept: Sequence[Keep] | None) -> list[list[str]]:
            each = itertools.repeat(None) if kept is None else kept
            return [self.run(one, own)[0] for one, own in zip(some, each, strict=False)]

        return label_in_chunks(label, sentences, keep, threads)

    def scores(self, sentence: Sequence[str]) -> Floats:
        """Return float64[n_tokens, n_labels], the scores of all labels at each token."""
        return self.run(sentence)[1]

    def scored(
        self,
        sentences: list[Sequence[str]],
        use: Use[T],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[T]:
        """Label sentences, and return what `use` makes of their scores; see TemplateLabeller."""
        n_labels = len(self.model.tags)
        numbers = {label: number for number, label in enumerate(self.model.tags)}

        def run(batch: range) -> T:
            found = [self.run(sentences[k], None if keep is None else keep[k]) for k in batch]
            labels = [numbers.get(label, n_labels) for given, _ in found for label in given]
            return use(
                batch, np.array(labels, np.int64), np.concatenate([scores for _, scores in found])
            )

        return in_pieces(run, list(map(len, sentences)), n_labels, threads)

    def written(self, labels: list[list[str]]) -> list[list[str]]:
        """Return the labels as they are: they are learned as they are written."""
        return labels

    def trace(self, sentence: Sequence[str]) -> FunctionTrace:
        """Return how a sentence is labeled, feature by feature."""
        return FunctionTrace(self, sentence)

    def run(
        self, tokens: Sequence[str], kept: Keep = None, record: dict[int, Features] | None = None
    ) -> tuple[list[str], Floats]:
        """Return the labels of a sentence and all scores, which are 0 at constrained tokens."""
        sentence = tokens if isinstance(tokens, Sentence) else Sentence(tokens)
        model, history = self.model, list[str]()
        scores = np.zeros((len(sentence), len(model.tags)))
        for i in reading_order(len(sentence), model.right_to_left):
            word = sentence.words[i]
            allowed = self._allowed.get(word) or self._allowed.get(lower_cased(word))
            label = None if kept is None else kept[i]
            if label is None and not allowed:
                label = model.dictionary.get(word)
            if label is None:
                keys, values = extract(self.function, sentence, i, history, record)
                scores[i] = self.decoder.score(keys, values)
                best = (
                    int(np.argmax(scores[i]))
                    if not allowed
                    else max(sorted(allowed), key=scores[i].__getitem__)
                )
                label = model.tags.label_of(best)
            history.append(label)
        return history[::-1] if model.right_to_left else history, scores / model.weights.scale


class FunctionTrace:
    """Forward trace of a model with a feature function; see ForwardTrace."""

    def __init__(self, labeller: FunctionLabeller, tokens: Sequence[str]) -> None:
        self.model = labeller.model
        self.first: ForwardTrace | None = None
        self._labeller = labeller
        self._sentence = tokens if isinstance(tokens, Sentence) else Sentence(tokens)
        self._found: dict[int, Features] = {}
        labels, self.scores = labeller.run(self._sentence, record=self._found)
        self.numbers = [self.model.tags.id_of(label) for label in labels]

    def compared(self, ours: Sequence[int], theirs: Sequence[int]) -> ComparedFeatures:
        """Return the features with their weights for two labels a token."""
        return _FunctionFeatures(self, ours, theirs)

    def after(self, i: int, given: Sequence[int]) -> Floats:
        """Return the scores of all labels at token i after those given so far."""
        history = [self.model.tags.label_of(number) for number in given]
        return self._score(*extract(self._labeller.function, self._sentence, i, history))

    def weighted(self, i: int) -> list[tuple[str, float, Floats]]:
        """Return the features of a token: name, value, and the weights for all labels."""
        if i not in self._found:
            return []
        found = self._found[i]
        keys, values = extract(lambda *_: found, self._sentence, i, [])
        numbers = [1.0] * len(keys) if values is None else values.tolist()
        return [
            (name, value, self._score(keys[k : k + 1]))
            for k, (name, value) in enumerate(zip(found, numbers, strict=True))
        ]

    def _score(self, keys: npt.NDArray[np.uint64], values: Floats | None = None) -> Floats:
        return self._labeller.decoder.score(keys, values) / self.model.weights.scale


@dataclass(frozen=True, slots=True, eq=False)
class _FunctionFeatures:
    trace: FunctionTrace
    ours: Sequence[int]
    theirs: Sequence[int]

    def features(self, i: int, top: int | None) -> list[WeighedFeature]:
        found = self._all(i)
        found.sort(key=lambda feature: -abs(feature.margin))
        return found[:top]

    def count(self, i: int) -> int:
        return len(self._all(i))

    def _all(self, i: int) -> list[WeighedFeature]:
        our, their = self.ours[i], self.theirs[i]
        return [
            WeighedFeature(
                "", name, value, float(weights[our]), 0.0 if their < 0 else float(weights[their])
            )
            for name, value, weights in self.trace.weighted(i)
            if weights.any()
        ]
