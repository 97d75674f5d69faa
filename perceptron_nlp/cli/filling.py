"""The columns that ``perceptron-nlp tag`` fills in, and the attributes that it adds to MISC."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import perceptron_nlp as pn
import perceptron_nlp.formats as formats
from perceptron_nlp._checks import check_choice, check_number
from perceptron_nlp.tagger.tag.fill import Fill

__all__ = ["Fill", "Filling", "Marks", "taggers_of"]

NOT_GIVEN = "_"
TARGETS = ("conllu", "tagged")
CONFIDENCE, UNKNOWN, MISC = "Conf", "Unknown", "misc"
_ONE_COLUMN = ("tagged", "lines")
_WITHOUT_COLUMNS = ("lines", "text")
# Sentences of a file that are searched for labels.
_LOOKED_AT = 1000
# Entries of the cache of known words.
_REMEMBERED = 1 << 16


def taggers_of(
    tagger: pn.Tagger, column: str | None, named: Callable[[str], str] = str
) -> dict[str, pn.Tagger]:
    """Return the tagger of each column to fill.

    The column is None for all that the tagger learned; else, for a tagger of one column, the name
    or number of the column to fill instead, and for one of several those to fill, separated by
    commas; `named` gives their names. Raises ArgumentError if the tagger cannot fill these.
    """
    taggers = tagger.by_column
    if column is None:
        return taggers
    names = [name.strip() for name in column.split(",")]
    if len(taggers) == 1:
        if len(names) > 1 or not names[0]:
            raise pn.ArgumentError(f"column: this model fills one only, not {len(names)}; name one")
        return {named(names[0]): tagger}
    names = [named(name) for name in names]
    for name in names:
        if name not in taggers:
            raise pn.ArgumentError(
                f"column: the model does not fill {name}; it fills {', '.join(taggers)}"
            )
    return {name: taggers[name] for name in taggers if name in names}


class Filling:
    """Fills in the columns of sentences; see `taggers_of`.

    `marks` are written into MISC in addition. `to` is the format of running text, "conllu" or
    "tagged"; None for what suits the columns and marks. Labels whose confidence is below
    `min_confidence` are left open, as an underscore. Raises ArgumentError if the tagger cannot
    fill these.
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        column: str | None,
        *,
        keep: bool,
        marks: Marks | None = None,
        to: str | None = None,
        min_confidence: float | None = None,
    ) -> None:
        if to is not None:
            check_choice("to", to, TARGETS)
        if min_confidence is not None:
            check_number("min_confidence", min_confidence, 0, 1)
        if len(tagger.columns) == 1:
            taggers_of(tagger, column)
        self._tagger = tagger
        self._column = column
        self._keep = keep
        self._marks = marks
        self._to = to
        self._least = min_confidence
        self._n_named = 0

    def replaces_labels(self, corpus: pn.Corpus) -> bool:
        """Return True if labels at the beginning of a text are replaced."""
        names = [corpus.column_named(name) for name in self._chosen(corpus)]
        return not self._keep and any(
            label != NOT_GIVEN
            for sentence in itertools.islice(corpus, _LOOKED_AT)
            for name in names
            if name in sentence.columns
            for label in sentence.columns[name]
        )

    def suit(self, corpus: pn.Corpus) -> None:
        """Take lines, which hold one column, for running text if that suits model and columns."""
        cuts = corpus.format == "lines" and self._tagger.segmenter is not None
        if cuts and len(self._chosen(corpus)) > 1:
            corpus.read_as("text")

    def check(self, corpus: pn.Corpus) -> None:
        """Raise ArgumentError if the text cannot hold the columns that are to be filled."""
        chosen = self._chosen(corpus)
        written = self._written(corpus, chosen)
        if self._marks is not None:
            self._marks.check(corpus, chosen, written)
        for tagger in chosen.values() if self._least is not None else ():
            # Raises ModelError unless it is calibrated.
            tagger.tag_sents_with_confidences([])
        if self._to is not None and corpus.format != "text":
            raise pn.ArgumentError(
                f"to: only running text (--format text) is turned into another format;"
                f" {corpus.path} is read as {corpus.format}"
            )
        if written in _ONE_COLUMN and len(chosen) > 1:
            raise pn.ArgumentError(
                f"column: {corpus.path} is {written}, which holds one label a token; choose"
                f" one of {', '.join(chosen)}"
            )
        if self._column is not None and not chosen.keys().isdisjoint({"id", "form"}):
            name = "id" if "id" in chosen else "form"
            raise pn.ArgumentError(f"column: {name} is given, not filled; name another")
        for name in chosen if corpus.format == "columns" else ():
            n_columns = len(corpus.column_names) + 1
            if self._column is not None and name.isdecimal() and int(name[:9]) > n_columns + 1:
                raise pn.ArgumentError(
                    f"column: {corpus.path} has {n_columns} columns, so a new one is"
                    f" {n_columns + 1}, not {name}"
                )
            if self._keep and name not in corpus.column_names:
                raise pn.ArgumentError(
                    f"keep: {corpus.path} has no column {name}; there are form,"
                    f" {', '.join(corpus.column_names)}; --fields names them"
                )

    def as_bytes(self, corpus: pn.Corpus) -> Fill | None:
        """Return the filler of whole sentences as bytes; None if each must be read."""
        if self._keep or self._marks is not None or self._least is not None:
            return None
        chosen = self._chosen(corpus)
        if len(self._tagger.columns) == 1:
            return self._tagger.filler(corpus, column=next(iter(chosen)))
        return self._tagger.filler(corpus, columns=list(chosen))

    def text_pieces(self, corpus: pn.Corpus, threads: int) -> Iterator[bytes]:
        """Yield running text with its columns, as far as that takes no object of a token."""
        chosen = self._chosen(corpus)
        if self._marks is not None or self._least is not None or self.window:
            return
        if not {*chosen} <= {*self._tagger.columns}:
            return
        fill = self._tagger.text_filler(list(chosen))
        if fill is None:
            return
        if self._written(corpus, chosen) == "conllu":
            yield from fill.texts(corpus, self.name, threads)
        elif fill.can_tag:
            yield from fill.tagged(corpus, threads)

    def name(self, n_sentences: int) -> int:
        """Return the number of the first of the sentences that follow, of all files that follow."""
        self._n_named += n_sentences
        return self._n_named - n_sentences + 1

    @property
    def window(self) -> int:
        """The number of sentences on either side that are context, at most."""
        return max(tagger.window for tagger in self._tagger.by_column.values())

    def texts(
        self,
        corpus: pn.Corpus,
        batch: Sequence[pn.Sentence],
        threads: int,
        before: Sequence[pn.Sentence] = (),
        after: Sequence[pn.Sentence] = (),
    ) -> list[str]:
        """Return the texts of sentences with the columns filled in; see Tagger.tag_sents."""
        chosen = self._chosen(corpus)
        columns: list[dict[str, list[str]]] = [{} for _ in batch]
        kept = {name: self._kept(corpus, name, batch) for name in chosen}
        found: dict[str, list[list[str]]] = {}
        # The only column of a tagger may be written under another name.
        names = {name: tagger.column for name, tagger in chosen.items()}
        keep = {names[name]: own for name, own in kept.items() if own is not None}
        how: dict[str, Any] = {"threads": threads, "before": before, "after": after}
        wanted = list(names.values())
        is_marked = self._marks is not None and self._marks.confidence
        if is_marked or self._least is not None:
            sure = self._tagger.tag_sents_columns_with_confidences(
                batch, keep=keep or None, columns=wanted, **how
            )
            for name, column in names.items():
                found[name], confidences = sure[column]
                if is_marked:
                    key = CONFIDENCE if len(chosen) == 1 else f"{CONFIDENCE}[{name}]"
                    _add_confidences(batch, columns, key, confidences, kept[name])
                if self._least is not None:
                    found[name] = _sure_alone(found[name], confidences, self._least)
        else:
            given = self._tagger.tag_sents_columns(batch, keep=keep or None, columns=wanted, **how)
            found = {name: given[column] for name, column in names.items()}
        for name, sentences in found.items():
            for filled, labels in zip(columns, sentences, strict=True):
                filled[name] = labels
        if self._marks is not None and self._marks.unknown:
            _add_unknown(batch, columns, next(iter(chosen.values())))
        numbers: Sequence[int | None] = [None] * len(batch)
        if corpus.format == "text" and self._written(corpus, chosen) == "conllu":
            # Several texts make one file, in which each sentence has a name of its own.
            numbers = range(self.name(len(batch)), self._n_named + 1)
        return [
            _rewritten(corpus, sentence, filled, number)
            for sentence, filled, number in zip(batch, columns, numbers, strict=True)
        ]

    def _written(self, corpus: pn.Corpus, chosen: dict[str, pn.Tagger]) -> str:
        """Return the format that a text is written in."""
        if corpus.format != "text":
            return corpus.format
        if self._to is not None:
            return self._to
        # Learned tokens may hold spaces, and several words, which word/TAG cannot tell.
        is_learned = self._column is None and self._tagger.model.segmentation is not None
        is_more = len(chosen) > 1 or self._marks is not None or is_learned
        return "conllu" if is_more else "tagged"

    def _chosen(self, corpus: pn.Corpus) -> dict[str, pn.Tagger]:
        return taggers_of(self._tagger, self._column, corpus.column_named)

    def _kept(
        self, corpus: pn.Corpus, name: str, batch: Sequence[pn.Sentence]
    ) -> list[list[str | None]] | None:
        if not self._keep or corpus.format in _WITHOUT_COLUMNS:
            return None
        return [
            [None if label == NOT_GIVEN else label for label in sentence.column(name)]
            for sentence in batch
        ]


