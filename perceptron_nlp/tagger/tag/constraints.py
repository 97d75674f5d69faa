"""Constrained tokens: labels given in advance, the tag dictionary, and lexicons.

A given label is kept as it is, and is context for the tokens that are labeled after it (with a
beam, before it too). If labels are learned in another form than they are written in, a given one
restricts the search to the learned labels that it may stand for. A label that the model does not
have is context as if no label had been given yet.

A lexicon has forms and the labels that they may have. As a file: UTF-8, on each line a form, a tab
and a label; a form of several labels has several lines. A word is looked up as it is written and,
if that is not found, lower-cased letter by letter.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import perceptron_nlp.formats as formats
from perceptron_nlp._core.tag.decode import TokenConstraints
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.tagger.model.label_components import JOINT, features_of, forms_of
from perceptron_nlp.text.tagset import SCHEMES, TagSet

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.model import TaggerModel

Keep: TypeAlias = "Sequence[str | None] | None"
"""One label, or None, a word; None where no word of the sentence has a label to keep."""

_FREE, _UNKNOWN = -1, -2


class Constraints:
    """Given labels in terms of a model's learned labels."""

    def __init__(self, tags: TagSet, scheme: str | None) -> None:
        self._scheme = scheme
        self._sets: dict[str, list[int]] = {}
        for number, label in enumerate(tags):
            for form in forms_of(label, scheme):
                self._sets.setdefault(form, []).append(number)

    def sets_of(self, keep: Sequence[Keep], lengths: Iterable[int]) -> TokenConstraints:
        """The kept labels of sentences in the core's form."""
        sets: list[list[int]] = []
        known: dict[str | None, int] = {None: _FREE}
        numbers = []
        for kept, length in zip(keep, lengths, strict=True):
            labels = [None] * length if kept is None else kept
            for label in labels:
                if label not in known:
                    meant = self._sets.get(str(label))
                    known[label] = _UNKNOWN if meant is None else len(sets)
                    sets += [] if meant is None else [meant]
            numbers.append([known[label] for label in labels])
        return TokenConstraints(numbers, sets)

    def numbers_of(self, label: str) -> list[int]:
        """The numbers of the learned labels that a kept one may stand for, ascending."""
        return self._sets.get(label, [])

    def learned(self, label: str) -> str:
        """Return what stands for a label that the model does not have among learned labels."""
        if self._scheme == JOINT:
            return f"|{label}"
        return "O" if self._scheme in SCHEMES else label


def with_kept(labels: list[str], kept: Keep) -> list[str]:
    """The labels of a sentence, those that are kept in their places."""
    if kept is None:
        return labels
    return [label if own is None else own for label, own in zip(labels, kept, strict=True)]


def check_keep(sentences: Sequence[Sequence[str]], keep: object) -> list[Keep] | None:
    """The labels to keep of sentences, once they are sure to fit.

    Raises ArgumentTypeError, ArgumentError if they are no labels, or not as many as sentences or
    words.
    """
    if keep is None:
        return None
    if isinstance(keep, str | bytes) or not isinstance(keep, Sequence):
        raise ArgumentTypeError(f"keep: a list is needed, not {type(keep).__name__}")
    if len(keep) != len(sentences):
        raise ArgumentError(f"keep: of {len(keep)} sentences, but there are {len(sentences)}")
    return [
        _checked(sentence, kept, f"keep[{number}]")
        for number, (sentence, kept) in enumerate(zip(sentences, keep, strict=True))
    ]


def check_columns(keep: object, columns: Sequence[str]) -> None:
    """Raise unless `keep` is None or a mapping from some of the columns."""
    if keep is None:
        return
    if not isinstance(keep, Mapping):
        raise ArgumentTypeError(
            f"keep: a mapping from column to labels is needed, not {type(keep).__name__}"
        )
    for name in keep:
        if name not in columns:
            raise ArgumentError(
                f"keep: {quote(name)} is not a column of this tagger, which fills"
                f" {', '.join(columns)}"
            )


def _checked(sentence: Sequence[str], kept: object, name: str) -> Keep:
    if kept is None:
        return None
    if isinstance(kept, str | bytes) or not isinstance(kept, Sequence):
        raise ArgumentTypeError(f"{name}: a list of labels is needed, not {type(kept).__name__}")
    for label in kept:
        if label is not None and not isinstance(label, str):
            raise ArgumentTypeError(
                f"{name}: a label is a str, or None where there is none, not {type(label).__name__}"
            )
    if isinstance(sentence, str | bytes) or not isinstance(sentence, Sized):
        raise ArgumentTypeError(
            f"{name}: a list of words is needed with it, not {type(sentence).__name__}"
        )
    if len(kept) != len(sentence):
        raise ArgumentError(f"{name}: {len(kept)} labels for {len(sentence)} words")
    return kept


LexiconSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, str | Iterable[str]]"


# Characters for the labels that a message lists.
_ROOM = 200


class Lexicon(NamedTuple):
    """Forms with their labels.

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
        """Return a lexicon out of a file, or a mapping from forms to a label or several.

        Raises FileError if the file cannot be read; FormatError if a line is not a form, a tab and
        a label (file:line), or there is none; ArgumentError, ArgumentTypeError if the mapping is
        empty, or holds something else.
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
        """Return for each form the numbers of its labels among those that a model writes.

        Raises FormatError if the model has no such label (file:line); ArgumentError if the lexicon
        is from no file.
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
        """Return the forms as a word table: all labels of each as one value."""
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


DICTIONARY, LEXICON = "dictionary", "lexicon"


class ConstrainedTokens:
    """Labels that tokens may get, by a model's tag dictionary and a lexicon that goes before it."""

    def __init__(self, model: TaggerModel, lexicon: Lexicon | None) -> None:
        self._model = model
        self._allowed = allowed_by(lexicon, model)

    @property
    def any(self) -> bool:
        """True if any token is constrained."""
        return bool(self._allowed or self._model.dictionary)

    def within(self, word: str) -> list[int] | None:
        """The numbers of the labels that it may get, ascending; None for all."""
        found = self._in_lexicon(word)
        if found:
            return found
        label = self._model.dictionary.get(word)
        return None if label is None else [self._model.tags.id_of(label)]

    def decided_by(self, word: str) -> str | None:
        """DICTIONARY or LEXICON where it leaves one label only; else None."""
        found = self._in_lexicon(word)
        if found:
            return LEXICON if len(found) == 1 else None
        return DICTIONARY if word in self._model.dictionary else None

    def _in_lexicon(self, word: str) -> list[int]:
        if not self._allowed:
            return []
        return sorted({*(self._allowed.get(word) or self._allowed.get(lower_cased(word)) or ())})


def allowed_by(lexicon: Lexicon | None, model: TaggerModel) -> dict[str, list[int]]:
    """The numbers of the labels that a lexicon leaves to its forms."""
    if lexicon is None:
        return {}
    if model.scheme in SCHEMES:
        raise ArgumentError(
            "lexicon: this model labels spans, whose labels hang together from"
            " word to word; a lexicon can leave single words some labels only"
            " where each stands for itself"
        )
    if model.lemmas is not None:
        raise ArgumentError(
            "lexicon: lemmas are made by edit scripts, which a lexicon of labels cannot hold;"
            " give lemmas to training, or name another column"
        )
    joint = model.scheme == JOINT
    return lexicon.numbers([features_of(label) if joint else label for label in model.tags])
