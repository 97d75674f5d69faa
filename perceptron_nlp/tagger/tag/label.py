"""Labeling with a model: its form in the core, and the labeler that suits it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from perceptron_nlp._core.features.extract import hash64_each
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp._core.tag.decode import NOTHING_MET, SentenceDecoder
from perceptron_nlp.errors import ArgumentError, MemoryLimitError, ModelError
from perceptron_nlp.features.templates import program_of
from perceptron_nlp.tagger.model.derived import Around, EarlierColumns, Labels, Sentences
from perceptron_nlp.tagger.model.label_components import JOINT, features_of, parts_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import SCHEMES, word_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.tag.constraints import Constraints, Keep, Lexicon
    from perceptron_nlp.tagger.tag.forward_trace import ForwardTrace
    from perceptron_nlp.tagger.tag.lemmatize import Item, Lemmatizer
    from perceptron_nlp.tagger.tag.sentence_features import ModelFeatures
    from perceptron_nlp.tagger.tag.threads import T, Use

Labeled = tuple[list[list[str]], Any]
"""The labels of sentences, and the confidences in them or None."""


class Labeler:
    """A model ready to label; several threads may use it at once.

    model : what was trained, with its feature function if it has one
    memory : what its caches may take together with others; None for the default
    lexicon : the labels that some forms may have, or None
    earlier : by column, what labels the columns of the same tagger that the model looks at

    model, lexicon : the same
    earlier : the names of the columns that it labels before
    decoder : the core's form of the model
    words_alone : each label stands for itself and comes from the words of its sentence
    """

    def __init__(
        self,
        model: TaggerModel,
        memory: CacheMemory | None = None,
        lexicon: Lexicon | None = None,
        earlier: Mapping[str, Labeler] = MappingProxyType({}),
    ) -> None:
        self._earlier = EarlierColumns(earlier)
        self.earlier = tuple(earlier)
        self.decoder = decoder_of(model, memory, lexicon)
        self.model = model
        self.lexicon = lexicon
        self._looked_at = model.template_columns
        self._given = model.feature_columns
        self._around = Around(self._given, model.knows)
        self._has_fixed_words = bool(model.dictionary or lexicon)
        self._first = None if model.first is None else Labeler(model.first, self.decoder.memory)
        self.words_alone = not (self._looked_at or self._first or model.scheme in SCHEMES)

    def look_at_agreed(self, agreed: Callable[[Sentences, Around], Mapping[str, Labels]]) -> None:
        """Have earlier columns labeled together, so that they agree."""
        self._earlier = self._earlier._replace(agreed=agreed)

    def prepared(
        self,
        sentences: Sequence[Sequence[str]],
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        known: Mapping[str, list[list[str]]] = MappingProxyType({}),
    ) -> list[Sequence[str]]:
        """Return sentences of one text with what they show of each other, and earlier columns."""
        if not (self._earlier.labelers or self.model.derived):
            return list(sentences)
        around = self._around._replace(before=before, after=after, known=known)
        sentences = self._earlier.add(sentences, around)
        if self._given and self.model.derived:
            # Before columns are added that the caller has never heard of.
            for number, sentence in enumerate(sentences):
                self._check_columns(sentence, number)
        for derived in self.model.derived:
            if derived.looks_around:
                sentences = derived.add(sentences, around)
        return list(sentences)

    def label(
        self, sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None, threads: int = 1
    ) -> list[list[str]]:
        """Return the labels of prepared sentences; `keep` has those that they have already."""
        if self._lemmatizer is None:
            labels = self.written(self.learned_labels(sentences, keep, threads))
        else:
            for number, sentence in enumerate(sentences if self._given else ()):
                self._check_columns(sentence, number)
            labels = self._lemmatizer.lemmas(sentences, self.learned_labels, self._scores_of)
        if keep is None:
            return labels
        # Here, since most text has no labels yet.
        from perceptron_nlp.tagger.tag.constraints import with_kept

        return [with_kept(found, kept) for found, kept in zip(labels, keep, strict=True)]

    @property
    def gives_lemmas(self) -> bool:
        """True if its labels are edit scripts."""
        return self._lemmatizer is not None

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """Columns of its input that it looks at, in alphabetical order."""
        return self._given

    def lemmas_of(self, items: list[Item]) -> list[str]:
        """Return the lemmas of words with their tags; of a labeler that gives lemmas."""
        if self._lemmatizer is None:
            raise ArgumentError("items: this labeler gives no lemmas")
        return self._lemmatizer.lemmas_of(items, self.learned_labels, self._scores_of)

    def settled_lemmas(self, sentence: Sequence[str]) -> Iterator[tuple[int, str, float]]:
        """Yield the place of each word of a prepared sentence whose lemma is settled, the lemma,
        and how likely that is right; of a labeler that gives lemmas."""
        if self._lemmatizer is not None:
            yield from self._lemmatizer.settled_lemmas(sentence)

    def lemma_decoder(self, written: Sequence[Sequence[str]]) -> tuple[Any, ...] | None:
        """Return what the core's LemmaDecoder is made of; of a labeler that gives lemmas.

        Parameters
        ----------
        written : the labels, by number, of each of its `needed_columns`

        Returns
        -------
        None if it looks at more than a word and its tags
        """
        if self._lemmatizer is None or len(self.model.derived) > 1 or self._has_fixed_words:
            return None
        return self._lemmatizer.core_form(self.decoder, self._looked_at, written)

    def learned_labels(
        self,
        sentences: Sequence[Sequence[str]],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[list[str]]:
        """Return the labels as they are learned, before they are written in the column's way."""
        given = self._inputs(sentences, keep, threads)
        fixed = None if keep is None else self.constraints.sets_of(keep, map(len, sentences))
        if threads == 1:
            # Straight to the core: the street that most sentences take.
            found = self.decoder.tag(given, fixed)
        else:
            from perceptron_nlp.tagger.tag.threads import label_lists

            found = label_lists(self.decoder, given, fixed, threads)
        if keep is None:
            return cast("list[list[str]]", found)
        learned = self.constraints.learned
        return [
            [
                learned(str(kept and kept[i])) if label is None else label
                for i, label in enumerate(labels)
            ]
            for labels, kept in zip(found, keep, strict=True)
        ]

    def written(self, labels: list[list[str]]) -> list[list[str]]:
        """Return learned labels as the column writes them."""
        scheme = self.model.scheme
        if scheme is None:
            return labels
        if scheme == JOINT:
            return [list(map(features_of, found)) for found in labels]
        # Here and below, since most columns have no spans.
        from perceptron_nlp.text.spans import written

        return list(map(written, labels, itertools.repeat(scheme)))

    @property
    def written_labels(self) -> tuple[str, ...]:
        """The column's form of each label, by its number; of models of words alone."""
        labels = self.decoder.labels
        return tuple(map(features_of, labels)) if self.model.scheme == JOINT else labels

    def scored(
        self,
        sentences: list[Sequence[str]],
        use: Use[T],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
        settled: npt.NDArray[np.int32] | None = None,
        met_with: tuple[Any, Any] = NOTHING_MET,
    ) -> list[T]:
        """Label prepared sentences, and return what `use` makes of their scores, batch by batch.

        sentences, keep, threads : as for label; batches do not depend on the number of threads
        use : takes the range of the sentences of a batch, the numbers of their labels
            (int64[n_tokens]; n_labels for an unknown constrained one), and the scores of all labels
            (float64[n_tokens, n_labels]; undefined for tokens whose label is not chosen by score)
        settled, met_with : None, or int32[n_tokens], what labels are held to; see tag_scored
        """
        # Here, since labeling without scores does without.
        from perceptron_nlp.tagger.tag.threads import in_pieces

        given, lengths = self._inputs(sentences, keep, threads), [*map(len, sentences)]
        ends = [0, *itertools.accumulate(lengths)]

        def run(batch: range) -> T:
            at = slice(batch.start, batch.stop)
            fixed = None if keep is None else self.constraints.sets_of(keep[at], lengths[at])
            own = None if settled is None else settled[ends[batch.start] : ends[batch.stop]]
            numbers, scores = self.decoder.tag_scored(given[at], fixed, own, met_with)
            return use(batch, numbers.astype("int64"), scores / self.model.weights.scale)

        return in_pieces(run, lengths, len(self.model.tags), threads)

    def scores(self, sentence: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return float64[n_tokens, n_labels], the scores of all labels at each token."""
        return self._scores_of(self.prepared([sentence])[0])

    def _scores_of(self, prepared: Sequence[str]) -> npt.NDArray[np.float64]:
        if self._has_fixed_words:
            # Tokens of one possible label are not, or only in part, scored when they are tagged.
            return self.trace(prepared).scores
        numbers_and_scores = self.decoder.tag_scored([self._inputs([prepared])[0]])
        scores: npt.NDArray[np.float64] = numbers_and_scores[1] / self.model.weights.scale
        return scores

    def trace(self, sentence: Sequence[str]) -> ForwardTrace:
        """Return how a prepared sentence is labeled, feature by feature."""
        from perceptron_nlp.tagger.tag.forward_trace import ForwardTrace

        firsts: list[ForwardTrace] = []

        def first_labels(sentences: Sentences) -> Labels:
            assert self._first is not None
            firsts.append(self._first.trace(sentences[0]))
            model = firsts[0].model
            return [[model.tags.label_of(number) for number in firsts[0].numbers]]

        sentence = self._with_derived([sentence], first_labels)[0]
        words = sentence.words if isinstance(sentence, Sentence) else sentence
        columns = self._columns(sentence, 0) if self._looked_at else (words,)
        numbers = self.decoder.tag_scored([columns] if self._looked_at else [words])[0]
        seen = ([*map(self.decoder.seen_as, columns[0])], *columns[1:])
        return ForwardTrace(
            self._features,
            dict(zip(("form", *self._looked_at), seen, strict=True)),
            numbers.tolist(),
            firsts[0] if firsts else None,
        )

    @functools.cached_property
    def _features(self) -> ModelFeatures:
        # Here, since tagging does without what explains.
        from perceptron_nlp.tagger.tag.sentence_features import ModelFeatures

        return ModelFeatures(self.model)

    @functools.cached_property
    def _lemmatizer(self) -> Lemmatizer | None:
        model = self.model
        if model.lemmas is None:
            return None
        # Here, since columns of tags do without.
        from perceptron_nlp.tagger.tag.lemmatize import Lemmatizer

        memory = self.decoder.memory
        return Lemmatizer(self._given, model.tags, model.lemmas, memory, model.settled)

    @functools.cached_property
    def constraints(self) -> Constraints:
        """Labels that are kept, in terms of those that it learned."""
        from perceptron_nlp.tagger.tag.constraints import Constraints

        return Constraints(self.model.tags, self.model.scheme)

    def _inputs(
        self,
        sentences: Sequence[Sequence[str]],
        keep: Sequence[Keep] | None = None,
        threads: int = 1,
    ) -> list[Any]:
        """Return the sentences with the columns that the templates look at."""

        def first_labels(given: Sentences) -> Labels:
            assert self._first is not None
            return self._first.learned_labels(given, keep, threads)

        if self.model.derived:
            sentences = self._with_derived(sentences, first_labels)
        if self._looked_at:
            return [self._columns(sentence, i) for i, sentence in enumerate(sentences)]
        return list(sentences)

    def _with_derived(
        self, sentences: Sentences, first_labels: Callable[[Sentences], Labels]
    ) -> Sentences:
        """Return prepared sentences with the derived columns that they do not have yet."""
        for derived in self.model.derived:
            if not derived.looks_around:
                sentences = derived.add(sentences, self._around._replace(label=first_labels))
        return sentences

    def _columns(self, sentence: Sequence[str], number: int) -> tuple[Sequence[str], ...]:
        checked = self._check_columns(sentence, number)
        return (checked.words, *(checked.column(name) for name in self._looked_at))

    def _check_columns(self, sentence: Sequence[str], number: int) -> Sentence:
        if not isinstance(sentence, Sentence):
            raise ArgumentError(
                f"sentences[{number}]: this model looks at the columns"
                f" {', '.join(self._given)} in addition to the words; pass Sentence objects with"
                " them"
            )
        for name in self._given:
            sentence.column(name)
        return sentence


def make_labeler(
    model: TaggerModel,
    memory: CacheMemory | None = None,
    lexicon: Lexicon | None = None,
    earlier: Mapping[str, Labeler] = MappingProxyType({}),
) -> Labeler:
    """Return the labeler that suits a model; `earlier` is as for Labeler.

    Raises ModelError if the model needs a feature function, or its parts do not fit together;
    MemoryLimitError if there is not enough memory for it; ArgumentError if the lexicon does not fit
    the model's labels; FormatError for the same of a lexicon from a file (file:line).
    """
    if lexicon is not None:
        _allowed(lexicon, model)
    if model.function is not None:
        model.function.checked()
    try:
        return Labeler(model, memory, lexicon, earlier)
    except ArgumentError as error:
        raise ModelError(f"the model's parts do not fit together: {error}") from None
    except MemoryLimitError:
        raise
    except MemoryError:
        raise MemoryLimitError(
            "there is not enough memory to make the model ready to tag"
        ) from None


def _allowed(lexicon: Lexicon, model: TaggerModel) -> dict[str, list[int]]:
    # Here, since few taggers have one.
    from perceptron_nlp.tagger.tag.constraints import allowed_by

    return allowed_by(lexicon, model)


def decoder_of(
    model: TaggerModel, memory: CacheMemory | None = None, lexicon: Lexicon | None = None
) -> SentenceDecoder:
    """Return the core's form of a model, and of a lexicon that constrains it."""
    weights = model.weights
    allowed = {} if lexicon is None else _allowed(lexicon, model)
    steps = None
    if model.scheme in SCHEMES:
        from perceptron_nlp.text.spans import legal_steps

        steps = legal_steps(model.tags, model.right_to_left)
    decoder = SentenceDecoder(
        program_of(model.templates),
        keys=weights.buffers["keys"],
        starts=weights.buffers["starts"],
        group_starts=weights.buffers["group_starts"],
        cell_labels=weights.buffers["labels"],
        weights=weights.buffers["weights"],
        labels=model.tags.labels,
        label_hashes=hash64_each([*map(word_bytes, model.tags)]),
        table_bits=weights.table_bits,
        right_to_left=model.right_to_left,
        beam=model.beam,
        allowed=steps,
        parts=None if model.parts is None else parts_of(model.tags.labels, model.parts),
        dictionary={word_bytes(w): model.tags.id_of(t) for w, t in model.dictionary.items()},
        lexicon={word_bytes(form): labels for form, labels in allowed.items()},
        memory=memory,
        as_written=model.lemmas is not None,
    )
    weights.let_go()
    return decoder