def _rewritten(
    corpus: pn.Corpus, sentence: pn.Sentence, columns: dict[str, list[str]], number: int | None
) -> str:
    """Return the text of a sentence with its columns; with a number, CoNLL-U of running text."""
    if not sentence.words:
        return corpus.rewrite(sentence, {})
    try:
        if number is not None:
            return formats.as_conllu(sentence, columns, number)
        return corpus.rewrite(sentence, columns)
    except pn.ArgumentError as error:
        message = str(error).removeprefix("columns: ")
        raise pn.FormatError(message, sentence.path, sentence.line_of(0)) from error


class Marks:
    """Attributes of MISC that tagging adds; those of the same name are replaced.

    confidence : whether ``Conf=0.9731`` is added to each token that is labeled; if several columns
        are filled, ``Conf[upos]=0.9731`` for each of them. A token whose label is kept stays as it
        is
    unknown : whether ``Unknown=Yes`` is added to tokens that were not in the training text, and
        taken from all others
    """

    def __init__(self, *, confidence: bool, unknown: bool) -> None:
        self.confidence = confidence
        self.unknown = unknown

    def check(self, corpus: pn.Corpus, chosen: dict[str, pn.Tagger], written: str) -> None:
        """Raise if the marks cannot be written into a text of this format, or not be known."""
        option = "confidence" if self.confidence else "mark_unknown"
        if written != "conllu":
            how = "is" if written == corpus.format else "is written as"
            raise pn.ArgumentError(
                f"{option}: {corpus.path} {how} {written}, which has no place for it; it goes into"
                " MISC, which CoNLL-U has"
            )
        if corpus.format == "conllu" and MISC not in corpus.column_names:
            raise pn.ArgumentError(f"{option}: {corpus.path} has no column MISC to write it into")
        if MISC in chosen:
            raise pn.ArgumentError(f"{option}: it goes into MISC, which is filled with labels")
        for tagger in chosen.values() if self.confidence else ():
            tagger.tag_sents_with_confidences([])


