"""Many short texts with labels, as arrays of all their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.tagger.tag.running import TextFill
from perceptron_nlp.tagger.tag.text import TextSentence
from perceptron_nlp.text.scripts import LEMMA

# Characters of texts that are labeled at a time, with a paragraph's end between them.
_TOGETHER = 1 << 18
_BETWEEN = "\n\n"
Strings = tuple[npt.NDArray[np.int64], bytes]
"""Where each string begins, and the last one ends, in UTF-8."""
Numbered = tuple[npt.NDArray[np.uint16], tuple[str, ...]]
"""The number of each word's label, and the labels."""


class TextArrays(NamedTuple):
    """The words of texts, one after the other.

    Attributes
    ----------
    offsets : int64[n_texts + 1], the first word of each text, and the number of all words
    forms : the words: int64[n_words + 1], where each begins and the last one ends, and their UTF-8
    starts, ends : int32[n_words], the place of each word's token in its text, in characters; words
        of a multiword token share it
    sentences : int32[n_words], the number of each word's sentence in its text, from 0 on
    labels : by column the number of each word's label, uint16[n_words], and the labels by number,
        each once
    lemmas : None, or the lemmas like the forms
    """

    offsets: npt.NDArray[np.int64]
    forms: Strings
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    sentences: npt.NDArray[np.int32]
    labels: dict[str, Numbered]
    lemmas: Strings | None


def text_arrays(
    texts: Iterable[str],
    columns: Sequence[str],
    fill: TextFill | None,
    read: Callable[[str], Iterator[TextSentence]],
) -> TextArrays:
    """Return texts, cut and labeled.

    Parameters
    ----------
    columns : those to give
    fill : what fills them, or None
    read : gives the sentences of one text, where `fill` is None
    """
    pieces = [
        _of_sentences(own, columns, read) if fill is None else _filled(own, columns, fill)
        for own in _together(texts)
    ]
    return _joined(pieces or [_of_sentences([], columns, read)])


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ArgumentTypeError(f"texts: a list of str is needed, not {type(texts).__name__}")
    own: list[str] = []
    length = 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentTypeError(f"texts[{number}]: a str is needed, not {type(text).__name__}")
        if own and length + len(text) > _TOGETHER:
            yield own
            own, length = [], 0
        own.append(text)
        length += len(text)
    if own:
        yield own


def _filled(texts: list[str], columns: Sequence[str], fill: TextFill) -> TextArrays:
    found = fill.labeled(_BETWEEN.join(texts).encode("utf-8", "surrogatepass"))
    begins = np.fromiter(
        accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0), np.int64
    )
    places = np.array(found.places, np.int64).reshape(-1, 2)
    first, sentences = np.array(found.first, np.int64), np.array(found.sentences, np.int64)
    token_of = np.repeat(np.arange(len(places)), np.diff(first))
    text_of = np.searchsorted(begins, places[:, 0], side="right") - 1
    first_token = np.searchsorted(places[:, 0], begins)
    sentence_of = np.searchsorted(sentences, np.arange(len(places)), side="right") - 1
    # The number of the first sentence of each text; a text without any has no token to ask.
    first_sentence = np.append(sentence_of, len(sentences) - 1)[first_token]
    moved = places - begins[text_of, None]
    return TextArrays(
        first[first_token],
        (_starts(found.form_ends), bytes(found.forms)),
        moved[token_of, 0].astype(np.int32),
        moved[token_of, 1].astype(np.int32),
        (sentence_of - first_sentence[text_of])[token_of].astype(np.int32),
        {
            name: _each_once([(np.array(numbers, np.uint16), labels)])
            for (name, labels), numbers in zip(fill.labels.items(), found.labels, strict=True)
            if name in columns
        },
        None if found.lemmas is None else (_starts(found.lemmas[0]), found.lemmas[1]),
    )


def _starts(ends: memoryview) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.array(ends, np.int64)])


def _of_sentences(
    texts: list[str], columns: Sequence[str], read: Callable[[str], Iterator[TextSentence]]
) -> TextArrays:
    forms: list[str] = []
    rows: list[Mapping[str, str]] = []
    numbers: list[tuple[int, int, int]] = []
    offsets = [0]
    for text in texts:
        for sentence, tokens in enumerate(read(text)):
            for token in tokens:
                for word in token.words:
                    forms.append(word.form)
                    rows.append(word.labels)
                    numbers.append((token.start, token.end, sentence))
        offsets.append(len(forms))
    labels = {}
    for name in columns:
        # Of lemmas there may be more than numbers of labels.
        if name == LEMMA:
            continue
        number_of: dict[str, int] = {}
        own = [number_of.setdefault(row[name], len(number_of)) for row in rows]
        labels[name] = np.array(own, np.uint16), tuple(number_of)
    places = np.array(numbers, np.int32).reshape(-1, 3)
    lemmas = [row[LEMMA] for row in rows] if LEMMA in columns else None
    return TextArrays(
        np.array(offsets, np.int64),
        _strings(forms),
        places[:, 0],
        places[:, 1],
        places[:, 2],
        labels,
        None if lemmas is None else _strings(lemmas),
    )


def _strings(texts: Iterable[str]) -> Strings:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.cumsum([0, *map(len, encoded)], dtype=np.int64), b"".join(encoded)


def _joined(pieces: Sequence[TextArrays]) -> TextArrays:
    if len(pieces) == 1:
        return pieces[0]
    labels = {
        name: _each_once([piece.labels[name] for piece in pieces]) for name in pieces[0].labels
    }
    lemmas = [piece.lemmas for piece in pieces if piece.lemmas is not None]
    whole: Any = np.concatenate
    return TextArrays(
        _one_after_the_other([piece.offsets for piece in pieces]),
        _joined_strings([piece.forms for piece in pieces]),
        whole([piece.starts for piece in pieces]),
        whole([piece.ends for piece in pieces]),
        whole([piece.sentences for piece in pieces]),
        labels,
        _joined_strings(lemmas) if lemmas else None,
    )


def _each_once(pieces: Sequence[Numbered]) -> Numbered:
    """Return numbered labels, one piece after the other: some may be written alike."""
    number_of: dict[str, int] = {}
    own = []
    for numbers, labels in pieces:
        new = [number_of.setdefault(label, len(number_of)) for label in labels]
        own.append(np.array(new, np.uint16)[numbers] if len(numbers) else numbers)
    return np.concatenate(own), tuple(number_of)


def _one_after_the_other(offsets: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    begins = accumulate((int(own[-1]) for own in offsets), initial=0)
    moved = [own[1:] + begin for own, begin in zip(offsets, begins, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *moved])


def _joined_strings(strings: Sequence[Strings]) -> Strings:
    return (
        _one_after_the_other([own for own, _ in strings]),
        b"".join(text for _, text in strings),
    )
