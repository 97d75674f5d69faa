"""What ``perceptron-nlp tag`` fills in: which columns, from which tagger, keeping what is there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import perceptron_nlp as pn
import perceptron_nlp.formats as formats
from perceptron_nlp._checks import check_choice
from perceptron_nlp.cli.marking import Marks
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
