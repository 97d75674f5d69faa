"""What ``perceptron-nlp tag`` fills in: which columns, from which tagger, keeping what is there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import perceptron_nlp as pn
import perceptron_nlp.formats as formats
from perceptron_nlp._checks import check_choice
from perceptron_nlp.tagger.model.model import calibration_of
from perceptron_nlp.tagger.tag.fill import Fill, fill_in_turn

__all__ = ["Fill", "Filling"]

NOT_GIVEN = "_"
TARGETS = ("conllu", "tagged")
_ONE_COLUMN = ("tagged", "lines")
# Sentences of a file that are looked into for labels.
_LOOKED_AT = 1000
_WITHOUT_COLUMNS = ("lines", "text")


class Filling:
    """Fills the columns of sentences in.

    Parameters
    ----------
    tagger : the tagger
    column : None for all columns that it learnt; else for a tagger of one column the name or
        number of the one to fill in its place, and for one of several those of them to fill,
        parted by commas
    keep : whether labels that are there stay
    marks : None, or what is written into MISC besides
    to : what running text becomes, "conllu" or "tagged"; None for what suits the columns and marks

    Raises
    ------
    ArgumentError : the tagger cannot fill these
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        column: str | None,
        *,
        keep: bool,
        marks: Marks | None = None,
        to: str | None = None,
    ) -> None:
        self._tagger = tagger
        self._taggers = tagger.by_column
        if to is not None:
            check_choice("to", to, TARGETS)
        self._keep = keep
        self._marks = marks
        self._to = to
        self._n_named = 0
        self._names = None if column is None else [name.strip() for name in column.split(",")]
        if self._names is not None and len(self._taggers) == 1 and len(self._names) > 1:
            raise pn.ArgumentError(
                f"column: this model fills one only, not {len(self._names)}; name one"
            )

    def replaces_labels(self, corpus: pn.Corpus) -> bool:
        """Has the beginning of a text labels that are filled over?"""
        names = [corpus.column_named(name) for name, _ in self._chosen(corpus)]
        return not self._keep and any(
            label != NOT_GIVEN
            for sentence in itertools.islice(corpus, _LOOKED_AT)
            for name in names
            if name in sentence.columns
            for label in sentence.columns[name]
        )

    def check(self, corpus: pn.Corpus) -> None:
        """Raise ArgumentError where the text cannot hold the columns that are to be filled."""
        chosen = self._chosen(corpus)
        if self._marks is not None:
            self._marks.check(corpus, chosen, self._written(corpus, chosen))
        if self._to is not None and corpus.format != "text":
            raise pn.ArgumentError(
                f"to: only running text (--format text) is turned into another format;"
                f" {corpus.path} is read as {corpus.format}"
            )
        held = self._written(corpus, chosen)
        if held in _ONE_COLUMN and len(chosen) > 1:
            raise pn.ArgumentError(
                f"column: {corpus.path} is {held}, which holds one label a word; choose"
                f" one of {', '.join(name for name, _ in chosen)}"
            )
        for name, _ in chosen if self._names is not None else ():
            if name in ("id", "form"):
                raise pn.ArgumentError(f"column: {name} is given, not filled; name another")
            if (
                corpus.format == "columns"
                and name.isdecimal()
                and int(name[:9]) > len(corpus.column_names) + 2
            ):
                raise pn.ArgumentError(
                    f"column: {corpus.path} has {len(corpus.column_names) + 1} columns, so a new"
                    f" one is {len(corpus.column_names) + 2}, not {name}"
                )
        for name, _ in chosen:
            if self._keep and corpus.format == "columns" and name not in corpus.column_names:
                raise pn.ArgumentError(
                    f"keep: {corpus.path} has no column {name}; there are form,"
                    f" {', '.join(corpus.column_names)}; --fields names them"
                )

    def as_bytes(self, corpus: pn.Corpus) -> Fill | None:
        """What fills whole sentences without reading them one by one; None where that cannot be."""
        if self._keep or self._marks is not None:
            return None
        return fill_in_turn(
            [tagger.filler(corpus, column=name) for name, tagger in self._chosen(corpus)]
        )

    @property
    def window(self) -> int:
        """How many sentences on either side the taggers look at, at most."""
        return max(tagger.window for tagger in self._taggers.values())

    def texts(
        self,
        corpus: pn.Corpus,
        batch: Sequence[pn.Sentence],
        threads: int,
        before: Sequence[pn.Sentence] = (),
        after: Sequence[pn.Sentence] = (),
    ) -> list[str]:
        """The texts of sentences with the columns filled in; see Tagger.tag_sents."""
        columns: list[dict[str, list[str]]] = [{} for _ in batch]
        chosen = self._chosen(corpus)
        keep = {name: self._kept(corpus, name, batch) for name, _ in chosen}
        if self._marks is not None and self._marks.confidence:
            for name, tagger in chosen:
                found, sure = tagger.tag_sents_with_confidences(
                    tagger.model.inputs(batch),
                    threads=threads,
                    keep=keep[name],
                    before=before,
                    after=after,
                )
                self._marks.add_confidences(
                    batch, columns, name if len(chosen) > 1 else None, sure, keep[name]
                )
                for filled, labels in zip(columns, found, strict=True):
                    filled[name] = labels
        elif [name for name, _ in chosen] == list(self._tagger.columns):
            kept = {name: own for name, own in keep.items() if own is not None}
            by_column = self._tagger.tag_sents_columns(
                batch, threads=threads, keep=kept or None, before=before, after=after
            )
            for name, found in by_column.items():
                for filled, labels in zip(columns, found, strict=True):
                    filled[name] = labels
        else:
            for name, tagger in chosen:
                found = tagger.tag_sents(
                    tagger.model.inputs(batch),
                    threads=threads,
                    keep=keep[name],
                    before=before,
                    after=after,
                )
                for filled, labels in zip(columns, found, strict=True):
                    filled[name] = labels
        if self._marks is not None and self._marks.unknown:
            self._marks.add_unknown(batch, columns, chosen[0][1])
        if corpus.format == "text" and self._written(corpus, chosen) == "conllu":
            # Several texts make one file, in which each sentence has a name of its own.
            first = self._n_named + 1
            self._n_named += len(batch)
            return [
                _rewritten(corpus, sentence, filled, number)
                for number, (sentence, filled) in enumerate(zip(batch, columns, strict=True), first)
            ]
        return [
            _rewritten(corpus, sentence, filled, None)
            for sentence, filled in zip(batch, columns, strict=True)
        ]

    def _written(self, corpus: pn.Corpus, chosen: Sequence[tuple[str, pn.Tagger]]) -> str:
        """The format that a text is written in."""
        if corpus.format != "text":
            return corpus.format
        return self._to or ("conllu" if len(chosen) > 1 or self._marks is not None else "tagged")

    def _chosen(self, corpus: pn.Corpus) -> list[tuple[str, pn.Tagger]]:
        """The columns of a text to fill, each with its tagger."""
        if self._names is None:
            return list(self._taggers.items())
        names = [corpus.column_named(name) for name in self._names]
        if len(self._taggers) == 1:
            return [(names[0], tagger) for tagger in self._taggers.values()]
        for name in names:
            if name not in self._taggers:
                raise pn.ArgumentError(
                    f"column: the model does not fill {name}; it fills {', '.join(self._taggers)}"
                )
        return [(name, tagger) for name, tagger in self._taggers.items() if name in names]

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
    """The text of a sentence with its columns; with a number, CoNLL-U of running text."""
    if not sentence.words:
        return corpus.rewrite(sentence, {})
    try:
        if number is not None:
            return formats.as_conllu(sentence, columns, number)
        return corpus.rewrite(sentence, columns)
    except pn.ArgumentError as error:
        message = str(error).removeprefix("columns: ")
        raise pn.FormatError(message, sentence.path, sentence.line_of(0)) from error


