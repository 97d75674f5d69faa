"""Labels that somebody has given to sentences which are also there in another text."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.tagger.train.sources import UNLABELLED, Source, gold_labels
from perceptron_nlp.text.sentence import Sentence


def labels_beside(source: Source, column: str, sentences: Sequence[Sentence]) -> list[list[str]]:
    """The labels of a text whose words are those of `sentences`.

    Parameters
    ----------
    source : the text
    column : the column that holds the labels
    sentences : the sentences it must agree with

    Returns
    -------
    a list of labels a sentence; a word without a label has ``_``

    Raises
    ------
    FormatError : the words are others, or the sentences cut elsewhere; with file and line
    """
    found: list[list[str]] = []
    for sentence in source:
        if len(found) == len(sentences):
            raise FormatError(
                f"the text goes on here, but {_place(sentences[-1], -1)} ends the"
                f" {len(sentences):,} sentences that it must agree with",
                *_where(sentence, 0),
            )
        _check_words(sentence, sentences[len(found)])
        labels = gold_labels(sentence, column)
        found.append([UNLABELLED if label is None else label for label in labels])
    if len(found) < len(sentences):
        raise FormatError(
            f"ends after {len(found):,} sentences, but {_place(sentences[len(found)], 0)} has"
            " another; both must hold the same sentences",
            source.place,
        )
    return found


def _check_words(sentence: Sentence, other: Sentence) -> None:
    if sentence.words == other.words:
        return
    mine, theirs = sentence.words, other.words
    at = next(
        (i for i, (word, wanted) in enumerate(zip(mine, theirs, strict=False)) if word != wanted),
        min(len(mine), len(theirs)),
    )
    if at < min(len(mine), len(theirs)):
        raise FormatError(
            f"the word {quote(mine[at])} stands where {_place(other, at)} has"
            f" {quote(theirs[at])}; both must hold the same words",
            *_where(sentence, at),
        )
    if at < len(mine):
        raise FormatError(
            f"the word {quote(mine[at])} stands where a sentence ends after {_place(other, -1)}",
            *_where(sentence, at),
        )
    raise FormatError(
        f"the sentence ends after {quote(mine[-1])}, but goes on with"
        f" {quote(theirs[at])} in {_place(other, at)}",
        *_where(sentence, -1),
    )


def _where(sentence: Sentence, index: int) -> tuple[str, int | None]:
    """Path and line of a word."""
    return sentence.path, sentence.line_of(index) or None


def _place(sentence: Sentence, index: int) -> str:
    path, line = _where(sentence, index)
    return path if line is None else f"{path}:{line}"
