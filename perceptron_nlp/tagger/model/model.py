"""A trained tagger as data, apart from any way of running it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.features.templates import Template, columns_of
from perceptron_nlp.tagger.model.derived import Derived, FirstPass
from perceptron_nlp.tagger.model.label_components import AGREEING, JOINT, written_labels
from perceptron_nlp.tagger.model.weights import QuantizedWeights, checked_object
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import TagSet, is_in, word_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.model.agreement import Agreement
    from perceptron_nlp.tagger.model.calibration import Calibration
    from perceptron_nlp.tagger.model.context import DocumentContext
    from perceptron_nlp.tagger.model.feature_function import Extractor, FeatureFunction
    from perceptron_nlp.tagger.model.lemmas import KnownLemmas
    from perceptron_nlp.tagger.model.settled import Settled
    from perceptron_nlp.tagger.model.state import TrainingState
    from perceptron_nlp.tagger.model.word_tables import WordTables
    from perceptron_nlp.text.tagset import Patterns, Words

_COUNTS: dict[str, Any] = {"sentences": int, "tokens": int, "labeled": int, "sha256": str}
# The parts of a training record that this library reads again, and their types: a list of one type,
# or an object with these among others; what is no list may be null. Those with ? may be missing.
_RECORD: dict[str, Any] = {
    "version": str,
    "train": _COUNTS,
    "dev": _COUNTS,
    "options": {"runs?": int},
    "choices": [str],
    "warnings": [str],
    "epochs": [{"epoch": int, "mistakes": int, "dev_accuracy": float}],
    "fields": [str],
    "best_epoch": int,
    "calibration": {"method": str, "why?": str, "words?": int, "ece?": float},
    "compressed": {"bytes_before": int, "rows_before": int, "steps": int, "scores": [float]},
}
_RECORD["merged"] = [{"weight": float, "sha256": str, "record": _RECORD}]
_NEVER_NULL = ("record.options", "record.merged.record")


def of_key(derived: Iterable[Derived], key: str) -> Any:
    """Return the derived columns of a key; None if there are none."""
    return next((one for one in derived if one.key == key), None)


MOST_VECTORS = 64
"""Labels of a model that sums vectors of all scores as it tags; the core's DENSE_LABELS."""
TEXT = "text"
"""The column of a model that only cuts text: it is the tagger of atoms itself."""
NO_TAGS = "this model has no tags: it only cuts running text (tag, evaluate --from-text)"


class Whole(NamedTuple):
    """What a model of several columns has once: it belongs to the model of the first column.

    more : the models of the columns that are filled after the first one, each without more
    packed : how they are written: 0 as they are, 1 packed, 2 in as few bytes as can be
    segmentation : None, or what cuts running text
    agreement : None, or the combinations of labels that columns may have
    """

    more: tuple[TaggerModel, ...] = ()
    packed: int = 0
    segmentation: Segmentation | None = None
    agreement: Agreement | None = None


