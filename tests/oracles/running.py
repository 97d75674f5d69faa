"""Running text as CoNLL-U and ``word/TAG``, one object a token: the core writes the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.formats import as_conllu
from perceptron_nlp.formats.plaintext import RunningReader, rewrite


class Pieces:
    """A text that comes in pieces of bytes, cut anywhere between characters."""

    name = "text"

    def __init__(self, text: str, lengths: Iterable[int] = ()) -> None:
        self._text = text
        self._lengths = iter(lengths)
        self.rest = b""

    def pieces(self) -> Iterator[str]:
        yield self._text

    def take_text(self, least: int) -> bytes:
        """Return the next piece, as a Corpus does."""
        length = next(self._lengths, least)
        piece, self._text = self._text[:length], self._text[length:]
        return piece.encode()

    def is_waiting(self) -> bool:
        """Return False: nobody waits for an answer."""
        return False

    def put_back(self, piece: bytes) -> None:
        """Keep what nobody could read."""
        self.rest = piece


def as_written(tagger: pn.Tagger, text: str, columns: Iterable[str] | None = None) -> bytes:
    """Return a text as CoNLL-U with columns filled in, or all."""
    rows = enumerate(_labeled(tagger, text, columns), 1)
    return "".join(as_conllu(sentence, own, number) for number, (sentence, own) in rows).encode()


def as_tagged(tagger: pn.Tagger, text: str, column: str) -> bytes:
    """Return a text as ``word/TAG`` lines with the labels of a column."""
    return "".join(rewrite(*row) for row in _labeled(tagger, text, [column])).encode()


def _labeled(
    tagger: pn.Tagger, text: str, columns: Iterable[str] | None
) -> Iterator[tuple[pn.Sentence, dict[str, list[str]]]]:
    source: Any = Pieces(text)
    sentences = list(RunningReader(source, tagger.segmenter.sentences_in))
    names = tagger.columns if columns is None else list(columns)
    found = tagger.tag_sents(sentences, columns=names)
    for k, sentence in enumerate(sentences):
        yield sentence, {name: own[k] for name, own in found.items()}