def taggers_of(tagger: pn.Tagger, column: str | None) -> dict[str, pn.Tagger]:
    """For each column to fill the tagger that does."""
    taggers = tagger.by_column
    if column is None:
        return taggers
    names = [name.strip() for name in column.split(",")]
    if len(taggers) == 1:
        if len(names) > 1 or not names[0]:
            raise pn.ArgumentError(f"column: this model fills one only, not {len(names)}; name one")
        return {names[0]: tagger}
    for name in names:
        if name not in taggers:
            raise pn.ArgumentError(
                f"column: the model does not fill {name}; it fills {', '.join(taggers)}"
            )
    return {name: taggers[name] for name in taggers if name in names}


CONFIDENCE, UNKNOWN = "Conf", "Unknown"
MISC = "misc"
# Words that it is remembered of whether they are known.
_REMEMBERED = 1 << 16


class Marks:
    """Attributes of MISC that tagging adds; those of the same name are replaced.

    Parameters
    ----------
    confidence : whether ``Conf=0.9731`` is added to each word that is labelled; where several
        columns are filled, ``Conf[upos]=0.9731`` for each of them. A word whose label is kept
        stays as it is
    unknown : whether ``Unknown=Yes`` is added to words that were not in the training text, and
        taken from all others
    """

    def __init__(self, *, confidence: bool, unknown: bool) -> None:
        self.confidence = confidence
        self.unknown = unknown

    def check(
        self, corpus: pn.Corpus, chosen: Sequence[tuple[str, pn.Tagger]], written: str
    ) -> None:
        """Raise where they cannot be written, or not be known.

        Parameters
        ----------
        corpus : the text
        chosen : the columns that are filled, each with its tagger
        written : the format that the text is written in

        Raises
        ------
        ArgumentError : the text has no MISC, or it is to be filled with labels
        ModelError : a tagger is not calibrated
        """
        option = "confidence" if self.confidence else "mark_unknown"
        if written != "conllu":
            how = "is" if written == corpus.format else "is written as"
            raise pn.ArgumentError(
                f"{option}: {corpus.path} {how} {written}, which has no place for it; it goes into"
                " MISC, which CoNLL-U has"
            )
        if corpus.format == "conllu" and MISC not in corpus.column_names:
            raise pn.ArgumentError(f"{option}: {corpus.path} has no column MISC to write it into")
        if any(name == MISC for name, _ in chosen):
            raise pn.ArgumentError(f"{option}: it goes into MISC, which is filled with labels")
        for _, tagger in chosen if self.confidence else ():
            calibration_of(tagger.model)

    def add_confidences(
        self,
        batch: Sequence[pn.Sentence],
        columns: list[dict[str, list[str]]],
        name: str | None,
        sure: Sequence[Sequence[float]],
        kept: Sequence[Sequence[str | None]] | None,
    ) -> None:
        """Write how sure labels are.

        Parameters
        ----------
        batch : sentences
        columns : what they are filled with, which MISC is added to
        name : the column that is filled, where there are several
        sure : the confidence of each word
        kept : None, or the labels that are kept
        """
        key = CONFIDENCE if name is None else f"{CONFIDENCE}[{name}]"
        for number, (sentence, filled, own) in enumerate(zip(batch, columns, sure, strict=True)):
            misc = _misc_of(sentence, filled)
            for at, chance in enumerate(own):
                if kept is None or kept[number][at] is None:
                    misc[at] = formats.with_misc(misc[at], key, f"{chance:.4f}")

    def add_unknown(
        self, batch: Sequence[pn.Sentence], columns: list[dict[str, list[str]]], tagger: pn.Tagger
    ) -> None:
        """Write which words were not in the training text of a tagger."""
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
    """The values of MISC that the sentence is filled with; at first those that it has."""
    if MISC not in filled:
        layout = sentence.layout
        filled[MISC] = (
            layout.space_after()
            if isinstance(layout, formats.RunningLayout)
            else list(sentence.column(MISC))
            if sentence.words
            else []
        )
    return filled[MISC]