class TaggerModel(NamedTuple):
    """A trained model; model/file.py writes and reads it.

    Attributes
    ----------
    column : the column that it fills
    tags : its labels
    templates : its feature templates
    weights : its weights
    right_to_left : it labels sentences from their end
    beam : width of its beam search; 1 labels greedily
    scheme : None, or how its labels are written: spans are learned in IOBES, features as joint
        labels
    parts : None, or a mode of label_components.py: its weights belong to components of labels
    dictionary : the tag dictionary: tokens that always get one label
    vocabulary : uint32[n], ascending; the upper halves of the hashes of all training words; of a
        file a memoryview
    record : how it was trained: options, counts and digests of the data, scores by epoch
    derived : columns that it makes of a text, in the order in which they are made (derived.py); a
        first tagger has none, and sees those of the model that it belongs to
    calibration : None, or what turns its scores into confidences; a first tagger has none
    state : None, or what its training needs to go on
    settled : None, or what settles labels by words and the labels of columns before
    whole : what there is once for all columns, of the model of the first one
    """

    column: str
    tags: TagSet
    templates: tuple[Template, ...]
    weights: QuantizedWeights
    right_to_left: bool
    beam: int
    scheme: str | None
    parts: str | None
    dictionary: Mapping[str, str]
    vocabulary: npt.NDArray[np.uint32] | memoryview
    record: Mapping[str, Any]
    derived: tuple[Derived, ...] = ()
    calibration: Calibration | None = None
    state: TrainingState | None = None
    settled: Settled | None = None
    whole: Whole = Whole()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are filled, in their order; none if the model only cuts text."""
        return () if self.column == TEXT else (self.column, *(model.column for model in self.more))

    @property
    def parts_by_column(self) -> tuple[TaggerModel, ...]:
        """A model for each column alone, in their order."""
        return (self.replace(more=()), *self.more)

    @property
    def more(self) -> tuple[TaggerModel, ...]:
        """The models of the columns that are filled after this one, each without more."""
        return self.whole.more

    @property
    def packed(self) -> int:
        """How it is written: see Whole."""
        return self.whole.packed

    @property
    def segmentation(self) -> Segmentation | None:
        """What cuts running text for it, if anything does."""
        found = self.whole.segmentation
        if found is None or self.column != TEXT:
            return found
        return found._replace(cut=self._replace(column=found.cut.column, whole=Whole()))

    @property
    def agreement(self) -> Agreement | None:
        """The combinations of labels that columns may have, those that the model fills; or None."""
        return self.whole.agreement

    @property
    def first(self) -> TaggerModel | None:
        """The first tagger of a stack of two, whose labels this one sees as columns; or None."""
        found: FirstPass | None = of_key(self.derived, "first")
        return None if found is None else found.model

    @property
    def tables(self) -> WordTables | None:
        """Word tables for further columns, or None."""
        found: WordTables | None = of_key(self.derived, "tables")
        return found

    @property
    def window(self) -> int | None:
        """The sentences on either side of which the document context consists, or None."""
        found: DocumentContext | None = of_key(self.derived, "window")
        return None if found is None else found.window

    @property
    def lemmas(self) -> KnownLemmas | None:
        """Of a model whose labels are edit scripts, the lemmas that it knows; else None."""
        found: KnownLemmas | None = of_key(self.derived, "lemmas")
        return found

    @property
    def function(self) -> FeatureFunction | None:
        """The function that makes a column of features, or None."""
        found: FeatureFunction | None = of_key(self.derived, "extractor")
        return found

    def replace(self, **changes: Any) -> TaggerModel:
        """Return the same model with some fields changed, its own or those of the whole."""
        of_all = {name: changes.pop(name) for name in Whole._fields if name in changes}
        if of_all:
            changes["whole"] = self.whole._replace(**of_all)
        return self._replace(**changes)

    def deriving(self, *new: Derived) -> TaggerModel:
        """Return the same model with other derived columns of these kinds, which it has."""
        by_key = {one.key: one for one in new}
        return self.replace(derived=tuple(by_key.get(old.key, old) for old in self.derived))

    def with_function(self, function: Extractor | None) -> TaggerModel:
        """Return the model with its feature function; without one, it must need none.

        Raises ArgumentError if no column looks at a function, ArgumentTypeError if it is none, and
        ModelError if a column needs one and there is none.
        """
        parts = self.parts_by_column
        if function is None and all(part.function is None for part in parts):
            return self
        # Here, since few models have one.
        from perceptron_nlp.tagger.model.feature_function import FeatureFunction

        made = None if function is None else FeatureFunction.of(function)
        if made is not None and all(part.function is None for part in parts):
            raise ArgumentError(
                "features: this model was trained with templates and takes no function"
            )
        found = []
        for part in parts:
            if part.function is not None:
                own = FeatureFunction(part.function.name, None if made is None else made.call)
                part = part.deriving(own.checked())
            found.append(part)
        return found[0].replace(more=tuple(found[1:]))

    def with_known_lemmas(self, entries: Sequence[tuple[str, str]]) -> TaggerModel:
        """Return the model with further lemmas that it knows: (lemma, part of speech) pairs.

        Then no lemma is settled by what training counted.
        """
        more = tuple(model.with_known_lemmas(entries) for model in self.more)
        if self.lemmas is None:
            return self.replace(more=more)
        return self.deriving(self.lemmas.with_lexicon(entries)).replace(more=more, settled=None)

    @property
    def written_labels(self) -> frozenset[str]:
        """All labels that its column can be given, as written there; of lemmas, none are listed."""
        return frozenset() if self.lemmas is not None else written_labels(self.tags, self.scheme)

    @property
    def can_agree(self) -> bool:
        """True if the labels of its column may be held to those of others."""
        of_two = (JOINT, AGREEING[-1])
        return self.column in AGREEING and (
            self.scheme is None or (self.scheme, self.column) == of_two
        )

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Columns of the input that it needs in addition to the words, in alphabetical order."""
        needed = frozenset(self.template_columns)
        for derived in reversed(self.derived):
            needed = derived.needs(needed)
        return tuple(sorted(needed))

    @property
    def template_columns(self) -> tuple[str, ...]:
        """Columns that its templates look at, in alphabetical order."""
        return columns_of(self.templates)

    def inputs(self, sentences: Sequence[Sentence]) -> list[Sequence[str]]:
        """Sentences as its labeler takes them: plain lists of words where no more is needed."""
        if self.feature_columns or any(one.looks_around for one in self.derived):
            return list(sentences)
        # Text in numbers, as training reads it, has its words without making sentences.
        words: Any = getattr(sentences, "values", None)
        return words("form") if words else [sentence.words for sentence in sentences]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns of the files that it was trained on; empty if they had none."""
        merged = self.record.get("merged") or [{"record": self.record}]
        return tuple(merged[0]["record"].get("fields") or ())

    def with_fields(self, fields: Sequence[str] | None) -> TaggerModel:
        """The same model with these names of columns in its record; itself if there are none."""
        if not fields:
            return self
        record = {**self.record, "fields": list(fields)}
        return self.replace(
            record=record, more=tuple(part.with_fields(fields) for part in self.more)
        )

    def agreeing(
        self, labels: Mapping[str, Iterable[str | None]], upos_weight: float = 1.0
    ) -> TaggerModel:
        """The same model, whose columns agree as in a text and as they did before.

        Parameters
        ----------
        labels : by column, those of the text's tokens; columns of spans do not take part, and
            none does where the table of combinations would be endless
        upos_weight : what scores of parts of speech are multiplied by, at least
        """
        able = {part.column: part for part in self.parts_by_column if part.can_agree}
        if len(able) < 2:
            return self
        # Here, since most models have one column.
        from perceptron_nlp.tagger.model.agreement import Agreement

        own = {name: given for name, given in labels.items() if name in able}
        found = Agreement.of(own, upos_weight)
        if found is not None and self.agreement is not None:
            found = found.united(self.agreement)
        if found is None or not found.is_small(able):
            return self
        return self.replace(agreement=found)

    def without_state(self) -> TaggerModel:
        """The same model without what its training needs to go on; itself if there is nothing."""
        if all(part.state is None for part in (self, *self.more)):
            return self
        return self.replace(state=None, more=tuple(part.without_state() for part in self.more))

    def knows(self, word: str) -> bool:
        """Tell if the word was in the training text (wrongly yes for one word in 100,000)."""
        return is_in(self.vocabulary, word)

    def known(self, words: Sequence[str]) -> list[bool]:
        """For each word what `knows` says of it."""
        import numpy as np

        if not len(self.vocabulary):
            return [False] * len(words)
        halves = np.array([word_hash(word) >> 32 for word in words], np.uint32)
        vocabulary = np.asarray(self.vocabulary)
        at = np.searchsorted(vocabulary, halves).clip(max=len(vocabulary) - 1)
        found: list[bool] = (vocabulary[at] == halves).tolist()
        return found


def can_lead(model: TaggerModel) -> bool:
    """Tell if the labels of other columns may be settled by those of this one: how surely it gives
    them is seen as it tags."""
    return model.parts is None and len(model.tags) <= MOST_VECTORS


class Segmentation(NamedTuple):
    """Segmentation of running text into sentences, tokens and words, learned from a treebank.

    cut : a tagger of atoms (atoms.py), with the column ``gap``: where tokens and sentences end
    certain : by places (train/labeled_atoms.py) at which no other label was ever met, that label
    words : words, and endings of words, beside which no other label was ever met
    splits : None, or a tagger of tokens whose labels make words of them (text/scripts.py)
    patterns : how training treated addresses, numbers and the like (text/tagset.py)
    small : words by how often training has them in small letters (train/labeled_atoms.py); none if
        the tagger of atoms has no column SMALL
    lead : None, or the lead in scores of one label, by what the nearest atoms say, with which a
        place is asked nothing else
    single : classes of letters of which each is an atom: see text/atoms.py
    entries : words that may match about a place, for the column ``matches``, if `cut` has it
    stems : what the column STEMS of `splits` is made of, if that has it (scripts.stems_of)
    abbreviations : words before a full stop, without it, in addition to what `cut` knows
    parted : full stops are cut off abbreviations; else they belong to them
    uncapitalized : training has text without capitals, which is cut as it is written; else words
        that may begin a sentence there are seen with one
    wrapped : line breaks are white space, as text is that is broken to fit a width
    """

    cut: TaggerModel
    certain: Mapping[str, str]
    words: Words
    splits: TaggerModel | None
    patterns: Patterns
    small: Mapping[str, Sequence[str]]
    lead: float | None = None
    single: str = ""
    entries: Sequence[str] = ()
    stems: Mapping[str, int] = {}
    abbreviations: Sequence[str] = ()
    parted: bool = False
    uncapitalized: bool = False
    wrapped: bool = False


def joined(models: Sequence[TaggerModel]) -> TaggerModel:
    """One model that fills the columns of all of these; they have one each, or only cut text."""
    names = [model.column for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"column: {quote(name)} is named twice")
    if TEXT in names and len(names) > 1:
        rest = [model for model in models if model.column != TEXT]
        return joined(rest).replace(segmentation=models[names.index(TEXT)].segmentation)
    return models[0].replace(more=tuple(models[1:]))


def checked_record(value: Any) -> dict[str, Any]:
    """The training record itself; ValueError where a part of it is missing or of another type.

    A record may have any of its parts; a part that is there has all of its own, which may be null.
    """
    _check_form(value, _RECORD, "record")
    return checked_object(value, "record")


def _check_form(value: Any, form: Any, name: str) -> None:
    if value is None and not isinstance(form, list) and name not in _NEVER_NULL:
        return
    if isinstance(form, dict):
        own = checked_object(value, name)
        for key, part in form.items():
            known = key.removesuffix("?")
            if known in own:
                _check_form(own[known], part, f"{name}.{known}")
            elif form is not _RECORD and known == key:
                raise ValueError(f"{name} has no {known}")
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise ValueError(f"{name} is not a JSON list")
        for one in value:
            own = checked_object(one, name) if isinstance(form[0], dict) else one
            _check_form(own, form[0], name)
    elif not isinstance(value, int | float if form is float else form) or isinstance(value, bool):
        raise ValueError(f"{name} is not of type {form.__name__}")
