"""Labels that words have already and that are kept when the others are found.

A kept label is given back as it is, and is context for the words after it in the order of reading
(with a beam, before it too). Where labels are learnt in another form than they are written in, a
kept one restricts the search to the learnt labels that it may stand for. A label that the model
does not have is context as if no label had been given yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TypeAlias

from perceptron_nlp._core.tag.decode import KeptSets
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.tagger.model.attributes import JOINT, features_of
from perceptron_nlp.text.spans import SCHEMES
from perceptron_nlp.text.tagset import TagSet

Keep: TypeAlias = "Sequence[str | None] | None"
"""One label, or None, a word; None where no word of the sentence has a label to keep."""

_FREE, _UNKNOWN = -1, -2
# How the prefix of an IOBES label may be written in each scheme; BILOU is read as IOBES.
_WRITTEN = {
    "bio": {"B": "B", "I": "I", "E": "I", "S": "B"},
    "iob1": {"B": "BI", "I": "I", "E": "I", "S": "BI"},
    "iobes": {"B": "B", "I": "I", "E": "EL", "S": "SU"},
}


def forms_of(label: str, scheme: str | None) -> list[str]:
    """How a label may be written, given how it is learnt."""
    if scheme == JOINT:
        return [features_of(label)]
    if scheme not in SCHEMES or label == "O":
        return [label]
    prefix, _, kind = label.partition("-")
    return [f"{mark}-{kind}" for mark in _WRITTEN[str(scheme)].get(prefix, prefix)]


def written_labels(tags: TagSet, scheme: str | None) -> frozenset[str]:
    """All labels that may be written, given those that are learnt."""
    return frozenset(form for label in tags for form in forms_of(label, scheme))


class Keeping:
    """Finds what kept labels mean to a model.

    Parameters
    ----------
    tags : the model's labels
    scheme : its scheme
    """

    def __init__(self, tags: TagSet, scheme: str | None) -> None:
        self._scheme = scheme
        self._sets: dict[str, list[int]] = {}
        for number, label in enumerate(tags):
            for form in forms_of(label, scheme):
                self._sets.setdefault(form, []).append(number)

    def sets_of(self, keep: Sequence[Keep], lengths: Iterable[int]) -> KeptSets:
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
        return KeptSets(numbers, sets)

    def inside(self, label: str) -> str:
        """What stands for a label that the model does not have among learnt labels."""
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

    Raises
    ------
    ArgumentTypeError, ArgumentError : they are no labels, or not as many as sentences or words
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