def _sure_alone(
    labels: Sequence[Sequence[str]], confidences: Sequence[Sequence[float]], least: float
) -> list[list[str]]:
    """Return the labels with an underscore for those whose confidence is below the least."""
    return [
        [label if sure >= least else NOT_GIVEN for label, sure in zip(row, own, strict=True)]
        for row, own in zip(labels, confidences, strict=True)
    ]


def _add_confidences(
    batch: Sequence[pn.Sentence],
    columns: list[dict[str, list[str]]],
    key: str,
    confidences: Sequence[Sequence[float]],
    kept: Sequence[Sequence[str | None]] | None,
) -> None:
    """Write the confidence of each token whose label is not kept into MISC."""
    for number, (sentence, filled, own) in enumerate(zip(batch, columns, confidences, strict=True)):
        misc = _misc_of(sentence, filled)
        for at, confidence in enumerate(own):
            if kept is None or kept[number][at] is None:
                misc[at] = formats.with_misc(misc[at], key, f"{confidence:.4f}")


def _add_unknown(
    batch: Sequence[pn.Sentence], columns: list[dict[str, list[str]]], tagger: pn.Tagger
) -> None:
    """Write into MISC which tokens were not in the training text of a tagger."""
    knows = lru_cache(_REMEMBERED)(tagger.model.knows)
    for sentence, filled in zip(batch, columns, strict=True):
        misc = _misc_of(sentence, filled)
        for at, word in enumerate(sentence.words):
            misc[at] = (
                formats.without_misc(misc[at], UNKNOWN)
                if knows(word)
                else formats.with_misc(misc[at], UNKNOWN, "Yes")
            )


def _misc_of(sentence: pn.Sentence, filled: dict[str, list[str]]) -> list[str]:
    """Return the values of MISC that the sentence is filled with; at first its own."""
    if MISC not in filled:
        layout = sentence.layout
        if isinstance(layout, formats.RunningLayout):
            filled[MISC] = layout.space_after()
        else:
            filled[MISC] = list(sentence.column(MISC)) if sentence.words else []
    return filled[MISC]
