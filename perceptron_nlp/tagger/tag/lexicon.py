"""A person's lexicon: forms and the labels that they may have.

As a file: UTF-8, on each line a form, a tab and a label; a form of several labels has several
lines. A word is looked up as it is written and, where that is not found, lower-cased letter by
letter.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import perceptron_nlp.formats as formats
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.records import record

LexiconSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, str | Iterable[str]]"


# Characters for the labels that a message lists.
_ROOM = 200


@record(eq=False)
class Lexicon:
    """Forms with their labels.

    Attributes
    ----------
    labels : the labels of each form, at least one, in code point order
    path : None, or the file that it was read from
    lines : where (form, label) stands in the file; empty without one
    column : None, or the column that the labels are of
    """

    labels: Mapping[str, tuple[str, ...]]
    path: str | None
    lines: Mapping[tuple[str, str], int]
    column: str | None = None

    @classmethod
    def of(cls, source: LexiconSource, column: str | None = None) -> Lexicon:
        """A lexicon out of a file, or a mapping from forms to a label or several.

        Parameters
        ----------
        source : which
        column : the column that the labels are of; None for that of any model

        Raises
        ------
        FileError : the file cannot be read
        FormatError : a line is not a form, a tab and a label (file:line), or there is none
        ArgumentError, ArgumentTypeError : the mapping is empty, or holds something else
        """
        if isinstance(source, str | os.PathLike):
            return cls._read(source, column)
        if not isinstance(source, Mapping):
            raise ArgumentTypeError(
                "lexicon: a path or a mapping from forms to labels is needed,"
                f" not {type(source).__name__}"
            )
        labels = {form: _labels(form, given) for form, given in source.items()}
        if not labels:
            raise ArgumentError("lexicon: it is empty; give forms, or leave it out")
        return cls(labels, None, {}, column)

    @classmethod
    def _read(cls, path: formats.Readable, column: str | None) -> Lexicon:
        found: dict[str, set[str]] = {}
        lines: dict[tuple[str, str], int] = {}
        name = os.fspath(path) if isinstance(path, os.PathLike) else str(path)
        for line, form, label in formats.read_pairs(path):
            found.setdefault(form, set()).add(label)
            lines.setdefault((form, label), line)
        if not found:
            raise FormatError("the lexicon is empty; each line is a form, a tab and a label", name)
        return cls(
            {form: tuple(sorted(labels)) for form, labels in found.items()}, name, lines, column
        )

    def numbers(self, written: Iterable[str]) -> dict[str, list[int]]:
        """For each form the numbers of the labels that may be given.

        Parameters
        ----------
        written : the labels of a model as they are written in the column, by their numbers

        Raises
        ------
        FormatError : the model has no such label (file:line)
        ArgumentError : the same, where the lexicon is from no file
        """
        known: dict[str, list[int]] = {}
        for number, label in enumerate(written):
            known.setdefault(label, []).append(number)
        numbers = {}
        for form, labels in self.labels.items():
            for label in labels:
                if label not in known:
                    self._refuse(form, label, sorted(known))
            numbers[form] = [number for label in labels for number in known[label]]
        return numbers

    def _refuse(self, form: str, label: str, known: list[str]) -> None:
        said = f"the model has no label {quote(label)}; it has {_in_short(known)}"
        if self.path is not None:
            raise FormatError(said, self.path, self.lines[form, label])
        raise ArgumentError(f"lexicon[{quote(form)}]: {said}")

    def values(self) -> dict[str, str]:
        """What a word table says of the forms: all labels of each as one value."""
        return {form: "|".join(labels) for form, labels in self.labels.items()}


def _labels(form: object, given: object) -> tuple[str, ...]:
    if not isinstance(form, str) or not form:
        raise ArgumentTypeError(f"lexicon: a form is a str that is not empty, not {quote(form)}")
    many = [given] if isinstance(given, str) else given
    if not isinstance(many, Iterable) or isinstance(many, bytes):
        raise ArgumentTypeError(
            f"lexicon[{quote(form)}]: a label or several are needed, not {type(given).__name__}"
        )
    labels = list(many)
    if not labels or any(not isinstance(label, str) or not label for label in labels):
        raise ArgumentTypeError(
            f"lexicon[{quote(form)}]: labels are str and not empty, and there is at least one"
        )
    return tuple(sorted(set(labels)))


def _in_short(labels: list[str]) -> str:
    """As many labels as a line has room for, one at least."""
    shown = [label if len(label) <= _ROOM else label[: _ROOM - 1] + "…" for label in labels]
    ends = itertools.accumulate(len(label) + 2 for label in shown)
    n_shown = max(1, sum(end <= _ROOM for end in ends))
    return ", ".join(shown[:n_shown]) + (", …" if n_shown < len(shown) else "")


def lower_cased(word: str) -> str:
    """A word with each letter in its small form, whatever stands around it."""
    return "".join(letter.lower()[0] for letter in word)
