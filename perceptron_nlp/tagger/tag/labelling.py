"""What every labeller does, and what each is made of: the core's form of a model and a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.frozenmodel import DEFAULT_CACHE_LIMIT
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.compile import compile_templates
from perceptron_nlp.tagger.model.attributes import JOINT, features_of, parts_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.fill import Fill
from perceptron_nlp.tagger.tag.keeping import Keep
from perceptron_nlp.tagger.tag.latearrays import held_in
from perceptron_nlp.tagger.tag.lexicon import Lexicon
from perceptron_nlp.tagger.tag.wordbytes import word_bytes, word_hash
from perceptron_nlp.text.spans import SCHEMES, legal_steps

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.explain.reading import Reading
    from perceptron_nlp.tagger.tag.buffers import Words

NOT_WORDS_ALONE = (
    "data: this model looks at more than the words of a sentence (other columns,"
    " a lexicon, clusters), or its labels hang together; use tag_sents"
)

T = TypeVar("T")
Use: TypeAlias = "Callable[[range, npt.NDArray[np.int64], npt.NDArray[np.float64]], T]"


class Labeller(Protocol):
    """A model ready to label sentences; may be used by several threads at once."""

    def prepared(
        self,
        sentences: Sequence[Sequence[str]],
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
    ) -> list[Sequence[str]]:
        """Sentences of one text with what they show of each other; before the text is cut up."""

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """One list of labels a sentence; `keep` is for each the labels that it has already.

        The sentences are prepared.
        """

    def label_buffers(
        self, words: Words, threads: int = 1
    ) -> tuple[npt.NDArray[np.uint16], tuple[str, ...]]:
        """The number of each word's label, and the labels in the order of these numbers."""

    def scores(self, sentence: Sequence[str]) -> npt.NDArray[np.float64]:
        """float64[n_words, n_labels]: what each label scored when its word was labelled."""

    def scored(
        self,
        sentences: list[Sequence[str]],
        use: Use[T],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[T]:
        """Label sentences, prepared as for `label`, and look at the scores.

        What comes back is what `use` made of the sentences piece by piece: of a range of them, the
        numbers of their words' labels (int64[n_words]; n_labels for a kept one that is not known)
        and what all labels scored (float64[n_words, n_labels]; nothing that means something for
        words whose label was not chosen by score). Where the pieces end does not depend on
        the number of threads.
        """

    def written(self, labels: list[list[str]]) -> list[list[str]]:
        """Labels of sentences, from the form that they are learnt in to that of the column."""

    def read(self, sentence: Sequence[str]) -> Reading:
        """How a prepared sentence is labelled, feature by feature."""

    def filler(self, corpus: Corpus, column: str) -> Fill | None:
        """What fills a column of this text in as bytes, or None: see filling.filler."""


def decoder_of(
    model: TaggerModel, cache_limit: int | None = None, lexicon: Lexicon | None = None
) -> SentenceDecoder:
    """The core's form of a model, and of a lexicon that goes before it."""
    compiled = compile_templates(model.templates)
    weights = model.weights
    return SentenceDecoder(
        FeatureProgram(compiled),
        keys=held_in(weights, "keys"),
        starts=held_in(weights, "starts"),
        group_starts=held_in(weights, "group_starts"),
        cell_labels=held_in(weights, "labels"),
        weights=held_in(weights, "weights"),
        labels=model.tags.labels,
        label_hashes=[word_hash(label) for label in model.tags],
        table_bits=weights.table_bits,
        right_to_left=model.right_to_left,
        beam=model.beam,
        allowed=legal_steps(model.tags, model.right_to_left) if model.scheme in SCHEMES else None,
        parts=None if model.parts is None else parts_of(model.tags.labels, model.parts),
        dictionary={word_bytes(w): model.tags.id_of(t) for w, t in model.dictionary.items()},
        lexicon={word_bytes(form): labels for form, labels in allowed_by(lexicon, model).items()},
        cache_limit=DEFAULT_CACHE_LIMIT if cache_limit is None else cache_limit,
    )


def allowed_by(lexicon: Lexicon | None, model: TaggerModel) -> dict[str, list[int]]:
    """The numbers of the labels that a lexicon leaves to its forms.

    Raises
    ------
    ArgumentError : the labels are of spans, or the model has no such label
    FormatError : the model has no such label, and the lexicon is from a file (file:line)
    """
    if lexicon is None:
        return {}
    if model.scheme in SCHEMES:
        raise ArgumentError(
            "lexicon: this model labels spans, whose labels hang together from"
            " word to word; a lexicon can leave single words some labels only"
            " where each stands for itself"
        )
    joint = model.scheme == JOINT
    return lexicon.numbers([features_of(label) if joint else label for label in model.tags])
