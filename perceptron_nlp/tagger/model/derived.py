"""Derived columns: those that a model makes of a text for itself, in addition to the text's own.

Templates look at them as at the others. Each kind is one class: labels of columns before
(EarlierColumns), a person's function (feature_function.py), document context (context.py), word
tables (word_tables.py), known lemmas (lemmas.py) and the labels of a first pass (model.py). A model
has those that its file keeps in ``derived``, in the order in which they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

from perceptron_nlp.tagger.model.weights import Reader, Writer
from perceptron_nlp.text.sentence import Sentence, with_columns

# The column of what a feature function returns (feature_function.py).
FEATURES = "features"
# The most sentences on either side of one that document context looks at (context.py).
WIDEST_WINDOW = 1000

Sentences: TypeAlias = Sequence[Sequence[str]]
Labels: TypeAlias = list[list[str]]
ABSENT = "_"
"""The value of a word of which nothing is known."""


def _unknown(word: str) -> bool:
    return False


def _nobody(sentences: Sentences) -> Labels:
    raise NotImplementedError


class Around(NamedTuple):
    """What columns may be made of in addition to the sentences that get them.

    columns : the feature columns of the input
    knows : tells if a word was in the training text
    before, after : the sentences of the text around them
    known : by column, labels that were predicted already
    label : labels sentences by the first tagger of a stack
    """

    columns: Sequence[str] = ()
    knows: Callable[[str], bool] = _unknown
    before: Sentences = ()
    after: Sentences = ()
    known: Mapping[str, Labels] = MappingProxyType({})
    label: Callable[[Sentences], Labels] = _nobody


class Derived(Protocol):
    """Columns that a model makes.

    key : its name in the description of a model
    looks_around : it is made once of a whole text, before that is labeled piece by piece
    """

    @property
    def key(self) -> str: ...

    @property
    def looks_around(self) -> bool: ...

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns that must be there before so that these are there afterwards."""

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """Return the sentences with the columns."""


class Stored(Derived, Protocol):
    """Columns whose model file keeps more than the model of a first pass."""

    def write(self, writer: Writer) -> Any:
        """Return the description in a model file, and put the arrays."""

    @classmethod
    def read(cls, described: Any, reader: Reader) -> Self:
        """Return what `write` described, every part checked."""


class EarlierLabeler(Protocol):
    """What labels a column that others look at."""

    def prepared(self, sentences: Sentences, before: Sentences, after: Sentences) -> Any: ...

    def label(self, sentences: Any) -> Labels: ...


class EarlierColumns(NamedTuple):
    """Labels of columns that the same tagger fills before; by column, what labels them.

    ``agreed`` labels all of them at once, so that they agree; None if each stands by itself.
    """

    labelers: Mapping[str, EarlierLabeler]
    agreed: Callable[[Sentences, Around], Mapping[str, Labels]] | None = None

    def add(self, sentences: Sentences, around: Around) -> Sentences:
        """Return the sentences with the columns; the same if there are none."""
        known = around.known
        if self.agreed is not None and not self.labelers.keys() <= known.keys():
            known = {**self.agreed(sentences, around), **known}
        columns = {name: known[name] for name in self.labelers if name in known}
        if columns:
            sentences = [
                with_columns(sentence, dict(zip(columns, map(tuple, own), strict=True)))
                for sentence, own in zip(
                    sentences, zip(*columns.values(), strict=True), strict=True
                )
            ]
        for column, labeler in self.labelers.items():
            if column not in known:
                prepared = labeler.prepared(sentences, around.before, around.after)
                sentences = with_each(sentences, column, labeler.label(prepared))
        return sentences


def with_each(sentences: Sentences, column: str, values: Sequence[Sequence[str]]) -> list[Sentence]:
    """Return sentences with a further column, whose values are given for each."""
    return [
        with_columns(sentence, {column: tuple(own)})
        for sentence, own in zip(sentences, values, strict=True)
    ]


# Columns of the first tagger's labels in a stack of two.
FIRST_LABEL, FIRST_UPOS, FIRST_AGREEMENT = FIRST_COLUMNS = (
    "pass1",
    "pass1-upos",
    "pass1-agreement",
)
_AGREEING = ("Case=", "Gender=", "Number=")


class FirstPass(NamedTuple):
    """The columns that the second of two taggers sees of the first one's labels.

    model : the first one, a TaggerModel of joint labels or parts of speech; of derived columns it
        has document context at most, and sees those of the model that it belongs to
    """

    model: Any

    @property
    def key(self) -> str:
        """See Derived."""
        return "first"

    @property
    def looks_around(self) -> bool:
        """See Derived."""
        return False

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """See Derived."""
        return columns.union(self.model.feature_columns) - {*FIRST_COLUMNS}

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """See Derived."""
        return list(map(with_first_labels, sentences, around.label(sentences)))


def with_first_labels(sentence: Sequence[str], labels: Sequence[str]) -> Sentence:
    """Return a sentence as the second of two taggers sees it: with joint labels and its columns."""
    pieces = [label.split("|") for label in labels]
    agreeing = ["|".join(one for one in found if one.startswith(_AGREEING)) for found in pieces]
    columns = {
        FIRST_LABEL: tuple(labels),
        FIRST_UPOS: tuple(found[0] for found in pieces),
        FIRST_AGREEMENT: tuple(one or "_" for one in agreeing),
    }
    return with_columns(sentence, columns)
