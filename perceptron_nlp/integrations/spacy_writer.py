"""Labels of a tagger's columns into spaCy's Docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra, quote
from perceptron_nlp.integrations.spacy_docs import ATTRIBUTES, NO_FEATURES, Batch

try:
    from spacy.attrs import ENT_IOB, ENT_TYPE, LEMMA, MORPH, POS, SENT_START, TAG
    from spacy.parts_of_speech import IDS as POS_IDS
    from spacy.parts_of_speech import NAMES as POS_NAMES
    from spacy.tokens import MorphAnalysis, Token
except ImportError:
    raise missing_extra("spaCy", "spacy") from None

SPACE_TAG, SPACE_POS = "_SP", "SPACE"
# spaCy's numbers for a token within a span, outside, and at its begin; 0 where nothing is known.
INSIDE, OUTSIDE, BEGIN = 1, 2, 3


class Writer:
    """Writes the labels of one tagger's columns into Docs, to whose vocabulary they are added.

    Raises ArgumentError if tokens have no attribute for one of the tagger's labels.
    """

    def __init__(
        self, tagger: pn.Tagger, vocab: Any, confidences: bool = False, overwrite: bool = True
    ) -> None:
        self._tagger = tagger
        self._confidences, self._overwrite = confidences, overwrite
        self._numbers: list[tuple[str, int, int, dict[str, int]]] = []
        self._lemmas: list[str] = []
        self._names: list[str] = []
        self._extensions: list[str] = []
        self._strings = vocab.strings
        if tagger.feature_columns:
            raise ArgumentError(
                f"model: looks at the columns {', '.join(tagger.feature_columns)} in addition to"
                " the words, which Docs do not give it; use one that fills them, too"
            )
        for name, part in tagger.by_column.items():
            labels = part.model.written_labels
            attribute = ATTRIBUTES.get(name)
            if attribute in (None, "tag") and _are_spans(labels):
                # The first column of spans are the entities.
                (self._extensions if self._names else self._names).append(name)
            elif attribute is None:
                self._extensions.append(name)
            elif attribute == "morph":
                keys = {one: MorphAnalysis(vocab, one).key for one in {*labels} - {NO_FEATURES}}
                none = keys[NO_FEATURES] = MorphAnalysis(vocab, "").key
                self._numbers.append((name, MORPH, none, keys))
            elif attribute == "pos":
                numbers = {label: _pos_number(label) for label in labels}
                self._numbers.append((name, POS, POS_IDS[SPACE_POS], numbers))
            elif attribute == "lemma":
                self._lemmas.append(name)
            else:
                numbers = {label: _permanent_number(label, vocab) for label in labels}
                self._numbers.append((name, TAG, _permanent_number(SPACE_TAG, vocab), numbers))
        for name in self._extensions:
            add_extension(name)

    def write(self, batch: Batch, threads: int) -> None:
        """Label the words of all Docs of a batch."""
        how: dict[str, Any] = {"threads": threads, "confidences": self._confidences}
        given: dict[str, Any] = {}
        if not self._overwrite:
            given = self._given(batch)
            how["keep"] = self._kept(batch, given)
        labels: Any = self._tagger.tag_sents(batch.sentences, columns=self._tagger.columns, **how)
        if self._confidences:
            batch.set_confidences({name: own for name, (_, own) in labels.items()})
            labels = {name: own for name, (own, _) in labels.items()}
        columns = []
        for name, attribute, of_space, number_of in self._numbers:
            found = batch.of_tokens(labels[name])
            values = np.full(len(batch.is_word), of_space, np.uint64)
            # Labels that are kept may be unknown to the tagger, and keep their numbers.
            kept = {} if self._overwrite else dict.fromkeys(found := list(found), 0)
            number = {**kept, **number_of}.__getitem__ if kept else number_of.__getitem__
            values[batch.is_word] = np.fromiter(map(number, found), np.uint64)
            columns.append((attribute, _where_none(given.get(name), values)))
        for name in self._lemmas:
            # White space is its own lemma.
            values = batch.words.copy()
            found = list(batch.lemmas(labels[name]))
            number_of = {lemma: self._strings.add(lemma) for lemma in {*found}}
            values[batch.is_word] = np.fromiter(map(number_of.__getitem__, found), np.uint64)
            columns.append((LEMMA, _where_none(given.get(name), values)))
        for name in self._names:
            columns += self._entities(batch, labels[name], given.get(name))
        if self._tagger.model.segmentation is not None:
            columns.append((SENT_START, batch.sent_starts.view(np.uint64)))
        if columns:
            batch.set_numbers(columns)
        for name in self._extensions:
            batch.set_extension(name, batch.of_tokens(labels[name]), given.get(name, ()))

    def _entities(
        self, batch: Batch, labels: Iterable[Sequence[str]], given: Any
    ) -> list[tuple[int, npt.NDArray[np.uint64]]]:
        """Return the columns of entities; what is given stays, and spans that touch it are left."""
        marks, kinds = np.full((2, len(batch.is_word)), OUTSIDE, np.uint64)
        kinds[:] = 0
        taken = np.zeros(len(marks), bool) if given is None else given[0] != 0
        for kind, start, end in batch.spans(labels):
            if not taken[start:end].any():
                marks[start:end] = INSIDE
                marks[start] = BEGIN
                kinds[start:end] = self._strings.add(kind)
        if given is not None:
            marks[taken], kinds[taken] = given[0][taken], given[1][taken]
        return [(ENT_IOB, marks), (ENT_TYPE, kinds)]

    def _given(self, batch: Batch) -> dict[str, Any]:
        """Return what tokens have already, by column."""
        given: dict[str, Any] = {name: batch.given(at) for name, at, _, _ in self._numbers}
        given.update((name, batch.given(LEMMA)) for name in self._lemmas)
        given.update((name, (batch.given(ENT_IOB), batch.given(ENT_TYPE))) for name in self._names)
        given.update((name, batch.extensions(name)) for name in self._extensions)
        return given

    def _kept(self, batch: Batch, given: Mapping[str, Any]) -> dict[str, list[list[str | None]]]:
        """Return the labels that words have already, as the tagger takes them."""
        kept = {name: batch.of_words(given[name]) for name in self._extensions}
        for name, attribute, _, number_of in self._numbers:
            label_of: dict[int, str | None] = {own: label for label, own in number_of.items()}
            label_of[0] = None
            own = given[name].tolist()
            for number in {*own}.difference(label_of):
                label_of[number] = POS_NAMES[number] if attribute == POS else self._strings[number]
            kept[name] = batch.of_words([label_of[number] for number in own])
        return kept


def _where_none(
    given: npt.NDArray[np.uint64] | None, values: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    return values if given is None else np.where(given == 0, values, given)


def _are_spans(labels: Iterable[str]) -> bool:
    """Tell if the labels of a column are those of spans, such as B-PER, I-PER and O."""
    try:
        return bool(pn.spans_of(sorted(labels)))
    except ArgumentError:
        return False


def add_extension(name: str) -> None:
    """Make ``token._.NAME`` known to spaCy, where nobody has done that.

    Raises ArgumentError if there is an extension of that name that is computed.
    """
    if not Token.has_extension(name):
        Token.set_extension(name, default=None)
    elif any(Token.get_extension(name)[1:]):
        raise ArgumentError(
            f"model: token._.{name} is computed by another extension, so column {quote(name)} has"
            " no place; remove that extension, or rename the column"
        )


def _permanent_number(label: str, vocab: Any) -> int:
    """The number of a label, known beyond the memory zone in which it is used first."""
    return int(vocab.strings.add(label, allow_transient=False))


def _pos_number(label: str) -> int:
    if label not in POS_IDS:
        raise ArgumentError(
            f"model: {quote(label)} is none of spaCy's parts of speech; learn these"
            " labels as column xpos, which is written to tag_"
        )
    return int(POS_IDS[label])
