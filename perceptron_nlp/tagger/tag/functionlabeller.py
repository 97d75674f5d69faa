"""Labelling with a model whose features come from a Python function."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.extractor import Extractor, extract, reading_order
from perceptron_nlp.tagger.tag.fill import Fill
from perceptron_nlp.tagger.tag.keeping import Keep
from perceptron_nlp.tagger.tag.labelling import NOT_WORDS_ALONE, T, Use, allowed_by, decoder_of
from perceptron_nlp.tagger.tag.lexicon import Lexicon, lower_cased
from perceptron_nlp.tagger.tag.threads import in_pieces, label_in_chunks
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.explain.reading import Reading
    from perceptron_nlp.tagger.tag.buffers import Words


class FunctionLabeller:
    """Labels with a person's own feature function.

    Parameters
    ----------
    model : a model with an extractor
    function : the function
    lexicon : what labels some forms may have, or None
    """

    def __init__(
        self, model: TaggerModel, function: Extractor, lexicon: Lexicon | None = None
    ) -> None:
        self._decoder = decoder_of(model)
        self._model = model
        self._allowed = allowed_by(lexicon, model)
        self._function = function

    def prepared(
        self,
        sentences: Sequence[Sequence[str]],
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
    ) -> list[Sequence[str]]:
        """The sentences as they are: a function sees one at a time."""
        return list(sentences)

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """See Labeller."""
        return label_in_chunks(self._label, sentences, keep, threads)

    def label_buffers(
        self, words: Words, threads: int = 1
    ) -> tuple[npt.NDArray[np.uint16], tuple[str, ...]]:
        """Always raises: a function needs to see the sentences."""
        raise ArgumentError(NOT_WORDS_ALONE)

    def _label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None
    ) -> list[list[str]]:
        return [
            self._run(sentence, kept)[0]
            for sentence, kept in zip(
                sentences, keep or itertools.repeat(None, len(sentences)), strict=True
            )
        ]

    def scores(self, sentence: Sequence[str]) -> npt.NDArray[np.float64]:
        """See Labeller."""
        return self._run(sentence)[1]

    def scored(
        self,
        sentences: list[Sequence[str]],
        use: Use[T],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[T]:
        """See Labeller."""
        n_labels = len(self._model.tags)
        numbers = {label: number for number, label in enumerate(self._model.tags)}

        def run(piece: range) -> T:
            found = [self._run(sentences[k], None if keep is None else keep[k]) for k in piece]
            labels = [numbers.get(label, n_labels) for given, _ in found for label in given]
            return use(
                piece, np.array(labels, np.int64), np.concatenate([scores for _, scores in found])
            )

        return in_pieces(run, list(map(len, sentences)), n_labels, threads)

    def written(self, labels: list[list[str]]) -> list[list[str]]:
        """The labels as they are: they are learnt so."""
        return labels

    def read(self, sentence: Sequence[str]) -> Reading:
        """See Labeller."""
        # What explains is not needed to tag.
        from perceptron_nlp.tagger.explain.reading import FunctionReading, Recorder

        function = Recorder(self._function)
        labels, scores = self._run(sentence, function=function)
        numbers = [self._model.tags.id_of(label) for label in labels]
        known = sentence if isinstance(sentence, Sentence) else Sentence(sentence)
        return FunctionReading(
            self._model, self._decoder, self._function, known, numbers, scores, function.found
        )

    def filler(self, corpus: Corpus, column: str) -> Fill | None:
        """None: a function needs to see the sentences."""
        return None

    def _run(
        self, tokens: Sequence[str], kept: Keep = None, function: Extractor | None = None
    ) -> tuple[list[str], npt.NDArray[np.float64]]:
        sentence = tokens if isinstance(tokens, Sentence) else Sentence(tokens)
        model, history = self._model, list[str]()
        scores = np.zeros((len(sentence), len(model.tags)))
        order = reading_order(len(sentence), model.right_to_left)
        for i in order:
            word = sentence.words[i]
            allowed = self._allowed.get(word) or self._allowed.get(lower_cased(word))
            label = None if kept is None else kept[i]
            if label is None and not allowed:
                label = model.dictionary.get(word)
            if label is None:
                keys, values = extract(function or self._function, sentence, i, history)
                scores[i] = self._decoder.score(keys, values)
                best = (
                    int(np.argmax(scores[i]))
                    if not allowed
                    else max(sorted(allowed), key=scores[i].__getitem__)
                )
                label = model.tags.label_of(best)
            history.append(label)
        return history[::-1] if model.right_to_left else history, scores / model.weights.scale
