"""A trained tagger as data, apart from any way of running it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp._core.features.hashing import hash64_each
from perceptron_nlp.errors import ArgumentError, ModelError, quote
from perceptron_nlp.features.templates import Template
from perceptron_nlp.records import record
from perceptron_nlp.tagger.model.label_components import written_labels
from perceptron_nlp.tagger.model.lemmas import KNOWN, KnownLemmas
from perceptron_nlp.tagger.model.weights import QuantisedWeights
from perceptron_nlp.tagger.tag.context import FIRST_COLUMNS, given_names
from perceptron_nlp.tagger.tag.latearrays import held_in, late_arrays
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import TagSet, word_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.confidence.calibration import Calibration
    from perceptron_nlp.tagger.model.state import TrainingState
    from perceptron_nlp.tagger.model.word_tables import WordTables


@late_arrays(vocabulary="uint32")
@record(eq=False, kw_only=True)
class TaggerModel:
    """A trained model; modelfile.py writes and reads it.

    Attributes
    ----------
    column : the column that it fills
    tags : its labels
    templates : its feature templates; empty where a function makes the features
    extractor : None, or the name of the function that made the features in training
    weights : its weights
    right_to_left : whether it reads sentences from their end
    beam : states kept in its search for the best sequence; 1 labels greedily
    scheme : None, or how its labels are written: spans are IOBES inside, features joint labels
    parts : None, or a mode of attributes.py: its weights belong to parts of labels
    dictionary : words that always get one label
    vocabulary : uint32[n], ascending; the upper halves of the hashes of all training words. A
        memoryview may be given, which is an array when it is looked at
    first : None, or the model of a first pass, whose labels this one sees as columns
    tables : None, or what its words are looked up in for further columns; a first pass has none,
        and sees those of the model that it belongs to
    calibration : None, or how its scores become chances; a first pass has none
    packed : whether it is written in packed form (of the first column; it holds for all)
    more : the models of the columns that are filled after this one, each without more
    window : None, or in how many sentences on either side it looks for other places of a word
        (documents.py)
    record : how it was trained: options, counts and digests of the data, scores by epoch
    state : None, or what its training needs to go on (resuming.py)
    lemmas : None, or, of a model whose labels are edit scripts, the lemmas that it knows
    segmentation : None, or what cuts running text for it (of the first column; it holds for all)
    """

    column: str
    tags: TagSet
    templates: tuple[Template, ...]
    extractor: str | None
    weights: QuantisedWeights
    right_to_left: bool
    beam: int
    scheme: str | None
    parts: str | None
    dictionary: Mapping[str, str]
    vocabulary: npt.NDArray[np.uint32]
    record: Mapping[str, Any]
    first: TaggerModel | None = None
    tables: WordTables | None = None
    window: int | None = None
    calibration: Calibration | None = None
    packed: bool = False
    more: tuple[TaggerModel, ...] = ()
    state: TrainingState | None = None
    lemmas: KnownLemmas | None = None
    segmentation: Segmentation | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are filled, in their order."""
        return (self.column, *(model.column for model in self.more))

    @property
    def parts_by_column(self) -> tuple[TaggerModel, ...]:
        """A model for each column alone, in their order."""
        return (self.but(more=()), *self.more)

    def but(self, **changes: Any) -> TaggerModel:
        """The same model with some fields changed; its numbers stay in what they are held in."""
        held = {name: held_in(self, name) for name in vars(TaggerModel)["__slots__"]}
        return TaggerModel(**{**held, **changes})

    @property
    def written_labels(self) -> frozenset[str]:
        """All labels that its column can be given, as they are written there."""
        return written_labels(self.tags, self.scheme)

    @property
    def evidence(self) -> tuple[str, ...]:
        """Columns of the input that it needs besides the words, in alphabetical order."""
        made = () if self.tables is None else self.tables.names
        made = made if self.lemmas is None else (*made, KNOWN)
        looked_at = tuple(name for name in self.looked_at if name not in made)
        given = looked_at if self.window is None else given_names(looked_at)
        if self.first is None:
            return tuple(sorted(given))
        return tuple(sorted({*given, *self.first.evidence} - {*FIRST_COLUMNS, *made}))

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Columns that its templates look at, in alphabetical order."""
        return tuple(sorted(set().union(*(t.columns for t in self.templates))))

    def inputs(self, sentences: Sequence[Sentence]) -> list[Sequence[str]]:
        """Sentences as its labeller takes them: plain lists of words where no more is needed."""
        if self.extractor is not None or self.evidence or self.window is not None:
            return list(sentences)
        if isinstance(sentences, list):
            return [sentence.words for sentence in sentences]
        # Here, since text in numbers is what training reads.
        from perceptron_nlp.tagger.train.numbered import words_of

        return words_of(sentences)

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
        return self.but(record=record, more=tuple(part.with_fields(fields) for part in self.more))

    def without_state(self) -> TaggerModel:
        """The same model without what its training needs to go on; itself if there is nothing."""
        if all(part.state is None for part in (self, *self.more)):
            return self
        return self.but(state=None, more=tuple(part.without_state() for part in self.more))

    def knows(self, word: str) -> bool:
        """Was the word in the training text? (Wrongly yes for one word in a hundred thousand.)"""
        return is_in(held_in(self, "vocabulary"), word)

    def known(self, words: Sequence[str]) -> list[bool]:
        """For each word what `knows` says of it."""
        import numpy as np

        if not len(self.vocabulary):
            return [False] * len(words)
        halves = np.array([word_hash(word) >> 32 for word in words], np.uint32)
        at = np.searchsorted(self.vocabulary, halves)
        found: list[bool] = (
            self.vocabulary[at.clip(max=len(self.vocabulary) - 1)] == halves
        ).tolist()
        return found


class Segmentation(NamedTuple):
    """What cuts running text into sentences, tokens and words, learned from a treebank.

    Attributes
    ----------
    cut : a tagger of atoms (atoms.py), with the column ``gap``: where tokens and sentences end
    certain : by places at which no other label was ever met, see atoms.place_key, that label
    splits : None, or a tagger of tokens whose labels make words of them (splits.py)
    """

    cut: TaggerModel
    certain: Mapping[str, str]
    splits: TaggerModel | None


def is_in(vocabulary: npt.NDArray[np.uint32] | memoryview, word: str) -> bool:
    """Is a word in a vocabulary that vocabulary_of made?"""
    half = word_hash(word) >> 32
    at = bisect_left(vocabulary, half)
    return at < len(vocabulary) and bool(vocabulary[at] == half)


def calibration_of(model: TaggerModel) -> Calibration:
    """The model's calibration; ModelError where it has none."""
    if model.calibration is None:
        raise ModelError(
            f"the model of column {model.column} is not calibrated, so that it cannot tell how sure"
            " it is; train with a dev set, or calibrate it: tagger.calibrate(dev), or"
            " perceptron-nlp calibrate MODEL DEV"
        )
    return model.calibration


def joined(models: Sequence[TaggerModel]) -> TaggerModel:
    """One model that fills the columns of all of these, which are of one column each.

    Raises ArgumentError where two fill the same column.
    """
    names = [model.column for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"column: {quote(name)} is named twice")
    return models[0].but(more=tuple(models[1:]))


def vocabulary_of(words: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """uint32[n], ascending: what TaggerModel keeps of the training words.

    Four bytes a word rather than the words themselves: a tenth of the size, at the price of one
    wrong "known" in some 100,000 unknown words.
    """
    import numpy as np

    hashes = np.asarray(hash64_each(words))
    halves = np.sort((hashes >> np.uint64(32)).astype(np.uint32))
    # np.unique would import NumPy's masked arrays.
    is_new = np.append(True, halves[1:] != halves[:-1])[: len(halves)]
    distinct: npt.NDArray[np.uint32] = halves[is_new]
    return distinct
