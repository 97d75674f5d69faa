"""The labeller that suits a model; labelling with templates, in the core."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from perceptron_nlp.errors import ArgumentError, MemoryLimitError, ModelError
from perceptron_nlp.tagger.model.attributes import JOINT, features_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.context import with_first_labels, with_neighbours
from perceptron_nlp.tagger.tag.extractor import Extractor, extractor_name
from perceptron_nlp.tagger.tag.fill import Fill, filler
from perceptron_nlp.tagger.tag.keeping import Keep, Keeping, with_kept
from perceptron_nlp.tagger.tag.labelling import (
    NOT_WORDS_ALONE,
    Labeller,
    T,
    Use,
    allowed_by,
    decoder_of,
)
from perceptron_nlp.tagger.tag.lexicon import Lexicon
from perceptron_nlp.tagger.tag.threads import in_pieces, label_buffers, label_lists
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.spans import SCHEMES, written

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.features.readable import ReadableTemplates
    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.explain.reading import Reading
    from perceptron_nlp.tagger.tag.buffers import Words


class TemplateLabeller:
    """Labels with templates, in the core.

    Parameters
    ----------
    model : a model without extractor
    cache_limit : how many distinct words each thread remembers; None for the default
    lexicon : what labels some forms may have, or None
    """

    def __init__(
        self, model: TaggerModel, cache_limit: int | None = None, lexicon: Lexicon | None = None
    ) -> None:
        self._decoder = decoder_of(model, cache_limit, lexicon)
        self._evidence = model.looked_at
        self._given = model.evidence
        self._window = model.window
        self._knows = model.knows
        self._scale = model.weights.scale
        self._scheme = model.scheme
        self._tags = model.tags
        self._tables = model.tables
        self._model = model
        self._held = bool(model.dictionary or lexicon)
        self._first = None if model.first is None else TemplateLabeller(model.first, cache_limit)

    def prepared(
        self,
        sentences: Sequence[Sequence[str]],
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
    ) -> list[Sequence[str]]:
        """See Labeller."""
        if self._window is not None or self._tables is not None:
            # Before columns are added that nobody else has heard of.
            for number, sentence in enumerate(sentences if self._given else ()):
                self._check_columns(sentence, number)
        if self._window is None:
            return list(sentences)
        return list(
            with_neighbours(
                sentences, self._window, self._given, self._knows, before=before, after=after
            )
        )

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """See Labeller."""
        labels = self.written(self.label_inside(sentences, keep, threads))
        if keep is None:
            return labels
        return [with_kept(found, kept) for found, kept in zip(labels, keep, strict=True)]

    def written(self, labels: list[list[str]]) -> list[list[str]]:
        """See Labeller."""
        if self._scheme is None:
            return labels
        if self._scheme == JOINT:
            return [list(map(features_of, found)) for found in labels]
        return list(map(written, labels, itertools.repeat(self._scheme)))

    def label_inside(
        self,
        sentences: Sequence[Sequence[str]],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[list[str]]:
        """The labels as they are learnt, before they are written in the column's own way."""
        given = self._for_core(sentences, keep, threads)
        kept = None if keep is None else self._keeping.sets_of(keep, map(len, sentences))
        found = label_lists(self._decoder, given, kept, threads)
        if keep is None:
            return cast("list[list[str]]", found)
        inside = self._keeping.inside
        return [
            [
                inside(str(kept and kept[i])) if label is None else label
                for i, label in enumerate(labels)
            ]
            for labels, kept in zip(found, keep, strict=True)
        ]

    def _for_core(
        self, sentences: Sequence[Sequence[str]], keep: Sequence[Keep] | None, threads: int
    ) -> list[Any]:
        given: list[Any] = self._after_first(sentences, keep, threads)
        return [self._columns(s, i) for i, s in enumerate(given)] if self._evidence else given

    def scored(
        self,
        sentences: list[Sequence[str]],
        use: Use[T],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[T]:
        """See Labeller."""
        given, lengths = self._for_core(sentences, keep, threads), [*map(len, sentences)]

        def run(piece: range) -> T:
            at = slice(piece.start, piece.stop)
            kept = None if keep is None else self._keeping.sets_of(keep[at], lengths[at])
            numbers, scores = self._decoder.tag_scored(given[at], kept)
            return use(piece, numbers.astype("int64"), scores / self._scale)

        return in_pieces(run, lengths, len(self._tags), threads)

    @functools.cached_property
    def _readable(self) -> ReadableTemplates:
        # Here and below: what explains is not needed to tag.
        from perceptron_nlp.features.readable import ReadableTemplates

        return ReadableTemplates(self._model.templates)

    @functools.cached_property
    def _keeping(self) -> Keeping:
        return Keeping(self._tags, self._scheme)

    def _after_first(
        self,
        sentences: Sequence[Sequence[str]],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[Sequence[str]]:
        if self._tables is not None:
            sentences = [self._tables.added_to(sentence) for sentence in sentences]
        if self._first is None:
            return list(sentences)
        return [
            with_first_labels(sentence, labels)
            for sentence, labels in zip(
                sentences, self._first.label_inside(sentences, keep, threads), strict=True
            )
        ]

    def scores(self, sentence: Sequence[str]) -> npt.NDArray[np.float64]:
        """See Labeller."""
        if self._held:
            # Words of one label are not scored, or in part, when they are tagged.
            return self.read(self.prepared([sentence])[0]).scores
        sentence = self._after_first(self.prepared([sentence]))[0]
        given = self._columns(sentence, 0) if self._evidence else sentence
        scores: npt.NDArray[np.float64] = self._decoder.tag_with_scores(given)[1] / self._scale
        return scores

    def read(self, sentence: Sequence[str]) -> Reading:
        """See Labeller."""
        from perceptron_nlp.tagger.explain.reading import TemplateReading

        if self._tables is not None:
            sentence = self._tables.added_to(sentence)
        first = None if self._first is None else self._first.read(sentence)
        if first is not None:
            sentence = with_first_labels(
                sentence, [first.model.tags.label_of(n) for n in first.numbers]
            )
        words = sentence.words if isinstance(sentence, Sentence) else sentence
        columns = self._columns(sentence, 0) if self._evidence else (words,)
        numbers = self._decoder.tag_with_scores(columns if self._evidence else words)[0]
        return TemplateReading(
            self._model,
            self._decoder,
            self._readable,
            dict(zip(("form", *self._evidence), columns, strict=True)),
            numbers.tolist(),
            first,
        )

    def label_buffers(
        self, words: Words, threads: int = 1
    ) -> tuple[npt.NDArray[np.uint16], tuple[str, ...]]:
        """See Labeller."""
        if not self._words_alone:
            raise ArgumentError(NOT_WORDS_ALONE)
        return label_buffers(self._decoder, words, threads), self._written_labels

    def filler(self, corpus: Corpus, column: str) -> Fill | None:
        """See filling.filler."""
        if not self._words_alone:
            return None
        return filler(self._decoder, corpus, column, self._written_labels)

    @property
    def _words_alone(self) -> bool:
        """Does each label stand for itself, and come from the words of the sentence?"""
        return not (self._evidence or self._first or self._scheme in SCHEMES)

    @property
    def _written_labels(self) -> tuple[str, ...]:
        labels = self._decoder.labels
        return tuple(map(features_of, labels)) if self._scheme == JOINT else labels

    def _columns(self, sentence: Sequence[str], number: int) -> tuple[Sequence[str], ...]:
        checked = self._check_columns(sentence, number)
        return (checked.words, *(checked.column(name) for name in self._evidence))

    def _check_columns(self, sentence: Sequence[str], number: int) -> Sentence:
        if not isinstance(sentence, Sentence):
            raise ArgumentError(
                f"sentences[{number}]: this model looks at the columns"
                f" {', '.join(self._given)} besides the words; pass Sentence objects with them"
            )
        for name in self._given:
            sentence.column(name)
        return sentence


def make_labeller(
    model: TaggerModel,
    features: Extractor | None = None,
    cache_limit: int | None = None,
    lexicon: Lexicon | None = None,
) -> Labeller:
    """The labeller that suits a model.

    Raises
    ------
    ModelError : the model needs a feature function, or its parts do not fit together
    MemoryLimitError : there is not enough memory for it
    ArgumentError : a function is given to a model that has templates, or the lexicon does not
        fit the model's labels
    FormatError : the same of a lexicon from a file (file:line)
    """
    allowed_by(lexicon, model)
    if model.extractor is None:
        if features is not None:
            raise ArgumentError(
                "features: this model was trained with templates and takes no function"
            )
        try:
            return TemplateLabeller(model, cache_limit, lexicon)
        except ArgumentError as error:
            raise ModelError(f"the model's parts do not fit together: {error}") from None
        except MemoryLimitError:
            raise
        except MemoryError:
            raise MemoryLimitError(
                "there is not enough memory to make the model ready to tag"
            ) from None
    if features is None:
        raise ModelError(
            f"this model was trained with the feature function {model.extractor}; give it to"
            " load: pn.load(path, features=your_function)"
        )
    # Here, since few models have a function, and labelling with one takes NumPy.
    from perceptron_nlp.tagger.tag.functionlabeller import FunctionLabeller

    extractor_name(features)
    return FunctionLabeller(model, features, lexicon)
